package jsonl_test

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"

	"banyan/internal/jsonl"
	"banyan/internal/jsonl/fstest"
)

// long is n, or big where LONG=1 asks for the long proof.
func long(n, big int) int {
	if os.Getenv("LONG") == "1" {
		return big
	}
	return n
}

// life is a program that lives with a log on a failing disk: it goes on
// appending whatever happens, closes, dies, opens again. It checks all the time
// that what was acknowledged survives a power cut, in order.
type life struct {
	t     testing.TB
	name  string // of the case, for messages
	m     *fstest.Mem
	fs    jsonl.FS
	lift  func()    // ends the faults
	cause error     // every error must be this one
	acked func(int) // told when lines are acknowledged
	path  string

	log  *jsonl.Log
	said []string // all lines given to Append, in order
	safe int      // the first of said that were acknowledged
	held int      // the last of said that are pending
	// doubtful lines were not acknowledged, but the disk did not let us take
	// them back before the log was closed. What is written behind them is safe;
	// they themselves may be there, or zeros where they were.
	doubtful map[string]bool
}

func (f *life) fatalf(format string, args ...any) {
	f.t.Helper()
	f.t.Fatalf("%s: %s", f.name, fmt.Sprintf(format, args...))
}

// expect checks that an error, if any, is the disk's.
func (f *life) expect(doing string, err error) {
	f.t.Helper()
	if err != nil && !errors.Is(err, f.cause) {
		f.fatalf("%s: %v, which is not what the disk said", doing, err)
	}
}

// start creates or opens the log; a disk that does not let it do so is given up.
func (f *life) start() {
	for try := 0; ; try++ {
		var err error
		if _, statErr := f.m.Stat(f.path); statErr != nil {
			f.log, err = jsonl.Create(f.path, jsonl.Options{FS: f.fs})
		} else {
			f.log, err = jsonl.Open(f.path, jsonl.Options{FS: f.fs})
		}
		f.expect("open", err)
		if err == nil {
			return
		}
		if try == 3 {
			f.lift()
		}
	}
}

func (f *life) append(n int) {
	var lines [][]byte
	for range n {
		line := fmt.Sprintf(`{"n":%d,"text":"%s"}`, len(f.said), strings.Repeat("x", len(f.said)*37%500))
		f.said = append(f.said, line)
		lines = append(lines, []byte(line))
	}
	pos, err := f.log.Append(lines...)
	f.expect("append", err)
	f.held += n
	if err == nil {
		f.safe, f.held = len(f.said), 0
		f.acked(f.safe)
		for i, p := range pos {
			got, err := f.log.ReadAt(p)
			f.expect("read", err)
			if err == nil && string(got) != string(lines[i]) {
				f.fatalf("line %s reads as %.60q", lines[i], got)
			}
		}
	}
	if len(f.log.Pending()) != f.held {
		f.fatalf("%d pending, want %d", len(f.log.Pending()), f.held)
	}
	f.check(f.m.Crash(nil), "after a power cut")
}

// check checks that a file system holds what was acknowledged, and after it
// nothing but what was not, in order.
func (f *life) check(m *fstest.Mem, when string) {
	got, said, safe := f.certain(f.lines(m, when)), f.certain(f.said), f.certain(f.said[:f.safe])
	if len(got) < len(safe) || len(got) > len(said) || !slices.Equal(got, said[:len(got)]) {
		f.fatalf("%s: %d lines %.300q, want %d to %d of %.300q", when, len(got), got, len(safe), len(said), said)
	}
}

// certain leaves out lines that are doubtful, or the zeros that were left of them.
func (f *life) certain(lines []string) []string {
	var certain []string
	for _, line := range lines {
		zeros := len(f.doubtful) > 0 && strings.Trim(line, "\x00") == ""
		if !zeros && !f.doubtful[line] {
			certain = append(certain, line)
		}
	}
	return certain
}

