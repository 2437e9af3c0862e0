package session_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"banyan/internal/jsonl"
	"banyan/internal/jsonl/fstest"
	"banyan/internal/session"
)

func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func TestNoFileBeforeTheFirstMessage(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "sessions", "w-1")
	m, err := session.New(dir, "/w", testOptions())
	if err != nil {
		t.Fatal(err)
	}
	model := add(t, m, session.ModelChange{Provider: "p", Model: "m"})
	add(t, m, session.Info{Name: "early"})
	if err := m.SavePosition(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(dir); err == nil {
		t.Fatal("there is a folder before anything was said")
	}
	hi := add(t, m, user("hi"))
	s := look(t, m.Snapshot().Path())
	if s.Len() != 3 || s.Name() != "early" || !slices.Equal(s.PathIDs(hi)[:1], []session.ID{model}) || s.Leaf() != hi {
		t.Errorf("on disk: %d entries, name %q, path %v", s.Len(), s.Name(), s.PathIDs(hi))
	}
	if s.Header() != m.Snapshot().Header() {
		t.Errorf("header %+v, want %+v", s.Header(), m.Snapshot().Header())
	}
	for path, want := range map[string]os.FileMode{s.Path(): 0o600, dir: 0o700, filepath.Dir(dir): 0o700} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s has mode %v, want %v (%v)", path, info.Mode(), want, err)
		}
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	empty, err := session.New(t.TempDir(), "/w", testOptions())
	if err != nil {
		t.Fatal(err)
	}
	add(t, empty, session.ModelChange{Provider: "p", Model: "m"})
	if err := empty.Close(); err != nil {
		t.Fatal(err)
	}
	if got := names(t, filepath.Dir(empty.Snapshot().Path())); len(got) > 0 {
		t.Errorf("an empty session left %v", got)
	}
}

func TestPosition(t *testing.T) {
	m := newOnDisk(t)
	first := add(t, m, user("one"))
	add(t, m, answer("two"))
	last := add(t, m, user("three"))
	path := m.Snapshot().Path()
	reopened := func() session.ID {
		t.Helper()
		if err := m.Close(); err != nil {
			t.Fatal(err)
		}
		m = open(t, path)
		return m.Snapshot().Leaf()
	}
	lines := func() int {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Count(string(b), "\n")
	}
	if got := reopened(); got != last || lines() != 4 {
		t.Errorf("nothing moved: leaf %s in %d lines, want %s in 4", got, lines(), last)
	}
	for _, to := range []session.ID{first, "", last, first} {
		m.ResetLeaf()
		if to != "" {
			if err := m.Branch(to); err != nil {
				t.Fatal(err)
			}
		}
		if got := reopened(); got != to {
			t.Errorf("leaf %q, want %q", got, to)
		}
	}
	before := lines()
	if reopened(); lines() != before {
		t.Errorf("a position that was saved is saved again")
	}
	if s := m.Snapshot(); s.Len() != 3 || len(s.Problems()) > 0 {
		t.Errorf("%d entries, problems %v", s.Len(), s.Problems())
	}
	// What another program hangs below a position record hangs below its parent.
	b, _ := os.ReadFile(path)
	tail := strings.Split(strings.TrimSpace(string(b)), "\n")
	_, record, _ := strings.Cut(tail[len(tail)-1], `"id":"`)
	appendTo(t, path, msg("foreign1", record[:8], "by pi"))
	if got := look(t, path); got.Leaf() != "foreign1" || !slices.Equal(got.PathIDs("foreign1"), []session.ID{first, "foreign1"}) {
		t.Errorf("path %v", got.PathIDs("foreign1"))
	}
	// A label that came in before the position was saved does not move the leaf.
	appendTo(t, path, `{"type":"label","id":"foreign2","parentId":"foreign1","timestamp":"2026-11-20T07:00:00.000Z","targetId":"foreign1","label":"x"}`)
	if err := m.Branch(last); err != nil {
		t.Fatal(err)
	}
	if got := reopened(); got != last {
		t.Errorf("leaf %s, want %s", got, last)
	}
}

func appendTo(t *testing.T, path string, lines ...string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(strings.Join(lines, "\n") + "\n"); err != nil {
		t.Fatal(err)
	}
}

