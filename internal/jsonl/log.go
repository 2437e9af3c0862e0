package jsonl

import (
	"errors"
	"fmt"
	"io"
)

// Errors of this package. They come wrapped with what was being done to which path.
var (
	ErrNotRegular = errors.New("not a regular file")
	ErrReadOnly   = errors.New("opened read-only")
	// ErrGone: the file was deleted or another one is in its place.
	ErrGone = errors.New("the file was deleted or replaced")
)

// LockedError says that another process is writing the file.
type LockedError struct {
	Path  string
	Owner string // who holds it, e.g. "pid 4711 on host since 10:04", as far as it is known
}

func (e *LockedError) Error() string {
	return fmt.Sprintf("%s is open in another process (%s)", e.Path, e.Owner)
}

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
type Log struct{}

// Open opens an existing file; it never changes it. For writing it takes the
// lock, or fails with a [*LockedError] at once. FIFOs, devices and folders are
// ErrNotRegular without blocking. A symbolic link is followed when reading and refused for writing.
func Open(path string, o Options) (*Log, error) { panic("not yet") }

// Create makes a log whose file does not exist yet: the first Append creates
// it (0600, O_EXCL, missing folders 0700), and syncs it and its folders.
func Create(path string, o Options) (*Log, error) { panic("not yet") }

// Path is the file's path.
func (l *Log) Path() string { panic("not yet") }

// Scan reads the file once from its start, in big blocks, a line of any length,
// and calls f for each line until it returns false. A BOM is skipped, blank
// lines are not reported. What is after the last LF is reported as the last
// line if it is complete JSON, else it is the torn tail: see [Log.Tail].
func (l *Log) Scan(f func(Line) bool) error { panic("not yet") }

// Tail is the torn last line found by Scan: not complete JSON, not ended by LF.
// Zero where there is none. The first Append saves it to "<path>.torn-<time>" and cuts it off.
func (l *Log) Tail() Pos { panic("not yet") }

// ReadAt reads the line at a position. Safe for concurrent use.
func (l *Log) ReadAt(p Pos) ([]byte, error) { panic("not yet") }

// Append adds lines (each without LF, one JSON value, no raw line feed) and
// returns when they are durable, with where they stand. One sync serves all of
// them. When it fails, nothing of these lines is left in the file, and they and
// all later ones are held back in order: they are pending until a Flush succeeds.
//
// Before it writes it looks whether the file is still the one that it knows.
// Grown by another program: Append fails with a [*GrownError], nothing pending
// is added; call Grown to read what came in, then Append again.
// Gone or replaced: it writes the whole file anew at its path.
func (l *Log) Append(lines ...[]byte) ([]Pos, error) { panic("not yet") }

// Pending are the lines that are not on the disk, oldest first. Shared, not to be changed.
func (l *Log) Pending() [][]byte { panic("not yet") }

// Flush tries to write the pending lines and returns where they stand, as many as were written.
func (l *Log) Flush() ([]Pos, error) { panic("not yet") }

// GrownError says that another program has appended to the file.
type GrownError struct{ Path string }

func (e *GrownError) Error() string { return e.Path + " was changed by another program" }

// Grown reports the lines that another program has appended since we last
// looked, and makes them known.
func (l *Log) Grown(f func(Line) bool) error { panic("not yet") }

// Replace writes all the lines beside the file, syncs, keeps the file as it was
// as backup (a name beside it), and renames over it: old or new, never between.
// The log then goes on with the new file. For migrations, under the lock.
func (l *Log) Replace(backup string, lines func(yield func([]byte) bool)) error {
	panic("not yet")
}

// WriteFile writes lines to a new file at path, atomically and durably; it
// fails where one exists. For forks and repaired copies.
func WriteFile(fs FS, path string, lines func(yield func([]byte) bool)) error { panic("not yet") }

// Close gives the lock and the file back. Pending lines are tried once more; if
// that fails the error says how many are lost unless they are saved elsewhere.
func (l *Log) Close() error { panic("not yet") }

// SaveAs writes the whole log, pending lines included, to a new file and goes on there.
func (l *Log) SaveAs(path string) error { panic("not yet") }

// FS is the little that a log needs of a file system. Backends: the real one
// ([OS]), strict memory (drops what was not synced), faults (n-th call), recorder.
type FS interface {
	// to be completed
}

// File is an open file of an [FS].
type File interface {
	io.ReaderAt
	io.Closer
}
