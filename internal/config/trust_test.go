//go:build unix

package config

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// trustWorld is a home folder with work in it, beside a store of trust.
type trustWorld struct {
	t    *testing.T
	dir  string // real
	home string
	Trust
}

func newTrustWorld(t *testing.T) trustWorld {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := trustWorld{t: t, dir: dir, home: filepath.Join(dir, "home")}
	w.Trust = Trust{File: filepath.Join(w.home, ".local/state/banyan/trust.json"), Home: w.home}
	w.mkdir("home/.local")
	return w
}

func (w trustWorld) mkdir(path string) string {
	w.t.Helper()
	path = filepath.Join(w.dir, path)
	if err := os.MkdirAll(path, 0o755); err != nil {
		w.t.Fatal(err)
	}
	return path
}

func (w trustWorld) grant(path string) {
	w.t.Helper()
	if err := w.Grant(path); err != nil {
		w.t.Fatal(err)
	}
}

// check asks for folders' trust; by is the folder that covers it, empty for none.
func (w trustWorld) check(path, by string) {
	w.t.Helper()
	got, ok, err := w.Trusted(path)
	if err != nil || got != by || ok != (by != "") {
		w.t.Errorf("%s: trusted by %q, %v, %v; want %q", path, got, ok, err, by)
	}
}

func TestTrust(t *testing.T) {
	w := newTrustWorld(t)
	project, beside := w.mkdir("home/src/project"), w.mkdir("home/src/project-evil")
	w.check(project, "")
	w.grant(project)
	w.check(project, project)
	w.check(project+"/../project/.", project)
	w.check(w.mkdir("home/src/project/a/b"), project)
	w.check(filepath.Dir(project), "")
	w.check(beside, "") // a prefix of a name is no folder above
	if info, err := os.Stat(w.File); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	w.grant(project) // twice is once
	if list, err := w.List(); err != nil || len(list) != 1 || list[0].Path != project || list[0].Granted.IsZero() {
		t.Errorf("%+v, %v", list, err)
	}
	if err := w.Revoke(project); err != nil {
		t.Fatal(err)
	}
	w.check(project, "")
}

func TestTrustEndsAtAnotherRepository(t *testing.T) {
	w := newTrustWorld(t)
	src := w.mkdir("home/src")
	w.mkdir("home/src/.git")
	w.grant(src)
	w.check(src, src)
	w.check(w.mkdir("home/src/pkg"), src)
	for _, marker := range repositories {
		inside := w.mkdir("home/src/cloned" + marker)
		deeper := w.mkdir("home/src/cloned" + marker + "/deep")
		w.check(deeper, src)
		// A file does as well as a folder: that is a submodule or a work tree.
		write(t, filepath.Join(inside, marker), "gitdir: "+filepath.Join(src, ".git"))
		w.check(inside, "")
		w.check(deeper, "")
		w.grant(inside)
		w.check(deeper, inside)
	}
	// A marker that leads nowhere makes a repository too.
	dangling := w.mkdir("home/src/dangling")
	if err := os.Symlink("/nowhere", filepath.Join(dangling, ".git")); err != nil {
		t.Fatal(err)
	}
	w.check(dangling, "")
}

func TestTrustKnowsAFolderByWhatItIs(t *testing.T) {
	w := newTrustWorld(t)
	project := w.mkdir("home/project")
	w.grant(project)
	link := filepath.Join(w.dir, "link")
	if err := os.Symlink(project, link); err != nil {
		t.Fatal(err)
	}
	w.check(link, project) // the same folder by another name

	// A folder inside that is a link to elsewhere is elsewhere.
	w.mkdir("elsewhere")
	if err := os.Symlink(filepath.Join(w.dir, "elsewhere"), filepath.Join(project, "inner")); err != nil {
		t.Fatal(err)
	}
	w.check(filepath.Join(project, "inner"), "")

	// Another folder in its place is another folder. The first one is kept, so
	// that its inode is not given away again.
	if err := os.Rename(project, project+".old"); err != nil {
		t.Fatal(err)
	}
	w.mkdir("home/project")
	w.check(project, "")
	w.check(link, "")
	w.check(project+".old", "")
	w.grant(project)
	w.check(project, project)
}

