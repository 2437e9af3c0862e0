//go:build unix

package config

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// ask asks for an item's approval.
func (w trustWorld) ask(item Item, want Approval) {
	w.t.Helper()
	if got, err := w.Approved(item); got != want || err != nil {
		w.t.Errorf("%s %s of %q: %+v, %v; want %+v", item.Kind, item.Name, item.Folder, got, err, want)
	}
}

func (w trustWorld) approve(item Item) {
	w.t.Helper()
	if err := w.Approve(item); err != nil {
		w.t.Fatal(err)
	}
}

func TestItemIsApprovedByItsText(t *testing.T) {
	w := newTrustWorld(t)
	project, other := w.mkdir("home/project"), w.mkdir("home/other")
	w.grant(project)
	w.grant(other)
	item := Item{Kind: "mcp", Folder: project, Name: "db", Text: "command node\narg server.js\n"}
	w.ask(item, Approval{})
	w.approve(item)
	w.approve(item) // twice is once
	w.ask(item, Approval{OK: true})

	link := filepath.Join(w.dir, "link")
	if err := os.Symlink(project, link); err != nil {
		t.Fatal(err)
	}
	for _, same := range []Item{
		{"mcp", project + "/.", "db", item.Text},
		{"mcp", link, "db", item.Text},
	} {
		w.ask(same, Approval{OK: true})
	}
	for _, another := range []Item{
		{"hook", project, "db", item.Text},
		{"mcp", other, "db", item.Text},
		{"mcp", project, "db2", item.Text},
		{"mcp", "", "db", item.Text},
	} {
		w.ask(another, Approval{})
	}

	changed := item
	changed.Text = "command node\narg evil.js\n"
	w.ask(changed, Approval{Changed: true, Before: item.Text})
	w.approve(changed)
	w.ask(changed, Approval{OK: true})
	w.ask(item, Approval{Changed: true, Before: changed.Text}) // there is one at a time

	if err := w.RevokeItem("mcp", link, "db"); err != nil {
		t.Fatal(err)
	}
	w.ask(changed, Approval{})
	if texts, err := os.ReadDir(filepath.Join(filepath.Dir(w.File), "approved")); err != nil || len(texts) > 0 {
		t.Errorf("texts are left: %v, %v", texts, err)
	}
}

func TestItemOfTheUsersOwnNeedsNoFolder(t *testing.T) {
	w := newTrustWorld(t)
	item := Item{Kind: "mcp tools", Name: "db", Text: "query: asks the database"}
	w.ask(item, Approval{})
	w.approve(item)
	w.ask(item, Approval{OK: true})
}

func TestItemCountsInATrustedFolderOnly(t *testing.T) {
	w := newTrustWorld(t)
	project := w.mkdir("home/project")
	item := Item{Kind: "hook", Folder: project, Name: "check", Text: "./check.sh"}
	if a, err := w.Approved(item); a.OK || err == nil || !strings.Contains(err.Error(), "not trusted") {
		t.Errorf("%+v, %v", a, err)
	}
	if err := w.Approve(item); err == nil {
		t.Error("it was approved before its folder was trusted")
	}
	w.grant(project)
	w.approve(item)
	if err := w.Revoke(project); err != nil {
		t.Fatal(err)
	}
	if a, err := w.Approved(item); a.OK || err == nil {
		t.Errorf("%+v, %v", a, err)
	}
	w.ForNow = project // for as long as the program runs
	w.ask(item, Approval{OK: true})
	w.check(w.mkdir("home/project/below"), project)
	w.check(w.mkdir("home/project-evil"), "")
}

func TestItemWhoseTextIsLostOrSpoiled(t *testing.T) {
	for name, spoil := range map[string]func(path string) error{
		"gone":    os.Remove,
		"another": func(p string) error { return os.WriteFile(p, []byte("what was never approved"), 0o600) },
		"a FIFO":  func(p string) error { _ = os.Remove(p); return syscall.Mkfifo(p, 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			w := newTrustWorld(t)
			item := Item{Kind: "mcp", Name: "x", Text: "before"}
			w.approve(item)
			file := w.textFile(item.Hash())
			if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
				t.Fatalf("mode %v, %v", info, err)
			}
			if err := spoil(file); err != nil {
				t.Fatal(err)
			}
			w.ask(item, Approval{OK: true}) // the hash decides
			item.Text = "now"
			w.ask(item, Approval{Changed: true})
		})
	}
}

func TestItemsOfTwoProgramsAtOnce(t *testing.T) {
	w := newTrustWorld(t)
	names := strings.Split("abcdefghijklmnop", "")
	var done sync.WaitGroup
	for _, name := range names {
		done.Go(func() {
			if err := w.Approve(Item{Kind: "hook", Name: name, Text: "the same for all"}); err != nil {
				t.Error(err)
			}
		})
	}
	done.Wait()
	for _, name := range names {
		w.ask(Item{Kind: "hook", Name: name, Text: "the same for all"}, Approval{OK: true})
	}
	// What several items say alike stays while one of them says it.
	if err := w.RevokeItem("hook", "", "a"); err != nil {
		t.Fatal(err)
	}
	w.ask(Item{Kind: "hook", Name: "b", Text: "other"}, Approval{Changed: true, Before: "the same for all"})
}

func TestFilesNamed(t *testing.T) {
	w := newTrustWorld(t)
	project := w.mkdir("home/project")
	w.mkdir("home/project/dir")
	write(t, filepath.Join(project, "a.js"), "one")
	write(t, filepath.Join(project, "dir", "b c.js"), "two")
	write(t, filepath.Join(w.dir, "outside"), "three")
	if err := os.Symlink(filepath.Join(w.dir, "outside"), filepath.Join(project, "out")); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(project, "fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	const one, two = "7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed", "3fc4ccfe745870e2c0d99f71f30ff0656c8dedd41cc1d7d3d376b0dbe685e2f3"
	want := `file "a.js" sha256 ` + one + "\n" + `file "dir/b c.js" sha256 ` + two + "\n" +
		`file "fifo" sha256 unreadable` + "\n" + `file "out" sha256 unreadable` + "\n"
	got := FilesNamed(project, "node", "./a.js", filepath.Join(project, "a.js"), "--config=dir/b c.js",
		"dir", ".", "", "missing.js", "../../outside", filepath.Join(w.dir, "outside"), "out", "fifo", strings.Repeat("x", 10000), "a\x00b")
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	write(t, filepath.Join(project, "a.js"), "1")
	if FilesNamed(project, "./a.js") == FilesNamed(project, "dir/b c.js") || strings.Contains(FilesNamed(project, "a.js"), one) {
		t.Error("a change does not show")
	}
}
