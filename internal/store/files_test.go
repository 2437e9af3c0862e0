package store_test

import (
	"syscall"
	"testing"

	"banyan/internal/jsonl"
	"banyan/internal/jsonl/fstest"
	"banyan/internal/store"
	"banyan/internal/store/storetest"
)

func TestFilesSuite(t *testing.T) {
	storetest.Run(t, func(t testing.TB) storetest.Fixture {
		disk, dir := &fstest.Faults{FS: jsonl.OS}, t.TempDir()
		return storetest.Fixture{
			Open: func(testing.TB) store.Store { return store.Files{Dir: dir, FS: disk} },
			Fail: func(fail bool) {
				if fail {
					disk.Set(fstest.Fault{Op: fstest.Write, N: 1, Err: syscall.ENOSPC}, fstest.Fault{Op: fstest.Sync, N: 1, Err: syscall.EIO})
				} else {
					disk.Set()
				}
			},
		}
	})
}
