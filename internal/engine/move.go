package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"banyan/internal/llm"
	"banyan/internal/session"
	"banyan/internal/summary"
)

// The flow of a navigation, top to bottom: navigate → planMove → (beside the
// owner, where somebody is to be asked) carryOut → commit → moved. Nothing has
// changed before commit; every Navigate is answered by one Moved or one Stayed.

// move is a navigation that is planned.
type move struct {
	Navigate
	snap   session.Snapshot // as it was planned on
	to     session.ID       // where the leaf goes; zero before the first entry
	draft  *Draft
	common session.ID
	left   []session.ID // what is left behind, oldest first
}

var errNoModel = errors.New("no model can write the summary; choose one with /model, or go without a summary")

// navigate moves the leaf as a user means it: all of it, or nothing.
func (e *Engine) navigate(n Navigate) {
	if e.job != nil {
		if n.Interrupt {
			if was := e.then; was != nil {
				e.emit(Stayed{Target: was.Target, Err: context.Canceled})
			}
			e.interrupt()
			e.then = &n // when it has ended
			return
		}
		e.emit(Stayed{Target: n.Target, Err: fmt.Errorf("a %s is running; press Esc to end it, then go there", e.job.what)})
		return
	}
	snap := e.session.Snapshot()
	if n.Target == snap.Leaf() {
		e.emit(Stayed{Target: n.Target})
		return
	}
	m, err := planMove(snap, n)
	if err != nil {
		e.emit(Stayed{Target: n.Target, Err: err})
		return
	}
	if !e.hears((*SessionBeforeTree)(nil).Name()) && !n.Summarize {
		if err := e.commit(m, nil); err != nil {
			e.emit(Stayed{Target: n.Target, Err: err})
		}
		return
	}
	what := "navigation"
	if n.Summarize {
		what = "summary"
	}
	s := e.summariser()
	e.startMove(what, n.Target, func(ctx context.Context) error { return m.carryOut(ctx, s) })
}

// startMove runs a job that ends with the leaf elsewhere. Where it does not,
// because of a fault of ours or of a hook's too, its end says Stayed.
func (e *Engine) startMove(what string, target session.ID, work func(context.Context) error) {
	e.start(what, work)
	e.job.moves, e.job.target = true, target
}

// planMove works out where a navigation leads and what it leaves behind: the way
// from the leaf back to where it meets the target's path.
func planMove(snap session.Snapshot, n Navigate) (*move, error) {
	m := &move{Navigate: n, snap: snap}
	if n.Target != "" {
		entry, ok, err := snap.Entry(n.Target)
		if err != nil {
			return nil, err
		}
		if !ok {
			return nil, fmt.Errorf("there is no entry %s in this session", n.Target)
		}
		if m.to = entry.ID; !n.At {
			m.to, m.draft = landing(entry)
		}
	}
	if _, err := snap.State(m.to); err != nil {
		return nil, err
	}
	m.common, m.left = Left(snap, n.Target)
	return m, nil
}

// Left is what going to a target (zero: before the first entry) leaves behind,
// oldest first, and the deepest entry that the two paths have in common.
func Left(snap session.Snapshot, target session.ID) (common session.ID, left []session.ID) {
	view := snap.Tree()
	at := view.Common(snap.Node(snap.Leaf()), snap.Node(target))
	for n := snap.Node(snap.Leaf()); n != at; n = view.Parent(n) {
		left = append(left, snap.ID(n))
	}
	slices.Reverse(left)
	return snap.ID(at), left
}

// entries reads what is left behind.
func (m *move) entries() ([]session.Entry, error) {
	entries := make([]session.Entry, len(m.left))
	for i, id := range m.left {
		e, _, err := m.snap.Entry(id)
		if err != nil {
			return nil, err
		}
		entries[i] = e
	}
	return entries, nil
}

// carryOut asks the hooks and the model, in a job's goroutine, and then moves in
// one step.
func (m *move) carryOut(ctx context.Context, s summariser) error {
	left, err := m.entries()
	if err != nil {
		return err
	}
	wish := &SessionBeforeTree{
		Target: m.Target, OldLeaf: m.snap.Leaf(), NewLeaf: m.to, Common: m.common, Left: left, Navigate: m.Navigate, Session: m.snap,
	}
	if err := s.consult(ctx, wish); err != nil {
		return err
	}
	m.take(wish)
	var sum *session.BranchSummary
	if m.Summarize {
		if sum, err = m.summarise(ctx, s, left, wish.Summary); err != nil {
			return err
		}
	}
	return s.do(func() error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return s.commit(m, sum)
	})
}

