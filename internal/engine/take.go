package engine

import (
	"context"
	"fmt"
	"slices"

	"banyan/internal/llm"
	"banyan/internal/session"
	"banyan/internal/summary"
	"banyan/internal/tree"
)

// What is taken over from other branches: single entries, or all that a branch
// has and the path has not, as it is or as a summary. It comes below the leaf;
// the originals stay where they are.

// cherryPick appends copies of entries.
func (e *Engine) cherryPick(c CherryPick) {
	snap := e.session.Snapshot()
	ids, err := withResults(snap, c.Entries)
	if err == nil {
		err = e.take(snap, ids)
	}
	e.answerTake(c.Entries[0], err)
}

// merge takes over what another branch has.
func (e *Engine) merge(m Merge) {
	snap := e.session.Snapshot()
	theirs, err := theirs(snap, m.Target)
	switch {
	case err != nil:
	case e.job != nil:
		err = fmt.Errorf("a %s is running; press Esc to end it first", e.job.what)
	case m.Summarize:
		e.mergeSummary(snap, m, theirs)
		return
	default:
		err = e.take(snap, theirs)
	}
	e.answerTake(m.Target, err)
}

func (e *Engine) answerTake(target session.ID, err error) {
	if err != nil {
		e.emit(Stayed{Target: target, Err: err})
	}
}

// theirs are the entries of a branch that the active path has not, oldest first.
func theirs(snap session.Snapshot, target session.ID) ([]session.ID, error) {
	n := snap.Node(target)
	if n == tree.None {
		return nil, fmt.Errorf("there is no entry %s in this session", target)
	}
	view := snap.Tree()
	common := view.Common(n, snap.Node(snap.Leaf()))
	var ids []session.ID
	for ; n != common; n = view.Parent(n) {
		ids = append(ids, snap.ID(n))
	}
	if len(ids) == 0 {
		return nil, fmt.Errorf("entry %s is on this path already: there is nothing to take over", target)
	}
	slices.Reverse(ids)
	return ids, nil
}

// withResults adds to answers that call tools the results below them: one is
// nothing without the other.
func withResults(snap session.Snapshot, ids []session.ID) ([]session.ID, error) {
	var all []session.ID
	for _, id := range ids {
		n := snap.Node(id)
		if n == tree.None {
			return nil, fmt.Errorf("there is no entry %s in this session", id)
		}
		all = append(all, id)
		if snap.Class(n).Role != llm.Assistant {
			continue
		}
		for n = resultBelow(snap, n); n != tree.None; n = resultBelow(snap, n) {
			if snap.Class(n).Role == llm.ToolResult {
				all = append(all, snap.ID(n))
			}
		}
	}
	return distinctIDs(all), nil
}

// resultBelow is the result below a node, or what may stand between results, such
// as the link of a task; None where there is neither.
func resultBelow(snap session.Snapshot, n tree.Node) tree.Node {
	between := tree.None
	for _, kid := range snap.Tree().Children(n) {
		switch class := snap.Class(kid); {
		case class.Role == llm.ToolResult:
			return kid
		case class.Kind == "custom" && between == tree.None:
			between = kid
		}
	}
	return between
}

// distinctIDs keeps the first of equal ids.
func distinctIDs(ids []session.ID) []session.ID {
	seen := map[session.ID]bool{}
	return slices.DeleteFunc(ids, func(id session.ID) bool {
		again := seen[id]
		seen[id] = true
		return again
	})
}

// take appends copies of what belongs to the conversation, all of it or nothing.
func (e *Engine) take(snap session.Snapshot, ids []session.ID) error {
	if e.job != nil {
		return fmt.Errorf("a %s is running; press Esc to end it first", e.job.what)
	}
	var copies []session.Data
	for _, id := range ids {
		entry, _, err := snap.Entry(id)
		if err != nil {
			return err
		}
		if d := copied(entry.Data); d != nil {
			copies = append(copies, d)
		}
	}
	if len(copies) == 0 {
		return fmt.Errorf("entry %s is no part of a conversation: only messages and notes can be taken over", ids[0])
	}
	from := snap.Leaf()
	if err := e.append(copies...); err != nil {
		return err
	}
	e.moved(from, nil, nil)
	return nil
}

// copied is what a copy of an entry says; nil for what is none of the
// conversation. What an answer took was paid for once.
func copied(d session.Data) session.Data {
	switch d := d.(type) {
	case session.Message:
		d.Usage = llm.Usage{}
		return d
	case session.Command, session.CustomMessage:
		return d
	case session.BranchSummary:
		d.Usage = nil
		return d
	case session.Compaction: // what it stood for is not here; its text is worth having
		return session.BranchSummary{Summary: d.Summary, Details: d.Details, FromHook: d.FromHook}
	}
	return nil
}

// mergeSummary has a model sum up the other branch, and hangs that below the leaf.
func (e *Engine) mergeSummary(snap session.Snapshot, m Merge, theirs []session.ID) {
	s := e.summariser()
	e.startMove("summary", m.Target, func(ctx context.Context) error { return s.mergeSummary(ctx, snap, m, theirs) })
}

func (s summariser) mergeSummary(ctx context.Context, snap session.Snapshot, m Merge, theirs []session.ID) error {
	mv := &move{Navigate: Navigate{Target: m.Target, Instructions: m.Instructions, Replace: m.Replace}, snap: snap, left: theirs}
	entries, err := mv.entries()
	if err != nil {
		return err
	}
	job, ok := summary.Branch(entries, mv.options(s))
	switch {
	case !ok:
		return fmt.Errorf("there is nothing on the way to %s that could be summarized", m.Target)
	case s.client == nil:
		return errNoModel
	}
	text, usage, err := s.run(ctx, job)
	if err != nil {
		return err
	}
	files := job.Files
	files.LeftLeaf = m.Target
	return s.do(func() error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		from := s.session.Snapshot().Leaf()
		entry, err := s.session.BranchWithSummary(from, session.BranchSummary{Summary: job.FinishBranch(text), Details: &files, Usage: &usage})
		if err := s.accept([]session.Entry{entry}, err); err != nil {
			return err
		}
		s.moved(from, nil, &entry)
		return nil
	})
}
