package tool

import "fmt"

// For tools of other people's programs, whose results are given to models as
// ours are.

// KeptResult is a result of text that a program of others wrote: made readable,
// cut for models, and kept whole by keep, which gives the file's path, where it
// is long. Models are told head before it.
func KeptResult(head, text string, keep func(text string) (path string, err error)) Result {
	text = clean([]byte(text))
	if fits(text) {
		return TextResult(head+text, Plain{Text: text})
	}
	cut := &Cut{Lines: countLines([]byte(text)), Bytes: int64(len(text))}
	note := ""
	if path, err := keep(text); err == nil {
		cut.Full = path
		note = fmt.Sprintf("[all of it is in %s]\n", path)
	}
	short := cutText(text)
	return TextResult(head+note+short, Plain{Text: short, Cut: cut})
}

// LongResult is a result of which only the beginning was taken: head, of size
// bytes. The first kept of them are in a file, if path is not empty.
func LongResult(head string, size int64, path string, kept int64) Result {
	head = cutText(clean([]byte(head)))
	note := fmt.Sprintf("[the result has %s; this is the beginning of it, as it was sent", bytesText(size))
	if path != "" {
		note += ". It is in " + path
		if kept < size {
			note += ", up to " + bytesText(kept)
		}
	}
	return TextResult(note+"]\n"+head, Plain{Text: head, Cut: &Cut{Bytes: size, Full: path}})
}
