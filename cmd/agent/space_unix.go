//go:build linux || darwin

package main

import "golang.org/x/sys/unix"

// freeSpace is the room that is left for a folder, in bytes.
func freeSpace(dir string) (uint64, bool) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return 0, false
	}
	return s.Bavail * uint64(s.Bsize), true
}
