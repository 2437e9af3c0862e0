package session_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"

	"banyan/internal/jsonl"
	"banyan/internal/session"
	"banyan/internal/store"
)

// give writes the link of a task into a session and makes the task's session
// with a prompt in it.
func give(t *testing.T, parent *session.Manager, call string, depth int) *session.Manager {
	t.Helper()
	task := linked(t, parent, call, depth)
	child, err := parent.Snapshot().OpenTask(task, nil, session.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { child.Close() })
	add(t, child, user(task.Prompt))
	return child
}

// linked writes the link of a task alone.
func linked(t *testing.T, parent *session.Manager, call string, depth int) session.Task {
	t.Helper()
	id := uuid.NewString()
	task := session.Task{
		ID: id, Session: session.ChildID(parent.Snapshot().Header().ID, id), CallID: call,
		Description: "look", Prompt: "look at " + call, Cwd: "/w", Depth: depth,
	}
	add(t, parent, task.Entry())
	return task
}

func closed(t *testing.T, ms ...*session.Manager) {
	t.Helper()
	for _, m := range ms {
		if err := m.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestTaskSessions(t *testing.T) {
	sessions, work := t.TempDir(), t.TempDir()
	parent, err := session.New(session.Dir(sessions, work), work, session.Options{})
	if err != nil {
		t.Fatal(err)
	}
	add(t, parent, user("go"))
	child := give(t, parent, "c1", 1)
	grand := give(t, child, "c2", 2)
	h := grand.Snapshot().Header()
	if h.Task == nil || h.Task.Depth != 2 || h.Parent != child.Snapshot().Header().ID || h.ID != session.ChildID(h.Parent, h.Task.ID) {
		t.Errorf("header %+v", h)
	}
	links := parent.Snapshot().Tasks()
	if len(links) != 1 || links[0].CallID != "c1" || parent.Snapshot().TaskPath(links[0].Task) != child.Snapshot().Path() {
		t.Errorf("links %+v", links)
	}
	closed(t, grand, child)

	t.Run("opened again it is the same one", func(t *testing.T) {
		again, err := parent.Snapshot().OpenTask(links[0].Task, nil, session.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer again.Close()
		if again.Snapshot().Len() != child.Snapshot().Len() || again.Snapshot().Header().Task == nil {
			t.Errorf("%+v, %d entries", again.Snapshot().Header(), again.Snapshot().Len())
		}
	})
	t.Run("lists have its parent alone", func(t *testing.T) {
		files, err := session.List(store.Files{Dir: sessions}, "", "")
		if err != nil || len(files) != 1 || files[0].Tasks != 1 {
			t.Errorf("%+v %v", files, err)
		}
		if newest, err := session.Newest(store.Files{Dir: sessions}, work); err != nil || newest != parent.Snapshot().Path() {
			t.Errorf("newest %s %v", newest, err)
		}
		for _, id := range []string{h.ID, h.ID[:8]} {
			if path, err := session.Find(store.Files{Dir: sessions}, id); err != nil || path != grand.Snapshot().Path() {
				t.Errorf("%s found %s %v", id, path, err)
			}
		}
	})
	t.Run("a fork has no tasks of its own", func(t *testing.T) {
		fork, err := parent.CreateBranchedSession(session.Dir(sessions, work), parent.Snapshot().Leaf())
		if err != nil {
			t.Fatal(err)
		}
		defer fork.Close()
		if tasks := fork.Snapshot().Tasks(); len(tasks) != 0 {
			t.Errorf("%+v", tasks)
		}
		if all, err := session.Family(fork.Snapshot().Path(), session.Options{}); err != nil || len(all) != 1 {
			t.Errorf("%v %v", all, err)
		}
	})
	t.Run("in memory it is in memory", func(t *testing.T) {
		m := newInMemory(t)
		child := give(t, m, "c", 1)
		if child.Snapshot().Path() != "" || child.Snapshot().Header().Task == nil {
			t.Errorf("%q %+v", child.Snapshot().Path(), child.Snapshot().Header())
		}
	})
	t.Run("half a first line is begun again", func(t *testing.T) {
		task := linked(t, parent, "c3", 1)
		path := parent.Snapshot().TaskPath(task)
		if err := os.WriteFile(path, []byte(`{"type":"sess`), 0o600); err != nil {
			t.Fatal(err)
		}
		m, err := parent.Snapshot().OpenTask(task, nil, session.Options{})
		if err != nil {
			t.Fatal(err)
		}
		add(t, m, user("again"))
		closed(t, m)
		if _, err := os.Stat(path + ".torn"); err != nil {
			t.Error(err)
		}
	})
	t.Run("what another one put there is refused", func(t *testing.T) {
		task := linked(t, parent, "c4", 1)
		other := savedSession(t, t.TempDir(), "/w", "other", "x", clock()())
		if err := os.Rename(other, parent.Snapshot().TaskPath(task)); err != nil {
			t.Fatal(err)
		}
		if m, err := parent.Snapshot().OpenTask(task, nil, session.Options{}); err == nil || !strings.Contains(err.Error(), "is not the session of a task") {
			t.Errorf("%v %v", m, err)
		}
	})
	closed(t, parent)
}

// Deleting takes a session with all tasks below it, children first, found by ids
// that follow from each other; no path that a file names is followed.
func TestDeletingTakesTheTaskTree(t *testing.T) {
	for _, way := range []string{"trash", "delete"} {
		t.Run(way, func(t *testing.T) {
			root, work := t.TempDir(), t.TempDir()
			keep := filepath.Join(work, "main.go")
			if err := os.WriteFile(keep, []byte("package main"), 0o600); err != nil {
				t.Fatal(err)
			}
			parent, err := session.New(root, work, session.Options{})
			if err != nil {
				t.Fatal(err)
			}
			add(t, parent, user("go"))
			first := give(t, parent, "c1", 1)
			second := give(t, parent, "c2", 1)
			grand := give(t, first, "c3", 2)
			p := func(m *session.Manager) string { return m.Snapshot().Path() }
			closed(t, parent, first, second)

			take := func() error { return session.Delete(p(parent), session.Options{}) }
			if way == "trash" {
				trash := t.TempDir()
				take = func() error { return session.Trash(p(parent), trash) }
			}
			if err := take(); !errors.As(err, new(*jsonl.LockedError)) {
				t.Fatalf("with a task running: %v", err)
			}
			closed(t, grand)
			all, err := session.Family(p(parent), session.Options{})
			want := []string{p(grand), p(first), p(second), p(parent)}
			if err != nil || !slices.Equal(all, want) {
				t.Fatalf("the family is %v, want %v: %v", all, want, err)
			}
			if err := take(); err != nil {
				t.Fatal(err)
			}
			if left, _ := filepath.Glob(filepath.Join(root, "*")); len(left) != 0 {
				t.Errorf("left %v", left)
			}
			if _, err := os.Stat(keep); err != nil {
				t.Errorf("the work is gone: %v", err)
			}
		})
	}
}

func TestDeletingFollowsNoStoredPath(t *testing.T) {
	root, elsewhere := t.TempDir(), t.TempDir()
	victim := savedSession(t, elsewhere, "/w", "victim", "mine", clock()())
	parent, err := session.New(root, "/w", session.Options{})
	if err != nil {
		t.Fatal(err)
	}
	add(t, parent, user("go"))
	for _, id := range []string{"../../" + filepath.Base(elsewhere) + "/x", victim, "victim"} {
		link, _ := json.Marshal(session.Task{ID: id, Session: id})
		add(t, parent, session.Custom{Type: session.TaskType, Data: link})
	}
	child := give(t, parent, "c1", 1)
	closed(t, child, parent)
	path := parent.Snapshot().Path()
	tasks := strings.TrimSuffix(path, store.Extension) + ".tasks"
	alien := filepath.Join(tasks, "alien.jsonl")
	if err := os.Link(victim, alien); err != nil {
		t.Fatal(err)
	}
	// A folder of tasks that leads around in a circle.
	if err := os.Symlink(tasks, strings.TrimSuffix(child.Snapshot().Path(), store.Extension)+".tasks"); err != nil {
		t.Fatal(err)
	}
	all, err := session.Family(path, session.Options{})
	if err != nil || !slices.Equal(all, []string{child.Snapshot().Path(), path}) {
		t.Fatalf("the family is %v: %v", all, err)
	}
	if err := session.Delete(path, session.Options{}); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{victim, alien} {
		if _, err := os.Stat(file); err != nil {
			t.Error(err)
		}
	}
}
