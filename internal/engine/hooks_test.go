package engine

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"banyan/internal/llm/llmtest"
	"banyan/internal/session"
)

// spy hears everything, notes it, and says what a test wants.
type spy struct {
	mu    sync.Mutex
	heard []Occasion
	say   func(context.Context, Occasion) error // nil says nothing
	deaf  []string                              // what it does not hear
}

func (s *spy) Hears(name string) bool { return !slices.Contains(s.deaf, name) }

func (s *spy) Ask(ctx context.Context, o Occasion) error {
	s.Tell(o)
	s.mu.Lock()
	say := s.say
	s.mu.Unlock()
	if say == nil {
		return nil
	}
	return say(ctx, o)
}

func (s *spy) Tell(o Occasion) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.heard = append(s.heard, o)
}

// sayTo has it say something to the occasions of one kind from now on.
func sayTo[O Occasion](s *spy, say func(O) error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.say = func(_ context.Context, o Occasion) error {
		if mine, ok := o.(O); ok {
			return say(mine)
		}
		return nil
	}
}

// all are the occasions of one kind so far.
func all[O Occasion](s *spy) (list []O) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, o := range s.heard {
		if mine, ok := o.(O); ok {
			list = append(list, mine)
		}
	}
	return list
}

// names are those of the occasions so far that begin so.
func (s *spy) names(prefixes ...string) (names []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, o := range s.heard {
		if slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(o.Name(), p) }) {
			names = append(names, o.Name())
		}
	}
	return names
}

func (s *spy) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.heard = nil
}

func spied(t *testing.T, s *spy, turns ...llmtest.Turn) *world {
	t.Helper()
	w := &world{t: t, model: llmtest.Script(turns...), dir: t.TempDir()}
	w.start(Config{Hooks: s})
	w.say("u1")
	w.say("u2")
	return w
}

func TestHooksHearOfAMove(t *testing.T) {
	s := &spy{}
	w := spied(t, s, llmtest.Text("a1"), llmtest.Text("a2"))
	leaf, target := w.snap.Leaf(), w.prompts()[1]
	s.forget()
	w.engine.Send(Navigate{Target: target})
	w.moved()
	w.finished()
	p, d := all[*SessionBeforeTree](s)[0], all[*SessionTree](s)[0]
	if p.Target != target || p.OldLeaf != leaf || p.Common != target || p.NewLeaf != w.snap.Leaf() || len(p.Left) != 1 || p.Left[0].ID != leaf {
		t.Errorf("prepared %+v", p)
	}
	if d.OldLeaf != leaf || d.NewLeaf != w.snap.Leaf() || d.Summary != nil {
		t.Errorf("done %+v", d)
	}
	if got, want := s.names("session"), []string{"session_before_tree", "session_tree"}; !slices.Equal(got, want) {
		t.Errorf("heard %q", got)
	}
}

func TestAHookMayStopAMove(t *testing.T) {
	s := &spy{}
	sayTo(s, func(*SessionBeforeTree) error { return ErrVetoed })
	w := spied(t, s, llmtest.Text("a1"), llmtest.Text("a2"))
	leaf, n := w.snap.Leaf(), w.snap.Len()
	w.engine.Send(Navigate{Target: w.prompts()[1], Summarize: true})
	if st := w.stayed(); !errors.Is(st.Err, ErrVetoed) {
		t.Errorf("stayed %+v", st)
	}
	w.finished()
	if w.snap.Leaf() != leaf || w.snap.Len() != n || len(all[*SessionTree](s)) > 0 {
		t.Error("something changed")
	}
	w.sameOnDisk()
}

func TestAHookMayBringASummaryAndALabel(t *testing.T) {
	s := &spy{}
	sayTo(s, func(o *SessionBeforeTree) error {
		o.Summary, o.Label = &session.BranchSummary{Summary: "in short"}, "tried"
		return nil
	})
	w := spied(t, s, llmtest.Text("a1"), llmtest.Text("a2")) // no third answer: the model is not asked
	leaf := w.snap.Leaf()
	w.engine.Send(Navigate{Target: w.prompts()[1], Summarize: true})
	w.moved()
	w.finished()
	done := all[*SessionTree](s)[0]
	if done.Summary == nil || !done.FromHook {
		t.Fatalf("done %+v", done)
	}
	sum := done.Summary.Data.(session.BranchSummary)
	if sum.Summary != "in short" || !sum.FromHook || sum.Details.LeftLeaf != leaf || w.snap.Label(done.Summary.ID) != "tried" {
		t.Errorf("summary %+v, labels %v", sum, w.snap.Labels())
	}
	w.sameOnDisk()
}

// A summary that nobody asked for is not taken.
func TestAHookBringsASummaryOnlyWhereOneIsWanted(t *testing.T) {
	s := &spy{}
	sayTo(s, func(o *SessionBeforeTree) error { o.Summary = &session.BranchSummary{Summary: "in short"}; return nil })
	w := spied(t, s, llmtest.Text("a1"), llmtest.Text("a2"))
	n := w.snap.Len()
	w.engine.Send(Navigate{Target: w.prompts()[1]})
	w.moved()
	w.finished()
	if w.snap.Len() != n {
		t.Error("an entry came")
	}
}

