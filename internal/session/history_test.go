package session_test

import (
	"fmt"
	"os"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"banyan/internal/llm"
	"banyan/internal/session"
	"banyan/internal/tree"
)

// naive is a session as a list of entries, searched from the start each time.
type naive struct {
	entries []session.Entry
	leaf    session.ID
}

func (n *naive) find(id session.ID) *session.Entry {
	for i := range n.entries {
		if n.entries[i].ID == id {
			return &n.entries[i]
		}
	}
	return nil
}

func (n *naive) path(id session.ID) []session.Entry {
	var path []session.Entry
	for e := n.find(id); e != nil; e = n.find(e.Parent) {
		path = append(path, *e)
	}
	slices.Reverse(path)
	return path
}

func (n *naive) children(id session.ID) []session.ID {
	kids := []session.ID{}
	for _, e := range n.entries {
		if e.Parent == id {
			kids = append(kids, e.ID)
		}
	}
	return kids
}

func (n *naive) labels() map[session.ID]string {
	labels := map[session.ID]string{}
	for _, e := range n.entries {
		if l, ok := e.Data.(session.Label); ok {
			delete(labels, l.Target)
			if l.Text != "" {
				labels[l.Target] = l.Text
			}
		}
	}
	return labels
}

// context is what models see, from the whole path.
func (n *naive) context(id session.ID) (ids []session.ID, model string, level llm.ThinkingLevel) {
	path := n.path(id)
	level = llm.ThinkingOff
	compaction := -1
	for i, e := range path {
		switch d := e.Data.(type) {
		case session.ThinkingChange:
			level = d.Level
		case session.ModelChange:
			model = d.Model
		case session.Message:
			if d.Role == llm.Assistant {
				model = d.Message.Model
			}
		case session.Compaction:
			compaction = i
		}
	}
	emits := func(e session.Entry) bool {
		switch d := e.Data.(type) {
		case session.Message, session.Command, session.CustomMessage:
			return true
		case session.BranchSummary:
			return d.Summary != ""
		}
		return false
	}
	kept := compaction < 0
	if compaction >= 0 {
		ids = append(ids, path[compaction].ID)
	}
	for i, e := range path {
		if compaction >= 0 && i < compaction && e.ID == path[compaction].Data.(session.Compaction).FirstKept || i == compaction {
			kept = true
		}
		if kept && emits(e) {
			ids = append(ids, e.ID)
		}
	}
	return ids, model, level
}

// history drives a session and a naive one with the same random operations.
type history struct {
	m *session.Manager
	n naive
}

func (h *history) step(t *rapid.T) {
	if h.n.leaf != "" && rapid.IntRange(0, 4).Draw(t, "move") == 0 {
		h.move(t)
		return
	}
	d := h.data(t)
	e, err := h.m.Append(d)
	if err != nil {
		t.Fatalf("append %#v: %v", d, err)
	}
	if e.Parent != h.n.leaf {
		t.Fatalf("the parent of %s is %s, want %s", e.ID, e.Parent, h.n.leaf)
	}
	h.n.entries = append(h.n.entries, e)
	h.n.leaf = e.ID
}

func (h *history) anyID(t *rapid.T) session.ID {
	return rapid.SampledFrom(h.n.entries).Draw(t, "entry").ID
}

func (h *history) move(t *rapid.T) {
	switch rapid.IntRange(0, 5).Draw(t, "how") {
	case 0:
		h.m.ResetLeaf()
		h.n.leaf = ""
	case 1:
		to := h.anyID(t)
		if rapid.Bool().Draw(t, "to root") {
			to = ""
		}
		e, err := h.m.BranchWithSummary(to, session.BranchSummary{Summary: rapid.SampledFrom([]string{"", "left"}).Draw(t, "summary")})
		if err != nil {
			t.Fatal(err)
		}
		if d := e.Data.(session.BranchSummary); d.From != to || e.Parent != to {
			t.Fatalf("a summary at %q hangs below %q, from %q", to, e.Parent, d.From)
		}
		h.n.entries = append(h.n.entries, e)
		h.n.leaf = e.ID
	case 2:
		if err := h.m.SavePosition(); err != nil {
			t.Fatal(err)
		}
	default:
		h.n.leaf = h.anyID(t)
		if err := h.m.Branch(h.n.leaf); err != nil {
			t.Fatal(err)
		}
	}
}