func TestAnotherProgramAppends(t *testing.T) {
	m := newOnDisk(t)
	first := add(t, m, user("one"))
	path := m.Snapshot().Path()
	appendTo(t, path, msg("foreign1", string(first), "theirs"), `{"type":"label","id":"foreign2","parentId":"foreign1","timestamp":"2026-11-20T07:00:00.000Z","targetId":"foreign1","label":"theirs"}`)
	mine := add(t, m, user("mine"))
	for name, s := range map[string]session.Snapshot{"here": m.Snapshot(), "read back": look(t, path)} {
		if got := s.Children(first); !slices.Equal(got, []session.ID{"foreign1", mine}) && !slices.Equal(got, []session.ID{mine, "foreign1"}) {
			t.Errorf("%s: children %v", name, got)
		}
		if s.Len() != 4 || s.Leaf() != mine || s.Label("foreign1") != "theirs" || len(s.Problems()) > 0 {
			t.Errorf("%s: %d entries, leaf %s, problems %v", name, s.Len(), s.Leaf(), s.Problems())
		}
	}
}

func TestTheSecondWindow(t *testing.T) {
	m := newOnDisk(t)
	add(t, m, user("one"))
	path := m.Snapshot().Path()
	_, err := session.Open(path, testOptions())
	if locked, ok := errors.AsType[*jsonl.LockedError](err); !ok || locked.Path != path {
		t.Errorf("a second window gets %v", err)
	}
	o := testOptions()
	o.ReadOnly = true
	watcher, err := session.Open(path, o)
	if err != nil {
		t.Fatal(err)
	}
	defer watcher.Close()
	two := add(t, m, user("two"))
	if came, err := watcher.Refresh(); !came || err != nil || watcher.Snapshot().Leaf() != two {
		t.Errorf("the watcher sees %v, %v, leaf %s", came, err, watcher.Snapshot().Leaf())
	}
	if came, err := watcher.Refresh(); came || err != nil {
		t.Errorf("nothing came, but the watcher sees %v, %v", came, err)
	}
	fork, err := watcher.CreateBranchedSession(t.TempDir(), two)
	if err != nil {
		t.Fatal(err)
	}
	defer fork.Close()
	if got := texts(t, fork.Snapshot(), fork.Snapshot().Leaf()); !slices.Equal(got, []string{"u:one", "u:two"}) {
		t.Errorf("the fork of a watched session: %v", got)
	}
}

func TestTheFileGoesAway(t *testing.T) {
	m := newOnDisk(t)
	add(t, m, user("one"))
	path := m.Snapshot().Path()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	add(t, m, user("two"))
	if s := look(t, path); !slices.Equal(texts(t, s, s.Leaf()), []string{"u:one", "u:two"}) || len(s.Problems()) > 0 {
		t.Errorf("after it was deleted: %v, %v", texts(t, s, s.Leaf()), s.Problems())
	}
}

func TestClosed(t *testing.T) {
	m := newOnDisk(t)
	one := add(t, m, user("one"))
	s := m.Snapshot()
	if err := errors.Join(m.Close(), m.Close()); err != nil {
		t.Errorf("closing twice: %v", err)
	}
	if _, err := m.Append(user("two")); !errors.Is(err, os.ErrClosed) || m.Snapshot().Len() != 1 {
		t.Errorf("a closed session takes an entry: %v", err)
	}
	if s.Leaf() != one || len(s.PathIDs(one)) != 1 {
		t.Error("a closed session's snapshot is gone")
	}
}

func TestTornTail(t *testing.T) {
	path := writeBytes(t, []byte(withHeader(header, chain(3)...)+`{"type":"message","id":"to`))
	m := open(t, path)
	if p := m.Snapshot().Problems(); len(p) != 1 || p[0].Kind != "torn-tail" || p[0].Line != 5 {
		t.Errorf("problems %v", p)
	}
	if got := names(t, filepath.Dir(path)); len(got) != 1 {
		t.Errorf("opening made %v", got)
	}
	add(t, m, user("next"))
	s := look(t, path)
	if s.Len() != 4 || len(s.Problems()) > 0 {
		t.Errorf("%d entries, problems %v", s.Len(), s.Problems())
	}
	torn, _ := filepath.Glob(path + ".torn-*")
	if len(torn) != 1 {
		t.Fatalf("the tail was kept in %v", torn)
	}
	if b, _ := os.ReadFile(torn[0]); !strings.Contains(string(b), `"id":"to`) {
		t.Errorf("kept: %q", b)
	}
}

