package vcs

import (
	"os"
	"path/filepath"
	"testing"
)

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestBranch(t *testing.T) {
	root := t.TempDir()
	write(t, filepath.Join(root, "main/.git/HEAD"), "ref: refs/heads/feat/x\n")
	write(t, filepath.Join(root, "main/sub/file"), "")
	write(t, filepath.Join(root, "detached/.git/HEAD"), "0123456789abcdef0123456789abcdef01234567\n")
	write(t, filepath.Join(root, "main/.git/worktrees/w/HEAD"), "ref: refs/heads/w\n")
	write(t, filepath.Join(root, "linked/.git"), "gitdir: ../main/.git/worktrees/w\n")
	write(t, filepath.Join(root, "odd/.git"), "something else")
	for dir, want := range map[string]string{
		"main": "feat/x", "main/sub": "feat/x", "detached": "0123456", "linked": "w", "odd": "", ".": "",
	} {
		if got := Branch(filepath.Join(root, dir)); got != want {
			t.Errorf("%s: %q, want %q", dir, got, want)
		}
	}
}
