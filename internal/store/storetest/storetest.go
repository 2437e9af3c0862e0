// Package storetest is what every store must pass: the guarantees of package
// store as tests.
package storetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"banyan/internal/jsonl"
	"banyan/internal/store"
)

// Fixture is a store in which nothing is yet, and what a test can do to it.
type Fixture struct {
	// Open gives another handle of the same store, as another process has one.
	Open func(testing.TB) store.Store
	// Fail makes writes fail, and not fail again; nil where they cannot.
	Fail func(fail bool)
	// Lose makes the store do the next append, and its answer be lost; nil where
	// no answer can be.
	Lose func()
}

// Run holds a store to its contract. make gives a fresh fixture each time.
func Run(t *testing.T, make func(testing.TB) Fixture) {
	for _, c := range []struct {
		name string
		test func(*testing.T, Fixture)
	}{
		{"Nothing is there before the first append", nothingBefore},
		{"Lines come back byte for byte", linesComeBack},
		{"A log reads like a file", readsLikeAFile},
		{"One writer", oneWriter},
		{"Watching", watching},
		{"Waiting", waiting},
		{"What is there is not made again", notAgain},
		{"What is not there", notThere},
		{"Deleting", deleting},
		{"Lists", lists},
		{"Children", children},
		{"Whole logs are written whole", wholeLogs},
		{"Replacing keeps the old form", replacing},
		{"Copies are the same", copies},
		{"What is refused is pending", refused},
		{"What is refused is given up by the second Close only", givenUp},
		{"A lost answer", lostAnswer},
		{"Many at a time", many},
		{"Bad lines", badLines},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(t, make(t)) })
	}
}

// at is a place of the project p.
func at(id string) store.Place {
	return store.Place{Project: "p", ID: id, Time: time.Date(2026, 11, 20, 7, 0, 0, 0, time.UTC)}
}

func open(t testing.TB, f Fixture) store.Store {
	t.Helper()
	s := f.Open(t)
	t.Cleanup(func() { s.Close() })
	return s
}

func create(t testing.TB, s store.Store, id string, lines ...string) store.Log {
	t.Helper()
	l, err := s.Create(at(id))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close(); l.Close() })
	if len(lines) > 0 {
		add(t, l, lines...)
	}
	return l
}

func add(t testing.TB, l store.Log, lines ...string) []jsonl.Pos {
	t.Helper()
	pos, err := l.Append(toBytes(lines)...)
	if err != nil {
		t.Fatal(err)
	}
	return pos
}

func toBytes(lines []string) [][]byte {
	var all [][]byte
	for _, line := range lines {
		all = append(all, []byte(line))
	}
	return all
}

// seq are lines for Write and Replace.
func seq(lines ...string) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for _, line := range lines {
			if !yield([]byte(line), nil) {
				return
			}
		}
	}
}

func reopen(t testing.TB, s store.Store, path string, readOnly bool) store.Log {
	t.Helper()
	l, err := s.Open(path, readOnly)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close(); l.Close() })
	return l
}

