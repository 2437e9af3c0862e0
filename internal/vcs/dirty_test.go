package vcs

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// git runs in a repository of the test's own, with nobody's configuration.
func git(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=t", "-c", "user.email=t@example.org"}, args...)...)
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "GIT_CONFIG_NOSYSTEM=1"}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

func TestDirty(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed: there is no index to read")
	}
	fresh := func(t *testing.T) string {
		dir := t.TempDir()
		for _, name := range []string{"a.txt", "sub/b.txt", "sub/a name with ü and blanks.txt"} {
			write(t, filepath.Join(dir, name), "content of "+name)
		}
		if err := os.Symlink("a.txt", filepath.Join(dir, "link")); err != nil {
			t.Fatal(err)
		}
		git(t, dir, "init", "-q")
		git(t, dir, "add", ".")
		git(t, dir, "commit", "-qm", "x")
		return dir
	}
	for name, c := range map[string]struct {
		change func(t *testing.T, dir string)
		want   bool
	}{
		"nothing":   {func(*testing.T, string) {}, false},
		"untracked": {func(t *testing.T, dir string) { write(t, filepath.Join(dir, "new"), "x") }, false},
		"longer":    {func(t *testing.T, dir string) { write(t, filepath.Join(dir, "sub/b.txt"), "much longer content") }, true},
		"removed":   {func(t *testing.T, dir string) { os.Remove(filepath.Join(dir, "a.txt")) }, true},
		"now folder": {func(t *testing.T, dir string) {
			os.Remove(filepath.Join(dir, "a.txt"))
			os.Mkdir(filepath.Join(dir, "a.txt"), 0o755)
		}, true},
		"same size": {func(t *testing.T, dir string) {
			path := filepath.Join(dir, "a.txt")
			write(t, path, "CONTENT OF A.TXT")
			later := time.Now().Add(time.Hour)
			os.Chtimes(path, later, later)
		}, true},
		"assumed unchanged": {func(t *testing.T, dir string) {
			git(t, dir, "update-index", "--assume-unchanged", "a.txt")
			write(t, filepath.Join(dir, "a.txt"), "something else altogether")
		}, false},
		"damaged index": {func(t *testing.T, dir string) {
			write(t, filepath.Join(dir, ".git/index"), "DIRC\x00\x00\x00\x02\x00\x00\xff\xffshort")
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			dir := fresh(t)
			c.change(t, dir)
			if got := Dirty(filepath.Join(dir, "sub")); got != c.want {
				t.Errorf("dirty: %v", got)
			}
		})
	}
	if Dirty(t.TempDir()) {
		t.Error("a folder outside of any repository is dirty")
	}
}
