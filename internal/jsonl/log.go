package jsonl

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"sync/atomic"
)

// Errors of this package. They come wrapped with what was being done to which path.
var (
	ErrNotRegular = errors.New("not a regular file")
	ErrReadOnly   = errors.New("opened read-only")
	ErrSymlink    = errors.New("a symbolic link, which is read but not written through")
	// ErrGone: the file was deleted or another one is in its place.
	ErrGone = errors.New("the file was deleted or replaced")
	// ErrShrunk: another program has cut the file. What it cut off is lost, so
	// nothing is appended to the rest; [Log.SaveAs] saves what there is.
	ErrShrunk = errors.New("the file was cut short by another program")
)

// LockedError says that another process is writing the file.
type LockedError struct {
	Path  string
	Owner string // who holds it, e.g. "pid 4711 on host since 10:04", as far as it is known
}

func (e *LockedError) Error() string {
	return fmt.Sprintf("%s is open in another process (%s)", e.Path, e.Owner)
}

// PendingError says that lines are only in memory; Err says why.
type PendingError struct {
	Path  string
	Count int // lines
	Err   error
}

func (e *PendingError) Error() string {
	return fmt.Sprintf("%d lines are not saved in %s and will be lost unless they are saved elsewhere: %v", e.Count, e.Path, e.Err)
}

func (e *PendingError) Unwrap() error { return e.Err }

// Pos is where a line stands in its file: offset and length in bytes, without line end.
type Pos struct {
	Off int64
	Len int
}

// Line is a line met by [Log.Scan]. Bytes are without line end (LF or CRLF) and
// valid only during the call; they may be anything, also not JSON.
type Line struct {
	Pos
	Bytes []byte
}

// Options say how a log is opened.
type Options struct {
	FS       FS   // nil for the real one
	ReadOnly bool // take no lock, never write
}

// Log is one file of JSON lines. One goroutine owns it, except for
// [Log.ReadAt], which is safe anywhere.
type Log struct {
	fs       FS
	path     string
	readOnly bool
	unlocked bool // there is no lock to rely on: others may be writing

	// file is the open file, nil before the first Append of a log that was
	// created. Atomic because the owner may switch files under a ReadAt.
	file atomic.Pointer[handle]

	// What we know of the file. Bytes before end are whole lines that are
	// known to the owner; they never change. Bytes from end to size, if any,
	// are a torn tail, or what is left of a write that failed: the next write
	// cuts them off. A file longer than size has been written by someone else.
	scanned   bool
	end, size int64
	needLF    bool // the byte before end is not LF
	tail      Pos  // torn and not yet saved; it begins at end
	// unread are spans before end that another program wrote and Grown has not reported.
	unread []span

	// suspect: a sync of this file failed, or it could not be cut. Nothing is
	// written to it any more; the next write goes anew.
	suspect bool
	// namesSynced: the file's name and those of the folders above it are
	// durable. Who made them may have died before they were.
	namesSynced bool

	pending [][]byte // not in the file, oldest first
	untold  []Pos    // of lines that were pending and that Append wrote: for the next Flush
	notices []string
	closing bool // Close has failed once to write what is pending
	closed  bool
}

type span struct{ from, to int64 }

// handle is an open file, the name it was opened by, and which it is.
type handle struct {
	File
	path string
	id   FileID
}

// Open opens an existing file; it never changes it. For writing it takes the
// lock, or fails with a [*LockedError] at once. FIFOs, devices and folders are
// ErrNotRegular without blocking. A symbolic link is followed when reading and
// refused for writing with ErrSymlink. A file that may only be read fails with
// [fs.ErrPermission] or the like when opened for writing: open it ReadOnly.
func Open(path string, o Options) (*Log, error) {
	l := newLog(path, o)
	for range 100 {
		h, current, err := l.open()
		if err != nil {
			return nil, describe("open", path, err)
		}
		if current {
			l.file.Store(h)
			return l, nil
		}
		// Between opening and locking, the writer before us has written the
		// log anew: this is the old file.
		h.Close()
	}
	return nil, describe("open", path, ErrGone)
}

