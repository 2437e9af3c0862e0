package jsonl

import (
	"errors"
	"io/fs"
	"os"
)

// OS is the real file system.
var OS FS = osFS{}

type osFS struct{}

// osFile hides what an [os.File] can do beyond a [File].
type osFile struct {
	f     *os.File
	owner string // the note beside the lock, empty where there is none
}

func (osFS) Open(path string, write bool) (File, error) {
	// Looking first keeps us from opening devices, which may act on it; the
	// look at the open file is what counts.
	look := os.Stat
	if write {
		look = os.Lstat
	}
	fi, err := look(path)
	switch {
	case err != nil:
		return nil, err
	case fi.Mode()&fs.ModeSymlink != 0:
		return nil, ErrSymlink
	case !fi.Mode().IsRegular():
		return nil, ErrNotRegular
	}
	flags := os.O_RDONLY
	if write {
		flags = os.O_RDWR | os.O_APPEND | noFollow
	}
	f, err := os.OpenFile(path, flags|nonBlock, 0)
	if err != nil {
		return nil, err
	}
	if fi, err = f.Stat(); err == nil && !fi.Mode().IsRegular() {
		err = ErrNotRegular
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return &osFile{f: f}, nil
}

func (osFS) Create(path string) (File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	// An odd umask must not make a file that its owner cannot open again.
	if err := f.Chmod(0o600); err != nil && !errors.Is(err, errors.ErrUnsupported) && !errors.Is(err, fs.ErrPermission) {
		f.Close()
		os.Remove(path)
		return nil, err
	}
	return &osFile{f: f}, nil
}

func (osFS) Stat(path string) (Info, error) { return statPath(path) }

func (osFS) Rename(from, to string, over bool) error {
	if over {
		return os.Rename(from, to)
	}
	return renameNew(from, to)
}

// linkNew renames by way of a second name, which is never given over a file.
func linkNew(from, to string) error {
	err := os.Link(from, to)
	if err == nil {
		return os.Remove(from)
	}
	if errors.Is(err, fs.ErrExist) {
		return err
	}
	// No links here either: look, then rename.
	if _, err := os.Lstat(to); !errors.Is(err, fs.ErrNotExist) {
		return &fs.PathError{Op: "rename", Path: to, Err: fs.ErrExist}
	}
	return os.Rename(from, to)
}

func (osFS) Link(from, to string) error { return os.Link(from, to) }
func (osFS) Remove(path string) error   { return os.Remove(path) }

func (osFS) Mkdir(path string) error {
	if err := os.Mkdir(path, 0o700); err != nil {
		return err
	}
	return os.Chmod(path, 0o700)
}

func (osFS) SyncDir(path string) error { return syncDir(path) }

func (f *osFile) ReadAt(b []byte, off int64) (int, error) { return f.f.ReadAt(b, off) }
func (f *osFile) Write(b []byte) (int, error)             { return f.f.Write(b) }
func (f *osFile) Truncate(size int64) error               { return f.f.Truncate(size) }
func (f *osFile) Sync() error                             { return syncData(f.f) }
func (f *osFile) Stat() (Info, error)                     { return statFile(f.f) }

func (f *osFile) Lock() error {
	note := ""
	if st, err := f.Stat(); err == nil {
		note = ownerNote(st.ID)
	}
	err := lock(f.f)
	if err == nil {
		f.owner = note
		writeOwner(note)
		return doubtfulLock(f.f)
	}
	if errors.Is(err, errHeld) {
		return &HeldError{Owner: readOwner(note)}
	}
	return err
}

func (f *osFile) Close() error {
	if f.owner != "" {
		os.Remove(f.owner)
		f.owner = ""
	}
	unlock(f.f)
	return f.f.Close()
}

// errHeld is what lock returns where another has the lock.
var errHeld = errors.New("held")
