//go:build !darwin && !dragonfly && !freebsd && !linux && !netbsd && !openbsd && !windows

package jsonl

import "os"

func lock(*os.File) error { return ErrNoLock }

func unlock(*os.File) {}
