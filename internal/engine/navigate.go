package engine

import (
	"errors"
	"fmt"

	"banyan/internal/llm"
	"banyan/internal/session"
	"banyan/internal/tree"
)

// enter makes a session the current one and tells the front end.
func (e *Engine) enter(m *session.Manager, d *Draft, told SessionStart) error {
	snap := m.Snapshot()
	c, err := snap.State(snap.Leaf())
	if err != nil {
		return fmt.Errorf("read the session %s: %w", snap.Path(), err)
	}
	e.unwatch()
	e.session = m
	e.met = nil
	e.restore(snap, c)
	e.cfg.ModelChosen, e.cfg.ThinkingChosen = false, false // they held for this session
	e.emit(Opened{Session: snap, Draft: d})
	told.Session, told.Permission = snap, e.cfg.Policy.Mode()
	e.tell(&told)
	e.loadQueue()
	if found := snap.Problems(); len(found) > 0 {
		e.notice(Warning, "Line %d of the session: %s. It was worked around%s.", found[0].Line, found[0].Text, more(len(found)-1))
	}
	if why := snap.ReadOnly(); why != "" {
		e.notice(Warning, "This session cannot be written: %s. /branch makes a copy that you can go on with.", why)
	}
	e.listTasks()
	e.emitState()
	e.countUsage()
	e.watch()
	return nil
}

// more says that there are other problems, and what lists them.
func more(n int) string {
	switch n {
	case 0:
		return ""
	case 1:
		return ", and so was one other problem; agent session verify lists them"
	}
	return fmt.Sprintf(", and so were %d other problems; agent session verify lists them", n)
}

// restore takes over the state that holds at a leaf: model, thinking level, mode.
func (e *Engine) restore(snap session.Snapshot, c session.Context) {
	e.recorded, e.recordedLevel = c.Model, c.Thinking
	e.weigh()
	if before := e.model; c.Model != (session.ModelRef{}) && c.Model != before && !e.cfg.ModelChosen && e.chooseModel(c.Model) {
		e.tell(&ModelSelect{c.Model, before, "restore"})
	}
	if before := e.thinking; c.Model != (session.ModelRef{}) && c.Thinking != "" && c.Thinking != before && !e.cfg.ThinkingChosen {
		e.thinking = c.Thinking
		e.tell(&ThinkingLevelSelect{c.Thinking, before})
	}
	e.restoreMode(c)
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
	e.hooked("branch", func() error {
		m, err := e.branched(snap, to)
		if err != nil {
			return fmt.Errorf("the branch was not made: %w", err)
		}
		return e.swap(m, d, "fork")
	}, &SessionBeforeBranch{f.Target, to}, &SessionBeforeSwitch{Reason: "fork"})
}

// branched is the new session of a fork. Where nothing was said before the
// entry it is an empty one, which has no file until something is said.
func (e *Engine) branched(snap session.Snapshot, to session.ID) (*session.Manager, error) {
	view := snap.Tree()
	for n := snap.Node(to); n != tree.None; n = view.Parent(n) {
		if speaks(snap.Class(n)) {
			return e.session.CreateBranchedSession(e.cfg.SessionDir, to)
		}
	}
	o := e.cfg.Session
	o.Parent = snap.Ref()
	return session.New(e.cfg.SessionDir, e.cfg.Cwd, o)
}

// speaks says whether an entry is part of the conversation.
func speaks(c session.Class) bool {
	switch c.Kind {
	case "message", "compaction", "branch_summary", "custom_message":
		return true
	}
	return false
}

func (e *Engine) newSession(c NewSession) {
	what := "start a new session"
	if c.Discard {
		what = "delete the session"
	}
	if !e.idleOr(what) {
		return
	}
	left := e.session.Snapshot().Path()
	if c.Discard && (left == "" || e.cfg.Discard == nil) {
		e.notice(Warning, "There is no file of this session that could be deleted.")
		return
	}
	e.hooked("switch", func() error {
		m, err := session.New(e.cfg.SessionDir, e.cfg.Cwd, e.cfg.Session)
		if err != nil {
			return fmt.Errorf("a new session could not be made: %w", err)
		}
		if err := e.swap(m, nil, "new"); err != nil || !c.Discard {
			return err
		}
		return e.discard(left)
	}, &SessionBeforeSwitch{Reason: "new"})
}

// discard moves a session that was left to the trash.
func (e *Engine) discard(path string) error {
	if err := e.cfg.Discard(path); err != nil {
		return fmt.Errorf("the session was left, but not deleted: %w", err)
	}
	e.notice(Note, "The session is in the trash. This is a new one.")
	return nil
}

func (e *Engine) open(path string) {
	if !e.idleOr("open the other session") {
		return
	}
	if path == e.session.Snapshot().Path() {
		e.notice(Note, "This session is open already.")
		return
	}
	e.hooked("switch", func() error {
		m, err := session.Open(path, e.cfg.Session)
		if err != nil {
			return err
		}
		return e.swap(m, nil, "resume")
	}, &SessionBeforeSwitch{"resume", path})
}

// swap leaves the session for another. What could not be saved of the old one
// keeps it open: nothing is lost by leaving.
func (e *Engine) swap(m *session.Manager, d *Draft, reason string) error {
	old, left := e.session, e.session.Snapshot()
	if n := old.Unsaved(); n > 0 {
		if err := old.Flush(); err != nil {
			err = fmt.Errorf("%d entries of this session are not saved (%w). Free some space, or save it elsewhere first: /save <file>", n, err)
			return errors.Join(err, m.Close())
		}
	}
	e.tell(&SessionShutdown{reason, left})
	if err := e.enter(m, d, SessionStart{Reason: reason, Previous: left.Path()}); err != nil {
		e.session = old
		return errors.Join(err, m.Close())
	}
	if reason == "fork" {
		e.tell(&SessionBranch{left.Path(), m.Snapshot()})
	}
	e.tell(&SessionSwitch{reason, left.Path(), m.Snapshot()})
	if err := old.Close(); err != nil {
		e.notice(Warning, "Closing the old session: %v", err)
	}
	return nil
}
