package store

import (
	"context"
	"iter"
	"time"

	"banyan/internal/jsonl"
)

// Store holds logs. It is safe for concurrent use, also by several processes.
//
// Errors match, wrapped with what was being done to what: [fs.ErrNotExist] and
// [fs.ErrExist], a [*jsonl.LockedError] where another writer has the log,
// [fs.ErrPermission] where it may be read and not written. What keeps a store
// from working at all (it is down, full, of a newer schema) is told by each
// call that meets it and changes nothing: the next call tries again.
type Store interface {
	// Name says where the store is, as it may be shown and kept: it has no
	// password in it. The paths of its logs begin with it. Empty for [Files].
	Name() string
	// Has tells by its form whether a path may be opened here.
	Has(path string) bool
	// Keeps tells by its form whether a path is one that List may tell of.
	Keeps(path string) bool

	// Path is where the log of a place is, whether there is one or not.
	Path(Place) string
	// Create makes a log that comes into being with its first Append, which
	// fails with [fs.ErrExist] where one has come into being meanwhile. Create
	// fails so where there is one now.
	Create(Place) (Log, error)
	// Open opens a log and changes nothing. For writing it takes the lock of the
	// only writer, which Close gives back and which no dead writer keeps; where
	// another has it, the error comes at once. Read-only it takes none.
	Open(path string, readOnly bool) (Log, error)
	// Write makes a whole log at once, durably: no reader, and no crash, ever
	// leaves a part of one. An error among the lines ends it. It returns the new
	// log's path.
	Write(Place, iter.Seq2[[]byte, error]) (path string, err error)
	// List is the logs of a project and those of none, or all for "", in no
	// order, without those that belong to another. A store without any is empty,
	// not an error.
	List(project string) ([]Info, error)
	// Children are the logs that belong to one, or to any for "".
	Children(parent string) ([]Info, error)
	// Delete removes a log for good. One that is being written is refused.
	Delete(path string) error
	// Close gives connections and files back. Logs are closed before.
	Close() error
}

// Place says what a new log is called and whose it is.
type Place struct {
	// Project is the working directory's name, as session.Project gives it;
	// [Files] take the path of any folder.
	Project string
	// Parent is the path of the log that this one belongs to, as a task's does
	// to the one that gave it: it is found by that, and in no List. Empty for
	// none; else Project and Time mean nothing.
	Parent string
	ID     string    // the session's
	Time   time.Time // of creation
}

// Info is what a store knows of a log without reading it.
type Info struct {
	Path    string
	ID      string // the session's, as far as the store knows it
	Project string // empty for none
	Size    int64  // bytes
	Changed time.Time
}

// Log is the lines of one session. One goroutine owns it, except for ReadAt and
// Wait, which are safe anywhere.
//
// Lines have no LF in them and are otherwise any bytes. A line whose Append
// returned nil is durable and whole, in the order of the appends, once, and its
// position never changes but by Replace. What the store refuses stays in
// memory, in order, and is never given up except by a second Close.
type Log interface {
	// Path names the log in its store, for Open and for people.
	Path() string
	// Size is the bytes of the lines that are known.
	Size() int64
	// Extent is the log's size in bytes as far as the store can tell it cheaply:
	// before a Scan, for making room.
	Extent() int64
	// Scan reads the log once from its start and calls f for each line until it
	// returns false. Blank lines are left out, a BOM at the start and a CR at a
	// line's end are not part of it, and a run of zero bytes before a line is
	// one of its own. The bytes are valid during the call only.
	Scan(f func(jsonl.Line) bool) error
	// Tail is a torn last line that Scan or Grown has found; the first Append
	// puts it aside. Only files can have one.
	Tail() jsonl.Pos
	// ReadAt reads a line, or any span of the bytes that are known.
	ReadAt(jsonl.Pos) ([]byte, error)

	// Append adds lines and returns when they are durable, with where they
	// stand. All of them or none: when it fails, they and all later ones are
	// pending, and the next Append or Flush tries them again, in order, before
	// what is new. Where it is not known whether a failed Append was done, the
	// next one finds out, so that no line comes twice.
	//
	// A log that another writer has added to fails with a [*jsonl.GrownError],
	// and what was to be added is not pending: call Grown, then Append again.
	Append(lines ...[]byte) ([]jsonl.Pos, error)
	// Flush tries the pending lines again and tells where they stand, and where
	// those stand that were pending and that an Append has written since.
	Flush() ([]jsonl.Pos, error)
	// Pending are the lines that are not in the store, oldest first. Shared, not
	// to be changed.
	Pending() [][]byte
	// Grown reports the lines that another writer has added since the last look
	// and makes them known. It is how a log opened read-only is watched. A log
	// that is no longer there, or no longer goes on from what is known, fails
	// with [jsonl.ErrGone].
	Grown(f func(jsonl.Line) bool) error
	// Wait returns when Grown may have something, or the context ends, whose
	// error it returns. It may return too often, never too late by more than a second.
	Wait(context.Context) error
	// Replace writes the log anew, at once and durably, and keeps it as it was
	// under the name of its path with a suffix. Positions mean nothing any more:
	// Scan gives the new ones. Pending lines stay pending.
	Replace(suffix string, lines iter.Seq2[[]byte, error]) error

	// Notices are what happened that a person should know and that no error
	// says. Each is told once.
	Notices() []string
	// Close gives the lock back. Pending lines are tried once more; if that
	// fails the error is a [*jsonl.PendingError] and the log stays open, so that
	// they can still be saved elsewhere. A second Close gives them up.
	Close() error
}
