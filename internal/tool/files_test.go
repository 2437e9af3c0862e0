package tool

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestStatAndExists(t *testing.T) {
	b := newBench(t)
	b.put("d/f", "12345")
	if err := os.Symlink("d/f", b.path("link")); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ tool, path, want string }{
		{"exists", "d/f", "yes: d/f is a file"},
		{"exists", "d", "yes: d is a folder"},
		{"exists", "link", "yes: link → d/f is a file"},
		{"exists", "none", "no: none does not exist"},
		{"exists", "none/none", "no: none/none does not exist"},
		{"exists", "/dev/null", "yes: /dev/null is a device"},
	} {
		if got := b.text(test.tool, args{"path": test.path}); got != test.want {
			t.Errorf("%s %s: got %q", test.tool, test.path, got)
		}
	}
	if got := b.text("stat", args{"path": "link"}); !strings.Contains(got, "path: link → d/f\nkind: file\nsize: 5 bytes\nmode: -rw-r--r--\n") {
		t.Errorf("got %q", got)
	}
	b.fails("stat", args{"path": "none"}, "not exist")
}

func TestMkdir(t *testing.T) {
	b := newBench(t)
	b.put("file", "")
	for range 2 {
		b.text("mkdir", args{"path": "a/b/c"})
	}
	if fi, err := os.Stat(b.path("a/b/c")); err != nil || !fi.IsDir() {
		t.Error(err)
	}
	b.fails("mkdir", args{"path": "file/x"}, "file/x")
	b.fails("mkdir", args{"path": "file"}, "file")
}

func TestRemove(t *testing.T) {
	t.Setenv("XDG_DATA_HOME", t.TempDir()) // no trash
	b := newBench(t)
	b.put("f", "x")
	b.put("full/x", "x")
	b.put("target/x", "x")
	if err := os.Mkdir(b.path("empty"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("target", b.path("link")); err != nil {
		t.Fatal(err)
	}
	outside := filepath.Join(t.TempDir(), "outside")
	if err := os.WriteFile(outside, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Dir(outside), b.path("out")); err != nil {
		t.Fatal(err)
	}
	b.fails("rm", args{"path": "full"}, "not empty", "recursive")
	b.fails("rm", args{"path": "none"}, "not exist")
	b.fails("rm", args{"path": "."}, "workspace")
	b.fails("rm", args{"path": "..", "recursive": true}, "workspace")
	b.fails("rm", args{"path": "/", "recursive": true}, "root")
	b.fails("rm", args{"path": outside}, "not in the workspace", "not removed")
	b.fails("rm", args{"path": "out/outside"}, "leads out")
	b.text("rm", args{"path": "f"})
	b.text("rm", args{"path": "empty"})
	b.text("rm", args{"path": "full", "recursive": true})
	b.text("rm", args{"path": "link"})
	b.text("rm", args{"path": "out"})
	left, err := filepath.Glob(b.path("*"))
	if err != nil || len(left) != 1 || left[0] != b.path("target") {
		t.Errorf("left: %v", left)
	}
	for _, path := range []string{outside, b.path("target/x")} {
		if _, err := os.Stat(path); err != nil {
			t.Error("what a link led to is gone:", err)
		}
	}
}

func TestRemoveToTrash(t *testing.T) {
	data := t.TempDir()
	t.Setenv("XDG_DATA_HOME", data)
	for _, part := range []string{"files", "info"} {
		if err := os.MkdirAll(filepath.Join(data, "Trash", part), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	b := newBench(t)
	for range 2 {
		b.put("a b.txt", "content")
		if got := b.text("rm", args{"path": "a b.txt"}); !strings.Contains(got, "trash") {
			t.Fatalf("got %q", got)
		}
	}
	for _, name := range []string{"a b.txt", "a b.txt.2"} {
		if text, err := os.ReadFile(filepath.Join(data, "Trash", "files", name)); err != nil || string(text) != "content" {
			t.Errorf("%q %v", text, err)
		}
		info, err := os.ReadFile(filepath.Join(data, "Trash", "info", name+".trashinfo"))
		if err != nil || !strings.Contains(string(info), "/a%20b.txt\n") {
			t.Errorf("%q %v", info, err)
		}
	}
}

func TestTodo(t *testing.T) {
	b := newBench(t)
	r := b.call("todo", args{"items": []args{{"text": "look", "status": "done"}, {"text": "change", "status": "in_progress"}, {"text": "test", "status": "pending"}}})
	if got := textOf(r); got != "1 of 3 steps done." {
		t.Errorf("got %q", got)
	}
	if v := r.View.(Plain); v.Text != "[x] look\n[>] change\n[ ] test\n" {
		t.Errorf("view %q", v.Text)
	}
	b.fails("todo", args{"items": []args{{"text": "look", "status": "maybe"}}}, "maybe")
}

// The private folder of a program that was killed is removed by the next one,
// that of one which lives is not.
func TestTemporaryFoldersAreSwept(t *testing.T) {
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	dead := exec.Command("true")
	if err := dead.Run(); err != nil {
		t.Fatal(err)
	}
	for name, gone := range map[string]bool{
		fmt.Sprintf("banyan-%d-1", dead.Process.Pid): true, fmt.Sprintf("banyan-%d-1", os.Getpid()): false, "banyan-x-1": false, "other": false,
	} {
		if err := os.MkdirAll(filepath.Join(tmp, name, "sub"), 0o700); err != nil {
			t.Fatal(err)
		}
		newBench(t)
		if _, err := os.Stat(filepath.Join(tmp, name)); (err != nil) != gone {
			t.Errorf("%s: gone is %v", name, err != nil)
		}
	}
}