// take has a hook's wishes go before the user's.
func (m *move) take(c *SessionBeforeTree) {
	if c.Instructions != nil {
		m.Instructions, m.Replace = *c.Instructions, c.Replace
	}
	if c.Label != "" {
		m.Label = c.Label
	}
}

// options say how the summary is to be made. What the user always wants it to
// look at comes before what they want now.
func (m *move) options(s summariser) summary.BranchOptions {
	instructions := m.Instructions
	if !m.Replace {
		instructions = strings.TrimSpace(s.cfg.BranchInstructions + "\n" + instructions)
	}
	return summary.BranchOptions{
		Window: s.info.Context, Output: s.info.Output,
		Instructions: instructions, Replace: m.Replace,
	}
}

// summarise gives the summary of what is left behind; nil where that is nothing
// that a model could see.
func (m *move) summarise(ctx context.Context, s summariser, left []session.Entry, given *session.BranchSummary) (*session.BranchSummary, error) {
	job, ok := summary.Branch(left, m.options(s))
	files := job.Files
	files.LeftLeaf = m.snap.Leaf()
	switch {
	case given != nil:
		sum := *given
		sum.FromHook = true
		if sum.Details == nil {
			sum.Details = &files
		}
		return &sum, nil
	case !ok:
		return nil, nil
	case s.client == nil:
		return nil, errNoModel
	}
	text, usage, err := s.run(ctx, job)
	if err != nil {
		return nil, err
	}
	return &session.BranchSummary{Summary: job.FinishBranch(text), Details: &files, Usage: &usage}, nil
}

// commit moves the leaf, with a summary where there is one, sets the label, and
// tells. Where it fails nothing has changed.
func (e *Engine) commit(m *move, sum *session.BranchSummary) error {
	from, target := e.session.Snapshot().Leaf(), m.Target
	var made *session.Entry
	if sum == nil {
		if err := e.moveLeaf(m.to); err != nil {
			return err
		}
	} else {
		entry, err := e.session.BranchWithSummary(m.to, *sum)
		if err := e.accept([]session.Entry{entry}, err); err != nil {
			return err
		}
		target, made = entry.ID, &entry
	}
	if m.Label != "" && target != "" {
		e.record("set the label", session.Label{Target: target, Text: m.Label})
	}
	e.moved(from, m.draft, made)
	return nil
}

func (e *Engine) moveLeaf(to session.ID) error {
	if to == "" {
		e.session.ResetLeaf()
		return nil
	}
	return e.session.Branch(to)
}

// landing is where choosing an entry leads: before a message that a user can
// write anew, whose content becomes the draft, else to the entry itself.
func landing(entry session.Entry) (session.ID, *Draft) {
	switch data := entry.Data.(type) {
	case session.Message:
		if data.Role == llm.User {
			return entry.Parent, draft(data.Content)
		}
	case session.CustomMessage:
		return entry.Parent, draft(data.Content)
	}
	return entry.ID, nil
}

// moved tells where the leaf is now, and takes over what holds there. The summary
// is the one that the move made, nil for none.
func (e *Engine) moved(from session.ID, d *Draft, summary *session.Entry) {
	snap := e.session.Snapshot()
	if c, err := snap.State(snap.Leaf()); err != nil {
		e.notice(Failure, "The session could not be read: %v", err)
	} else {
		e.restore(snap, c)
	}
	if e.job != nil {
		e.job.moves = false
	}
	e.emit(Moved{Session: snap, From: from, Draft: d})
	told := &SessionTree{OldLeaf: from, NewLeaf: snap.Leaf(), Summary: summary, Session: snap}
	if summary != nil {
		told.FromHook = summary.Data.(session.BranchSummary).FromHook
	}
	e.tell(told)
	e.emitState()
	e.countUsage()
	e.idle.Reset(positionAfter)
}
