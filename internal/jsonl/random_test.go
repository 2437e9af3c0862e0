package jsonl_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"

	"banyan/internal/jsonl"
	"banyan/internal/jsonl/fstest"
	"pgregory.net/rapid"
)

// world is a log, its disk, and the other programs that meddle with its file,
// as a machine for random histories.
type world struct {
	m    *fstest.Mem
	disk *fstest.Faults
	log  *jsonl.Log

	next  int
	acked []string // by Append or Flush, in order
	held  []string // what should be pending
	// meddled: another program has deleted or replaced the file, and the next
	// successful append has not put it back yet.
	meddled bool
}

func (w *world) start(t *rapid.T) {
	var err error
	if _, statErr := w.m.Stat("/d/s.jsonl"); statErr != nil {
		w.log, err = jsonl.Create("/d/s.jsonl", jsonl.Options{FS: w.disk})
	} else {
		w.log, err = jsonl.Open("/d/s.jsonl", jsonl.Options{FS: w.disk})
	}
	if err != nil {
		t.Fatalf("open on a good disk: %v", err)
	}
	scan(t, w.log)
}

func (w *world) Append(t *rapid.T) {
	var lines []string
	var raw [][]byte
	for range rapid.IntRange(1, 3).Draw(t, "lines") {
		w.next++
		line := fmt.Sprintf(`{"n":%d,"pad":"%s"}`, w.next, strings.Repeat("x", w.next*61%400))
		lines, raw = append(lines, line), append(raw, []byte(line))
	}
	for {
		pos, err := w.log.Append(raw...)
		var changed *jsonl.GrownError
		switch {
		case errors.As(err, &changed):
			if err := w.log.Grown(discard); err != nil && !errors.Is(err, syscall.EIO) {
				t.Fatal(err)
			} else if err != nil {
				return // never given to the log
			}
			continue
		case err == nil:
			w.acked = append(append(w.acked, w.held...), lines...)
			w.held, w.meddled = nil, false
			for i, p := range pos {
				if got, err := w.log.ReadAt(p); err == nil && string(got) != lines[i] {
					t.Fatalf("%s reads as %q", lines[i], got)
				}
			}
		case errors.Is(err, syscall.EIO):
			w.held = append(w.held, lines...)
		default:
			t.Fatalf("append: %v", err)
		}
		return
	}
}

func (w *world) Flush(t *rapid.T) {
	_, err := w.log.Flush()
	var changed *jsonl.GrownError
	switch {
	case errors.As(err, &changed):
		w.log.Grown(discard)
	case err == nil:
		w.meddled = w.meddled && len(w.held) == 0
		w.acked, w.held = append(w.acked, w.held...), nil
	case !errors.Is(err, syscall.EIO):
		t.Fatalf("flush: %v", err)
	}
}

func (w *world) OtherAppends(t *rapid.T) {
	f, err := w.m.Open("/d/s.jsonl", true)
	if err != nil {
		t.Skip("no file")
	}
	defer f.Close()
	w.next++
	fmt.Fprintf(f, "\n{\"other\":%d}\n", w.next)
	f.Sync()
}

func (w *world) OtherDeletes(*rapid.T) {
	w.m.Remove("/d/s.jsonl")
	w.meddled = true
}

func (w *world) OtherReplaces(t *rapid.T) {
	if _, err := w.m.Stat("/d/s.jsonl"); err != nil {
		t.Skip("no file")
	}
	w.m.WriteFile("/d/s.jsonl", []byte("another\n"))
	w.meddled = true
}

func (w *world) DiskFails(t *rapid.T) {
	w.disk.Set(fstest.Fault{
		Op:    rapid.SampledFrom(append(fstest.Ops, "")).Draw(t, "op"),
		N:     rapid.IntRange(1, 12).Draw(t, "n"),
		For:   rapid.IntRange(0, 3).Draw(t, "for"),
		Short: rapid.SampledFrom([]int{0, 50, 100}).Draw(t, "short"),
		Err:   syscall.EIO,
	})
}

func (w *world) DiskRecovers(*rapid.T) { w.disk.Set() }

// ours reports whether the log's file is in its place.
func (w *world) ours() bool {
	b, err := w.m.ReadFile("/d/s.jsonl")
	return err == nil && !strings.HasPrefix(string(b), "another\n")
}

// Reopen is a good end and a new start; what was never acknowledged may be lost.
func (w *world) Reopen(t *rapid.T) {
	if w.log.Close() != nil {
		w.log.Close()
		w.held = nil
	}
	w.acked, w.held = append(w.acked, w.held...), nil
	w.disk.Set()
	if !w.ours() {
		// Deleted or replaced, and nobody holds it: that is how it is now.
		w.acked, w.meddled = nil, true
		w.m.Remove("/d/s.jsonl")
	}
	w.start(t)
}

// Check: everything acknowledged survives a power cut, in order.
func (w *world) Check(t *rapid.T) {
	if len(w.log.Pending()) != len(w.held) {
		t.Fatalf("%d pending, want %d", len(w.log.Pending()), len(w.held))
	}
	if w.meddled {
		return
	}
	l, err := jsonl.Open("/d/s.jsonl", jsonl.Options{FS: w.m.Crash(nil), ReadOnly: true})
	if err != nil && len(w.acked) > 0 {
		t.Fatal(err)
	}
	if err != nil {
		return
	}
	got := scan(t, l)
	want := w.acked
	for _, line := range got {
		if len(want) > 0 && line == want[0] {
			want = want[1:]
		}
	}
	if len(want) > 0 {
		t.Fatalf("after a power cut %q\nmisses %q", got, want)
	}
	for _, line := range got {
		// Half a line, or zeros, may stay of one that was not acknowledged,
		// where the disk did not let us cut it off and others wrote behind it.
		one := strings.HasPrefix(line, `{"`) && strings.Count(line, `{"`) == 1
		if zeros := strings.Trim(line, "\x00") == ""; !one && !zeros {
			t.Fatalf("mixed: %q", line)
		}
	}
}

// TestRandomHistories runs random histories of appends, failing disks and other
// programs that append to, delete and replace the file.
func TestRandomHistories(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := fstest.NewMem()
		m.Mkdir("/d")
		m.SyncDir("/")
		w := &world{m: m, disk: &fstest.Faults{FS: m}}
		w.start(t)
		t.Repeat(map[string]func(*rapid.T){
			"append": w.Append, "append again": w.Append, "flush": w.Flush,
			"other appends": w.OtherAppends, "other deletes": w.OtherDeletes, "other replaces": w.OtherReplaces,
			"disk fails": w.DiskFails, "disk recovers": w.DiskRecovers, "reopen": w.Reopen,
			"": w.Check,
		})
		// In the end the disk is well, and everything gets there.
		w.disk.Set()
		for len(w.log.Pending()) > 0 {
			w.Flush(t)
		}
		w.Append(t)
		w.Check(t)
		lines := scan(t, w.log)
		for _, line := range w.acked {
			if !slices.Contains(lines, line) {
				t.Fatalf("%s is lost", line)
			}
		}
	})
}
