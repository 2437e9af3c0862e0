package jsonl

import (
	"errors"
	"io"
	"io/fs"
)

// FS is the little that a log needs of a file system. Backends: the real one
// ([OS]); in package fstest strict memory (drops what was not synced), faults
// (the n-th call) and a recorder. Errors match [fs.ErrNotExist],
// [fs.ErrExist] and [ErrNotRegular] where that is what happened.
type FS interface {
	// Open opens an existing regular file without ever blocking: to read,
	// following symbolic links, or to read and append, refusing them with
	// [ErrSymlink].
	Open(path string, write bool) (File, error)
	// Create makes a new file (mode 0600), open to read and append. It fails
	// with [fs.ErrExist] where there is anything.
	Create(path string) (File, error)
	// Stat says what stands at a path; it does not follow symbolic links.
	Stat(path string) (Info, error)
	// Rename moves a file within a folder in one step. Where a file has the new
	// name it is replaced if over is set, else the error is [fs.ErrExist].
	Rename(from, to string, over bool) error
	// Link gives a file a second name; it fails with [fs.ErrExist] where there is anything.
	Link(from, to string) error
	// Remove removes a file or an empty folder.
	Remove(path string) error
	// Mkdir makes one folder (mode 0700).
	Mkdir(path string) error
	// SyncDir makes a folder's entries durable: files made, renamed and removed in it.
	SyncDir(path string) error
}

// File is an open file of an [FS]. ReadAt is safe for concurrent use, also with Close.
type File interface {
	io.ReaderAt
	// Write appends at the end of the file, wherever that is by now.
	io.Writer
	io.Closer
	// Truncate sets the file's size in bytes.
	Truncate(size int64) error
	// Sync makes the file's bytes and size durable. After it has failed no later
	// call of it on the same file may be believed.
	Sync() error
	Stat() (Info, error)
	// Lock takes the advisory lock of the only writer without waiting; Close and
	// death give it back. It fails with a [*HeldError], or with [ErrNoLock]
	// where the file system has no locks or none to rely on.
	Lock() error
}

// Info is what a log wants to know of a file.
type Info struct {
	ID   FileID
	Size int64 // bytes
	Mode fs.FileMode
}

// FileID tells a file from every other that exists at the same time.
type FileID struct{ Dev, Ino uint64 }

// HeldError says that a lock is held, by whom as far as that is known.
type HeldError struct{ Owner string }

func (e *HeldError) Error() string { return "locked by " + e.Owner }

// ErrNoLock says that a file system has no locks that can be relied on.
var ErrNoLock = errors.New("no lock to rely on")
