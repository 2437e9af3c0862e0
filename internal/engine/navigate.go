package engine

import (
	"context"
	"fmt"
	"slices"

	"banyan/internal/llm"
	"banyan/internal/session"
	"banyan/internal/summary"
)

// enter makes a session the current one and tells the front end.
func (e *Engine) enter(m *session.Manager, d *Draft) error {
	snap := m.Snapshot()
	c, err := snap.State(snap.Leaf())
	if err != nil {
		return fmt.Errorf("read the session %s: %w", snap.Path(), err)
	}
	e.session = m
	e.steering, e.waiting = nil, nil
	e.restore(snap, c)
	if e.cfg.ModelChosen {
		// The command line named a model: it holds from here on, once.
		e.cfg.ModelChosen = false
		e.chooseModel(e.cfg.Model)
	}
	e.emit(Opened{Session: snap, Draft: d})
	for _, p := range snap.Problems() {
		e.notice(Warning, "line %d of the session: %s", p.Line, p.Text)
	}
	if why := snap.ReadOnly(); why != "" {
		e.notice(Warning, "This session is open for looking only: %s. /branch makes a copy that you can go on with.", why)
	}
	e.emitState()
	e.countUsage()
	return nil
}

// restore takes over the state that holds at a leaf: model, thinking level, usage.
func (e *Engine) restore(snap session.Snapshot, c session.Context) {
	e.recorded, e.recordedLevel = c.Model, c.Thinking
	e.contextTokens = snap.ContextUsage(c.Leaf).Context()
	if c.Model != (session.ModelRef{}) && c.Model != e.model {
		e.chooseModel(c.Model)
	}
	if c.Model != (session.ModelRef{}) && c.Thinking != "" {
		e.thinking = c.Thinking
	}
}

// countUsage sums the path's usage beside the owner, because it reads all of it.
// A count that is no longer wanted when it is done is thrown away.
func (e *Engine) countUsage() {
	e.usage = llm.Usage{}
	e.counting++
	mine, snap := e.counting, e.session.Snapshot()
	go func() {
		usage := snap.UsageSince("")
		_ = e.do(func() error {
			if e.counting == mine {
				e.usage = e.usage.Add(usage) // what came meanwhile is there already
				e.emitState()
			}
			return nil
		})
	}()
}

// idleOr says that something must end first, unless the engine is idle.
func (e *Engine) idleOr(what string) bool {
	if e.job == nil {
		return true
	}
	e.notice(Warning, "A %s is running. Press Esc to end it, then %s.", e.job.what, what)
	return false
}

// navigate moves the leaf as a user means it: all of it, or nothing.
func (e *Engine) navigate(n Navigate) {
	if !e.idleOr("go there") {
		return
	}
	snap := e.session.Snapshot()
	if n.Target == snap.Leaf() {
		return
	}
	entry, ok, err := snap.Entry(n.Target)
	if err != nil || !ok {
		e.notice(Failure, "There is no entry %s in this session.", n.Target)
		return
	}
	to, d := landing(entry)
	if n.Summarize {
		if job, ok := e.branchJob(snap, n); ok {
			e.leaveWithSummary(to, d, snap.Leaf(), job)
			return
		}
	}
	if err := e.moveLeaf(to); err != nil {
		e.notice(Failure, "Nothing was changed: %v", err)
		return
	}
	e.moved(d)
}

func (e *Engine) moveLeaf(to session.ID) error {
	if to == "" {
		e.session.ResetLeaf()
		return nil
	}
	return e.session.Branch(to)
}

// branchJob plans the summary of what is left behind: the way from the leaf
// back to where it meets the target's path.
func (e *Engine) branchJob(snap session.Snapshot, n Navigate) (summary.Job, bool) {
	path, err := snap.Branch(snap.Leaf())
	if err != nil {
		return summary.Job{}, false
	}
	common := snap.ID(snap.Tree().Common(snap.Node(snap.Leaf()), snap.Node(n.Target)))
	from := 1 + slices.IndexFunc(path, func(e session.Entry) bool { return e.ID == common })
	return summary.Branch(path[from:], summary.BranchOptions{
		Window: e.info.Context, Reserve: e.cfg.Compaction.Reserve,
		Instructions: n.Instructions, Replace: n.Replace,
	})
}

