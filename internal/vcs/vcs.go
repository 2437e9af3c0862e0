// Package vcs reads what a screen shows of a repository without running
// anything: a repository's own configuration can make git run programs, and
// nothing may run before the user trusts the folder.
package vcs

import (
	"io"
	"os"
	"path/filepath"
	"strings"
)

const maxRef = 4096 // bytes of a HEAD or .git file that are looked at

// Branch is the name of the checked-out branch of the Git repository that holds
// dir, the first 7 digits of the commit if none is, and empty outside of one.
func Branch(dir string) string {
	for {
		if git := gitDir(dir); git != "" {
			return head(git)
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return ""
		}
		dir = parent
	}
}

// gitDir is the Git directory of a work tree whose root is dir, empty if it is none.
func gitDir(dir string) string {
	path := filepath.Join(dir, ".git")
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return ""
	case info.IsDir():
		return path
	}
	// A linked work tree or a submodule: a file that names the directory.
	at, ok := strings.CutPrefix(small(path), "gitdir: ")
	if !ok {
		return ""
	}
	if !filepath.IsAbs(at) {
		at = filepath.Join(dir, at)
	}
	return at
}

func head(git string) string {
	text := small(filepath.Join(git, "HEAD"))
	if ref, ok := strings.CutPrefix(text, "ref: "); ok {
		return strings.TrimPrefix(ref, "refs/heads/")
	}
	return text[:min(len(text), 7)]
}

// small is a small regular file's text, empty if it is none.
func small(path string) string {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return ""
	}
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxRef))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(data))
}