// open opens and locks the file; current says that it is still the one at the path.
func (l *Log) open() (h *handle, current bool, err error) {
	f, err := l.fs.Open(l.path, !l.readOnly)
	if err != nil {
		return nil, false, err
	}
	st, err := f.Stat()
	now := st
	if err == nil && !l.readOnly {
		if err = l.lock(f, l.path); err == nil {
			now, err = l.fs.Stat(l.path)
		}
	}
	if err != nil {
		f.Close()
		return nil, false, err
	}
	return &handle{f, l.path, st.ID}, now.ID == st.ID, nil
}

// Create makes a log whose file does not exist yet: the first Append creates
// it (0600, never over another file, missing folders 0700), and syncs it and its folders.
func Create(path string, o Options) (*Log, error) {
	if o.ReadOnly {
		return nil, describe("create", path, ErrReadOnly)
	}
	l := newLog(path, o)
	l.scanned = true
	switch _, err := l.fs.Stat(path); {
	case err == nil:
		return nil, describe("create", path, fs.ErrExist)
	case !errors.Is(err, fs.ErrNotExist):
		return nil, describe("create", path, err)
	}
	return l, nil
}

func newLog(path string, o Options) *Log {
	if o.FS == nil {
		o.FS = OS
	}
	return &Log{fs: o.FS, path: absolute(path), readOnly: o.ReadOnly}
}

// absolute makes a path independent of the working directory.
func absolute(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return filepath.Clean(path)
}

// lock takes a file's lock. Where there is none to rely on that is no obstacle:
// the look before each append protects the lines there.
func (l *Log) lock(f File, path string) error {
	err := lockFile(f, path)
	if errors.Is(err, ErrNoLock) {
		l.unlocked = true
		l.notice("%s is not protected against a second window: %v", path, err)
		return nil
	}
	return err
}

func lockFile(f File, path string) error {
	err := f.Lock()
	if held, ok := errors.AsType[*HeldError](err); ok {
		return &LockedError{Path: path, Owner: held.Owner}
	}
	return err
}

// Path is the file's path, absolute. The file may not exist yet.
func (l *Log) Path() string { return l.path }

// Size is the number of bytes of the lines that are known and in the file.
func (l *Log) Size() int64 { return l.end }

// Scan reads the file once from its start, in big blocks, a line of any length,
// and calls f for each line until it returns false. A BOM is skipped, blank
// lines are not reported; a run of zero bytes before a line is reported as a
// line of its own. What is after the last LF is reported as the last line if it
// is complete JSON (and not a number, which might go on), else it is the torn
// tail: see [Log.Tail].
func (l *Log) Scan(f func(Line) bool) error {
	h := l.file.Load()
	if h == nil {
		return nil
	}
	found, err := scanLines(h, 0, f)
	if err != nil {
		return describe("read", l.path, err)
	}
	l.know(found)
	l.scanned = !found.stopped
	l.unread = nil
	return nil
}

// know takes over what a pass found out about the end of the file.
func (l *Log) know(found scanned) {
	l.end, l.size, l.needLF, l.tail = found.end, found.size, found.needLF, found.tail
}

// Tail is the torn last line found by Scan or Grown: not complete JSON, not
// ended by LF. Zero where there is none. The first Append saves it to
// "<path>.torn-<time>" and cuts it off.
func (l *Log) Tail() Pos { return l.tail }

// ReadAt reads the line at a position. Safe for concurrent use.
func (l *Log) ReadAt(p Pos) ([]byte, error) {
	for {
		h := l.file.Load()
		if h == nil {
			return nil, fmt.Errorf("read a line at %d: the file does not exist yet", p.Off)
		}
		b := make([]byte, p.Len)
		n, err := h.ReadAt(b, p.Off)
		switch {
		case n == p.Len:
			return b, nil
		case errors.Is(err, fs.ErrClosed) && l.file.Load() != h:
			// The owner has switched files meanwhile.
		case errors.Is(err, io.EOF):
			return nil, fmt.Errorf("read a line at %d in %s: %w", p.Off, h.path, ErrShrunk)
		default:
			return nil, fmt.Errorf("read a line at %d in %s: %w", p.Off, h.path, err)
		}
	}
}

