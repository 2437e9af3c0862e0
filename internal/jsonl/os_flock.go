//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package jsonl

import (
	"errors"
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// lock takes flock's lock on the open file itself. It belongs to the open file
// and not to the process, so it holds within one process too, no other close
// drops it (as closing any descriptor does with fcntl's), and death frees it.
func lock(f *os.File) error {
	for {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		switch {
		case errors.Is(err, syscall.EINTR):
			continue
		case errors.Is(err, syscall.EWOULDBLOCK):
			return errHeld
		case errors.Is(err, syscall.ENOLCK), errors.Is(err, errors.ErrUnsupported):
			return fmt.Errorf("%w: %w", ErrNoLock, err)
		}
		return err
	}
}

// unlock gives the lock back at once. Closing alone does so only when the last
// reader of the file has returned, and a reader may still be on its way.
func unlock(f *os.File) { _ = unix.Flock(int(f.Fd()), unix.LOCK_UN) }
