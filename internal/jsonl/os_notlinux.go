//go:build !linux && !windows

package jsonl

import "os"

// syncData is a full sync; on macOS Go makes it one that reaches the disk.
func syncData(f *os.File) error { return f.Sync() }

func renameNew(from, to string) error { return linkNew(from, to) }
