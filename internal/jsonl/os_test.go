//go:build unix

package jsonl_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"banyan/internal/jsonl"
)

// TestWhatIsNoLog opens what is no regular file: refused at once, to read and to write.
func TestWhatIsNoLog(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := syscall.Mkfifo(at("fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	socket, err := net.Listen("unix", at("socket"))
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	os.WriteFile(at("file"), []byte("1\n"), 0o600)
	os.Symlink(at("file"), at("link"))
	os.Symlink(at("nothing"), at("dangling"))
	os.Symlink(at("fifo"), at("link to fifo"))
	os.Symlink(at("loop"), at("loop"))
	for _, c := range []struct {
		path        string
		read, write error
	}{
		{at("fifo"), jsonl.ErrNotRegular, jsonl.ErrNotRegular},
		{at("socket"), jsonl.ErrNotRegular, jsonl.ErrNotRegular},
		{dir, jsonl.ErrNotRegular, jsonl.ErrNotRegular},
		{"/dev/zero", jsonl.ErrNotRegular, jsonl.ErrNotRegular},
		{"/dev/tty", jsonl.ErrNotRegular, jsonl.ErrNotRegular},
		{at("file"), nil, nil},
		{at("link"), nil, jsonl.ErrSymlink},
		{at("dangling"), fs.ErrNotExist, jsonl.ErrSymlink},
		{at("link to fifo"), jsonl.ErrNotRegular, jsonl.ErrSymlink},
		{at("loop"), syscall.ELOOP, jsonl.ErrSymlink},
		{at("nothing"), fs.ErrNotExist, fs.ErrNotExist},
		{at("nothing/here"), fs.ErrNotExist, fs.ErrNotExist},
		{at("file/below"), syscall.ENOTDIR, syscall.ENOTDIR},
	} {
		for _, readOnly := range []bool{true, false} {
			want := c.write
			if readOnly {
				want = c.read
			}
			l, err := jsonl.Open(c.path, jsonl.Options{ReadOnly: readOnly})
			if !errors.Is(err, want) {
				t.Errorf("%s, read-only %t: %v, want %v", c.path, readOnly, err, want)
			}
			if err == nil {
				l.Close()
			} else if strings.Count(err.Error(), c.path) != 1 {
				t.Errorf("the message should name the path once: %v", err)
			}
		}
	}
	for _, name := range []string{"file", "link", "dangling", "fifo"} {
		if _, err := jsonl.Create(at(name), jsonl.Options{}); !errors.Is(err, fs.ErrExist) {
			t.Errorf("Create over %s: %v", name, err)
		}
	}
}

// TestOpeningChangesNothing opens files of all kinds for writing, reads them and
// closes them.
func TestOpeningChangesNothing(t *testing.T) {
	for i, content := range []string{"", "{}", "{}\n{\"torn", "\ufeff{}\r\n", "\x00\x00", "# README\n\nno log at all\n", strings.Repeat("x", 3*block)} {
		path := filepath.Join(t.TempDir(), "s.jsonl")
		if err := os.WriteFile(path, []byte(content), 0o640); err != nil {
			t.Fatal(err)
		}
		before, _ := os.Stat(path)
		l, err := jsonl.Open(path, jsonl.Options{})
		if err != nil {
			t.Fatal(err)
		}
		scan(t, l)
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		after, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		got, _ := os.ReadFile(path)
		if string(got) != content || !after.ModTime().Equal(before.ModTime()) || after.Mode() != before.Mode() {
			t.Errorf("file %d was changed", i)
		}
		if names, _ := os.ReadDir(filepath.Dir(path)); len(names) != 1 {
			t.Errorf("file %d: something was left beside it", i)
		}
	}
}

// TestModes: files 0600 and folders 0700, whatever the umask.
func TestModes(t *testing.T) {
	for _, umask := range []int{0, 0o022, 0o277} {
		t.Run(fmt.Sprintf("%03o", umask), func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "a", "b", "s.jsonl")
			old := syscall.Umask(umask)
			defer syscall.Umask(old)
			l := create(t, nil, path)
			defer l.Close()
			add(t, l, "1")
			for p, want := range map[string]fs.FileMode{path: 0o600, filepath.Dir(path): 0o700, filepath.Join(dir, "a"): 0o700} {
				if fi, err := os.Stat(p); err != nil || fi.Mode().Perm() != want {
					t.Errorf("%s: %v, %v, want %v", p, fi.Mode().Perm(), err, want)
				}
			}
		})
	}
}

