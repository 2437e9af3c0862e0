package engine

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"banyan/internal/llm"
	"banyan/internal/llm/llmtest"
	"banyan/internal/session"
)

func (w *world) stayed() Stayed {
	w.t.Helper()
	return w.until("stayed", func(ev Event) bool { _, ok := ev.(Stayed); return ok }).(Stayed)
}

// branches is a session with two branches below its first answer, the leaf at
// the end of the second:
//
//	u1 a1 ┬ u2 a2
//	      └ u3 a3
func branches(t *testing.T, more ...llmtest.Turn) (w *world, first, second []session.ID) {
	t.Helper()
	w = newWorld(t, append([]llmtest.Turn{llmtest.Text("a1"), llmtest.Text("a2"), llmtest.Text("a3")}, more...)...)
	w.say("u1")
	w.say("u2")
	first = w.snap.PathIDs(w.snap.Leaf())
	w.engine.Send(Navigate{Target: w.prompts()[1]})
	w.moved()
	w.say("u3")
	return w, first, w.snap.PathIDs(w.snap.Leaf())
}

func TestEveryNavigationHasOneAnswer(t *testing.T) {
	w, first, second := branches(t)
	end := second[len(second)-1]
	for _, c := range []struct {
		name string
		nav  Navigate
		err  string // of Stayed; "-" for Moved
	}{
		{"to the leaf", Navigate{Target: end}, ""},
		{"to nothing", Navigate{Target: "nope"}, "there is no entry nope"},
		{"to the other end", Navigate{Target: first[len(first)-1]}, "-"},
		{"before everything", Navigate{}, "-"},
		{"before everything again", Navigate{}, ""},
		{"and back", Navigate{Target: end}, "-"},
	} {
		leaf := w.snap.Leaf()
		seen := len(w.seen)
		w.engine.Send(c.nav)
		w.idle()
		var answers []Event
		for _, ev := range w.seen[seen:] {
			switch ev.(type) {
			case Moved, Stayed:
				answers = append(answers, ev)
			}
		}
		if len(answers) != 1 {
			t.Fatalf("%s: answered by %v", c.name, answers)
		}
		switch a := answers[0].(type) {
		case Moved:
			if c.err != "-" || a.From != leaf || w.snap.Leaf() != c.nav.Target {
				t.Errorf("%s: moved from %s to %s", c.name, a.From, w.snap.Leaf())
			}
		case Stayed:
			if a.Target != c.nav.Target || (c.err == "") != (a.Err == nil) || a.Err != nil && !strings.Contains(a.Err.Error(), c.err) || w.snap.Leaf() != leaf {
				t.Errorf("%s: stayed: %+v", c.name, a)
			}
		}
	}
	w.sameOnDisk()
}

func TestNavigationToTheEntryItself(t *testing.T) {
	w, first, _ := branches(t)
	prompt := first[len(first)-2]
	w.engine.Send(Navigate{Target: prompt, At: true})
	if m := w.moved(); m.Draft != nil || m.Session.Leaf() != prompt {
		t.Errorf("leaf %s, draft %v", m.Session.Leaf(), m.Draft)
	}
}

func TestNavigationInterruptsWhatRuns(t *testing.T) {
	held := llmtest.Text("never")
	held.Hold = make(chan struct{})
	w, first, _ := branches(t, held)
	w.engine.Send(Submit{Text: "u4"})
	w.until("the turn begins", func(ev Event) bool { s, ok := ev.(Started); return ok && s.What == "turn" })
	leaf := w.snap.Leaf()
	target := first[len(first)-1]
	w.engine.Send(Navigate{Target: target})
	if s := w.stayed(); s.Err == nil || w.snap.Leaf() != leaf {
		t.Fatalf("stayed %+v", s)
	}
	w.engine.Send(Navigate{Target: target, Interrupt: true})
	if f := w.finished(); !errors.Is(f.Err, context.Canceled) {
		t.Errorf("the turn ended with %v", f.Err)
	}
	if m := w.moved(); m.Session.Leaf() != target {
		t.Errorf("leaf %s", m.Session.Leaf())
	}
	w.sameOnDisk()
}

func TestNavigationGivesImagesBack(t *testing.T) {
	w := newWorld(t, llmtest.Text("a1"))
	w.engine.Send(Submit{Text: "look", Images: []llm.Image{{Data: "aGk=", MIME: "image/png"}}})
	w.finished()
	w.engine.Send(Navigate{Target: w.prompts()[0]})
	m := w.moved()
	if m.Draft == nil || m.Draft.Text != "look" || len(m.Draft.Images) != 1 || m.Draft.Images[0].MIME != "image/png" {
		t.Errorf("draft %+v", m.Draft)
	}
}

func TestNavigationWithALabel(t *testing.T) {
	w, first, second := branches(t, llmtest.Text("summed up"))
	w.engine.Send(Navigate{Target: first[len(first)-1], Label: "there"})
	w.moved()
	if got := w.snap.Label(first[len(first)-1]); got != "there" {
		t.Errorf("label %q", got)
	}
	w.engine.Send(Navigate{Target: second[len(second)-1], Summarize: true, Label: "note"})
	w.moved()
	w.finished()
	for id, label := range w.snap.Labels() {
		if c := w.snap.Class(w.snap.Node(id)); label == "note" && c.Kind != "branch_summary" {
			t.Errorf("the label is on a %s", c.Kind)
		}
	}
	w.sameOnDisk()
}