func (f *life) lines(m *fstest.Mem, when string) (lines []string) {
	l, err := jsonl.Open(f.path, jsonl.Options{FS: m, ReadOnly: true})
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		f.fatalf("%s: %v", when, err)
	}
	l.Scan(func(line jsonl.Line) bool { lines = append(lines, string(line.Bytes)); return true })
	return lines
}

// stop closes the log. What is pending then is forgotten, as the caller was told.
func (f *life) stop() {
	err := f.log.Close()
	f.expect("close", err)
	if err != nil {
		f.expect("close again", f.log.Close())
	}
	f.said = f.lines(f.m, "after closing")
	f.held = 0
	if len(f.said) < f.safe {
		f.fatalf("after closing: %d lines, %d were acknowledged", len(f.said), f.safe)
	}
	for _, line := range f.said[f.safe:] {
		if f.doubtful == nil {
			f.doubtful = map[string]bool{}
		}
		f.doubtful[line] = true
	}
}

// tear appends bytes to the closed file as a process does that dies in a write.
func (f *life) tear(text string) {
	if file, err := f.m.Open(f.path, true); err == nil {
		file.Write([]byte(text))
		file.Sync()
		file.Close()
	}
}

// run is the life: every way to write, each followed by others.
func (f *life) run() {
	f.start()
	f.append(1)
	f.append(2)
	f.append(1)
	f.stop()
	f.tear(`{"torn":`)
	f.start()
	f.append(1)
	f.append(3)
	f.m.Remove(f.path) // someone deletes it
	f.append(1)
	f.append(1)
	f.lift()
	if _, err := f.log.Flush(); err != nil {
		f.fatalf("flush on a good disk: %v", err)
	}
	f.safe, f.held = len(f.said), 0
	f.check(f.m.Crash(nil), "in the end, after a power cut")
	f.check(f.m, "in the end")
	f.append(1)
	f.stop()
	for _, name := range f.m.Names("/a/b") {
		if strings.Contains(name, "replaced") {
			f.fatalf("took its own file for another's: %q", name)
		}
	}
}

// live runs a life on a disk with faults and returns how many calls failed.
func live(t testing.TB, cause error, faults ...fstest.Fault) int {
	m := fstest.NewMem()
	disk := &fstest.Faults{FS: m}
	for i := range faults {
		faults[i].Err = cause
	}
	disk.Set(faults...)
	hits := 0
	f := &life{
		t: t, name: fmt.Sprintf("%+v", faults), m: m, fs: disk, cause: cause, path: "/a/b/s.jsonl",
		lift:  func() { hits += disk.Hits(); disk.Set() },
		acked: func(int) {},
	}
	f.run()
	return hits
}

// TestEveryCallFails lets the first call of each kind fail, then the second, and
// so on until a run meets no fault; once and for ever; with all, half and
// nothing of a write done.
func TestEveryCallFails(t *testing.T) {
	runs := 0
	causes := []error{syscall.ENOSPC, syscall.EIO, syscall.EDQUOT, syscall.EROFS, syscall.EMFILE}
	for _, op := range append(fstest.Ops, "") {
		for _, howLong := range []int{1, 2, 5, 0} {
			for _, short := range []int{0, 50, 100} {
				if short > 0 && op != fstest.Write {
					continue
				}
				for n := 1; ; n++ {
					runs++
					if live(t, causes[n%len(causes)], fstest.Fault{Op: op, N: n, For: howLong, Short: short}) == 0 {
						break
					}
				}
			}
		}
	}
	t.Logf("%d runs", runs)
}

