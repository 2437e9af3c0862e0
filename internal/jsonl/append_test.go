package jsonl_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"banyan/internal/jsonl"
	"banyan/internal/jsonl/fstest"
)

func create(t testing.TB, fs jsonl.FS, path string) *jsonl.Log {
	t.Helper()
	l, err := jsonl.Create(path, jsonl.Options{FS: fs})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// add appends lines and checks that they can be read where Append says.
func add(t testing.TB, l *jsonl.Log, lines ...string) {
	t.Helper()
	var raw [][]byte
	for _, line := range lines {
		raw = append(raw, []byte(line))
	}
	pos, err := l.Append(raw...)
	if err != nil {
		t.Fatal(err)
	}
	if len(pos) != len(lines) {
		t.Fatalf("%d positions for %d lines", len(pos), len(lines))
	}
	for i, p := range pos {
		if got, err := l.ReadAt(p); err != nil || string(got) != lines[i] {
			t.Fatalf("line %q reads as %q, %v", lines[i], got, err)
		}
	}
}

func wantLines(t testing.TB, l *jsonl.Log, want ...string) {
	t.Helper()
	if got := scan(t, l); !slices.Equal(got, want) {
		t.Fatalf("lines %.500q\nwant  %.500q", got, want)
	}
}

// wantFile opens a file afresh, without a lock, and compares its lines.
func wantFile(t testing.TB, fs jsonl.FS, path string, want ...string) {
	t.Helper()
	l, err := jsonl.Open(path, jsonl.Options{FS: fs, ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	wantLines(t, l, want...)
	if tail := l.Tail(); tail.Len != 0 {
		t.Fatalf("%s has a torn tail at %v", path, tail)
	}
}

// foreign appends bytes as a program would that minds no lock.
func foreign(t testing.TB, fs jsonl.FS, path, text string) {
	t.Helper()
	f, err := fs.Open(path, true)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
}

// grown returns what Grown reports.
func grown(t testing.TB, l *jsonl.Log) []string {
	t.Helper()
	var lines []string
	if err := l.Grown(func(line jsonl.Line) bool { lines = append(lines, string(line.Bytes)); return true }); err != nil {
		t.Fatal(err)
	}
	return lines
}

func TestCreate(t *testing.T) {
	m := fstest.NewMem()
	l := create(t, m, "/a/b/c/s.jsonl")
	if names := m.Names("/"); len(names) != 0 {
		t.Fatalf("Create made %q", names)
	}
	wantLines(t, l)
	add(t, l, "1", "2")
	add(t, l, "3")
	wantLines(t, l, "1", "2", "3")
	if l.Size() != 6 || l.Path() != "/a/b/c/s.jsonl" {
		t.Errorf("size %d, path %s", l.Size(), l.Path())
	}
	if _, err := jsonl.Create("/a/b/c/s.jsonl", jsonl.Options{FS: m}); !errors.Is(err, fs.ErrExist) {
		t.Errorf("creating it again: %v", err)
	}
	var locked *jsonl.LockedError
	if _, err := jsonl.Open("/a/b/c/s.jsonl", jsonl.Options{FS: m}); !errors.As(err, &locked) {
		t.Errorf("opening it twice: %v", err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Errorf("second Close: %v", err)
	}
	if _, err := l.Append([]byte("4")); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("Append after Close: %v", err)
	}
	// What was acknowledged is durable: names of all folders too.
	wantFile(t, m.Crash(nil), "/a/b/c/s.jsonl", "1", "2", "3")
}

func TestCreateUnusedLeavesNothing(t *testing.T) {
	m := fstest.NewMem()
	l := create(t, m, "/a/s.jsonl")
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if names := m.Names("/"); len(names) != 0 {
		t.Errorf("left %q", names)
	}
}

func TestAppendOfNothing(t *testing.T) {
	m := fstest.NewMem()
	l := create(t, m, "/s.jsonl")
	if pos, err := l.Append(); len(pos) != 0 || err != nil {
		t.Errorf("%v, %v", pos, err)
	}
	if names := m.Names("/"); len(names) != 0 {
		t.Errorf("made %q", names)
	}
}

func TestCreateNeverOverwrites(t *testing.T) {
	m := fstest.NewMem()
	l := create(t, m, "/s.jsonl")
	m.WriteFile("/s.jsonl", []byte("theirs\n"))
	if _, err := l.Append([]byte("1")); !errors.Is(err, fs.ErrExist) {
		t.Fatalf("err %v", err)
	}
	wantFile(t, m, "/s.jsonl", "theirs")
	// The line is not lost: it can be saved elsewhere.
	if err := l.SaveAs("/other.jsonl"); err != nil {
		t.Fatal(err)
	}
	wantFile(t, m, "/other.jsonl", "1")
}

func TestAppendRefusesWhatIsNoLine(t *testing.T) {
	m := memory(t, []byte("1\n"))
	l := open(t, m, "/s.jsonl")
	for _, bad := range []string{"", "  ", "a\nb", "a\n"} {
		if _, err := l.Append([]byte("2"), []byte(bad)); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
	if n := len(l.Pending()); n != 0 {
		t.Errorf("%d lines pending", n)
	}
	wantFile(t, m, "/s.jsonl", "1")
}

func TestReadOnly(t *testing.T) {
	m := memory(t, []byte("1\n2"))
	writer := open(t, m, "/s.jsonl")
	l, err := jsonl.Open("/s.jsonl", jsonl.Options{FS: m, ReadOnly: true})
	if err != nil {
		t.Fatal("a reader needs no lock:", err)
	}
	wantLines(t, l, "1")
	if _, err := l.Append([]byte("3")); !errors.Is(err, jsonl.ErrReadOnly) {
		t.Errorf("Append: %v", err)
	}
	if err := l.Replace("x", sure([][]byte{[]byte("3")})); !errors.Is(err, jsonl.ErrReadOnly) {
		t.Errorf("Replace: %v", err)
	}
	// It watches the writer.
	add(t, writer, "3", "4")
	if got := grown(t, l); !slices.Equal(got, []string{"3", "4"}) {
		t.Errorf("saw %q", got)
	}
	if got := grown(t, l); len(got) != 0 {
		t.Errorf("saw %q again", got)
	}
}

func TestWatchGoesOverToTheNewFile(t *testing.T) {
	m := memory(t, []byte("1\n2\n"))
	disk := &fstest.Faults{FS: m}
	writer := open(t, disk, "/s.jsonl")
	watch, err := jsonl.Open("/s.jsonl", jsonl.Options{FS: m, ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	wantLines(t, watch, "1", "2")
	disk.Set(fstest.Fault{Op: fstest.Sync, N: 1, For: 1, Err: syscall.EIO})
	add(t, writer, "3")
	if got := grown(t, watch); !slices.Equal(got, []string{"3"}) {
		t.Errorf("saw %q", got)
	}
	// A file that does not go on from what it knows is another log.
	m.WriteFile("/s.jsonl", []byte("x\ny\nz\n"))
	if err := watch.Grown(func(jsonl.Line) bool { return true }); !errors.Is(err, jsonl.ErrGone) {
		t.Errorf("replaced: %v", err)
	}
	m.Remove("/s.jsonl")
	if err := watch.Grown(func(jsonl.Line) bool { return true }); !errors.Is(err, jsonl.ErrGone) {
		t.Errorf("deleted: %v", err)
	}
}

func TestGrown(t *testing.T) {
	m := memory(t, []byte("1\n2"))
	m.WriteFile("/s.jsonl", []byte("{}\n[]"))
	l := open(t, m, "/s.jsonl")
	wantLines(t, l, "{}", "[]")
	foreign(t, m, "/s.jsonl", "\n\"theirs\"\n\"half")
	_, err := l.Append([]byte(`"ours"`))
	var changed *jsonl.GrownError
	if !errors.As(err, &changed) {
		t.Fatalf("err %v", err)
	}
	if n := len(l.Pending()); n != 0 {
		t.Fatalf("%d lines pending", n)
	}
	if got := grown(t, l); !slices.Equal(got, []string{`"theirs"`}) {
		t.Fatalf("came in: %q", got)
	}
	if l.Tail().Len != len(`"half`) {
		t.Fatalf("tail %v", l.Tail())
	}
	add(t, l, `"ours"`)
	wantFile(t, m, "/s.jsonl", "{}", "[]", `"theirs"`, `"ours"`)
	checkTorn(t, m, `"half`)
}

func TestGrownStops(t *testing.T) {
	m := memory(t, []byte("1\n"))
	l := open(t, m, "/s.jsonl")
	wantLines(t, l, "1")
	foreign(t, m, "/s.jsonl", "2\n3\n")
	if err := l.Grown(func(jsonl.Line) bool { return false }); err != nil {
		t.Fatal(err)
	}
	var changed *jsonl.GrownError
	if _, err := l.Append([]byte("4")); !errors.As(err, &changed) {
		t.Fatalf("err %v", err)
	}
	if got := grown(t, l); !slices.Equal(got, []string{"3"}) {
		t.Fatalf("came in: %q", got)
	}
	add(t, l, "4")
	wantFile(t, m, "/s.jsonl", "1", "2", "3", "4")
}

// racer is a file system on which another program writes just before, or in the
// middle of, each of our writes.
type racer struct {
	jsonl.FS
	before string
}

type racedFile struct {
	jsonl.File
	r *racer
}

func (r *racer) Open(path string, write bool) (jsonl.File, error) {
	f, err := r.FS.Open(path, write)
	return &racedFile{f, r}, err
}

func (f *racedFile) Write(b []byte) (int, error) {
	if f.r.before != "" {
		if _, err := f.File.Write([]byte(f.r.before)); err != nil {
			return 0, err
		}
	}
	return f.File.Write(b)
}

// TestInterleaved: a program that minds no lock writes between our look and our
// write. Nothing is lost, nothing is mixed, positions are right.
func TestInterleaved(t *testing.T) {
	m := memory(t, []byte("1\n"))
	r := &racer{FS: m}
	l := open(t, r, "/s.jsonl")
	wantLines(t, l, "1")
	r.before = "\"theirs\"\n"
	add(t, l, `"ours"`, `"too"`)
	r.before = ""
	var changed *jsonl.GrownError
	if _, err := l.Append([]byte(`"more"`)); !errors.As(err, &changed) {
		t.Fatalf("err %v", err)
	}
	if got := grown(t, l); !slices.Equal(got, []string{`"theirs"`}) {
		t.Fatalf("came in: %q", got)
	}
	add(t, l, `"more"`)
	want := []string{"1", `"theirs"`, `"ours"`, `"too"`, `"more"`}
	wantLines(t, l, want...)
	wantFile(t, m, "/s.jsonl", want...)

	// Glued to half a line of theirs: ours are written again behind it.
	r.before = `"half`
	if _, err := l.Append([]byte(`"last"`)); !errors.As(err, &changed) {
		t.Fatalf("err %v", err)
	}
	r.before = ""
	if got := grown(t, l); !slices.Equal(got, []string{`"half"last"`}) {
		t.Fatalf("came in: %q", got)
	}
	add(t, l, `"last"`)
	wantFile(t, m, "/s.jsonl", append(want, `"half"last"`, `"last"`)...)
}

func TestGone(t *testing.T) {
	for _, what := range []string{"the file", "the folder"} {
		t.Run(what, func(t *testing.T) {
			m := fstest.NewMem()
			l := create(t, m, "/a/s.jsonl")
			add(t, l, "1", "2")
			m.Remove("/a/s.jsonl")
			if what == "the folder" {
				m.Remove("/a")
			}
			add(t, l, "3")
			wantLines(t, l, "1", "2", "3")
			wantFile(t, m.Crash(nil), "/a/s.jsonl", "1", "2", "3")
			if n := l.Notices(); len(n) != 1 || !strings.Contains(n[0], "deleted") {
				t.Errorf("notices %q", n)
			}
			if n := l.Notices(); len(n) != 0 {
				t.Errorf("told twice: %q", n)
			}
			add(t, l, "4")
			wantFile(t, m, "/a/s.jsonl", "1", "2", "3", "4")
			if names := m.Names("/a"); len(names) != 1 {
				t.Errorf("left %q", names)
			}
		})
	}
}

func TestReplacedByAnother(t *testing.T) {
	m := memory(t, []byte("1\n"))
	l := open(t, m, "/s.jsonl")
	wantLines(t, l, "1")
	m.WriteFile("/s.jsonl", []byte("theirs\n"))
	add(t, l, "2")
	wantFile(t, m.Crash(nil), "/s.jsonl", "1", "2")
	names := m.Names("/")
	if len(names) != 2 || !strings.HasPrefix(names[1], "s.jsonl.replaced-") {
		t.Fatalf("names %q", names)
	}
	wantFile(t, m.Crash(nil), "/"+names[1], "theirs")

	// While another writer has the file in our place, it stays, and ours wait.
	m.Remove("/s.jsonl")
	other := create(t, m, "/s.jsonl")
	add(t, other, "theirs again")
	var locked *jsonl.LockedError
	if _, err := l.Append([]byte("3")); !errors.As(err, &locked) {
		t.Fatalf("err %v", err)
	}
	wantFile(t, m, "/s.jsonl", "theirs again")
	if err := l.SaveAs("/mine.jsonl"); err != nil {
		t.Fatal(err)
	}
	wantFile(t, m, "/mine.jsonl", "1", "2", "3")
	add(t, other, "and go on")
	wantFile(t, m, "/s.jsonl", "theirs again", "and go on")
}

func TestShrunk(t *testing.T) {
	m := memory(t, []byte("1\n22\n333\n"))
	l := open(t, m, "/s.jsonl")
	wantLines(t, l, "1", "22", "333")
	f, _ := m.Open("/s.jsonl", true)
	f.Truncate(4)
	f.Close()
	if _, err := l.Append([]byte("4")); !errors.Is(err, jsonl.ErrShrunk) {
		t.Fatalf("err %v", err)
	}
	if _, err := l.ReadAt(jsonl.Pos{Off: 5, Len: 3}); !errors.Is(err, jsonl.ErrShrunk) {
		t.Errorf("ReadAt: %v", err)
	}
	if err := l.SaveAs("/rest.jsonl"); err != nil {
		t.Fatal(err)
	}
	wantFile(t, m, "/rest.jsonl", "1", "22", "4")
	pos, err := l.Flush()
	if err != nil || len(pos) != 1 {
		t.Fatalf("Flush: %v, %v", pos, err)
	}
	// No position means another line than before.
	if got, err := l.ReadAt(pos[0]); err != nil || string(got) != "4" || pos[0].Off < 9 {
		t.Errorf("4 stands at %v and reads %q, %v", pos[0], got, err)
	}
}

func TestPendingKeepsOrder(t *testing.T) {
	m := memory(t, []byte("1\n"))
	disk := &fstest.Faults{FS: m}
	l := open(t, disk, "/s.jsonl")
	wantLines(t, l, "1")
	disk.Set(fstest.Fault{Op: fstest.Write, N: 1, Err: syscall.ENOSPC, Short: 50})
	for i := 2; i <= 4; i++ {
		if _, err := l.Append(fmt.Appendf(nil, "%d", i)); !errors.Is(err, syscall.ENOSPC) {
			t.Fatalf("err %v", err)
		}
		if n := len(l.Pending()); n != i-1 {
			t.Fatalf("%d pending after %d failures", n, i-1)
		}
		wantFile(t, m, "/s.jsonl", "1")
	}
	if pos, err := l.Flush(); err == nil || len(pos) != 0 {
		t.Fatalf("Flush on a full disk: %v, %v", pos, err)
	}
	disk.Set()
	add(t, l, "5") // writes 2, 3, 4 first
	if n := len(l.Pending()); n != 0 {
		t.Errorf("%d pending", n)
	}
	wantFile(t, m, "/s.jsonl", "1", "2", "3", "4", "5")
	pos, err := l.Flush()
	if err != nil || len(pos) != 3 {
		t.Fatalf("Flush tells %v, %v", pos, err)
	}
	for i, p := range pos {
		if got, _ := l.ReadAt(p); string(got) != fmt.Sprint(i+2) {
			t.Errorf("position %v has %q", p, got)
		}
	}
	if pos, _ := l.Flush(); len(pos) != 0 {
		t.Errorf("told twice: %v", pos)
	}
}

func TestCloseTellsWhatIsLost(t *testing.T) {
	m := memory(t, []byte("1\n"))
	disk := &fstest.Faults{FS: m}
	l := open(t, disk, "/s.jsonl")
	disk.Set(fstest.Fault{Op: fstest.Write, N: 1, Err: syscall.EDQUOT})
	l.Append([]byte("2"))
	l.Append([]byte("3"))
	err := l.Close()
	var lost *jsonl.PendingError
	if !errors.As(err, &lost) || lost.Count != 2 || !errors.Is(err, syscall.EDQUOT) {
		t.Fatalf("Close: %v", err)
	}
	// It is still open, so the lines can go elsewhere.
	disk.Set()
	if err := l.SaveAs("/safe.jsonl"); err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	wantFile(t, m.Crash(nil), "/safe.jsonl", "1", "2", "3")
	wantFile(t, m, "/s.jsonl", "1")
}

func TestCloseTwiceGivesUp(t *testing.T) {
	m := memory(t, []byte("1\n"))
	disk := &fstest.Faults{FS: m}
	l := open(t, disk, "/s.jsonl")
	disk.Set(fstest.Fault{Op: fstest.Write, N: 1, Err: syscall.EROFS})
	l.Append([]byte("2"))
	for i := range 2 {
		if l.Close() == nil {
			t.Fatalf("Close %d hid that a line is lost", i+1)
		}
	}
	open(t, m, "/s.jsonl") // the lock is free
}

func TestCloseWritesPendingToAGrownFile(t *testing.T) {
	m := memory(t, []byte("1\n"))
	disk := &fstest.Faults{FS: m}
	l := open(t, disk, "/s.jsonl")
	disk.Set(fstest.Fault{Op: fstest.Write, N: 1, For: 1, Err: syscall.ENOSPC})
	l.Append([]byte("3"))
	foreign(t, m, "/s.jsonl", "2\n")
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	wantFile(t, m, "/s.jsonl", "1", "2", "3")
}

func TestReplace(t *testing.T) {
	m := memory(t, []byte("old\n{\"torn"))
	l := open(t, m, "/s.jsonl")
	wantLines(t, l, "old")
	if err := l.Replace("s.jsonl.v1.bak", sure([][]byte{[]byte("new"), []byte("lines")})); err != nil {
		t.Fatal(err)
	}
	wantLines(t, l, "new", "lines")
	add(t, l, "3")
	wantFile(t, m.Crash(nil), "/s.jsonl", "new", "lines", "3")
	if b, _ := m.Crash(nil).ReadFile("/s.jsonl.v1.bak"); string(b) != "old\n{\"torn" {
		t.Errorf("backup %q", b)
	}
	if names := m.Names("/"); len(names) != 2 {
		t.Errorf("names %q", names)
	}
	// A backup never overwrites one.
	if err := l.Replace("s.jsonl.v1.bak", sure([][]byte{[]byte("newer")})); err != nil {
		t.Fatal(err)
	}
	wantFile(t, m, "/s.jsonl.v1.bak-2", "new", "lines", "3")
	var locked *jsonl.LockedError
	if _, err := jsonl.Open("/s.jsonl", jsonl.Options{FS: m}); !errors.As(err, &locked) {
		t.Errorf("the new file is not locked: %v", err)
	}
}

func TestWriteFile(t *testing.T) {
	m := fstest.NewMem()
	lines := sure([][]byte{[]byte("1"), bytes.Repeat([]byte("x"), 3*block), []byte("3")})
	if err := jsonl.WriteFile(m, "/a/b/f.jsonl", lines); err != nil {
		t.Fatal(err)
	}
	wantFile(t, m.Crash(nil), "/a/b/f.jsonl", "1", strings.Repeat("x", 3*block), "3")
	if err := jsonl.WriteFile(m, "/a/b/f.jsonl", lines); !errors.Is(err, fs.ErrExist) {
		t.Errorf("over a file: %v", err)
	}
	if names := m.Names("/a/b"); len(names) != 1 {
		t.Errorf("left %q", names)
	}
	open(t, m, "/a/b/f.jsonl") // no lock is left
}

func TestStaleTemporaryFileIsRemoved(t *testing.T) {
	m := fstest.NewMem()
	m.WriteFile("/s.jsonl.tmp", []byte("half of what someone wrote when the power went"))
	l := create(t, m, "/s.jsonl")
	add(t, l, "1")
	if names := m.Names("/"); len(names) != 1 {
		t.Errorf("names %q", names)
	}
}

// TestReadAtWhileFilesAreSwitched reads lines from other goroutines while every
// append writes the log anew.
func TestReadAtWhileFilesAreSwitched(t *testing.T) {
	m := memory(t, []byte("first\n"))
	disk := &fstest.Faults{FS: m}
	l := open(t, disk, "/s.jsonl")
	wantLines(t, l, "first")
	var readers sync.WaitGroup
	stop := make(chan struct{})
	for range 2 {
		readers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if got, err := l.ReadAt(jsonl.Pos{Off: 0, Len: 5}); err != nil || string(got) != "first" {
					t.Errorf("ReadAt: %q, %v", got, err)
					return
				}
			}
		})
	}
	for i := range 200 {
		disk.Set(fstest.Fault{Op: fstest.Sync, N: 1, For: 1, Err: syscall.EIO})
		add(t, l, fmt.Sprint(i))
	}
	close(stop)
	readers.Wait()
}

// TestInterleavedFailure: the disk takes half of our write, behind something of
// another program's. Nothing of theirs is cut off with ours.
func TestInterleavedFailure(t *testing.T) {
	m := memory(t, []byte("1\n"))
	disk := &fstest.Faults{FS: m}
	r := &racer{FS: disk}
	l := open(t, r, "/s.jsonl")
	wantLines(t, l, "1")
	r.before = "\"theirs\"\n"
	disk.Set(fstest.Fault{Op: fstest.Write, N: 2, For: 1, Short: 50, Err: syscall.ENOSPC})
	if _, err := l.Append([]byte(`"ours"`)); !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("err %v", err)
	}
	r.before = ""
	var changed *jsonl.GrownError
	if _, err := l.Append([]byte(`"more"`)); !errors.As(err, &changed) {
		t.Fatalf("err %v", err)
	}
	if got := grown(t, l); !slices.Equal(got, []string{`"theirs"`}) {
		t.Fatalf("came in: %q", got)
	}
	add(t, l, `"more"`)
	wantFile(t, m, "/s.jsonl", "1", `"theirs"`, `"ours"`, `"more"`)
}

// TestCompleteLastLineStaysApart: a last line without LF gets one, whichever way
// the next line is written.
func TestCompleteLastLineStaysApart(t *testing.T) {
	for _, c := range []struct {
		name   string
		before func(m *fstest.Mem, disk *fstest.Faults, l *jsonl.Log)
	}{
		{"in place", func(*fstest.Mem, *fstest.Faults, *jsonl.Log) {}},
		{"after looking for more", func(_ *fstest.Mem, _ *fstest.Faults, l *jsonl.Log) { grown(t, l) }},
		{"after a failed sync", func(_ *fstest.Mem, disk *fstest.Faults, _ *jsonl.Log) {
			disk.Set(fstest.Fault{Op: fstest.Sync, N: 1, For: 1, Err: syscall.EIO})
		}},
		{"after a deletion", func(m *fstest.Mem, _ *fstest.Faults, _ *jsonl.Log) { m.Remove("/s.jsonl") }},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := memory(t, []byte("1\n{}"))
			disk := &fstest.Faults{FS: m}
			l := open(t, disk, "/s.jsonl")
			wantLines(t, l, "1", "{}")
			c.before(m, disk, l)
			add(t, l, "2")
			add(t, l, "3")
			wantFile(t, m, "/s.jsonl", "1", "{}", "2", "3")
		})
	}
}