// Pending are the lines that are not on the disk, oldest first. Shared, not to be changed.
func (l *Log) Pending() [][]byte { return l.pending }

// Notices are what happened to the file that a person should know and that no
// error says: no lock, a torn tail saved, a file written anew. Each is told once.
func (l *Log) Notices() []string {
	told := l.notices
	l.notices = nil
	return told
}

func (l *Log) notice(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(l.notices, text) {
		l.notices = append(l.notices, text)
	}
}

// GrownError says that another program has appended to the file.
type GrownError struct{ Path string }

func (e *GrownError) Error() string { return e.Path + " was changed by another program" }

// Grown reports the lines that another program has appended since we last
// looked, and makes them known. For a log opened read-only it is how to watch
// the writer: it finds nothing, or more. Where the writer has put another file
// in its place that goes on from what we know, Grown goes over to it; where it
// does not, the error is ErrGone: open it again.
func (l *Log) Grown(f func(Line) bool) error {
	h := l.file.Load()
	if h == nil {
		return nil
	}
	if l.readOnly {
		if err := l.follow(h); err != nil {
			return err
		}
		h = l.file.Load()
	}
	for len(l.unread) > 0 {
		part := l.unread[0]
		found, err := scanLines(io.NewSectionReader(h, 0, part.to), part.from, f)
		if err != nil {
			return describe("read", l.path, err)
		}
		if found.stopped {
			l.unread[0].from = found.end
			return nil
		}
		l.unread = l.unread[1:]
	}
	found, err := scanLines(h, l.end, f)
	if err != nil {
		return describe("read", l.path, err)
	}
	if found.end == l.end {
		found.needLF = l.needLF
	}
	l.know(found)
	return nil
}

// follow goes over to the file that now stands at a watched path.
func (l *Log) follow(old *handle) error {
	f, err := l.fs.Open(l.path, false)
	if errors.Is(err, fs.ErrNotExist) {
		return describe("watch", l.path, ErrGone)
	}
	if err != nil {
		return describe("watch", l.path, err)
	}
	st, err := f.Stat()
	if err == nil && st.ID != old.id && !sameBefore(old, f, l.end) {
		err = ErrGone
	}
	if err != nil || st.ID == old.id {
		f.Close()
		return describe("watch", l.path, err)
	}
	l.file.Store(&handle{f, l.path, st.ID})
	old.Close()
	return nil
}

// sameBefore reports whether two files hold the same bytes just before an
// offset: a whole block, ids and times in it, is proof enough that one goes on
// where the other stands.
func sameBefore(a, b io.ReaderAt, end int64) bool {
	from := max(0, end-block)
	x, y := make([]byte, end-from), make([]byte, end-from)
	n, _ := a.ReadAt(x, from)
	m, _ := b.ReadAt(y, from)
	return n == len(x) && m == len(y) && slices.Equal(x, y)
}

// Close gives the lock and the file back. Pending lines are tried once more; if
// that fails the error is a [*PendingError] and the log stays open, so that
// [Log.SaveAs] can still save them. A second Close then gives them up.
func (l *Log) Close() error {
	if l.closed {
		return nil
	}
	var lost error
	if len(l.pending) > 0 {
		if err := l.lastFlush(); err != nil {
			lost = &PendingError{Path: l.path, Count: len(l.pending), Err: err}
			if !l.closing {
				l.closing = true
				return lost
			}
		}
	}
	l.closed = true
	h := l.file.Load()
	if h == nil {
		return lost
	}
	return errors.Join(lost, describe("close", l.path, h.Close()))
}

// lastFlush is a Flush for which nobody will call Grown.
func (l *Log) lastFlush() error {
	for {
		_, err := l.Flush()
		if _, grown := errors.AsType[*GrownError](err); !grown {
			return err
		}
		if err := l.Grown(func(Line) bool { return true }); err != nil {
			return err
		}
	}
}

// describe says what was being done to which path, unless the error does.
func describe(doing, path string, err error) error {
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*LockedError](err); ok {
		return err
	}
	// The system's own wrapping names the path too; once is enough.
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		err = p.Err
	}
	return fmt.Errorf("%s %s: %w", doing, path, err)
}
