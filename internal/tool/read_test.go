package tool

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"banyan/internal/llm"
)

func TestReadText(t *testing.T) {
	b := newBench(t)
	b.put("a.txt", "one\ntwo\nthree\nfour")
	b.put("crlf.txt", "\uFEFFone\r\ntwo\r\n")
	b.put("utf16.txt", "\xff\xfeh\x00\xe9\x00\n\x00")
	b.put("latin1.txt", "caf\xe9 au lait, plus some more text\n")
	b.put("empty", "")
	for _, test := range []struct {
		args args
		want string
	}{
		{args{"path": "a.txt"}, "1\tone\n2\ttwo\n3\tthree\n4\tfour\n"},
		{args{"path": b.path("a.txt"), "offset": 3}, "3\tthree\n4\tfour\n"},
		{args{"path": "./a.txt", "offset": 2, "limit": 2}, "2\ttwo\n3\tthree\n[lines 2 to 3 of 4; go on with offset 4]\n"},
		{args{"path": "a.txt", "offset": 3, "limit": 2}, "3\tthree\n4\tfour\n"},
		{args{"path": "crlf.txt"}, "1\tone\n2\ttwo\n"},
		{args{"path": "utf16.txt"}, "1\thé\n"},
		{args{"path": "latin1.txt"}, "1\tcaf\uFFFD au lait, plus some more text\n"},
		{args{"path": "empty"}, "empty is empty."},
	} {
		if got := b.text("read", test.args); got != test.want {
			t.Errorf("%v: got %q, want %q", test.args, got, test.want)
		}
	}
	b.fails("read", args{"path": "a.txt", "offset": 5}, "4 lines", "no line 5")
	b.fails("read", args{"path": "none.txt"}, "none.txt", "not exist")
	b.fails("read", args{"path": "a.txt/b"}, "not a directory")
	b.fails("read", args{"path": "a\x00b"}, "NUL")
}

func TestReadIsCut(t *testing.T) {
	b := newBench(t)
	b.put("long", strings.Repeat("line\n", 5000))
	got := b.text("read", args{"path": "long"})
	if !strings.HasSuffix(got, "2000\tline\n[lines 1 to 2000 of 5000; go on with offset 2001]\n") {
		t.Errorf("ends with %q", got[len(got)-100:])
	}
	b.put("wide", strings.Repeat("x", 1<<20)+"\nend\n")
	got = b.text("read", args{"path": "wide"})
	if len(got) > 3000 || !strings.Contains(got, "1046576 more bytes in this line") || !strings.Contains(got, "2\tend\n") {
		t.Errorf("%d bytes: %.60q … %q", len(got), got, got[len(got)-80:])
	}
	b.put("big", strings.Repeat(strings.Repeat("y", 999)+"\n", 100))
	r := b.call("read", args{"path": "big"})
	if got := textOf(r); len(got) > maxBytes+100 || !strings.Contains(got, "lines 1 to 51 of 100; go on with offset 52") {
		t.Errorf("%d bytes, ends with %q", len(got), got[len(got)-80:])
	}
	if v := r.View.(Plain); v.Cut == nil || v.Cut.Lines != 100 || v.Line != 1 || strings.HasPrefix(v.Text, "1\t") {
		t.Errorf("view %+v", v.Cut)
	}
}

func TestReadStreamsLargeFiles(t *testing.T) {
	b := newBench(t)
	path := b.put("sparse", "first\nsecond\n"+strings.Repeat("z", 10<<10)+"\n")
	if err := os.Truncate(path, 3<<30); err != nil {
		t.Skip("this file system has no sparse files of 3 GB:", err)
	}
	got := b.text("read", args{"path": "sparse", "limit": 2})
	if !strings.Contains(got, "1\tfirst\n2\tsecond\n[lines 1 to 2 of a file of 3.22 GB; go on with offset 3") {
		t.Errorf("got %q", got)
	}
	b.fails("edit", args{"path": "sparse", "old_string": "first", "new_string": "1"}, "3.22 GB", "command")

	line := strings.Repeat("a", 99)
	b.put("lines", strings.Repeat(line+"\n", 200_000)) // 20 MB
	if got := b.text("read", args{"path": "lines", "offset": 150_000, "limit": 1}); !strings.HasPrefix(got, "150000\t"+line+"\n") {
		t.Errorf("got %q", got)
	}
	if got := b.text("read", args{"path": "lines", "offset": 200_000}); got != "200000\t"+line+"\n" {
		t.Errorf("got %q", got)
	}
	b.fails("read", args{"path": "lines", "offset": 200_001}, "200000 lines")
}