func TestAHookMayChangeTheInstructions(t *testing.T) {
	instead := "only the names"
	s := &spy{}
	sayTo(s, func(o *SessionBeforeTree) error { o.Instructions, o.Replace = &instead, true; return nil })
	w := spied(t, s, llmtest.Text("a1"), llmtest.Text("a2"), llmtest.Text("names"))
	w.engine.Send(Navigate{Target: w.prompts()[1], Summarize: true, Instructions: "everything"})
	w.moved()
	w.finished()
	if p := w.model.Requests()[2].Messages[0].Text(); !strings.Contains(p, instead) || strings.Contains(p, "everything") {
		t.Errorf("asked: %s", p)
	}
}

func TestHooksHearOfForksAndSwitches(t *testing.T) {
	s := &spy{}
	w := spied(t, s, llmtest.Text("a1"), llmtest.Text("a2"))
	first := w.snap.Path()
	s.forget()
	w.engine.Send(Fork{Target: w.prompts()[1]})
	w.finished()
	w.engine.Send(NewSession{})
	w.finished()
	w.engine.Send(Open{Path: first})
	w.finished()
	want := []string{
		"session_before_branch", "session_before_switch", "session_shutdown", "session_start", "session_branch", "session_switch",
		"session_before_switch", "session_shutdown", "session_start", "session_switch",
		"session_before_switch", "session_shutdown", "session_start", "session_switch",
	}
	if got := s.names("session"); !slices.Equal(got, want) {
		t.Errorf("heard %q, want %q", got, want)
	}
	var reasons []string
	for _, o := range all[*SessionSwitch](s) {
		reasons = append(reasons, o.Reason)
	}
	if !slices.Equal(reasons, []string{"fork", "new", "resume"}) {
		t.Errorf("switched for %q", reasons)
	}
	sayTo(s, func(o Occasion) error {
		if strings.Contains(o.Name(), "_before_") {
			return ErrVetoed
		}
		return nil
	})
	for _, c := range []Command{Fork{Target: w.prompts()[1]}, NewSession{}} {
		w.engine.Send(c)
		if f := w.finished(); !errors.Is(f.Err, ErrVetoed) || w.snap.Path() != first {
			t.Errorf("%T: %v, in %s", c, f.Err, w.snap.Path())
		}
	}
}

func TestNewSessionDiscardsTheOldOne(t *testing.T) {
	var gone []string
	fails := errors.New("it is open elsewhere")
	w := &world{t: t, model: llmtest.Script(llmtest.Text("a1")), dir: t.TempDir()}
	w.start(Config{Hooks: &spy{}, Discard: func(path string) error {
		if err := session.Delete(path, session.Options{}); err != nil { // it is closed by now
			return err
		}
		gone = append(gone, path)
		return fails
	}})
	w.say("u1")
	first := w.snap.Path()
	w.engine.Send(NewSession{Discard: true})
	if f := w.finished(); !errors.Is(f.Err, fails) || !slices.Equal(gone, []string{first}) || w.snap.Path() == first {
		t.Errorf("%v; gone are %q, in %s", f.Err, gone, w.snap.Path())
	}
}

func TestHooksHearOfCompactions(t *testing.T) {
	s := &spy{}
	w := &world{t: t, model: llmtest.Script(llmtest.Text("a1"), llmtest.Text("a2"), llmtest.Text("a3")), dir: t.TempDir()}
	w.start(Config{Hooks: s, Compaction: Compaction{KeepRecent: 1}})
	w.say("u1")
	w.say("u2")
	sayTo(s, func(*SessionBeforeCompact) error { return ErrVetoed })
	n := w.snap.Len()
	w.engine.Send(Compact{Focus: "names"})
	if f := w.finished(); !errors.Is(f.Err, ErrVetoed) || w.snap.Len() != n {
		t.Fatalf("vetoed: %v", f.Err)
	}
	if p := all[*SessionBeforeCompact](s)[0]; p.Reason != CompactManual || p.Instructions != "names" || p.FirstKept == "" || len(p.Path) != n {
		t.Errorf("prepared %+v", p)
	}
	sayTo(s, func(o *SessionBeforeCompact) error {
		o.Summary = &session.Compaction{Summary: "all in short"}
		return nil
	})
	w.engine.Send(Compact{})
	w.finished()
	e, _, _ := w.snap.Entry(w.snap.Leaf())
	if c, ok := e.Data.(session.Compaction); !ok || c.Summary != "all in short" || c.FirstKept == "" || !c.FromHook {
		t.Errorf("leaf %+v", e)
	}
	if done := all[*SessionCompact](s); len(done) != 1 || !done[0].FromHook {
		t.Errorf("told %+v", done)
	}
	w.sameOnDisk()
}

// A hook that breaks down ends the move, and it is answered all the same.
func TestAHookThatBreaksDownStopsAMove(t *testing.T) {
	s := &spy{}
	sayTo(s, func(*SessionBeforeTree) error { panic("a fault") })
	w := spied(t, s, llmtest.Text("a1"), llmtest.Text("a2"))
	leaf := w.snap.Leaf()
	w.engine.Send(Navigate{Target: w.prompts()[1], Summarize: true})
	if st := w.stayed(); st.Err == nil || w.snap.Leaf() != leaf {
		t.Errorf("stayed %+v", st)
	}
	if f := w.finished(); f.Err == nil {
		t.Error("it ended well")
	}
	w.sameOnDisk()
}
