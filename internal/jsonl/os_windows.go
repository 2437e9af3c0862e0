package jsonl

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

const (
	noFollow = 0
	nonBlock = 0
)

func statPath(path string) (Info, error) {
	fi, err := os.Lstat(path)
	if err != nil || !fi.Mode().IsRegular() {
		var st Info
		if err == nil {
			st = Info{Mode: fi.Mode(), Size: fi.Size()}
		}
		return st, err
	}
	f, err := os.Open(path)
	if err != nil {
		return Info{}, err
	}
	defer f.Close()
	return statFile(f)
}

func statFile(f *os.File) (Info, error) {
	fi, err := f.Stat()
	if err != nil {
		return Info{}, err
	}
	var by windows.ByHandleFileInformation
	if err := windows.GetFileInformationByHandle(windows.Handle(f.Fd()), &by); err != nil {
		return Info{}, os.NewSyscallError("GetFileInformationByHandle", err)
	}
	id := FileID{Dev: uint64(by.VolumeSerialNumber), Ino: uint64(by.FileIndexHigh)<<32 | uint64(by.FileIndexLow)}
	return Info{ID: id, Size: fi.Size(), Mode: fi.Mode()}, nil
}

// lock locks one byte far behind any line: Windows keeps others from reading
// what is locked.
func lock(f *os.File) error {
	at := windows.Overlapped{OffsetHigh: 1 << 30}
	err := windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &at)
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return errHeld
	}
	return err
}

// syncDir has nothing to do: NTFS journals names.
func syncDir(string) error { return nil }

// unlock leaves it to the system, which frees the lock when the file is closed.
func unlock(*os.File) {}
