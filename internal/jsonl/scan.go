package jsonl

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"sync"
)

// block is how much is read at a time, in bytes: large enough that system calls
// do not count, small enough to stay in the processor's cache.
const block = 256 << 10

// buffers are scans' buffers of two blocks, to be used again: clearing a fresh one
// takes as long as reading a small file.
var buffers = sync.Pool{New: func() any { return new([2 * block]byte) }}

var bom = []byte("\xef\xbb\xbf")

// scanned is what a pass over a file found out about its end.
type scanned struct {
	end     int64 // behind the last line that was reported or blank, its line end included
	size    int64 // where the bytes ended
	needLF  bool  // the byte before end is not LF: the last line is complete but not ended
	tail    Pos   // the torn last line; it begins at end
	stopped bool  // f did not want more: end and size are behind the last reported line
}

// scanLines reads r from an offset, which must be the start of a line, to its
// end and calls f for each line. Memory: twice the longest line, two blocks at
// least.
func scanLines(r io.ReaderAt, off int64, f func(Line) bool) (scanned, error) {
	pooled := buffers.Get().(*[2 * block]byte)
	defer buffers.Put(pooled)
	var (
		buf  = pooled[:]
		base = off // offset in the file of buf[0]
		from = 0   // buf[from:to] is read and not reported
		seen = 0   // buf[from:seen] has no LF
		to   = 0
	)
	for {
		n, err := r.ReadAt(buf[to:to+block], base+int64(to))
		to += n
		for {
			i := bytes.IndexByte(buf[seen:to], '\n')
			if i < 0 {
				seen = to
				break
			}
			line, at := buf[from:seen+i], base+int64(from)
			from = seen + i + 1
			seen = from
			if !Report(line, at, f) {
				end := base + int64(from)
				return scanned{end: end, size: end, stopped: true}, nil
			}
		}
		if errors.Is(err, io.EOF) {
			return scanTail(buf[from:to], base+int64(from), f), nil
		}
		if err != nil {
			return scanned{}, err
		}
		copy(buf, buf[from:to])
		base += int64(from)
		to, seen, from = to-from, seen-from, 0
		if len(buf)-to < block {
			grown := make([]byte, 2*len(buf))
			copy(grown, buf[:to])
			buf = grown
		}
	}
}

// Report hands a line over as f of [Log.Scan] is to see it: without BOM and CR, not at all if
// it is blank. Zero bytes before a line, which file systems leave after a power
// cut, become a line of their own, so that the loss is seen and the line is not lost too.
func Report(line []byte, at int64, f func(Line) bool) bool {
	if at == 0 && bytes.HasPrefix(line, bom) {
		line, at = line[len(bom):], int64(len(bom))
	}
	if n := len(line); n > 0 && line[n-1] == '\r' {
		line = line[:n-1]
	}
	if len(line) > 0 && line[0] == 0 {
		rest := bytes.TrimLeft(line, "\x00")
		zeros := len(line) - len(rest)
		if !f(Line{Pos{at, zeros}, line[:zeros]}) {
			return false
		}
		line, at = rest, at+int64(zeros)
	}
	if blank(line) {
		return true
	}
	return f(Line{Pos{at, len(line)}, line})
}

// scanTail decides what the bytes after the last LF are.
func scanTail(rest []byte, at int64, f func(Line) bool) scanned {
	size := at + int64(len(rest))
	body := rest
	if at == 0 {
		body = bytes.TrimPrefix(rest, bom)
	}
	switch {
	case len(body) == 0: // a BOM is no line: what comes next is the first
		return scanned{end: size, size: size}
	case !blank(body) && !complete(body):
		return scanned{end: at, size: size, tail: Pos{at, len(rest)}}
	}
	more := Report(rest, at, f)
	return scanned{end: size, size: size, needLF: true, stopped: !more}
}

// complete reports whether a last line without LF can be taken for whole: it is
// valid, and it is not a number, which may go on.
func complete(line []byte) bool {
	line = bytes.TrimRight(bytes.TrimLeft(line, "\x00"), " \t\r")
	if len(line) == 0 || line[len(line)-1] >= '0' && line[len(line)-1] <= '9' {
		return false
	}
	return json.Valid(line)
}

// blank reports whether a line is nothing but JSON's white space.
func blank(line []byte) bool {
	return len(line) == 0 || line[0] <= ' ' && len(bytes.TrimLeft(line, " \t\r")) == 0
}
