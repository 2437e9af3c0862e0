//go:build !linux

package jsonl

import "os"

// doubtfulLock would say where a lock may not hold; here we cannot tell.
func doubtfulLock(*os.File) error { return nil }

// syncData is a full sync; on macOS Go makes it one that reaches the disk.
func syncData(f *os.File) error { return f.Sync() }

// renameNew has no call of its own here that does it in one step.
func renameNew(from, to string) error { return linkNew(from, to) }
