package session

import (
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
	"strings"
)

// Dir is the folder for the sessions of a working directory, below the folder
// of all sessions: <base name>-<hash of the real path>. Two working directories
// never share one; a symbolic link and its target do.
func Dir(sessions, cwd string) string { return filepath.Join(sessions, Project(cwd)) }

// Project is the name of a working directory's folder.
func Project(cwd string) string {
	path := realPath(cwd)
	sum := sha256.Sum256([]byte(path))
	return projectBase(path) + "-" + hex.EncodeToString(sum[:5])
}

// realPath is a path absolute and without symbolic links, as far as it exists.
func realPath(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return filepath.Clean(path)
}

// projectBase is the base name, made fit for a file name everywhere: it is for
// people, the hash is what tells projects apart.
func projectBase(path string) string {
	const most = 80
	base := strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || strings.ContainsRune(`/\:*?"<>|`, r) {
			return '_'
		}
		return r
	}, filepath.Base(path))
	for len(base) > most {
		base = strings.ToValidUTF8(base[:most], "")
	}
	if strings.Trim(base, "._") == "" {
		return "root"
	}
	return base
}