// script does what a user's session does; acked is told after each promise.
func script(m *session.Manager, acked func()) error {
	var failed error
	do := func(_ session.Entry, err error) {
		if err == nil {
			acked()
			return
		}
		if _, unsaved := errors.AsType[*session.UnsavedError](err); !unsaved {
			failed = errors.Join(failed, err)
		}
	}
	do(m.Append(session.ModelChange{Provider: "p", Model: "m"}))
	do(m.Append(user("one")))
	first := m.Snapshot().Leaf()
	do(m.Append(answer("two")))
	do(m.Append(session.Label{Target: first, Text: "l"}))
	if err := m.Branch(first); err != nil {
		return err
	}
	do(m.Append(user("three")))
	_, err := m.AppendAll(answer("four"), user("five"))
	do(session.Entry{}, err)
	return failed
}

// lines are the entries that script makes, for comparing.
func shape(s session.Snapshot) []string {
	var out []string
	for row, err := range s.Rows() {
		if err != nil {
			return append(out, err.Error())
		}
		out = append(out, fmt.Sprint(row.Depth, row.Type, row.Label, row.Text))
	}
	return out
}

// TestFaults: whichever call of the disk fails, once or from then on, nothing
// is lost: what the disk refused stays in memory, in order, and is saved when
// the disk is well again.
func TestFaults(t *testing.T) {
	want := func() []string {
		m := newInMemory(t)
		if err := script(m, func() {}); err != nil {
			t.Fatal(err)
		}
		return shape(m.Snapshot())
	}()
	for _, op := range fstest.Ops {
		for _, long := range []int{1, 0} {
			for n := 1; ; n++ {
				if hits := oneFault(t, fstest.Fault{Op: op, N: n, For: long, Err: syscall.ENOSPC, Short: 40}, want); hits == 0 || n > 60 {
					break
				}
			}
		}
	}
}

func oneFault(t *testing.T, f fstest.Fault, want []string) int {
	t.Helper()
	faults := &fstest.Faults{FS: fstest.NewMem()}
	o := testOptions()
	o.FS = faults
	faults.Set(f)
	m, err := session.New("/d/sessions", "/w", o)
	if err != nil {
		return faults.Hits() // nothing was promised
	}
	name := fmt.Sprintf("%s %d for %d", f.Op, f.N, f.For)
	if err := script(m, func() {}); err != nil {
		t.Errorf("%s: %v", name, err)
	}
	hits := faults.Hits()
	unsaved := m.Unsaved()
	faults.Set()
	if got := shape(m.Snapshot()); !slices.Equal(got, want) {
		t.Errorf("%s: in memory\n got %q\nwant %q", name, got, want)
	}
	if err := m.Flush(); err != nil || m.Unsaved() != 0 {
		t.Errorf("%s: %d unsaved, and when the disk is well %d (%v)", name, unsaved, m.Unsaved(), err)
	}
	if err := m.Close(); err != nil {
		t.Errorf("%s: close: %v", name, err)
	}
	again, err := session.Open(m.Snapshot().Path(), o)
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return hits
	}
	defer again.Close()
	if got := shape(again.Snapshot()); !slices.Equal(got, want) || len(again.Snapshot().Problems()) > 0 {
		t.Errorf("%s: read back %v\n got %q\nwant %q", name, again.Snapshot().Problems(), got, want)
	}
	return hits
}

// TestSaveElsewhere: the way out of a full disk.
func TestSaveElsewhere(t *testing.T) {
	faults := &fstest.Faults{FS: fstest.NewMem()}
	o := testOptions()
	o.FS = faults
	m, err := session.New("/full", "/w", o)
	if err != nil {
		t.Fatal(err)
	}
	add(t, m, user("one"))
	faults.Set(fstest.Fault{Op: fstest.Write, N: 1, Err: syscall.ENOSPC})
	two, err := m.Append(user("two"))
	unsaved, ok := errors.AsType[*session.UnsavedError](err)
	if !ok || unsaved.Count != 1 || !errors.Is(err, syscall.ENOSPC) || m.Snapshot().Leaf() != two.ID {
		t.Fatalf("a full disk gives %v", err)
	}
	faults.Set()
	if err := m.SaveAs("/elsewhere/s.jsonl"); err != nil {
		t.Fatal(err)
	}
	add(t, m, user("three"))
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := session.Open("/elsewhere/s.jsonl", o)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if got := texts(t, again.Snapshot(), again.Snapshot().Leaf()); !slices.Equal(got, []string{"u:one", "u:two", "u:three"}) {
		t.Errorf("saved elsewhere: %v", got)
	}
}