func TestTrustIsNeverGivenToWhatHoldsTooMuch(t *testing.T) {
	w := newTrustWorld(t)
	shared := w.mkdir("shared")
	if err := os.Chmod(shared, 0o777|os.ModeSticky); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(w.dir, "file")
	write(t, file, "")
	homeLink := filepath.Join(w.dir, "h")
	if err := os.Symlink(w.home, homeLink); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ dir, want string }{
		{w.home, "home"},
		{homeLink, "home"},
		{w.dir, "home"},
		{"/", "home"},
		{shared, "anybody"},
		{filepath.Join(w.home, ".local"), "list of trusted folders"},
		{file, "not a folder"},
		{filepath.Join(w.dir, "missing"), "no such file"},
	} {
		if err := w.Grant(c.dir); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.dir, err, c.want)
		}
	}
	if err := (Trust{File: w.File}).Grant("/"); err == nil {
		t.Error("/ is trusted where there is no home")
	}
	// What an older file says does not count either.
	at, err := real(w.home)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.change(func(s *store) error { s.Folders = append(s.Folders, at); return nil }); err != nil {
		t.Fatal(err)
	}
	w.check(w.home, "")
	w.check(w.mkdir("home/x"), "")
}

func TestCandidate(t *testing.T) {
	w := newTrustWorld(t)
	for _, dir := range []string{"home/repo/.git", "home/repo/a/b", "home/plain/a", "home/.config/nvim"} {
		w.mkdir(dir)
	}
	check := func(dir, want string) {
		t.Helper()
		if want != "" {
			want = filepath.Join(w.dir, want)
		}
		if got, err := w.Candidate(filepath.Join(w.dir, dir)); got != want || (err == nil) != (want != "") {
			t.Errorf("%s: %s, %v; want %s", dir, got, err, want)
		}
	}
	check("home/repo/a/b", "home/repo")
	check("home/repo", "home/repo")
	check("home/plain/a", "home/plain/a")
	check("home", "")
	w.mkdir("home/.git") // dotfiles, kept in the home folder itself
	check("home/.config/nvim", "home/.config/nvim")
	check("home/repo/a", "home/repo")
}

func TestTrustFileThatCannotBeRead(t *testing.T) {
	for name, spoil := range map[string]func(path string) error{
		"torn":    func(p string) error { return os.WriteFile(p, []byte(`{"version":1,"folders":[{"pa`), 0o600) },
		"a FIFO":  func(p string) error { return syscall.Mkfifo(p, 0o600) },
		"newer":   func(p string) error { return os.WriteFile(p, []byte(`{"version":2,"folders":[]}`), 0o600) },
		"a dir":   func(p string) error { return os.Mkdir(p, 0o700) },
		"too big": func(p string) error { return os.WriteFile(p, make([]byte, maxFile+1), 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			w := newTrustWorld(t)
			project := w.mkdir("home/p")
			w.grant(project)
			if err := os.Remove(w.File); err != nil {
				t.Fatal(err)
			}
			if err := spoil(w.File); err != nil {
				t.Fatal(err)
			}
			if _, ok, err := w.Trusted(project); ok || err == nil || !strings.Contains(err.Error(), w.File) {
				t.Errorf("%v, %v", ok, err)
			}
			if a, err := w.Approved(Item{Kind: "hook", Folder: project, Name: "x"}); a.OK || err == nil {
				t.Errorf("item: %v, %v", a, err)
			}
			if err := w.Grant(project); err == nil {
				t.Error("the file was written over")
			}
		})
	}
}

func TestTrustOfTwoProgramsAtOnce(t *testing.T) {
	w := newTrustWorld(t)
	const programs = 16
	var done sync.WaitGroup
	for i := range programs {
		dir := w.mkdir(fmt.Sprintf("home/p%d", i))
		done.Go(func() {
			if err := w.Grant(dir); err != nil {
				t.Error(err)
			}
		})
	}
	done.Wait()
	if list, err := w.List(); err != nil || len(list) != programs {
		t.Errorf("%d folders, %v", len(list), err)
	}
}
