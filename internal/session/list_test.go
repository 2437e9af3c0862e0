package session_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"banyan/internal/session"
	"banyan/internal/store"
)

// savedSession makes a session of a folder, with an id, a first prompt and a time.
func savedSession(t testing.TB, dir, cwd, id, prompt string, at time.Time) string {
	t.Helper()
	m, err := session.New(dir, cwd, session.Options{SessID: id, Now: func() time.Time { return at }})
	if err != nil {
		t.Fatal(err)
	}
	add(t, m, user(prompt))
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(m.Snapshot().Path(), at, at); err != nil {
		t.Fatal(err)
	}
	return m.Snapshot().Path()
}

func ids(files []session.File) []string {
	var out []string
	for _, f := range files {
		out = append(out, f.ID)
	}
	return out
}

func TestList(t *testing.T) {
	sessions, cache := t.TempDir(), t.TempDir()
	a, b := t.TempDir(), t.TempDir()
	hour := func(h int) time.Time { return time.Date(2026, 11, 20, h, 0, 0, 0, time.UTC) }
	oldest := savedSession(t, session.Dir(sessions, a), a, "id-a1", "first\n  prompt "+strings.Repeat("x", 500), hour(1))
	newest := savedSession(t, session.Dir(sessions, a), a, "id-a2", "second", hour(3))
	savedSession(t, session.Dir(sessions, b), b, "id-b1", "elsewhere", hour(2))
	savedSession(t, sessions, a, "id-flat", "in the folder itself", hour(0))
	if err := os.WriteFile(filepath.Join(sessions, "notes.txt"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(session.Dir(sessions, a), "broken.jsonl"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, round := range []string{"read", "from the cache", "with a broken cache", "without a cache"} {
		dir := cache
		switch round {
		case "with a broken cache":
			found, _ := filepath.Glob(filepath.Join(cache, "*"))
			if len(found) != 1 {
				t.Fatalf("the cache is %v", found)
			}
			if err := os.WriteFile(found[0], []byte("{"), 0o600); err != nil {
				t.Fatal(err)
			}
		case "without a cache":
			dir = ""
		}
		all, err := session.List(store.Files{Dir: sessions}, "", dir)
		if err != nil {
			t.Fatal(err)
		}
		if got := ids(all); !slices.Equal(got[1:], []string{"id-a2", "id-b1", "id-a1", "id-flat"}) || all[0].Err == "" {
			t.Errorf("%s: all are %v", round, got)
		}
		mine, err := session.List(store.Files{Dir: sessions}, a, dir)
		if err != nil {
			t.Fatal(err)
		}
		if got := ids(mine); !slices.Equal(got[1:], []string{"id-a2", "id-a1", "id-flat"}) {
			t.Errorf("%s: of the folder are %v", round, got)
		}
		f := mine[2]
		if f.Path != oldest || !strings.HasPrefix(f.Prompt, "first prompt xxx") || len(f.Prompt) > 210 || !f.Created.Equal(hour(1)) || !f.Modified.Equal(hour(1)) {
			t.Errorf("%s: %+v", round, f)
		}
	}
	// A change is seen.
	m, err := session.Open(newest, testOptions())
	if err != nil {
		t.Fatal(err)
	}
	first := m.Snapshot().Leaf()
	add(t, m, answer("yes"))
	if err := m.Branch(first); err != nil {
		t.Fatal(err)
	}
	add(t, m, answer("no"))
	add(t, m, session.Info{Name: "named"})
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	mine, err := session.List(store.Files{Dir: sessions}, a, cache)
	if err != nil {
		t.Fatal(err)
	}
	f := mine[slices.IndexFunc(mine, func(f session.File) bool { return f.Path == newest })]
	if f.Title() != "named" || f.Messages != 3 || f.Entries != 4 || f.Branches != 2 {
		t.Errorf("after a change: %+v", f)
	}
	if none, err := session.List(store.Files{Dir: filepath.Join(sessions, "nowhere")}, "", cache); err != nil || len(none) != 0 {
		t.Errorf("no folder: %v, %v", none, err)
	}
}

func TestNewest(t *testing.T) {
	cwd, dir := t.TempDir(), t.TempDir()
	if got, err := session.Newest(store.Files{Dir: dir}, cwd); got != "" || err != nil {
		t.Errorf("nothing there: %q, %v", got, err)
	}
	if got, err := session.Newest(store.Files{Dir: filepath.Join(dir, "missing")}, cwd); got != "" || err != nil {
		t.Errorf("no folder: %q, %v", got, err)
	}
	at := time.Now().Add(-time.Hour)
	savedSession(t, dir, cwd, "one", "x", at)
	want := savedSession(t, dir, cwd, "two", "x", at.Add(time.Minute))
	savedSession(t, dir, "/elsewhere", "three", "x", at.Add(2*time.Minute))
	if err := os.WriteFile(filepath.Join(dir, "bad.jsonl"), []byte("not a session"), 0o600); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(cwd, link); err != nil {
		t.Fatal(err)
	}
	for _, cwd := range []string{cwd, link} {
		if got, err := session.Newest(store.Files{Dir: dir}, cwd); got != want || err != nil {
			t.Errorf("newest of %s: %q, %v, want %q", cwd, got, err, want)
		}
	}
}

func TestFind(t *testing.T) {
	sessions := t.TempDir()
	now := time.Now()
	a := savedSession(t, session.Dir(sessions, "/a"), "/a", "abc111", "x", now)
	b := savedSession(t, session.Dir(sessions, "/b"), "/b", "abc222", "x", now)
	c := savedSession(t, sessions, "/c", "abc", "x", now)
	renamed := filepath.Join(sessions, "renamed.jsonl")
	if err := os.Rename(savedSession(t, sessions, "/c", "other", "x", now), renamed); err != nil {
		t.Fatal(err)
	}
	good := map[string]string{a: a, "abc111": a, "abc2": b, "abc": c, "renamed": renamed, "oth": renamed, "x/y.jsonl": "x/y.jsonl"}
	for text, want := range good {
		if got, err := session.Find(store.Files{Dir: sessions}, text); got != want || err != nil {
			t.Errorf("%q: %q, %v, want %q", text, got, err, want)
		}
	}
	for text, want := range map[string]string{"": "empty", "ab": "may be any of", "zzz": "no session", "acc111": "did you mean abc111"} {
		if got, err := session.Find(store.Files{Dir: sessions}, text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %q, %v, want %q", text, got, err, want)
		}
	}
}

func TestDirTellsProjectsApart(t *testing.T) {
	seen := map[string]string{}
	for _, cwd := range []string{"/a/b-c", "/a/b/c", "/a:b:c", "/", "/.", "/a/b c", "/a/" + strings.Repeat("é", 300), "/x/..\x1b[31m"} {
		name := session.Project(cwd)
		if other, ok := seen[name]; ok && filepath.Clean(other) != filepath.Clean(cwd) {
			t.Errorf("%q and %q are both %q", cwd, other, name)
		}
		seen[name] = cwd
		if strings.ContainsAny(name, "/\x1b") || len(name) > 120 {
			t.Errorf("%q gives %q", cwd, name)
		}
	}
	cwd := t.TempDir()
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(cwd, link); err != nil {
		t.Fatal(err)
	}
	if session.Project(cwd) != session.Project(link) {
		t.Error("a link to a folder is another project")
	}
}

func TestResolve(t *testing.T) {
	s := look(t, write(t, header, msg("abcd1111", "", "x"), msg("abcd2222", "abcd1111", "x"), msg("odd", "abcd2222", "x"), msg("oddly", "odd", "x"),
		`{"type":"label","id":"11111111","parentId":"oddly","timestamp":"2026-11-20T07:00:00.000Z","targetId":"abcd1111","label":"start here"}`))
	for text, want := range map[string]session.ID{"root": "", "abcd1": "abcd1111", "odd": "odd", "oddl": "oddly", "start here": "abcd1111", "sta": "abcd1111", "1": "11111111"} {
		if got, err := s.Resolve(text); got != want || err != nil {
			t.Errorf("%q: %q, %v, want %q", text, got, err, want)
		}
	}
	for text, want := range map[string]string{"": "empty", "abcd": "abcd1111 [start here], abcd2222", "abcd3333x": "no entry", "strt here": "did you mean start here"} {
		if got, err := s.Resolve(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %q, %v, want %q", text, got, err, want)
		}
	}
}

func TestUsage(t *testing.T) {
	m := newInMemory(t)
	u := add(t, m, user("q"))
	a := add(t, m, answer("a")) // 10 in, 5 out
	add(t, m, session.BranchSummary{Summary: "s", Usage: ptr(answer("").Usage)})
	add(t, m, session.Compaction{Summary: "s", FirstKept: u, Usage: ptr(answer("").Usage)})
	add(t, m, answer("b"))
	side := m.Snapshot()
	for id, want := range map[session.ID]int{"": 40, u: 40, a: 30, side.Leaf(): 0, "nobody": 0} {
		if got := side.UsageSince(id).Input; got != want {
			t.Errorf("since %q: %d tokens, want %d", id, got, want)
		}
	}
	if err := m.Branch(u); err != nil {
		t.Fatal(err)
	}
	add(t, m, answer("c"))
	if got := m.Snapshot().UsageSince(a); got.Input != 0 {
		t.Errorf("since an entry of another branch: %d", got.Input)
	}
	if got := m.Snapshot().Usage().Input; got != 50 {
		t.Errorf("of all branches: %d, want 50", got)
	}
}

func TestBranching(t *testing.T) {
	m := newInMemory(t)
	if err := m.Branch("nobody"); err == nil || !strings.Contains(err.Error(), "nobody") {
		t.Errorf("to nowhere: %v", err)
	}
	q := add(t, m, user("q"))
	failed := answer("")
	failed.StopReason = "error"
	f := add(t, m, failed)
	if m.RemoveLeafMessage(q) || !m.RemoveLeafMessage(f) || m.Snapshot().Leaf() != q || m.RemoveLeafMessage(f) {
		t.Errorf("taking the failed answer off: leaf %s", m.Snapshot().Leaf())
	}
	if m.Snapshot().Len() != 2 {
		t.Error("the failed answer is gone from the file")
	}
	if _, err := m.BranchWithSummary("nobody", session.BranchSummary{Summary: "s"}); err == nil || m.Snapshot().Leaf() != q {
		t.Errorf("a summary nowhere: %v, leaf %s", err, m.Snapshot().Leaf())
	}
	if _, err := m.Append(session.Label{Target: "nobody", Text: "x"}); err == nil {
		t.Error("a label of nothing")
	}
	if _, err := m.Append(session.Compaction{Summary: "s", FirstKept: f}); err == nil {
		t.Error("a compaction that keeps what is not on its path")
	}
	if _, err := m.CreateBranchedSession("", "nobody"); err == nil {
		t.Error("a fork of nothing")
	}
	empty, err := m.CreateBranchedSession("", "")
	if err != nil || empty.Snapshot().Len() != 0 || empty.Snapshot().Header().Parent == "" {
		t.Errorf("a fork before the first entry: %v", err)
	}
	if s := (session.Snapshot{}); s.Len() != 0 || s.Leaf() != "" || s.Node("x") != -1 || s.Label("x") != "" {
		t.Error("the zero snapshot is not empty")
	}
}