// TestSaveMemory: a session in memory becomes a file.
func TestSaveMemory(t *testing.T) {
	m := newInMemory(t)
	if err := script(m, func() {}); err != nil {
		t.Fatal(err)
	}
	want := shape(m.Snapshot())
	path := filepath.Join(t.TempDir(), "kept.jsonl")
	if err := m.SaveAs(path); err != nil {
		t.Fatal(err)
	}
	if got := shape(look(t, path)); !slices.Equal(got, want) {
		t.Errorf("\n got %q\nwant %q", got, want)
	}
	add(t, m, user("and on"))
	if got := look(t, path).Len(); got != len(want)+1 {
		t.Errorf("%d entries after going on, want %d", got, len(want)+1)
	}
	m.Close()
}

// TestPowerCuts: after a power cut at any moment the session opens, and
// everything that was promised is there.
func TestPowerCuts(t *testing.T) {
	rec := fstest.NewRecorder(fstest.NewMem())
	o := testOptions()
	o.FS = rec
	m, err := session.New("/d/sessions", "/w", o)
	if err != nil {
		t.Fatal(err)
	}
	if err := script(m, func() { rec.Mark = m.Snapshot().Len() }); err != nil {
		t.Fatal(err)
	}
	m.ResetLeaf()
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	path := m.Snapshot().Path()
	for i, p := range rec.Points {
		for seed := range 5 {
			var rnd *rand.Rand
			if seed > 0 {
				rnd = rand.New(rand.NewPCG(uint64(seed), 1))
			}
			checkAfterCut(t, p.FS.Crash(rnd), path, p.Mark, fmt.Sprintf("after %d (%s), seed %d", i, p.Op, seed))
		}
	}
}

func checkAfterCut(t *testing.T, disk *fstest.Mem, path string, promised int, when string) {
	t.Helper()
	o := testOptions()
	o.FS = disk
	m, err := session.Open(path, o)
	if err != nil {
		// The model was chosen but nothing was said: no file is promised.
		if promised > 1 {
			t.Errorf("%s: %d entries were promised: %v", when, promised, err)
		}
		return
	}
	defer m.Close()
	if got := m.Snapshot().Len(); got < promised {
		t.Errorf("%s: %d entries, %d were promised", when, got, promised)
	}
	if _, err := m.Append(user("on we go")); err != nil {
		t.Errorf("%s: the next append: %v", when, err)
	}
}

// TestOpeningKeepsNoBytesOfTheScan: the buffer that a file was scanned in is used
// again for the next file, so nothing of a session may point into it.
func TestOpeningKeepsNoBytesOfTheScan(t *testing.T) {
	texts := map[string]string{
		"marks": withHeader(
			`{"type":"session","version":3,"id":"the-session","timestamp":"2026-11-20T07:00:00.000Z","cwd":"/w","title":"a title"}`,
			msg("odd", "", "text"),
			msg("odd", "", "other text"),
			`{"type":"label","id":"00000002","parentId":"odd","timestamp":"2026-11-20T07:00:00.000Z","targetId":"odd","label":"a label"}`,
			`{"type":"foreign","id":"00000003","parentId":"missing","timestamp":"2026-11-20T07:00:00.000Z"}`,
			`{"type":"custom","id":"00000004","parentId":"odd","timestamp":"2026-11-20T07:00:00.000Z","customType":"`+session.PositionType+`"}`,
		),
	}
	for _, old := range oldFiles {
		texts[old.name] = file(old.lines...)
	}
	other := writeBytes(t, []byte(withHeader(
		`{"type":"session","version":3,"id":"xxxxxxxxxxxxxxxxxxxxxx","timestamp":"2020-01-01T00:00:00.000Z","cwd":"/xxx"}`,
		strings.Repeat("x", 100_000),
	)))
	for name, text := range texts {
		s := look(t, writeBytes(t, []byte(text)))
		before := described(t, s)
		for range 4 { // a pool may give another buffer first
			look(t, other)
		}
		if after := described(t, s); after != before {
			t.Errorf("%s was\n%s\nand is, after another file was opened,\n%s", name, before, after)
		}
	}
}

// described is all that a snapshot holds, in words.
func described(t *testing.T, s session.Snapshot) string {
	text := fmt.Sprintf("%+v %q %v %v\n", s.Header(), s.Name(), s.Labels(), s.Problems())
	for row, err := range s.Rows() {
		if err != nil {
			t.Fatal(err)
		}
		line, err := json.Marshal(row)
		if err != nil {
			t.Fatal(err)
		}
		text += string(line) + "\n"
	}
	return text
}