// TestFaultsDuringRescue lets a second fault meet what the first one has set
// off: every pair of calls, and every kind failing for ever after each failed sync.
func TestFaultsDuringRescue(t *testing.T) {
	runs := 0
	for n := 1; ; n++ {
		met := 0
		for gap := 1; gap <= long(5, 40); gap++ {
			runs++
			met = live(t, syscall.EIO, fstest.Fault{N: n, For: 1}, fstest.Fault{N: n + gap, For: 1, Short: 50})
		}
		if met == 0 {
			break
		}
	}
	for n := 1; ; n++ {
		met := 0
		for _, op := range fstest.Ops {
			for k := range long(4, 20) {
				for _, howLong := range []int{1, 4, 0} {
					runs++
					met += live(t, syscall.EIO, fstest.Fault{Op: fstest.Sync, N: n, For: 1}, fstest.Fault{Op: op, N: n + k, For: howLong, Short: 70})
				}
			}
		}
		if met == 0 {
			break
		}
	}
	t.Logf("%d runs", runs)
}

// TestPowerCutAtEveryPoint cuts the power after every change to the disk, on
// good and on failing disks, and looks what is there: everything that was
// acknowledged, whole and in order; and the next append is not lost either.
func TestPowerCutAtEveryPoint(t *testing.T) {
	cuts := 0
	for _, faults := range [][]fstest.Fault{
		nil,
		{{Op: fstest.Sync, N: 3, For: 1}},
		{{Op: fstest.Sync, N: 2, For: 3}},
		{{Op: fstest.Sync, N: 5, For: 1}, {Op: fstest.Rename, N: 3, For: 1}},
		{{Op: fstest.Write, N: 3, For: 1, Short: 60}},
		{{Op: fstest.Write, N: 2, For: 2, Short: 100}, {Op: fstest.Truncate, N: 1, For: 2}},
		{{Op: fstest.SyncDir, N: 1, For: 1}},
		{{Op: fstest.SyncDir, N: 3, For: 2}},
	} {
		r := fstest.NewRecorder(fstest.NewMem())
		disk := &fstest.Faults{FS: r}
		for i := range faults {
			faults[i].Err = syscall.EIO
		}
		disk.Set(faults...)
		f := &life{
			t: t, name: fmt.Sprintf("%+v", faults), m: r.Mem, fs: disk, cause: syscall.EIO, path: "/a/b/s.jsonl",
			lift: func() { disk.Set() }, acked: func(n int) { r.Mark = n },
		}
		deleted := false
		f.run()
		for i, p := range r.Points {
			// Where someone else deletes the file there is nothing until it is written again.
			if _, err := p.FS.Stat(f.path); err != nil && p.Mark > 0 {
				deleted = true
				continue
			}
			for seed := range uint64(long(12, 200)) {
				var rnd *rand.Rand
				if seed > 0 {
					rnd = rand.New(rand.NewPCG(seed, uint64(i)))
				}
				cuts++
				after := p.FS.Crash(rnd)
				checkAfterCut(t, f, after, p.Mark, fmt.Sprintf("%s, point %d (%s %s), seed %d", f.name, i, p.Op, p.Path, seed))
			}
		}
		if !deleted {
			t.Errorf("%s: the case of a deleted file was not met", f.name)
		}
	}
	t.Logf("%d power cuts", cuts)
}

// checkAfterCut checks what a power cut left, and lives on with it.
func checkAfterCut(t *testing.T, f *life, m *fstest.Mem, acked int, when string) {
	t.Helper()
	lines := f.lines(m, when)
	if len(lines) < acked || !slices.Equal(lines[:acked], f.said[:acked]) {
		t.Fatalf("%s: %d lines %.200q, %d were acknowledged", when, len(lines), lines, acked)
	}
	next := &life{t: t, name: when, m: m, fs: m, path: f.path, lift: func() {}, acked: func(int) {}}
	next.start()
	if _, err := next.log.Append([]byte(`{"next":1}`)); err != nil {
		t.Fatalf("%s: append: %v", when, err)
	}
	got := next.lines(m.Crash(nil), when)
	if !slices.Equal(got, append(lines, `{"next":1}`)) {
		t.Fatalf("%s: after an append and another cut %.300q", when, got)
	}
}

