package session_test

import (
	"bytes"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"banyan/internal/jsonl"
	"banyan/internal/session"
	"banyan/internal/store"
	"banyan/internal/store/database"
	"banyan/internal/store/pgtest"
	"banyan/internal/store/rows"
)

// shop is a store and a second handle of it, as another window has one.
type shop struct {
	here, there store.Store
}

// atEveryStore runs a test at files, memory, SQLite and PostgreSQL.
func atEveryStore(t *testing.T, test func(t *testing.T, s shop)) {
	t.Run("files", func(t *testing.T) {
		files := store.Files{Dir: t.TempDir()}
		test(t, shop{files, files})
	})
	t.Run("memory", func(t *testing.T) {
		memory := rows.NewMemory()
		test(t, shop{memory, memory})
	})
	cache := t.TempDir()
	two := func(t *testing.T, name string) shop {
		open := func() store.Store {
			s, err := database.Open(name, cache)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { s.Close() })
			return s
		}
		return shop{open(), open()}
	}
	t.Run("sqlite", func(t *testing.T) { test(t, two(t, "sqlite:"+filepath.Join(t.TempDir(), "s.db"))) })
	t.Run("postgres", func(t *testing.T) { test(t, two(t, pgtest.Start(t, "-c", "fsync=off").Database("s"))) })
}

func optionsAt(s store.Store) session.Options {
	o := testOptions()
	o.Store = s
	return o
}

func newAt(t *testing.T, s store.Store) *session.Manager {
	t.Helper()
	m, err := session.New("project-1", "/w", optionsAt(s))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return m
}

