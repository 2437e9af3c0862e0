//go:build unix

package config

import (
	"io/fs"
	"syscall"
)

// identity tells a folder from another one at the same path.
func identity(info fs.FileInfo) (device, inode uint64) {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(s.Dev), uint64(s.Ino)
	}
	return 0, 0
}
