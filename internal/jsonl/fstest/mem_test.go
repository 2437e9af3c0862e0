package fstest_test

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"syscall"
	"testing"

	"banyan/internal/jsonl"
	"banyan/internal/jsonl/fstest"
)

// read returns a file's text, or "none".
func read(m *fstest.Mem, path string) string {
	b, err := m.ReadFile(path)
	if err != nil {
		return "none"
	}
	return string(b)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestCrash: the guard of the other tests. Every change is live at once and
// durable only when its file, or its folder, was synced.
func TestCrash(t *testing.T) {
	m := fstest.NewMem()
	f, err := m.Create("/a")
	must(t, err)
	f.Write([]byte("one"))
	must(t, f.Sync())
	if got := read(m.Crash(nil), "/a"); got != "none" {
		t.Errorf("a name that was not synced: %q", got)
	}
	must(t, m.SyncDir("/"))
	f.Write([]byte("two"))
	if live, left := read(m, "/a"), read(m.Crash(nil), "/a"); live != "onetwo" || left != "one" {
		t.Errorf("live %q, after a crash %q", live, left)
	}
	must(t, f.Truncate(1))
	if left := read(m.Crash(nil), "/a"); left != "one" {
		t.Errorf("a truncation that was not synced: %q", left)
	}
	must(t, f.Sync())
	if left := read(m.Crash(nil), "/a"); left != "o" {
		t.Errorf("a truncation that was synced: %q", left)
	}
	must(t, m.Rename("/a", "/b", false))
	if after := m.Crash(nil); read(after, "/a") != "o" || read(after, "/b") != "none" {
		t.Error("a rename that was not synced is durable")
	}
	must(t, m.SyncDir("/"))
	if after := m.Crash(nil); read(after, "/a") != "none" || read(after, "/b") != "o" {
		t.Error("a rename that was synced is not durable")
	}
}

// TestFailedSync: after one, the next says yes and the bytes are lost.
func TestFailedSync(t *testing.T) {
	m := fstest.NewMem()
	disk := &fstest.Faults{FS: m}
	f, err := disk.Create("/a")
	must(t, err)
	must(t, m.SyncDir("/"))
	f.Write([]byte("lost"))
	disk.Set(fstest.Fault{Op: fstest.Sync, N: 1, For: 1, Err: syscall.EIO})
	if err := f.Sync(); !errors.Is(err, syscall.EIO) || disk.Hits() != 1 {
		t.Fatalf("err %v, %d hits", err, disk.Hits())
	}
	f.Write([]byte("kept"))
	must(t, f.Sync())
	if live, left := read(m, "/a"), read(m.Crash(nil), "/a"); live != "lostkept" || left != "\x00\x00\x00\x00kept" {
		t.Errorf("live %q, after a crash %q", live, left)
	}
}

// TestRandomCrash: some unsynced changes get through, some do not, and what was
// synced always does.
func TestRandomCrash(t *testing.T) {
	m := fstest.NewMem()
	f, err := m.Create("/a")
	must(t, err)
	f.Write([]byte("safe"))
	must(t, f.Sync())
	must(t, m.SyncDir("/"))
	f.Write([]byte("more"))
	m.Create("/b")
	seen := map[string]bool{}
	for seed := range uint64(300) {
		after := m.Crash(rand.New(rand.NewPCG(seed, 0)))
		text := read(after, "/a")
		if len(text) < 4 || text[:4] != "safe" {
			t.Fatalf("seed %d: %q", seed, text)
		}
		seen[text] = true
		_, err := after.Stat("/b")
		seen["b "+map[bool]string{true: "there", false: "gone"}[err == nil]] = true
	}
	for _, want := range []string{"safe", "safemore", "safemo", "safe\x00", "b there", "b gone"} {
		if !seen[want] {
			t.Errorf("never saw %q", want)
		}
	}
}

func TestRecorder(t *testing.T) {
	r := fstest.NewRecorder(fstest.NewMem())
	f, err := r.Create("/a")
	must(t, err)
	f.Write([]byte("1"))
	r.Mark = 7
	must(t, f.Sync())
	var ops []fstest.Op
	for _, p := range r.Points {
		ops = append(ops, p.Op)
	}
	if len(ops) != 3 || ops[0] != fstest.Create || ops[1] != fstest.Write || ops[2] != fstest.Sync {
		t.Fatalf("points %v", ops)
	}
	if read(r.Points[0].FS, "/a") != "" || read(r.Points[1].FS, "/a") != "1" || r.Points[1].Mark != 0 || r.Points[2].Mark != 7 {
		t.Error("the points do not hold what was there")
	}
}

func TestErrors(t *testing.T) {
	m := fstest.NewMem()
	must(t, m.Mkdir("/d"))
	must(t, m.WriteFile("/d/f", nil))
	must(t, m.WriteFile("/g", nil))
	_, openDir := m.Open("/d", false)
	_, createTwice := m.Create("/d/f")
	_, noFolder := m.Create("/x/f")
	for _, c := range []struct {
		name      string
		err, want error
	}{
		{"open a folder", openDir, jsonl.ErrNotRegular},
		{"create what exists", createTwice, fs.ErrExist},
		{"create in no folder", noFolder, fs.ErrNotExist},
		{"link over a file", m.Link("/g", "/d/f"), fs.ErrExist},
		{"rename over a file", m.Rename("/g", "/d/f", false), fs.ErrExist},
		{"make what exists", m.Mkdir("/d"), fs.ErrExist},
		{"remove nothing", m.Remove("/x"), fs.ErrNotExist},
	} {
		if !errors.Is(c.err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, c.err, c.want)
		}
	}
	if m.Remove("/d") == nil {
		t.Error("removed a folder with a file in it")
	}
}