// leaveWithSummary asks the model for the summary and then moves, in one step.
// Until then nothing has changed; where it fails nothing does.
func (e *Engine) leaveWithSummary(to session.ID, d *Draft, left session.ID, job summary.Job) {
	s := summariser{e, e.client, e.model, e.info}
	e.start("summary", func(ctx context.Context) error {
		text, usage, err := s.run(ctx, job)
		if err != nil {
			return err
		}
		files := job.Files
		files.LeftLeaf = left
		return e.do(func() error {
			entry, err := e.session.BranchWithSummary(to, session.BranchSummary{Summary: job.FinishBranch(text), Details: &files, Usage: &usage})
			if err := e.accept([]session.Entry{entry}, err); err != nil {
				return err
			}
			e.moved(d)
			return nil
		})
	})
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

// moved tells where the leaf is now, and takes over what holds there.
func (e *Engine) moved(d *Draft) {
	snap := e.session.Snapshot()
	c, err := snap.State(snap.Leaf())
	if err != nil {
		e.notice(Failure, "The session could not be read: %v", err)
		return
	}
	e.restore(snap, c)
	e.emit(Moved{Session: snap, Draft: d})
	e.emitState()
	e.countUsage()
	e.idle.Reset(positionAfter)
}

func (e *Engine) savePosition() {
	if err := e.session.SavePosition(); err != nil {
		e.notice(Warning, "Where you are in the tree could not be recorded: %v", err)
	}
}

// fork goes on in a new session file with the path before (or at) an entry.
func (e *Engine) fork(f Fork) {
	if !e.idleOr("branch") {
		return
	}
	snap := e.session.Snapshot()
	to, d := f.Target, (*Draft)(nil)
	if !f.At {
		entry, ok, err := snap.Entry(f.Target)
		if err != nil || !ok {
			e.notice(Failure, "There is no entry %s in this session.", f.Target)
			return
		}
		to, d = landing(entry)
	}
	m, err := e.branched(snap, to)
	if err != nil {
		e.notice(Failure, "The branch was not made: %v", err)
		return
	}
	e.swap(m, d)
}

// branched is the new session of a fork. Where nothing was said before the
// entry it is an empty one, which has no file until something is said.
func (e *Engine) branched(snap session.Snapshot, to session.ID) (*session.Manager, error) {
	c, err := snap.Context(to)
	if err != nil {
		return nil, err
	}
	if len(c.Items) > 0 {
		return e.session.CreateBranchedSession(e.cfg.SessionDir, to)
	}
	o := e.cfg.Session
	o.Parent = snap.Path()
	return session.New(e.cfg.SessionDir, e.cfg.Cwd, o)
}

func (e *Engine) newSession() {
	if !e.idleOr("start a new session") {
		return
	}
	m, err := session.New(e.cfg.SessionDir, e.cfg.Cwd, e.cfg.Session)
	if err != nil {
		e.notice(Failure, "A new session could not be made: %v", err)
		return
	}
	e.swap(m, nil)
}

func (e *Engine) open(path string) {
	if !e.idleOr("open the other session") {
		return
	}
	if path == e.session.Snapshot().Path() {
		e.notice(Note, "This session is open already.")
		return
	}
	m, err := session.Open(path, e.cfg.Session)
	if err != nil {
		e.notice(Failure, "%v", err)
		return
	}
	e.swap(m, nil)
}

// swap leaves the session for another. What could not be saved of the old one
// keeps it open: nothing is lost by leaving.
func (e *Engine) swap(m *session.Manager, d *Draft) {
	old := e.session
	if n := old.Unsaved(); n > 0 {
		if err := old.Flush(); err != nil {
			e.notice(Failure, "%d entries of this session are not saved (%v). Free some space, or save it elsewhere first: /save <file>.", n, err)
			if err := m.Close(); err != nil {
				e.notice(Warning, "%v", err)
			}
			return
		}
	}
	if err := e.enter(m, d); err != nil {
		e.session = old
		e.notice(Failure, "%v", err)
		return
	}
	if err := old.Close(); err != nil {
		e.notice(Warning, "Closing the old session: %v", err)
	}
}
