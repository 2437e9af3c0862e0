package session_test

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"banyan/internal/session"
	"banyan/internal/tree"
)

// subtreeOf exports a subtree and opens what was written.
func subtreeOf(t interface {
	Helper()
	Fatal(...any)
}, dir string, s session.Snapshot, top session.ID,
) *session.Manager {
	t.Helper()
	var out bytes.Buffer
	if err := s.ExportSubtree(&out, top, testOptions()); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, fmt.Sprintf("%s.jsonl", top))
	if err := os.WriteFile(path, out.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	m, err := session.Open(path, session.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	if p := m.Snapshot().Problems(); len(p) > 0 {
		t.Fatal(fmt.Sprintf("the export of %s has problems: %+v\n%s", top, p, out.String()))
	}
	return m
}

// Whatever a session's shape, the export of a subtree has the entry and what is
// below it, in the same order, with the same labels and the same leaf.
func TestExportSubtreeKeepsTheShape(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		m, err := session.New("", "/w", testOptions())
		if err != nil {
			t.Fatal(err)
		}
		var ids []session.ID
		for i := range rapid.IntRange(1, 25).Draw(t, "entries") {
			if len(ids) > 0 && rapid.IntRange(0, 3).Draw(t, "branch") == 0 {
				if err := m.Branch(rapid.SampledFrom(ids).Draw(t, "at")); err != nil {
					t.Fatal(err)
				}
			}
			var d session.Data = user(fmt.Sprint("turn ", i))
			if len(ids) > 0 && rapid.IntRange(0, 4).Draw(t, "label") == 0 {
				d = session.Label{Target: rapid.SampledFrom(ids).Draw(t, "target"), Text: fmt.Sprint("label ", i)}
			}
			e, err := m.Append(d)
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, e.ID)
		}
		s := m.Snapshot()
		top := rapid.SampledFrom(ids).Draw(t, "top")
		made := subtreeOf(t, dir, s, top)
		defer made.Close()
		got := made.Snapshot()

		want, parents, labels := []session.ID{}, map[session.ID]session.ID{}, map[session.ID]string{}
		isLabel := func(id session.ID) bool { return s.Class(s.Node(id)).Kind == "label" }
		for _, id := range ids {
			path := s.PathIDs(id)
			at := slices.Index(path, top)
			if at < 0 || isLabel(id) {
				continue
			}
			want = append(want, id)
			for _, above := range path[at : len(path)-1] {
				if !isLabel(above) {
					parents[id] = above
				}
			}
			if l := s.Label(id); l != "" {
				labels[id] = l
			}
		}
		kept := []session.ID{}
		for n := range tree.Node(got.Len()) {
			e, err := got.EntryAt(n)
			if err != nil {
				t.Fatal(err)
			}
			if _, ok := e.Data.(session.Label); ok {
				continue
			}
			kept = append(kept, e.ID)
			if e.Parent != parents[e.ID] {
				t.Fatalf("%s hangs below %q, want %q", e.ID, e.Parent, parents[e.ID])
			}
		}
		if !slices.Equal(kept, want) {
			t.Fatalf("the subtree of %s has %v, want %v", top, kept, want)
		}
		if l := got.Labels(); !maps.Equal(l, labels) {
			t.Fatalf("labels %v, want %v", l, labels)
		}
		if leaf := spoken(s, s.Leaf()); slices.Contains(want, leaf) && spoken(got, got.Leaf()) != leaf {
			t.Fatalf("the leaf is %s, want %s", got.Leaf(), leaf)
		}
	})
}

// spoken is the entry itself, or what a label hangs below.
func spoken(s session.Snapshot, id session.ID) session.ID {
	for id != "" && s.Class(s.Node(id)).Kind == "label" {
		id = s.ID(s.Tree().Parent(s.Node(id)))
	}
	return id
}

// A compaction that kept from above the subtree keeps from where that begins.
func TestExportSubtreeWithCompaction(t *testing.T) {
	m := newInMemory(t)
	first := add(t, m, user("one"))
	add(t, m, answer("two"))
	top := add(t, m, user("three"))
	add(t, m, answer("four"))
	add(t, m, session.Compaction{Summary: "so far", FirstKept: first, TokensBefore: 9})
	add(t, m, user("five"))
	made := subtreeOf(t, t.TempDir(), m.Snapshot(), top)
	defer made.Close()
	s := made.Snapshot()
	c, err := s.Context(s.Leaf())
	if err != nil {
		t.Fatal(err)
	}
	var said []string
	for _, m := range c.Messages() {
		said = append(said, m.Text())
	}
	if len(said) < 3 || !slices.Contains(said, "four") || said[len(said)-1] != "five" {
		t.Errorf("the context is %q", said)
	}
	if err := m.Snapshot().ExportSubtree(&bytes.Buffer{}, "nothing", testOptions()); err == nil {
		t.Error("no error for an entry that is not there")
	}
}