func openAt(t *testing.T, s store.Store, path string, readOnly bool) *session.Manager {
	t.Helper()
	o := optionsAt(s)
	o.NewID = nil
	o.ReadOnly = readOnly
	m, err := session.Open(path, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return m
}

// TestSessionAtEveryStore does what a user's session does, and compares what is
// in memory with what another window reads.
func TestSessionAtEveryStore(t *testing.T) {
	atEveryStore(t, func(t *testing.T, s shop) {
		m := newAt(t, s.here)
		add(t, m, session.ModelChange{Provider: "p", Model: "m"})
		if infos, err := s.there.List(""); err != nil || len(infos) != 0 {
			t.Errorf("a session without a message is there: %v, %v", infos, err)
		}
		one := add(t, m, user("one"))
		add(t, m, answer("1"))
		add(t, m, session.Label{Target: one, Text: "begin"})
		if err := m.Branch(one); err != nil {
			t.Fatal(err)
		}
		two := add(t, m, user(strings.Repeat("two ", 50_000)))
		if err := m.Branch(one); err != nil {
			t.Fatal(err)
		}
		if err := m.SavePosition(); err != nil {
			t.Fatal(err)
		}
		path := m.Snapshot().Path()
		seen := openAt(t, s.there, path, true).Snapshot()
		if seen.Leaf() != one || seen.Len() != m.Snapshot().Len() || seen.Label(one) != "begin" || len(seen.Problems()) > 0 {
			t.Errorf("the other window: leaf %s, %d entries, label %q, problems %v", seen.Leaf(), seen.Len(), seen.Label(one), seen.Problems())
		}
		if a, b := texts(t, m.Snapshot(), two), texts(t, seen, two); !slices.Equal(a, b) {
			t.Errorf("%.80q is %.80q in the other window", a, b)
		}
		var here, there bytes.Buffer
		if err := errors.Join(m.Snapshot().Export(&here), seen.Export(&there)); err != nil || here.String() != there.String() || here.Len() == 0 {
			t.Errorf("exports of %d and %d bytes differ, %v", here.Len(), there.Len(), err)
		}
		if problems, err := session.Verify(path, optionsAt(s.there)); err != nil || len(problems) > 0 {
			t.Errorf("verify: %v, %v", problems, err)
		}
		foundAt(t, s.there, m.Snapshot())
	})
}

// foundAt finds a session by its id, in the list and as the newest.
func foundAt(t *testing.T, s store.Store, snap session.Snapshot) {
	t.Helper()
	h := snap.Header()
	if got, err := session.Find(s, h.ID[:len(h.ID)-3]); err != nil || got != snap.Path() {
		t.Errorf("Find: %s, %v; want %s", got, err, snap.Path())
	}
	files, err := session.List(s, "", t.TempDir())
	if err != nil || len(files) != 1 || files[0].Path != snap.Path() || files[0].Prompt != "one" || files[0].Err != "" {
		t.Errorf("List: %+v, %v", files, err)
	}
}

func TestTwoWindowsAtEveryStore(t *testing.T) {
	atEveryStore(t, func(t *testing.T, s shop) {
		m := newAt(t, s.here)
		add(t, m, user("one"))
		path := m.Snapshot().Path()
		_, err := session.Open(path, optionsAt(s.there))
		if locked, ok := errors.AsType[*jsonl.LockedError](err); !ok || locked.Path != path {
			t.Errorf("a second window gets %v", err)
		}
		watcher := openAt(t, s.there, path, true)
		two := add(t, m, user("two"))
		if came, err := watcher.Refresh(); !came || err != nil || watcher.Snapshot().Leaf() != two {
			t.Errorf("the watcher sees %v, %v, leaf %s", came, err, watcher.Snapshot().Leaf())
		}
		if came, err := watcher.Refresh(); came || err != nil {
			t.Errorf("nothing came, but the watcher sees %v, %v", came, err)
		}
		fork, err := watcher.CreateBranchedSession("project-2", two)
		if err != nil {
			t.Fatal(err)
		}
		defer fork.Close()
		if got := texts(t, fork.Snapshot(), fork.Snapshot().Leaf()); !slices.Equal(got, []string{"u:one", "u:two"}) {
			t.Errorf("the fork of a watched session: %v", got)
		}
		if got := fork.Snapshot().Header().Parent; got != m.Snapshot().Ref() {
			t.Errorf("the fork's parent is %s, want %s", got, m.Snapshot().Ref())
		}
		if err := session.Delete(path, optionsAt(s.there)); err == nil {
			t.Error("a session that is open is deleted")
		}
		if err := errors.Join(m.Close(), session.Delete(path, optionsAt(s.there))); err != nil {
			t.Error(err)
		}
	})
}

// TestCopiesBetweenAllStores copies a session with a task around all stores and
// back, and an old one that is migrated there at its first append.
func TestCopiesBetweenAllStores(t *testing.T) {
	first := store.Files{Dir: t.TempDir()}
	m := newAt(t, first)
	one := add(t, m, user("one"))
	task := session.Task{ID: "0197c9f1-0000-7000-8000-000000000001", Depth: 1, Cwd: "/w"}
	add(t, m, task.Entry())
	child, err := m.Snapshot().OpenTask(task, nil, optionsAt(first))
	if err != nil {
		t.Fatal(err)
	}
	add(t, child, user("do it"))
	if err := errors.Join(child.Close(), m.Close()); err != nil {
		t.Fatal(err)
	}
	var want bytes.Buffer
	if err := m.Snapshot().Export(&want); err != nil {
		want.Reset()
		if err := openAt(t, first, m.Snapshot().Path(), true).Snapshot().Export(&want); err != nil {
			t.Fatal(err)
		}
	}
	at, path := store.Store(first), m.Snapshot().Path()
	atEveryStore(t, func(t *testing.T, s shop) {
		copied, err := session.Copy(path, optionsAt(at), s.here, "project-1")
		if err != nil {
			t.Fatal(err)
		}
		back := store.Files{Dir: t.TempDir()}
		home, err := session.Copy(copied, optionsAt(s.there), back, "project-1")
		if err != nil {
			t.Fatal(err)
		}
		for where, snap := range map[string]session.Snapshot{
			"there": openAt(t, s.there, copied, true).Snapshot(), "back": openAt(t, back, home, true).Snapshot(),
		} {
			var got bytes.Buffer
			if err := snap.Export(&got); err != nil || got.String() != want.String() {
				t.Errorf("%s: %d bytes, want %d, %v", where, got.Len(), want.Len(), err)
			}
			if snap.Node(one) < 0 {
				t.Errorf("%s: entry %s is missing", where, one)
			}
			if family, err := session.Family(snap.Path(), optionsAt(s.here)); err != nil || len(family) != 2 {
				t.Errorf("%s: the family is %v, %v", where, family, err)
			}
		}
		if _, err := session.Copy(path, optionsAt(at), s.here, "project-1"); err == nil {
			t.Error("a copy is made over another")
		}
		if err := session.Delete(copied, optionsAt(s.there)); err != nil {
			t.Error(err)
		}
		if left, err := s.here.Children(""); err != nil || len(left) > 0 {
			t.Errorf("tasks are left: %v, %v", left, err)
		}
	})
}

func TestMigrationAtEveryStore(t *testing.T) {
	atEveryStore(t, func(t *testing.T, s shop) {
		file := write(t, oldFiles[0].lines...)
		path, err := session.Copy(file, testOptions(), s.here, "project-1")
		if err != nil {
			t.Fatal(err)
		}
		m := openAt(t, s.there, path, false)
		before := m.Snapshot().Len()
		next := add(t, m, user("next"))
		seen := openAt(t, s.here, path, true).Snapshot()
		if seen.Header().Version != session.Version || seen.Len() != before+1 || seen.Leaf() != next || len(seen.Problems()) > 0 {
			t.Errorf("version %d, %d entries, want %d, problems %v", seen.Header().Version, seen.Len(), before+1, seen.Problems())
		}
		old := openAt(t, s.here, path+".v1.bak", true).Snapshot()
		if old.Header().Version != 1 {
			t.Errorf("the older form has version %d", old.Header().Version)
		}
	})
}

// TestServerGoesAway has the server killed in the middle of a session: what is
// said is in memory, counted, and saved when it is back.
func TestServerGoesAway(t *testing.T) {
	server := pgtest.Start(t, "-c", "fsync=off")
	s, err := database.Open(server.Database("s"), "")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	m := newAt(t, s)
	add(t, m, user("one"))
	server.Kill()
	for _, text := range []string{"two", "three"} {
		if _, err := m.Append(user(text)); !errors.As(err, new(*session.UnsavedError)) {
			t.Fatalf("the server is down: %v", err)
		}
	}
	snap := m.Snapshot()
	if m.Unsaved() != 2 || !slices.Equal(texts(t, snap, snap.Leaf()), []string{"u:one", "u:two", "u:three"}) {
		t.Errorf("%d unsaved", m.Unsaved())
	}
	elsewhere := filepath.Join(t.TempDir(), "s.jsonl")
	server.Restart()
	if err := m.Flush(); err != nil || m.Unsaved() != 0 {
		t.Errorf("the server is back: %v, %d unsaved", err, m.Unsaved())
	}
	seen := openAt(t, s, snap.Path(), true).Snapshot()
	if got := texts(t, seen, seen.Leaf()); !slices.Equal(got, []string{"u:one", "u:two", "u:three"}) {
		t.Errorf("saved: %v", got)
	}
	server.Kill()
	if _, err := m.Append(user("four")); err == nil {
		t.Fatal("the server is down")
	}
	if err := m.SaveAs(elsewhere); err != nil {
		t.Fatal(err)
	}
	add(t, m, user("five"))
	server.Restart()
	saved := look(t, elsewhere)
	if got := texts(t, saved, saved.Leaf()); len(got) != 5 {
		t.Errorf("saved elsewhere: %v", got)
	}
}
