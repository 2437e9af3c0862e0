package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"banyan/internal/llm/llmtest"
	"banyan/internal/session"
)

// spy is an extension that notes what it hears and says what a test wants.
type spy struct {
	heard         []string
	tree          func(TreePreparation) (TreeChange, error)
	compact       func(CompactPreparation) (CompactChange, error)
	branch, leave error
	prepared      TreePreparation
	done          TreeDone
	compacted     CompactPreparation
}

func (s *spy) BeforeTree(_ context.Context, p TreePreparation) (TreeChange, error) {
	s.heard = append(s.heard, "before tree")
	s.prepared = p
	if s.tree == nil {
		return TreeChange{}, nil
	}
	return s.tree(p)
}

func (s *spy) Tree(_ context.Context, d TreeDone) {
	s.heard, s.done = append(s.heard, "tree"), d
}

func (s *spy) BeforeBranch(_ context.Context, p BranchPreparation) error {
	s.heard = append(s.heard, "before branch")
	return s.branch
}

func (s *spy) Branch(_ context.Context, d BranchDone) {
	s.heard = append(s.heard, fmt.Sprintf("branch %t", d.Parent != d.Path))
}

func (s *spy) BeforeCompact(_ context.Context, p CompactPreparation) (CompactChange, error) {
	s.heard, s.compacted = append(s.heard, "before compact"), p
	if s.compact == nil {
		return CompactChange{}, nil
	}
	return s.compact(p)
}

func (s *spy) Compact(_ context.Context, d CompactDone) {
	s.heard = append(s.heard, fmt.Sprintf("compact %t", d.FromHook))
}

func (s *spy) BeforeSwitch(_ context.Context, p SwitchPreparation) error {
	s.heard = append(s.heard, "before switch "+p.Reason)
	return s.leave
}

func (s *spy) Switch(_ context.Context, d SwitchDone) { s.heard = append(s.heard, "switch "+d.Reason) }

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
	w.engine.Send(Navigate{Target: target})
	w.moved()
	w.finished()
	p := s.prepared
	if p.Target != target || p.OldLeaf != leaf || p.Common != target || p.NewLeaf != w.snap.Leaf() || len(p.Left) != 1 || p.Left[0].ID != leaf {
		t.Errorf("prepared %+v", p)
	}
	if d := s.done; d.OldLeaf != leaf || d.NewLeaf != w.snap.Leaf() || d.Summary != nil {
		t.Errorf("done %+v", d)
	}
	if want := []string{"before tree", "tree"}; !slices.Equal(s.heard, want) {
		t.Errorf("heard %q", s.heard)
	}
}

func TestAHookMayStopAMove(t *testing.T) {
	s := &spy{tree: func(TreePreparation) (TreeChange, error) { return TreeChange{}, ErrVetoed }}
	w := spied(t, s, llmtest.Text("a1"), llmtest.Text("a2"))
	leaf, n := w.snap.Leaf(), w.snap.Len()
	w.engine.Send(Navigate{Target: w.prompts()[1], Summarize: true})
	if st := w.stayed(); !errors.Is(st.Err, ErrVetoed) {
		t.Errorf("stayed %+v", st)
	}
	w.finished()
	if w.snap.Leaf() != leaf || w.snap.Len() != n || slices.Contains(s.heard, "tree") {
		t.Errorf("something changed; heard %q", s.heard)
	}
	w.sameOnDisk()
}

func TestAHookMayBringASummaryAndALabel(t *testing.T) {
	s := &spy{tree: func(TreePreparation) (TreeChange, error) {
		return TreeChange{Summary: &session.BranchSummary{Summary: "in short"}, Label: "tried"}, nil
	}}
	w := spied(t, s, llmtest.Text("a1"), llmtest.Text("a2")) // no third answer: the model is not asked
	leaf := w.snap.Leaf()
	w.engine.Send(Navigate{Target: w.prompts()[1], Summarize: true})
	w.moved()
	w.finished()
	if s.done.Summary == nil || !s.done.FromHook {
		t.Fatalf("done %+v", s.done)
	}
	sum := s.done.Summary.Data.(session.BranchSummary)
	if sum.Summary != "in short" || !sum.FromHook || sum.Details.LeftLeaf != leaf || w.snap.Label(s.done.Summary.ID) != "tried" {
		t.Errorf("summary %+v, labels %v", sum, w.snap.Labels())
	}
	w.sameOnDisk()
}

// A summary that nobody asked for is not taken.
func TestAHookBringsASummaryOnlyWhereOneIsWanted(t *testing.T) {
	s := &spy{tree: func(TreePreparation) (TreeChange, error) {
		return TreeChange{Summary: &session.BranchSummary{Summary: "in short"}}, nil
	}}
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
	s := &spy{tree: func(TreePreparation) (TreeChange, error) {
		return TreeChange{Instructions: &instead, Replace: true}, nil
	}}
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
	w.engine.Send(Fork{Target: w.prompts()[1]})
	w.finished()
	w.engine.Send(NewSession{})
	w.finished()
	w.engine.Send(Open{Path: first})
	w.finished()
	want := []string{
		"before branch", "before switch fork", "branch true", "switch fork",
		"before switch new", "switch new", "before switch resume", "switch resume",
	}
	if !slices.Equal(s.heard, want) {
		t.Errorf("heard %q, want %q", s.heard, want)
	}
	s.branch, s.leave = ErrVetoed, ErrVetoed
	for _, c := range []Command{Fork{Target: w.prompts()[1]}, NewSession{}} {
		w.engine.Send(c)
		if f := w.finished(); !errors.Is(f.Err, ErrVetoed) || w.snap.Path() != first {
			t.Errorf("%T: %v, in %s", c, f.Err, w.snap.Path())
		}
	}
}

func TestHooksHearOfCompactions(t *testing.T) {
	s := &spy{}
	w := &world{t: t, model: llmtest.Script(llmtest.Text("a1"), llmtest.Text("a2"), llmtest.Text("a3")), dir: t.TempDir()}
	w.start(Config{Hooks: s, Compaction: Compaction{KeepRecent: 1}})
	w.say("u1")
	w.say("u2")
	s.compact = func(p CompactPreparation) (CompactChange, error) { return CompactChange{}, ErrVetoed }
	n := w.snap.Len()
	w.engine.Send(Compact{Focus: "names"})
	if f := w.finished(); !errors.Is(f.Err, ErrVetoed) || w.snap.Len() != n {
		t.Fatalf("vetoed: %v", f.Err)
	}
	if p := s.compacted; p.Reason != CompactManual || p.Instructions != "names" || p.FirstKept == "" || len(p.Path) != n {
		t.Errorf("prepared %+v", p)
	}
	s.compact = func(p CompactPreparation) (CompactChange, error) {
		return CompactChange{Summary: &session.Compaction{Summary: "all in short"}}, nil
	}
	w.engine.Send(Compact{})
	w.finished()
	e, _, _ := w.snap.Entry(w.snap.Leaf())
	if c, ok := e.Data.(session.Compaction); !ok || c.Summary != "all in short" || c.FirstKept == "" || !c.FromHook {
		t.Errorf("leaf %+v", e)
	}
	if want := []string{"before compact", "before compact", "compact true"}; !slices.Equal(s.heard, want) {
		t.Errorf("heard %q", s.heard)
	}
	w.sameOnDisk()
}

// A hook that breaks down ends the move, and it is answered all the same.
func TestAHookThatBreaksDownStopsAMove(t *testing.T) {
	s := &spy{tree: func(TreePreparation) (TreeChange, error) { panic("a fault") }}
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
