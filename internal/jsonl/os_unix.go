//go:build unix

package jsonl

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

const (
	noFollow = syscall.O_NOFOLLOW
	nonBlock = syscall.O_NONBLOCK
)

func statPath(path string) (Info, error) { return info(os.Lstat(path)) }
func statFile(f *os.File) (Info, error)  { return info(f.Stat()) }

func info(fi fs.FileInfo, err error) (Info, error) {
	if err != nil {
		return Info{}, err
	}
	st := Info{Size: fi.Size(), Mode: fi.Mode()}
	if sys, ok := fi.Sys().(*syscall.Stat_t); ok {
		st.ID = FileID{uint64(sys.Dev), uint64(sys.Ino)}
	}
	return st, nil
}

// syncDir syncs a folder where that means something and where we may open it.
func syncDir(path string) error {
	d, err := os.Open(path)
	if errors.Is(err, fs.ErrPermission) {
		return nil
	}
	if err != nil {
		return err
	}
	defer d.Close()
	err = d.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported) {
		return nil
	}
	return err
}
