package jsonl

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
)

// Append adds lines (each without LF, one JSON value, no raw line feed) and
// returns when they are durable, with where they stand. One sync serves all of
// them. When it fails, nothing of these lines is left in the file, and they and
// all later ones are held back in order: they are pending until a later Append
// or Flush succeeds, all of them or none. The log keeps the slices until then.
//
// Lines that were pending are written first; where they stand is told by the
// next Flush.
//
// Before it writes it looks whether the file is still the one that it knows.
// Grown by another program: Append fails with a [*GrownError], nothing pending
// is added; call Grown to read what came in, then Append again.
// Gone or replaced: it writes the whole file anew at its path; what replaced it
// is kept as "<path>.replaced-<time>". Cut short: it fails with ErrShrunk.
func (l *Log) Append(lines ...[]byte) ([]Pos, error) {
	if err := l.writable(); err != nil {
		return nil, describe("append to", l.path, err)
	}
	for _, line := range lines {
		if blank(line) || bytes.IndexByte(line, '\n') >= 0 {
			return nil, fmt.Errorf("append to %s: not one line: %.40q", l.path, line)
		}
	}
	if len(lines) == 0 {
		return nil, nil
	}
	before := len(l.pending)
	l.pending = append(l.pending, lines...)
	pos, err := l.flush()
	if err != nil {
		if _, grown := errors.AsType[*GrownError](err); grown {
			l.pending = l.pending[:before]
		}
		return nil, err
	}
	l.untold = append(l.untold, pos[:before]...)
	return pos[before:], nil
}

func (l *Log) writable() error {
	switch {
	case l.closed:
		return fs.ErrClosed
	case l.readOnly:
		return ErrReadOnly
	}
	return nil
}

// Flush tries to write the pending lines, all or none, and returns where they
// stand, in order. So it does for lines that were pending and that an Append
// has written since; each is told once. It fails as Append does: after a
// [*GrownError] call Grown, then Flush again.
func (l *Log) Flush() ([]Pos, error) {
	var err error
	if len(l.pending) > 0 {
		var pos []Pos
		pos, err = l.flush()
		l.untold = append(l.untold, pos...)
	}
	told := l.untold
	l.untold = nil
	return told, err
}

// flush writes the pending lines and returns where they stand.
func (l *Log) flush() ([]Pos, error) {
	if !l.scanned {
		if err := l.Scan(func(Line) bool { return true }); err != nil {
			return nil, err
		}
	}
	where, err := l.look()
	if err != nil {
		return nil, err
	}
	if err := l.saveTail(); err != nil {
		return nil, err
	}
	var cause error
	if where == inPlace && !l.suspect {
		pos, err := l.writeInPlace()
		if err == nil || !l.suspect {
			return pos, err
		}
		cause = err
	}
	pos, err := l.writeAnew(where)
	switch {
	case err == nil:
		return pos, nil
	case cause == nil:
		return nil, err
	}
	l.cutBack()
	return nil, fmt.Errorf("%w; and writing it anew failed too: %w", cause, err)
}

// standing is what is at the log's path.
type standing int

const (
	inPlace  standing = iota // our file, as we left it
	absent                   // nothing
	replaced                 // another file
)

// look compares the file at the log's path with the one that the log knows.
// One call of the system says all: if it is our file, its size is the size.
func (l *Log) look() (standing, error) {
	h := l.file.Load()
	where := inPlace
	st, err := l.fs.Stat(l.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		where = absent
	case err != nil:
		return 0, describe("look at", l.path, err)
	case h == nil:
		return 0, describe("create", l.path, fs.ErrExist)
	case st.ID != h.id:
		where = replaced
	}
	if h == nil {
		return where, nil
	}
	if where != inPlace { // ours may have grown before it lost its name
		if st, err = h.Stat(); err != nil {
			return 0, describe("look at the open", l.path, err)
		}
	}
	switch {
	case st.Size < l.size:
		return 0, describe("append to", l.path, ErrShrunk)
	case st.Size > l.size || len(l.unread) > 0:
		return 0, &GrownError{Path: l.path}
	}
	return where, nil
}

