package vcs

import (
	"bytes"
	"encoding/binary"
	"io/fs"
	"os"
	"path/filepath"
)

// Dirty says whether a tracked file of the work tree that holds dir was changed
// or removed since it was last staged: whether its size or time differ from what
// Git's index remembers. It reads no file's content and runs no filter, so a file
// that was only touched counts as changed until Git looks at it, and what is
// staged and not committed does not count. False where it cannot tell.
func Dirty(dir string) bool {
	for {
		if git := gitDir(dir); git != "" {
			return indexDiffers(filepath.Join(git, "index"), dir)
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return false
		}
		dir = parent
	}
}

// Layout of an index, version 2 and 3 (Documentation/gitformat-index): a header
// of "DIRC", version and number of entries; entries of 62 bytes (64 where the
// extended flag is set), the path, and NULs up to a multiple of eight. Version 4
// shortens paths and is left alone.
const (
	indexHeader  = 12
	entryBytes   = 62
	largestIndex = 64 << 20 // bytes
	atMtime      = 8
	atMode       = 24
	atSize       = 36
	atFlags      = 60
	extended     = 0x4000
	assumeValid  = 0x8000
	skipWorktree = 0x4000 // of the extended flags
	fileTypeMask = 0o170000
	gitlink      = 0o160000
)

func indexDiffers(path, root string) bool {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > largestIndex {
		return false
	}
	data, err := os.ReadFile(path)
	if err != nil || len(data) < indexHeader || string(data[:4]) != "DIRC" {
		return false
	}
	if v := binary.BigEndian.Uint32(data[4:]); v != 2 && v != 3 {
		return false
	}
	count := binary.BigEndian.Uint32(data[8:])
	at := data[indexHeader:]
	for range count {
		entry, name, size, ok := indexEntry(at)
		if !ok {
			return false
		}
		if entry != nil && entryDiffers(entry, filepath.Join(root, filepath.FromSlash(name))) {
			return true
		}
		at = at[size:]
	}
	return false
}

// indexEntry takes the first entry apart. The entry is nil where the work tree is
// not to be looked at.
func indexEntry(data []byte) (entry []byte, name string, size int, ok bool) {
	if len(data) < entryBytes {
		return nil, "", 0, false
	}
	flags := binary.BigEndian.Uint16(data[atFlags:])
	start, ignored := entryBytes, flags&assumeValid != 0
	if flags&extended != 0 {
		if len(data) < entryBytes+2 {
			return nil, "", 0, false
		}
		ignored = ignored || binary.BigEndian.Uint16(data[entryBytes:])&skipWorktree != 0
		start += 2
	}
	end := bytes.IndexByte(data[start:], 0)
	if end < 0 {
		return nil, "", 0, false
	}
	size = (start + end + 8) / 8 * 8
	if size > len(data) {
		return nil, "", 0, false
	}
	mode := binary.BigEndian.Uint32(data[atMode:])
	if ignored || mode&fileTypeMask == gitlink {
		return nil, "", size, true
	}
	return data[:entryBytes], string(data[start : start+end]), size, true
}

func entryDiffers(entry []byte, path string) bool {
	info, err := os.Lstat(path)
	if err != nil {
		return true
	}
	if info.Mode()&fs.ModeSymlink == 0 && !info.Mode().IsRegular() {
		return true
	}
	return uint32(info.Size()) != binary.BigEndian.Uint32(entry[atSize:]) ||
		uint32(info.ModTime().Unix()) != binary.BigEndian.Uint32(entry[atMtime:])
}