// scan is the lines of a log, each of which it also reads at its position.
func scan(t testing.TB, l store.Log) []string {
	t.Helper()
	var lines []string
	var pos []jsonl.Pos
	err := l.Scan(func(in jsonl.Line) bool {
		lines, pos = append(lines, string(in.Bytes)), append(pos, in.Pos)
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range pos {
		if got, err := l.ReadAt(p); err != nil || string(got) != lines[i] {
			t.Fatalf("ReadAt(%v) = %.60q, %v; Scan said %.60q", p, got, err, lines[i])
		}
	}
	return lines
}

// wantLines opens a log anew, by another handle, and compares.
func wantLines(t testing.TB, f Fixture, path string, want ...string) {
	t.Helper()
	l := reopen(t, open(t, f), path, true)
	if got := scan(t, l); !slices.Equal(got, want) {
		t.Errorf("%s has %d lines %.300q, want %d %.300q", path, len(got), got, len(want), want)
	}
	l.Close()
}

func nothingBefore(t *testing.T, f Fixture) {
	s := open(t, f)
	l := create(t, s, "a")
	if got, err := s.List(""); err != nil || len(got) != 0 {
		t.Errorf("a new log is listed: %v, %v", got, err)
	}
	if got := scan(t, l); len(got) != 0 || l.Size() != 0 {
		t.Errorf("a new log has %q", got)
	}
	if _, err := f.Open(t).Open(l.Path(), true); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a new log can be opened: %v", err)
	}
	if l.Path() != s.Path(at("a")) || !s.Has(l.Path()) {
		t.Errorf("its path is %s, not %s", l.Path(), s.Path(at("a")))
	}
	add(t, l, "{}")
	wantLines(t, f, l.Path(), "{}")
}

func linesComeBack(t *testing.T, f Fixture) {
	want := []string{
		`{"a":1}`, "  {} ", "\"\xff\xfe not UTF-8\"", "{\"nul\":\"\x00\"}", "世界 🌳 é", "no JSON at all",
		strings.Repeat("long ", 1<<20), `{"quote":"'\"\\"}`, "$1 ?1 %s --",
	}
	l := create(t, open(t, f), "a", want[:3]...)
	for _, line := range want[3:] {
		add(t, l, line)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	wantLines(t, f, l.Path(), want...)
}

func readsLikeAFile(t *testing.T, f Fixture) {
	l := create(t, open(t, f), "a")
	var text bytes.Buffer
	for i := range 300 {
		line := fmt.Sprintf(`{"n":%d,"x":%q}`, i, strings.Repeat("x", i*i%5000))
		pos := add(t, l, line)
		if want := (jsonl.Pos{Off: int64(text.Len()), Len: len(line)}); pos[0] != want {
			t.Fatalf("line %d stands at %v, want %v", i, pos[0], want)
		}
		text.WriteString(line + "\n")
	}
	if l.Size() != int64(text.Len()) || l.Extent() != l.Size() {
		t.Errorf("size %d, extent %d, want %d", l.Size(), l.Extent(), text.Len())
	}
	for _, l := range []store.Log{l, reopen(t, open(t, f), l.Path(), true)} {
		scan(t, l)
		for from := 0; from < text.Len(); from += 7919 {
			for _, n := range []int{1, 2, 5000, 100_000} {
				n = min(n, text.Len()-from)
				got, err := l.ReadAt(jsonl.Pos{Off: int64(from), Len: n})
				if err != nil || !bytes.Equal(got, text.Bytes()[from:from+n]) {
					t.Fatalf("bytes %d to %d: %v, %.60q", from, from+n, err, got)
				}
			}
		}
	}
	if _, err := l.ReadAt(jsonl.Pos{Off: int64(text.Len()), Len: 10}); err == nil {
		t.Error("bytes behind the end can be read")
	}
}

func oneWriter(t *testing.T, f Fixture) {
	s := open(t, f)
	l := create(t, s, "a", "1")
	for name, other := range map[string]store.Store{"the same": s, "another": open(t, f)} {
		_, err := other.Open(l.Path(), false)
		if locked, ok := errors.AsType[*jsonl.LockedError](err); !ok || locked.Path != l.Path() || locked.Owner == "" {
			t.Errorf("%s handle opens a log for writing that is open: %v", name, err)
		}
		watch := reopen(t, other, l.Path(), true)
		if got := scan(t, watch); !slices.Equal(got, []string{"1"}) {
			t.Errorf("%s handle reads %q", name, got)
		}
		if _, err := watch.Append([]byte("2")); !errors.Is(err, jsonl.ErrReadOnly) {
			t.Errorf("a read-only log takes a line: %v", err)
		}
		watch.Close()
	}
	if err := errors.Join(l.Close(), l.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Append([]byte("2")); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("a closed log takes a line: %v", err)
	}
	next := reopen(t, open(t, f), l.Path(), false)
	add(t, next, "2")
	wantLines(t, f, l.Path(), "1", "2")
}

func watching(t *testing.T, f Fixture) {
	l := create(t, open(t, f), "a", "1", "2")
	watch := reopen(t, open(t, f), l.Path(), true)
	scan(t, watch)
	grown := func() (lines []string) {
		t.Helper()
		err := watch.Grown(func(in jsonl.Line) bool {
			if got, err := watch.ReadAt(in.Pos); err != nil || !bytes.Equal(got, in.Bytes) {
				t.Errorf("ReadAt(%v) = %q, %v", in.Pos, got, err)
			}
			lines = append(lines, string(in.Bytes))
			return true
		})
		if err != nil {
			t.Fatal(err)
		}
		return lines
	}
	if got := grown(); len(got) != 0 {
		t.Errorf("nothing came, but the watcher sees %q", got)
	}
	for i := range 20 {
		want := []string{fmt.Sprint("a", i), fmt.Sprint("b", i)}
		add(t, l, want...)
		if got := grown(); !slices.Equal(got, want) {
			t.Fatalf("the watcher sees %q, want %q", got, want)
		}
	}
}

func waiting(t *testing.T, f Fixture) {
	l := create(t, open(t, f), "a", "1")
	watch := reopen(t, open(t, f), l.Path(), true)
	seen := len(scan(t, watch))
	ctx, stop := context.WithTimeout(context.Background(), time.Minute)
	defer stop()
	var writer sync.WaitGroup
	writer.Go(func() {
		for i := range 10 {
			time.Sleep(time.Duration(i) * 10 * time.Millisecond)
			if _, err := l.Append([]byte("more")); err != nil {
				t.Error(err)
			}
		}
	})
	for seen < 11 {
		if err := watch.Wait(ctx); err != nil {
			t.Fatalf("after %d lines: %v", seen, err)
		}
		if err := watch.Grown(func(jsonl.Line) bool { seen++; return true }); err != nil {
			t.Fatal(err)
		}
	}
	writer.Wait()
	ended, end := context.WithCancel(context.Background())
	end()
	for range 3 { // it may return for nothing, but not for ever
		if err := watch.Wait(ended); err != nil {
			return
		}
	}
	t.Error("it waits although the context has ended")
}

func notAgain(t *testing.T, f Fixture) {
	s := open(t, f)
	early := create(t, s, "a")
	first := create(t, s, "a", "1")
	if _, err := early.Append([]byte("2")); err == nil {
		t.Error("two logs with one id")
	}
	if _, err := s.Create(at("a")); !errors.Is(err, fs.ErrExist) {
		t.Errorf("Create: %v", err)
	}
	if _, err := s.Write(at("a"), seq("3")); !errors.Is(err, fs.ErrExist) {
		t.Errorf("Write: %v", err)
	}
	early.Close()
	early.Close()
	add(t, first, "4")
	wantLines(t, f, first.Path(), "1", "4")
}

func notThere(t *testing.T, f Fixture) {
	s := open(t, f)
	path := s.Path(at("never"))
	for _, readOnly := range []bool{true, false} {
		if _, err := s.Open(path, readOnly); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("Open: %v", err)
		}
	}
	if err := s.Delete(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Delete: %v", err)
	}
	if got, err := s.List("nobody's"); err != nil || len(got) != 0 {
		t.Errorf("List: %v, %v", got, err)
	}
}

func deleting(t *testing.T, f Fixture) {
	s := open(t, f)
	l := create(t, s, "a", "1")
	watch := reopen(t, open(t, f), l.Path(), true)
	scan(t, watch)
	if err := open(t, f).Delete(l.Path()); err == nil {
		t.Error("a log that is being written can be deleted")
	}
	add(t, l, "2")
	l.Close()
	if err := s.Delete(l.Path()); err != nil {
		t.Fatal(err)
	}
	if err := watch.Grown(func(jsonl.Line) bool { return true }); !errors.Is(err, jsonl.ErrGone) {
		t.Errorf("who watches a deleted log is told %v", err)
	}
	if got, err := s.List(""); err != nil || len(got) != 0 {
		t.Errorf("a deleted log is listed: %v, %v", got, err)
	}
	again := create(t, s, "a", "new")
	wantLines(t, f, again.Path(), "new")
}

func lists(t *testing.T, f Fixture) {
	s := open(t, f)
	before := time.Now().Add(-time.Minute)
	for i, place := range []store.Place{{Project: "p", ID: "a"}, {Project: "p", ID: "b"}, {Project: "q", ID: "c"}} {
		if _, err := s.Write(place, seq("{}", strings.Repeat("x", i))); err != nil {
			t.Fatal(err)
		}
	}
	for project, want := range map[string][]string{"": {"a", "b", "c"}, "p": {"a", "b"}, "q": {"c"}, "r": nil} {
		infos, err := open(t, f).List(project)
		if err != nil {
			t.Fatal(err)
		}
		var ids []string
		for _, in := range infos {
			ids = append(ids, in.ID)
			if l := reopen(t, s, in.Path, true); l.Extent() != in.Size || !s.Keeps(in.Path) || in.Changed.Before(before) {
				t.Errorf("%s: size %d, info %+v", in.Path, l.Extent(), in)
			}
		}
		slices.Sort(ids)
		if !slices.Equal(ids, want) {
			t.Errorf("the logs of %q are %q, want %q", project, ids, want)
		}
	}
}

func children(t *testing.T, f Fixture) {
	s := open(t, f)
	parent := create(t, s, "a", "1")
	for _, id := range []string{"c1", "c2"} {
		l, err := s.Create(store.Place{Parent: parent.Path(), ID: id})
		if err != nil {
			t.Fatal(err)
		}
		add(t, l, "of "+id)
		l.Close()
		grand, err := s.Write(store.Place{Parent: l.Path(), ID: "grand-" + id}, seq("{}"))
		if err != nil || grand != s.Path(store.Place{Parent: l.Path(), ID: "grand-" + id}) {
			t.Fatalf("%s, %v", grand, err)
		}
	}
	for of, want := range map[string][]string{
		parent.Path(): {"c1", "c2"},
		s.Path(store.Place{Parent: parent.Path(), ID: "c1"}): {"grand-c1"},
		"": {"c1", "c2", "grand-c1", "grand-c2"},
	} {
		infos, err := open(t, f).Children(of)
		var ids []string
		for _, in := range infos {
			ids = append(ids, in.ID)
		}
		slices.Sort(ids)
		if err != nil || !slices.Equal(ids, want) {
			t.Errorf("the children of %q are %q, %v, want %q", of, ids, err, want)
		}
	}
	if infos, err := s.List(""); err != nil || len(infos) != 1 {
		t.Errorf("listed: %v, %v", infos, err)
	}
}
