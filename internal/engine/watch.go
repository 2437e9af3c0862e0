package engine

import (
	"context"
	"errors"
	"slices"

	"banyan/internal/session"
)

// A session that another process writes is open for looking. This flow shows
// what that one says while it says it.

// watching is the goroutine that waits for another process's entries.
type watching struct {
	stop context.CancelFunc
	done chan struct{}
	told bool // that it does not work at the moment
}

// watch begins to wait, if there is anything to wait for.
func (e *Engine) watch() {
	e.unwatch()
	wait := e.session.Waiter()
	if wait == nil {
		return
	}
	ctx, stop := context.WithCancel(context.Background())
	f := &watching{stop: stop, done: make(chan struct{})}
	e.watching = f
	go func() {
		defer close(f.done)
		for wait(ctx) == nil {
			select {
			case e.grown <- struct{}{}:
			case <-ctx.Done():
				return
			}
		}
	}()
}

// unwatch ends that. It comes before the session is closed or written.
func (e *Engine) unwatch() {
	if e.watching == nil {
		return
	}
	e.watching.stop()
	<-e.watching.done
	e.watching = nil
}

// takeIn reads what the other process has written, and tells of it.
func (e *Engine) takeIn() {
	before := e.session.Snapshot().Leaf()
	came, err := e.session.Refresh()
	switch f := e.watching; {
	case f == nil: // it ended meanwhile
	case errors.Is(err, session.ErrGone):
		e.notice(Warning, "This session was deleted, or another is in its place: what is shown is how it was. /resume opens another.")
		e.unwatch()
	case err != nil && !f.told:
		f.told = true
		e.notice(Warning, "What the other window says cannot be read at the moment: %v", err)
	case err == nil:
		f.told = false
	}
	if came {
		e.tellIn(before)
	}
}

// tellIn tells of what came in: entry by entry where it goes on from where we
// are, and else where it has gone.
func (e *Engine) tellIn(before session.ID) {
	snap := e.session.Snapshot()
	path := snap.PathIDs(snap.Leaf())
	from := 0
	if before != "" {
		from = slices.Index(path, before) + 1
	}
	coming := path[from:]
	var entries []session.Entry
	for _, id := range coming {
		if entry, ok, err := snap.Entry(id); err == nil && ok {
			entries = append(entries, entry)
		}
	}
	if before != "" && from == 0 || len(coming) == 0 || len(entries) < len(coming) {
		e.emit(Moved{Session: snap, From: before})
	} else {
		for _, entry := range entries {
			e.emit(Appended{Entry: entry, Session: snap})
		}
	}
	e.countUsage()
	e.emitState()
}