// The prompts that one always wants a summary to look at come with each.
func TestBranchInstructions(t *testing.T) {
	w := &world{t: t, model: llmtest.Script(llmtest.Text("a1"), llmtest.Text("a2"), llmtest.Text("sum")), dir: t.TempDir()}
	w.start(Config{BranchInstructions: "name the files"})
	w.say("u1")
	w.say("u2")
	w.engine.Send(Navigate{Target: w.prompts()[1], Summarize: true, Instructions: "be brief"})
	w.moved()
	if p := w.model.Requests()[2].Messages[0].Text(); !strings.Contains(p, "name the files") || !strings.Contains(p, "be brief") {
		t.Errorf("asked: %s", p)
	}
}

func TestCherryPick(t *testing.T) {
	w, first, second := branches(t)
	n := w.snap.Len()
	w.engine.Send(CherryPick{Entries: first[len(first)-2:]})
	m := w.moved()
	if got, want := w.roles(), "user u1 | assistant a1 | user u3 | assistant a3 | user u2 | assistant a2"; got != want {
		t.Errorf("context %s", got)
	}
	if m.From != second[len(second)-1] || w.snap.Len() != n+2 {
		t.Errorf("from %s, %d entries", m.From, w.snap.Len()-n)
	}
	w.engine.Send(CherryPick{Entries: []session.ID{"nope"}})
	if s := w.stayed(); s.Err == nil {
		t.Error("an unknown entry was taken over")
	}
	w.sameOnDisk()
}

// An answer that calls tools comes with what they gave.
func TestCherryPickTakesResultsAlong(t *testing.T) {
	w := newWorld(t, llmtest.Call("c1", "look", `{"n":1}`), llmtest.Text("a1"), llmtest.Text("a2"))
	w.say("u1")
	path := w.snap.PathIDs(w.snap.Leaf())
	calls := path[slices.IndexFunc(path, func(id session.ID) bool { return w.snap.Class(w.snap.Node(id)).Role == llm.Assistant })]
	w.engine.Send(Navigate{})
	w.moved()
	w.say("u2")
	w.engine.Send(CherryPick{Entries: []session.ID{calls}})
	w.moved()
	if got := w.roles(); !strings.HasSuffix(got, "assistant look() | toolResult look done") {
		t.Errorf("context %s", got)
	}
}

func TestMerge(t *testing.T) {
	w, first, _ := branches(t, llmtest.Text("They did u2."))
	end := first[len(first)-1]
	w.engine.Send(Merge{Target: end, Summarize: true})
	w.moved()
	w.finished()
	e, _, _ := w.snap.Entry(w.snap.Leaf())
	s, ok := e.Data.(session.BranchSummary)
	if !ok || !strings.Contains(s.Summary, "They did u2.") || s.Details.LeftLeaf != end {
		t.Errorf("leaf %+v", e)
	}
	w.engine.Send(Merge{Target: end})
	w.moved()
	if got := w.roles(); !strings.HasSuffix(got, "u2 | assistant a2") {
		t.Errorf("context %s", got)
	}
	w.engine.Send(Merge{Target: first[0]})
	if st := w.stayed(); st.Err == nil || !strings.Contains(st.Err.Error(), "on this path already") {
		t.Errorf("stayed %+v", st)
	}
	w.sameOnDisk()
}

func TestInMemoryForkReplacesTheSession(t *testing.T) {
	w := &world{t: t, model: llmtest.Script(llmtest.Text("a1"), llmtest.Text("a2"), llmtest.Text("b2")), dir: t.TempDir()}
	w.start(Config{Open: func() (*session.Manager, error) { return session.New("", "/", session.Options{}) }})
	w.engine.cfg.SessionDir = ""
	w.say("u1")
	w.say("u2")
	w.engine.Send(Fork{Target: w.prompts()[1]})
	o := w.until("opened", func(ev Event) bool { _, ok := ev.(Opened); return ok }).(Opened)
	if o.Session.Path() != "" || o.Draft == nil || o.Draft.Text != "u2" {
		t.Errorf("path %q, draft %+v", o.Session.Path(), o.Draft)
	}
	w.say("u2 differently")
	if got := w.roles(); got != "user u1 | assistant a1 | user u2 differently | assistant b2" {
		t.Errorf("context %s", got)
	}
}

// A path in plan mode is gone on with in plan mode, and left with the mode before.
func TestPlanModeBelongsToThePath(t *testing.T) {
	w := &world{t: t, model: llmtest.Script(), dir: t.TempDir()}
	m, err := session.New("", "/", session.Options{})
	if err != nil {
		t.Fatal(err)
	}
	add := func(d session.Data) session.ID {
		e, err := m.Append(d)
		if err != nil {
			t.Fatal(err)
		}
		return e.ID
	}
	user := func(text string) session.Data { return session.Message{Message: llm.UserText(text, time.Now())} }
	top := add(user("top"))
	add(session.ModeChange{Mode: "plan"})
	planned := add(user("planned"))
	if err := m.Branch(top); err != nil {
		t.Fatal(err)
	}
	free := add(user("free"))
	w.start(Config{Open: func() (*session.Manager, error) { return m, nil }})
	mode := func(want string) {
		t.Helper()
		var got string
		_ = w.engine.do(func() error { got = w.engine.cfg.Policy.Mode(); return nil })
		if got != want {
			t.Errorf("mode %s, want %s", got, want)
		}
	}
	goTo := func(id session.ID) {
		w.engine.Send(Navigate{Target: id, At: true})
		w.moved()
	}
	mode("ask")
	goTo(planned)
	mode("plan")
	goTo(free)
	mode("ask")
	goTo(planned)
	w.engine.Send(SetPermission{Mode: "edits"})
	w.idle()
	goTo(free)
	mode("edits")
}
