package session

import (
	"encoding/json"
	"strings"

	"banyan/internal/jsonl"
	"banyan/internal/store"
	"banyan/internal/tree"
)

// loader takes the lines of a file, from its first on: title, header, entries.
type loader struct {
	fold *fold
	path string
	size int64 // of the file in bytes, 0 where it is not known

	header   Header
	found    bool // the header, or an entry that must do without one
	readOnly string
	count    int        // lines so far
	lost     int        // of them unreadable, before anything was found
	last     jsonl.Pos  // of the last line
	migrate  *migration // nil where the file is as we would write it
	title    []byte     // oh-my-pi's title line
}

// sample is after how many lines the number of all lines is estimated.
const sample = 512

// hopeless is after how many lines without a session in them a file is given up.
const hopeless = 1000

// line takes the next line; false when there is no use in going on.
func (l *loader) line(in jsonl.Line) bool {
	if l.fold.twice {
		return false
	}
	l.count++
	if l.count == sample {
		// The lines so far tell how many there will be, about.
		l.fold.grow(int(min(l.size/(in.Off/sample+1), 1<<20)) * 21 / 20)
	}
	l.last = in.Pos
	if l.found {
		l.entry(in)
		return true
	}
	if l.count == 1 {
		if title, ok := readTitle(in.Bytes); ok {
			l.fold.name = strings.TrimSpace(title)
			l.title = append([]byte(nil), in.Bytes...)
			return true
		}
	}
	if h, title, flaws, ok := readHeader(in.Bytes); ok {
		l.begin(h, in, flaws)
		if title = strings.TrimSpace(title); title != "" {
			l.fold.name = title
		}
		return true
	}
	if version, ok := entryVersion(in.Bytes); ok {
		l.begin(Header{Version: version}, in, []string{"the file has no header before its first entry"})
		l.entry(in)
		return true
	}
	l.lost++
	l.fold.lost(in.Pos, problemDamaged, "the line is neither a header nor an entry")
	return l.lost < hopeless
}

// begin takes the header. A session whose header has flaws can be read, not
// written: it is not certain what else is wrong.
func (l *loader) begin(h Header, in jsonl.Line, flaws []string) {
	l.found = true
	l.fold.bytes = in.Off + int64(in.Len) + 1
	if l.lost > 0 {
		flaws = append(flaws, "lines stand before the header that are not a session's")
	}
	for _, flaw := range flaws {
		l.fold.problem(in.Off, problemHeader, flaw)
	}
	switch {
	case h.Version > Version:
		l.readOnly = "it was written by a newer version of the format; update this program"
	case len(flaws) > 0:
		l.readOnly = "its header is damaged (" + strings.Join(flaws, "; ") + "); `agent session repair` writes a mended copy"
	}
	if h.ID == "" {
		h.ID = store.IDOfFile(l.path)
	}
	l.header = h
	if h.Version < Version || dialect(in.Bytes) {
		l.migrate = newMigration(h, l.fold, l.title, in.Bytes)
	}
}

// entry takes a line after the header.
func (l *loader) entry(in jsonl.Line) {
	if l.migrate == nil && l.fold.quick(in.Bytes, in.Pos) {
		return
	}
	head, ok := readHead(in.Bytes)
	switch {
	case ok && string(head.kind) == `"session"` && isHeader(in.Bytes):
		l.fold.problem(in.Off, problemHeader2, "another header stands in the middle of the file")
		if l.migrate != nil {
			l.migrate.skip(in.Bytes)
		}
	case l.migrate != nil:
		l.migrate.entry(in)
	default:
		l.fold.headed(in.Bytes, head, ok, in.Pos)
	}
}

func isHeader(line []byte) bool {
	_, _, _, ok := readHeader(line)
	return ok
}

// entryVersion tells whether a line is an entry, of which version, for files
// that have lost their header: any JSON with a type and a time might be
// anybody's, so the type must be ours.
func entryVersion(line []byte) (int, bool) {
	h, ok := readHead(line)
	kind, _ := unquote(h.kind)
	if _, known := kinds[kind]; !ok || !known || !json.Valid(line) {
		return 0, false
	}
	if h.id == nil {
		return 1, true
	}
	return Version, true
}

// finish looks at the file as a whole.
func (l *loader) finish() error {
	if !l.found {
		reason, hint := "it is empty", "Start a new session, or give another file"
		if l.count > 0 {
			reason, hint = "no line of it is a session's header or entry", "Give the path of a session file"
		}
		return &NotSessionError{Path: l.path, Reason: reason, Hint: hint}
	}
	if l.fold.last != tree.None && !l.fold.damaged && l.migrate == nil {
		if line, err := l.fold.raw(l.last); err == nil && !json.Valid(line) {
			l.fold.problem(l.last.Off, problemDamaged, "the last line begins as an entry but is not JSON")
		}
	}
	return nil
}