func (h *history) data(t *rapid.T) session.Data {
	if len(h.n.entries) == 0 {
		return user("first")
	}
	switch rapid.IntRange(0, 11).Draw(t, "kind") {
	case 0, 1, 2:
		return user(rapid.StringN(1, 5, -1).Draw(t, "text"))
	case 3, 4:
		a := answer("yes")
		a.Message.Model = rapid.SampledFrom([]string{"m1", "m2"}).Draw(t, "model")
		return a
	case 5:
		c := session.Compaction{Summary: "so far"}
		if path := h.n.path(h.n.leaf); len(path) > 0 {
			c.FirstKept = rapid.SampledFrom(path).Draw(t, "kept").ID
		}
		return c
	case 6, 7:
		return session.Label{Target: h.anyID(t), Text: rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "label")}
	case 8:
		return session.ModelChange{Provider: "p", Model: "m3"}
	case 9:
		return session.ThinkingChange{Level: llm.ThinkingHigh}
	case 10:
		return session.CustomMessage{Type: "x", Content: []llm.Block{llm.Text{Text: "c"}}}
	}
	return session.Custom{Type: "x"}
}

func (h *history) check(t *rapid.T, s session.Snapshot) {
	if s.Len() != len(h.n.entries) || s.Leaf() != h.n.leaf {
		t.Fatalf("%d entries with leaf %q, want %d with %q", s.Len(), s.Leaf(), len(h.n.entries), h.n.leaf)
	}
	if got, want := s.Labels(), h.n.labels(); !reflect.DeepEqual(got, want) {
		t.Fatalf("labels %v, want %v", got, want)
	}
	if got, want := s.Children(""), h.n.children(""); !slices.Equal(got, want) {
		t.Fatalf("roots %v, want %v", got, want)
	}
	for _, e := range h.n.entries {
		got, err := s.Branch(e.ID)
		if err != nil {
			t.Fatal(err)
		}
		if want := h.n.path(e.ID); !reflect.DeepEqual(got, want) {
			t.Fatalf("path to %s\n got %v\nwant %v", e.ID, got, want)
		}
		if got, want := s.Children(e.ID), h.n.children(e.ID); !slices.Equal(got, want) {
			t.Fatalf("children of %s %v, want %v", e.ID, got, want)
		}
		h.checkContext(t, s, e.ID)
	}
}

func (h *history) checkContext(t *rapid.T, s session.Snapshot, id session.ID) {
	c, err := s.Context(id)
	if err != nil {
		t.Fatal(err)
	}
	want, model, level := h.n.context(id)
	got := itemIDs(c)
	if !slices.Equal(got, want) || c.Model.Model != model || c.Thinking != level {
		t.Fatalf("context at %s %v %s %s, want %v %s %s", id, got, c.Model.Model, c.Thinking, want, model, level)
	}
	if err := acceptable(c.Messages()); err != nil {
		t.Fatalf("context at %s: %v", id, err)
	}
	state, err := s.State(id)
	if c.Items = nil; err != nil || !reflect.DeepEqual(state, c) {
		t.Fatalf("state at %s %+v (%v), want %+v", id, state, err, c)
	}
}

func itemIDs(c session.Context) []session.ID {
	var ids []session.ID
	for _, item := range c.Items {
		ids = append(ids, item.Entry)
	}
	return ids
}

// TestHistories: whatever is done to a session, it is what a naive one is, in
// memory and read back, and after closing it opens where it was.
func TestHistories(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		sub, err := os.MkdirTemp(dir, "")
		if err != nil {
			t.Fatal(err)
		}
		m, err := session.New(sub, "/w", testOptions())
		if err != nil {
			t.Fatal(err)
		}
		h := history{m: m}
		var early session.Snapshot
		var then int
		for i := range rapid.IntRange(1, 40).Draw(t, "steps") {
			h.step(t)
			if i == 10 {
				early, then = m.Snapshot(), len(h.n.entries)
			}
		}
		h.check(t, m.Snapshot())
		if early.Len() != 0 {
			h2 := history{n: naive{entries: h.n.entries[:then], leaf: early.Leaf()}}
			h2.check(t, early)
		}
		if err := m.Close(); err != nil {
			t.Fatal(err)
		}
		m, err = session.Open(m.Snapshot().Path(), testOptions())
		if err != nil {
			t.Fatal(err)
		}
		defer m.Close()
		if p := m.Snapshot().Problems(); len(p) > 0 {
			t.Fatalf("problems: %v", p)
		}
		h.m = m
		h.check(t, m.Snapshot())
	})
}