// TestReplaceIsOldOrNew fails and cuts a migration everywhere: the file is the
// old one or the new one, and where it is the new one the backup is the old one.
func TestReplaceIsOldOrNew(t *testing.T) {
	old := "1\n2\n[3]"
	lines := [][]byte{[]byte("one"), []byte("two"), []byte("three")}
	check := func(m *fstest.Mem, when string) {
		b, err := m.ReadFile("/s.jsonl")
		backup, backupErr := m.ReadFile("/s.jsonl.bak")
		switch {
		case err == nil && string(b) == old:
		case err == nil && string(b) == "one\ntwo\nthree\n" && backupErr == nil && string(backup) == old:
		default:
			t.Fatalf("%s: file %q, %v; backup %q, %v", when, b, err, backup, backupErr)
		}
	}
	r := fstest.NewRecorder(memory(t, []byte(old)))
	if err := open(t, r, "/s.jsonl").Replace("s.jsonl.bak", sure(lines)); err != nil {
		t.Fatal(err)
	}
	for i, p := range r.Points {
		for seed := range uint64(20) {
			check(p.FS.Crash(rand.New(rand.NewPCG(seed, 1))), fmt.Sprintf("point %d (%s)", i, p.Op))
		}
		check(p.FS.Crash(nil), fmt.Sprintf("point %d (%s)", i, p.Op))
	}
	for n := 1; ; n++ {
		m := memory(t, []byte(old))
		disk := &fstest.Faults{FS: m}
		l := open(t, disk, "/s.jsonl")
		disk.Set(fstest.Fault{N: n, For: 1, Err: syscall.ENOSPC, Short: 50})
		err := l.Replace("s.jsonl.bak", sure(lines))
		when := fmt.Sprintf("call %d fails: %v", n, err)
		check(m, when)
		hits := disk.Hits()
		disk.Set()
		// Whichever it is, the log knows, and goes on.
		if b, _ := m.ReadFile("/s.jsonl"); (string(b) == old) != (err != nil) {
			t.Fatalf("%s, but the file is %q", when, b)
		}
		want := []string{"1", "2", "[3]"}
		if err == nil {
			want = []string{"one", "two", "three"}
		}
		if _, err := l.Append([]byte("4")); err != nil {
			t.Fatalf("%s; then %v", when, err)
		}
		wantFile(t, m.Crash(nil), "/s.jsonl", append(want, "4")...)
		if hits == 0 {
			break
		}
	}
}

// TestWriteFileIsAllOrNothing fails and cuts WriteFile everywhere.
func TestWriteFileIsAllOrNothing(t *testing.T) {
	lines := sure([][]byte{[]byte("1"), []byte("2")})
	for n := 1; ; n++ {
		r := fstest.NewRecorder(fstest.NewMem())
		disk := &fstest.Faults{FS: r}
		disk.Set(fstest.Fault{N: n, For: 1, Err: syscall.ENOSPC, Short: 50})
		err := jsonl.WriteFile(disk, "/a/b/f.jsonl", lines)
		hits := disk.Hits()
		for i, p := range r.Points {
			if b, err := p.FS.Crash(nil).ReadFile("/a/b/f.jsonl"); err == nil && string(b) != "1\n2\n" {
				t.Fatalf("call %d fails, cut at %d: %q", n, i, b)
			}
		}
		if err != nil {
			if _, statErr := r.Stat("/a/b/f.jsonl"); statErr == nil {
				t.Fatalf("call %d: failed with %v, but the file is there", n, err)
			}
			disk.Set()
			err = jsonl.WriteFile(disk, "/a/b/f.jsonl", lines)
		}
		if err != nil {
			t.Fatalf("call %d failed; then: %v", n, err)
		}
		wantFile(t, r.Mem.Crash(nil), "/a/b/f.jsonl", "1", "2")
		if hits == 0 {
			break
		}
	}
}
