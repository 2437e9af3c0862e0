package engine

import (
	"context"
	"errors"
	"slices"
	"strings"

	"banyan/internal/llm"
	"banyan/internal/session"
)

// record appends entries that the user asked for and says what went wrong. It
// is false only where nothing was taken into the session.
func (e *Engine) record(what string, ds ...session.Data) bool {
	err := e.append(ds...)
	if err != nil {
		e.notice(Failure, "Could not %s: %v", what, err)
	}
	return err == nil
}

// append puts entries on the path and tells the front end. Entries that the
// disk refused are in the session all the same, which is not an error here:
// they are tried again, and jobs wait with untilSaved.
func (e *Engine) append(ds ...session.Data) error {
	return e.accept(e.session.AppendAll(ds...))
}

// accept takes what an append gave.
func (e *Engine) accept(entries []session.Entry, err error) error {
	var unsaved *session.UnsavedError
	if err != nil && !errors.As(err, &unsaved) {
		return err
	}
	for _, entry := range entries {
		e.account(entry.Data)
		e.emit(Appended{Entry: entry, Session: e.session.Snapshot()})
		e.tellMessage(entry)
	}
	e.idle.Stop() // an append says where the leaf is
	if unsaved != nil {
		e.diskRefused(unsaved)
	} else if e.unsaved {
		e.diskRecovered()
	}
	e.emitState()
	return nil
}

// account keeps the sums that the footer shows.
func (e *Engine) account(d session.Data) {
	e.size.add(d)
	switch d := d.(type) {
	case session.Message:
		if d.Role == llm.Assistant {
			e.usage = e.usage.Add(d.Usage)
		}
	case session.ModelChange:
		e.recorded = session.ModelRef{Provider: d.Provider, Model: d.Model}
	case session.ModeChange:
		d.Mode = named(d.Mode)
		e.recordedMode = d
	case session.ThinkingChange:
		e.recordedLevel = d.Level
	case session.Compaction:
		e.weighing++ // what is being measured is another context
		e.addUsage(d.Usage)
	case session.BranchSummary:
		e.addUsage(d.Usage)
	}
}

func (e *Engine) addUsage(u *llm.Usage) {
	if u != nil {
		e.usage = e.usage.Add(*u)
	}
}

func (e *Engine) diskRefused(u *session.UnsavedError) {
	if !e.unsaved {
		e.unsaved = true
		e.saved = make(chan struct{})
		e.notice(Failure, "%d entries are not saved: %v. They are kept in memory and tried again; nothing runs meanwhile. /save <file> saves the session elsewhere.", u.Count, u.Err)
	}
	e.retry.Reset(e.cfg.RetryAfter)
}

func (e *Engine) diskRecovered() {
	e.unsaved = false
	close(e.saved)
	e.saved = nil
	e.retry.Stop()
	e.notice(Note, "Everything is saved again.")
}

// flush tries again to save what the disk refused.
func (e *Engine) flush() {
	if err := e.session.Flush(); err != nil {
		e.retry.Reset(e.cfg.RetryAfter)
	} else if e.unsaved {
		e.diskRecovered()
	}
	e.emitState()
}

// untilSaved waits, in a job's goroutine, until everything is on the disk.
func (e *Engine) untilSaved(ctx context.Context) error {
	var saved chan struct{}
	if err := e.do(func() error { saved = e.saved; return nil }); err != nil {
		return err
	}
	if saved == nil {
		return nil
	}
	select {
	case <-saved:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (e *Engine) saveAs(path string) {
	e.unwatch()
	defer e.watch()
	if err := e.session.SaveAs(path); err != nil {
		e.notice(Failure, "The session was not saved to %s: %v", path, err)
		return
	}
	if e.unsaved {
		e.diskRecovered()
	}
	e.notice(Note, "The session goes on in %s.", path)
	e.emitState()
}

// stateEntries are what must be recorded so that the session says which model,
// thinking level and mode the next prompt is for.
func (e *Engine) stateEntries() []session.Data {
	var ds []session.Data
	if e.recorded != e.model {
		ds = append(ds, session.ModelChange{Provider: e.model.Provider, Model: e.model.Model})
	}
	if level := e.recordedLevel; level != e.thinking && !(level == "" && e.thinking == llm.ThinkingOff) {
		ds = append(ds, session.ThinkingChange{Level: e.thinking})
	}
	return append(ds, e.modeEntries()...)
}

// chooseModel makes a model the one that answers. A model that cannot be used
// leaves the one before, and says why.
func (e *Engine) chooseModel(ref session.ModelRef) bool {
	client, info, err := e.cfg.Models.Client(ref)
	if err != nil {
		e.notice(Failure, "%v", err)
		return false
	}
	e.model, e.client, e.info = ref, client, info
	if window := info.Context; window > 0 && 2*e.fixed() > window {
		e.notice(Warning, "%s has a window of %d tokens, and instructions and tools alone take about %d of it. Give it a larger one (num_ctx of Ollama), or choose another model.", info.Name, window, e.fixed())
	}
	return true
}

func (e *Engine) setModel(ref session.ModelRef) {
	before := e.model
	if !e.chooseModel(ref) {
		return
	}
	if before != ref {
		e.tell(&ModelSelect{ref, before, "set"})
	}
	if e.recorded != ref && e.session.Snapshot().Len() > 0 {
		e.record("record the model", session.ModelChange{Provider: ref.Provider, Model: ref.Model})
	}
	e.emitState()
}

func (e *Engine) setThinking(level llm.ThinkingLevel) {
	if !slices.Contains(llm.ThinkingLevels, level) {
		var names []string
		for _, l := range llm.ThinkingLevels {
			names = append(names, string(l))
		}
		e.notice(Failure, "There is no thinking level %q; there are %s.", level, strings.Join(names, ", "))
		return
	}
	if before := e.thinking; before != level {
		e.thinking = level
		e.tell(&ThinkingLevelSelect{level, before})
	}
	if e.recordedLevel != level && e.session.Snapshot().Len() > 0 {
		e.record("record the thinking level", session.ThinkingChange{Level: level})
	}
	e.emitState()
}

func (e *Engine) setLabel(l SetLabel) {
	target := l.Target
	if target == "" {
		target = e.session.Snapshot().Leaf()
	}
	if target == "" {
		e.notice(Failure, "There is nothing to label yet.")
		return
	}
	e.record("set the label", session.Label{Target: target, Text: l.Text})
}

func (e *Engine) emitState() {
	s := State{
		Model: e.model, ModelName: e.info.Name, Offline: e.info.Offline, Thinking: e.thinking,
		Permission: e.cfg.Policy.Mode(), Mode: e.mode.Mode, ContextWindow: e.info.Context, Usage: e.usage, Tasks: e.sumTasks(),
	}
	if e.size.known {
		s.ContextTokens, s.ContextEstimated = e.tokens(e.size), !e.size.exact()
	}
	if e.session != nil {
		s.Unsaved = e.session.Unsaved()
	}
	e.emit(s)
}