func TestReadRefusesWhatNeverEnds(t *testing.T) {
	b := newBench(t)
	if err := syscall.Mkfifo(b.path("fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	socket, err := net.Listen("unix", b.path("socket"))
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	for path, word := range map[string]string{
		"fifo": "named pipe", "socket": "socket", "/dev/zero": "device", "/dev/tty": "device",
		"/proc/kmsg": "", // root may open it, and then waits for ever
	} {
		b.fails("read", args{"path": path}, word)
		b.fails("edit", args{"path": path, "old_string": "a", "new_string": "b"}, word)
	}
	b.fails("write", args{"path": "fifo", "content": "x"}, "named pipe")
}

func TestReadBinaryAndImages(t *testing.T) {
	b := newBench(t)
	b.put("prog", "\x7fELF\x02\x01\x01\x00\x00\x00")
	got := b.text("read", args{"path": "prog"})
	if !strings.Contains(got, "binary") || !strings.Contains(got, "SHA-256") {
		t.Errorf("got %q", got)
	}
	var buf bytes.Buffer
	if err := png.Encode(&buf, image.NewGray(image.Rect(0, 0, 7, 5))); err != nil {
		t.Fatal(err)
	}
	b.put("dot.png", buf.String())
	r := b.call("read", args{"path": "dot.png"})
	if r.Err != nil {
		t.Fatal(r.Err)
	}
	if want := (Image{Path: "dot.png", MIME: "image/png", Width: 7, Height: 5}); r.View != want {
		t.Errorf("view %+v", r.View)
	}
	if img, ok := r.Content[1].(llm.Image); !ok || img.MIME != "image/png" || img.Data == "" {
		t.Errorf("content %+v", r.Content)
	}
}

func TestReadFolder(t *testing.T) {
	b := newBench(t)
	b.put("dir/file", "12345")
	b.put("dir/sub/x", "")
	if err := os.Symlink("file", b.path("dir/to")); err != nil {
		t.Fatal(err)
	}
	want := "file  5 B\nsub/\nto → file\n"
	if got := b.text("read", args{"path": "dir"}); got != want {
		t.Errorf("got %q", got)
	}
	if got := b.text("ls", args{"path": "dir"}); got != want {
		t.Errorf("got %q", got)
	}
	b.put("many/x", "")
	for i := range 1100 {
		b.put(fmt.Sprintf("many/%04d", i), "")
	}
	if got := b.text("ls", args{"path": "many"}); !strings.Contains(got, "[101 more of 1101: use glob]") {
		t.Errorf("ends with %q", got[len(got)-60:])
	}
	b.fails("ls", args{"path": "dir/file"}, "not a directory")
}

// A link may lead anywhere inside the workspace and nowhere outside of it; a
// path that is named outside is taken as such.
func TestLinksDoNotLeaveTheWorkspace(t *testing.T) {
	b := newBench(t)
	out := t.TempDir()
	secret := filepath.Join(out, "secret")
	if err := os.WriteFile(secret, []byte("treasure\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	b.put("real/file", "inside\n")
	for link, target := range map[string]string{
		"out": out, "secret": secret, "abs": b.path("real/file"), "rel": "real", "new": filepath.Join(out, "new"), "loop": "loop",
	} {
		if err := os.Symlink(target, b.path(link)); err != nil {
			t.Fatal(err)
		}
	}
	for _, path := range []string{"secret", "out/secret", "real/../out/secret"} {
		b.fails("read", args{"path": path}, "leads out of the workspace", secret)
		b.fails("edit", args{"path": path, "old_string": "treasure", "new_string": "gone"}, "leads out")
		b.fails("write", args{"path": path, "content": "gone"}, "leads out")
	}
	b.fails("write", args{"path": "new", "content": "x"}, "leads out")
	b.fails("write", args{"path": "out/dir/new", "content": "x"}, "leads out")
	b.fails("read", args{"path": "loop"}, "too many links")
	for _, path := range []string{"abs", "rel/file", secret} {
		b.text("read", args{"path": path})
	}
	b.text("edit", args{"path": "rel/file", "old_string": "inside", "new_string": "changed"})
	if got := b.get("real/file"); got != "changed\n" {
		t.Errorf("got %q", got)
	}
	b.text("edit", args{"path": "abs", "old_string": "changed", "new_string": "again"})
	if fi, err := os.Lstat(b.path("abs")); err != nil || fi.Mode()&os.ModeSymlink == 0 {
		t.Error("the link was replaced by a file")
	}
	b.text("write", args{"path": filepath.Join(out, "a/b/c"), "content": "approved\n"})
	if data, err := os.ReadFile(filepath.Join(out, "a/b/c")); err != nil || string(data) != "approved\n" {
		t.Errorf("%q %v", data, err)
	}
}

// The workspace may itself be named through a link.
func TestWorkspaceThroughLink(t *testing.T) {
	dir := t.TempDir()
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	env, err := NewEnv(link)
	if err != nil {
		t.Fatal(err)
	}
	defer env.Close()
	b := bench{t, env, All(env)}
	b.put("f", "x\n")
	if got := b.text("read", args{"path": filepath.Join(link, "f")}); got != "1\tx\n" {
		t.Errorf("got %q", got)
	}
}