// saveTail keeps a torn tail in a file of its own before anything cuts it off.
// Crash before the rename: a stale temporary file. After it, before the cut:
// the tail is saved again the next time.
func (l *Log) saveTail() error {
	if l.tail.Len == 0 {
		return nil
	}
	if l.unlocked {
		// Someone may be writing this very line. It stays, and ours begin anew.
		l.end, l.needLF, l.tail = l.size, true, Pos{}
		return nil
	}
	torn := make([]byte, l.tail.Len)
	if _, err := l.file.Load().ReadAt(torn, l.tail.Off); err != nil {
		return describe("read the torn last line of", l.path, err)
	}
	name, err := l.copyAside(l.path+".torn-"+stamp(), func(s *staged) error { return s.write(torn) })
	if err != nil {
		return fmt.Errorf("save the torn last line of %s: %w", l.path, err)
	}
	l.notice("the last line of %s was torn; it was saved to %s", l.path, name)
	l.tail = Pos{} // end..size is now ours to cut
	return nil
}

// writeInPlace appends the pending lines with one write and one sync.
//
// When it fails, the lines are cut off again. It sets suspect where that did
// not succeed or the sync has failed: PostgreSQL learnt that after a failed
// sync the system may have dropped the bytes and call the next sync a success.
func (l *Log) writeInPlace() ([]Pos, error) {
	h := l.file.Load()
	if !l.namesSynced {
		if err := syncFolders(l.fs, filepath.Dir(l.path)); err != nil {
			return nil, err
		}
		l.namesSynced = true
	}
	if l.size > l.end {
		if err := h.Truncate(l.end); err != nil {
			l.suspect = true
			return nil, describe("cut the torn end off", l.path, err)
		}
		l.size = l.end
	}
	buf, lead := l.encode()
	n, err := h.Write(buf)
	if err != nil {
		l.size += int64(n)
		l.cutBack()
		return nil, describe("append to", l.path, err)
	}
	at, err := l.locate(h, buf)
	if err != nil {
		return nil, err
	}
	if err := h.Sync(); err != nil {
		l.suspect = true
		return nil, describe("sync", l.path, err)
	}
	return l.written(at + lead), nil
}

// encode puts the pending lines into one buffer, because one write has fewer
// states after a crash than many. The first lead bytes end the line before.
func (l *Log) encode() (buf []byte, lead int64) {
	size := 1
	for _, line := range l.pending {
		size += len(line) + 1
	}
	buf = make([]byte, 0, size)
	if l.needLF {
		buf = append(buf, '\n')
	}
	lead = int64(len(buf))
	for _, line := range l.pending {
		buf = append(append(buf, line...), '\n')
	}
	return buf, lead
}

// locate finds where a write of ours went, which is at the end that we knew
// unless a program that minds no lock has written between our look and our
// write. Then what it wrote is left for Grown. It accounts for the new size.
func (l *Log) locate(h *handle, buf []byte) (int64, error) {
	want := l.end + int64(len(buf))
	st, err := h.Stat()
	if err != nil || st.Size == want {
		l.size = want
		return l.end, nil
	}
	if st.Size < want {
		return 0, describe("append to", l.path, ErrShrunk)
	}
	came := make([]byte, st.Size-l.end)
	if _, err := h.ReadAt(came, l.end); err != nil {
		return 0, describe("read", l.path, err)
	}
	i := bytes.Index(came, buf)
	if i < 0 || i > 0 && came[i-1] != '\n' && buf[0] != '\n' {
		// Glued to half a line of theirs. Ours stay as they are, and are
		// written again behind them: identical lines do no harm.
		return 0, &GrownError{Path: l.path}
	}
	at := l.end + int64(i)
	for _, part := range []span{{l.end, at}, {at + int64(len(buf)), st.Size}} {
		if part.from < part.to {
			l.unread = append(l.unread, part)
		}
	}
	l.end, l.size = st.Size, st.Size
	l.needLF = came[len(came)-1] != '\n'
	return at, nil
}

// written makes the pending lines, which are durable from an offset on, known.
func (l *Log) written(at int64) []Pos {
	pos := make([]Pos, len(l.pending))
	for i, line := range l.pending {
		pos[i] = Pos{at, len(line)}
		at += int64(len(line)) + 1
	}
	l.pending = nil
	if at > l.end {
		l.end, l.needLF = at, false
	}
	return pos
}

// cutBack takes what a failed write has left off the file again. It cuts
// nothing that someone else may have written: that is for Grown to read.
func (l *Log) cutBack() {
	h := l.file.Load()
	if h == nil || l.size <= l.end || l.tail.Len > 0 {
		return
	}
	st, err := h.Stat()
	if err == nil && st.Size != l.size {
		l.size = l.end
		return
	}
	if err == nil {
		err = h.Truncate(l.end)
	}
	if err != nil {
		l.suspect = true
		return
	}
	l.size = l.end
}