// TestReadOnlyFile opens a file that may not be written, as a user whom modes bind.
func TestReadOnlyFile(t *testing.T) {
	dir, err := os.MkdirTemp("", "jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "s.jsonl")
	os.Chmod(dir, 0o755)
	if err := os.WriteFile(path, []byte("{}\n"), 0o444); err != nil {
		t.Fatal(err)
	}
	if os.Getuid() != 0 {
		if _, err := jsonl.Open(path, jsonl.Options{}); !errors.Is(err, fs.ErrPermission) {
			t.Fatalf("err %v", err)
		}
	} else {
		cmd := child(t, "open", path)
		cmd.Path = "/proc/self/exe" // nobody may not walk to the test binary
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		out, err := cmd.Output()
		if _, exited := errors.AsType[*exec.ExitError](err); err != nil && !exited {
			t.Skip("cannot run as nobody:", err)
		}
		if err != nil || !strings.Contains(string(out), "permission denied") {
			t.Fatalf("as nobody: %s, %v", out, err)
		}
	}
	if got, _ := os.ReadFile(path); string(got) != "{}\n" {
		t.Errorf("the file is %q", got)
	}
	// It can be read, and saved elsewhere.
	l, err := jsonl.Open(path, jsonl.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if err := l.SaveAs(filepath.Join(dir, "copy.jsonl")); err != nil {
		t.Fatal(err)
	}
	add(t, l, `{"more":1}`)
	wantFile(t, nil, filepath.Join(dir, "copy.jsonl"), "{}", `{"more":1}`)
}

// TestClosedStandardFiles: a log never gets descriptor 0, 1 or 2, where another
// part of a program would write into it.
func TestClosedStandardFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.jsonl")
	inner := child(t, "open", path)
	cmd := exec.Command("/bin/sh", "-c", `exec "$0" "$1" <&- >&- 2>&-`, inner.Path, path)
	cmd.Env = inner.Env
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	wantFile(t, nil, path, `{"child":1}`)
}

// TestRealFiles runs the ways to write through the real file system.
func TestRealFiles(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a", "s.jsonl")
	l := create(t, nil, path)
	add(t, l, "1", "2")
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	add(t, l, "3")
	wantFile(t, nil, path, "1", "2", "3")
	if err := os.RemoveAll(filepath.Dir(path)); err != nil {
		t.Fatal(err)
	}
	add(t, l, "4")
	other := filepath.Join(dir, "other")
	os.WriteFile(other, []byte("theirs\n"), 0o600)
	if err := os.Rename(other, path); err != nil {
		t.Fatal(err)
	}
	add(t, l, "5")
	wantFile(t, nil, path, "1", "2", "3", "4", "5")
	kept, _ := filepath.Glob(path + ".replaced-*")
	if len(kept) != 1 {
		t.Fatalf("kept %q", kept)
	}
	wantFile(t, nil, kept[0], "theirs")
	if err := l.Replace("s.bak", sure([][]byte{[]byte("new")})); err != nil {
		t.Fatal(err)
	}
	wantFile(t, nil, filepath.Join(dir, "a", "s.bak"), "1", "2", "3", "4", "5")
	add(t, l, "6")
	if err := l.SaveAs(filepath.Join(dir, "b", "c", "s.jsonl")); err != nil {
		t.Fatal(err)
	}
	wantFile(t, nil, path, "new", "6")
	if old, err := jsonl.Open(path, jsonl.Options{}); err != nil {
		t.Errorf("the old file is still locked: %v", err)
	} else {
		old.Close()
	}
	if err := l.SaveAs(path); !errors.Is(err, fs.ErrExist) {
		t.Errorf("SaveAs over a file: %v", err)
	}
	add(t, l, "7")
	wantFile(t, nil, filepath.Join(dir, "b", "c", "s.jsonl"), "new", "6", "7")
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestHugeLine appends and reads a line of 100 MB.
func TestHugeLine(t *testing.T) {
	huge := bytes.Repeat([]byte("x"), 100<<20)
	l := create(t, nil, filepath.Join(t.TempDir(), "s.jsonl"))
	defer l.Close()
	add(t, l, "1")
	pos, err := l.Append(huge, []byte("3"))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := l.ReadAt(pos[0]); err != nil || !bytes.Equal(got, huge) {
		t.Fatalf("%d bytes, %v", len(got), err)
	}
	var sizes []int
	if err := l.Scan(func(line jsonl.Line) bool { sizes = append(sizes, line.Len); return true }); err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(sizes) != fmt.Sprint([]int{1, len(huge), 1}) {
		t.Errorf("lines of %v bytes", sizes)
	}
}

// BenchmarkAppend appends a line and makes it durable, against one write and
// one sync of the same bytes on the same disk.
func BenchmarkAppend(b *testing.B) {
	line := bytes.Repeat([]byte("x"), 2000)
	b.Run("write+sync", func(b *testing.B) {
		f, err := os.OpenFile(filepath.Join(b.TempDir(), "f"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
		if err != nil {
			b.Fatal(err)
		}
		defer f.Close()
		for b.Loop() {
			if _, err := f.Write(append(line, '\n')); err != nil {
				b.Fatal(err)
			}
			if err := f.Sync(); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("append", func(b *testing.B) {
		b.ReportAllocs()
		l := create(b, nil, filepath.Join(b.TempDir(), "s.jsonl"))
		defer l.Close()
		for b.Loop() {
			if _, err := l.Append(line); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// TestFileSizeLimit: a process that may not write larger files is refused, lives
// to say so, and leaves whole lines.
func TestFileSizeLimit(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.jsonl")
	inner := child(t, "append", path, "2")
	cmd := exec.Command("/bin/sh", "-c", `ulimit -f 4000; exec "$0" "$1" "$2"`, inner.Path, path, "2")
	cmd.Env = inner.Env
	var said bytes.Buffer
	cmd.Stderr = &said
	acked, err := cmd.Output()
	if err == nil || !strings.Contains(said.String(), "file too large") {
		t.Fatalf("%v, %q", err, said.String())
	}
	n, torn := readRecords(t, path)
	if n != bytes.Count(acked, []byte("\n")) || torn {
		t.Errorf("%d records, torn %t, %d acknowledged", n, torn, bytes.Count(acked, []byte("\n")))
	}
}