// lateLock is a file system on which something happens between opening and locking.
type lateLock struct {
	jsonl.FS
	before func()
}

type lateLockFile struct {
	jsonl.File
	fs *lateLock
}

func (l *lateLock) Open(path string, write bool) (jsonl.File, error) {
	f, err := l.FS.Open(path, write)
	if err != nil {
		return nil, err
	}
	return &lateLockFile{f, l}, nil
}

func (f *lateLockFile) Lock() error {
	if before := f.fs.before; before != nil {
		f.fs.before = nil
		before()
	}
	return f.File.Lock()
}

// TestOpenGetsTheCurrentFile: the writer before us writes the log anew, or
// deletes it, between our opening and our locking.
func TestOpenGetsTheCurrentFile(t *testing.T) {
	m := memory(t, []byte("1\n"))
	late := &lateLock{FS: m, before: func() { m.WriteFile("/s.jsonl", []byte("1\n2\n")) }}
	l := open(t, late, "/s.jsonl")
	wantLines(t, l, "1", "2")
	add(t, l, "3")
	wantFile(t, m, "/s.jsonl", "1", "2", "3")
	if names := m.Names("/"); len(names) != 1 {
		t.Errorf("left %q", names)
	}
	l.Close()
	late.before = func() { m.Remove("/s.jsonl") }
	if _, err := jsonl.Open("/s.jsonl", jsonl.Options{FS: late}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a deleted file: %v", err)
	}
}