// TestForkIsTheSameConversation: a fork at any entry of any session gives the
// model the same context, wherever labels are.
func TestForkIsTheSameConversation(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		sub, err := os.MkdirTemp(dir, "")
		if err != nil {
			t.Fatal(err)
		}
		if rapid.Bool().Draw(t, "in memory") {
			sub = ""
		}
		m, err := session.New(sub, "/w", testOptions())
		if err != nil {
			t.Fatal(err)
		}
		defer m.Close()
		h := history{m: m}
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			h.step(t)
		}
		at := h.anyID(t)
		fork, err := m.CreateBranchedSession(sub, at)
		if err != nil {
			t.Fatal(err)
		}
		defer fork.Close()
		sameConversation(t, m.Snapshot(), fork.Snapshot(), at)
	})
}

func sameConversation(t *rapid.T, s, f session.Snapshot, at session.ID) {
	want, err := s.Context(at)
	if err != nil {
		t.Fatal(err)
	}
	got, err := f.Context(f.Leaf())
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(itemIDs(got), itemIDs(want)) || !reflect.DeepEqual(got.Messages(), want.Messages()) ||
		got.Model != want.Model || got.Thinking != want.Thinking {
		t.Fatalf("the fork's context\n got %v\nwant %v", itemIDs(got), itemIDs(want))
	}
	if roots := f.Children(""); len(roots) > 1 || len(f.Problems()) > 0 {
		t.Fatalf("the fork has roots %v and problems %v", roots, f.Problems())
	}
	labels := map[session.ID]string{}
	for _, id := range s.PathIDs(at) {
		if s.Class(s.Node(id)).Kind == "label" {
			if _, kept, _ := f.Entry(id); kept {
				t.Fatalf("the fork has the label entry %s", id)
			}
			continue
		}
		if _, kept, _ := f.Entry(id); !kept {
			t.Fatalf("the fork lacks %s", id)
		}
		if l := s.Label(id); l != "" {
			labels[id] = l
		}
	}
	if !reflect.DeepEqual(f.Labels(), labels) {
		t.Fatalf("the fork has labels %v, want %v", f.Labels(), labels)
	}
	for n := range tree.Node(f.Len()) {
		if f.Class(n).Kind == "compaction" {
			e, err := f.EntryAt(n)
			if err != nil {
				t.Fatal(err)
			}
			d := e.Data.(session.Compaction)
			if d.FirstKept != "" && !slices.Contains(f.PathIDs(e.ID), d.FirstKept) {
				t.Fatalf("the fork keeps from %s, which is not on its path", d.FirstKept)
			}
		}
	}
}

// TestSnapshotsAreRaceFree reads old snapshots while the session grows; it is
// for the race detector.
func TestSnapshotsAreRaceFree(t *testing.T) {
	m := newOnDisk(t)
	add(t, m, user("first"))
	done := make(chan error)
	readers := 0
	for i := range 400 {
		id := add(t, m, user(fmt.Sprint(i)))
		if i%7 == 0 {
			add(t, m, session.Label{Target: id, Text: fmt.Sprint("l", i)})
		}
		if i%5 == 0 {
			if err := m.Branch(id); err != nil {
				t.Fatal(err)
			}
		}
		if i%20 == 0 {
			readers++
			go func(s session.Snapshot, last session.ID, n int) { done <- readAll(s, last, n) }(m.Snapshot(), id, m.Snapshot().Len())
		}
	}
	for range readers {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

func readAll(s session.Snapshot, last session.ID, n int) error {
	for range 20 {
		if s.Len() != n {
			return fmt.Errorf("a snapshot grew from %d to %d", n, s.Len())
		}
		seen := 0
		for node := range tree.Node(s.Len()) {
			if s.Node(s.ID(node)) != node {
				return fmt.Errorf("node %d is not found by its id", node)
			}
			seen += len(s.Children(s.ID(node)))
			s.Label(s.ID(node))
		}
		if seen+len(s.Children("")) != n {
			return fmt.Errorf("%d children and roots of %d", seen+len(s.Children("")), n)
		}
		if _, err := s.Context(last); err != nil {
			return err
		}
	}
	return nil
}
