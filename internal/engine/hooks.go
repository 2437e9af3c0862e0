package engine

import (
	"context"
	"errors"
	"fmt"
)

// Occasion is something that happens to a session or in a turn: a pointer to one
// of the structs of this package whose Name says so. Fields after "Out:" are for
// hooks to change while they are asked; all others are for reading.
type Occasion interface {
	// Name is the occasion's name for people, files and protocols, such as
	// "session_before_tree". It is the same for the zero value.
	Name() string
}

// Hooks hear of what happens, and have a say in some of it: extensions, commands
// of settings, rules. nil in [Config] costs nothing.
type Hooks interface {
	// Hears says whether anybody listens to the occasions of a name: what nobody
	// hears is not made. It is called from several goroutines, and often.
	Hears(name string) bool
	// Ask is called before something happens, beside the owner and maybe from
	// several goroutines at once; it may change what comes after Out. An error
	// stops what was to happen, and the user is told; [ErrVetoed] says that it was
	// meant to. It may take its time but must not wait for an [Event]; when ctx is
	// done the user has interrupted, and what it answers counts no more.
	Ask(ctx context.Context, o Occasion) error
	// Tell is called when something has happened, in order, by the owner: it must
	// return at once. What it is told may be kept, and read anywhere.
	Tell(o Occasion)
}

// ErrVetoed is wrapped by what [Hooks].Ask returns to stop what was to happen.
var ErrVetoed = errors.New("an extension does not want it")

// Chain is several hooks one after the other: each sees what the one before has
// changed. One that fails is skipped and Failed is told; a veto stops. Failed may
// be called from several goroutines.
type Chain struct {
	Links  []Hooks
	Failed func(o Occasion, err error)
}

// Hears is true where one of the hooks hears.
func (c Chain) Hears(name string) bool {
	for _, h := range c.Links {
		if h.Hears(name) {
			return true
		}
	}
	return false
}

// Ask asks one after the other.
func (c Chain) Ask(ctx context.Context, o Occasion) error {
	for _, h := range c.Links {
		if !h.Hears(o.Name()) {
			continue
		}
		err := h.Ask(ctx, o)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, ErrVetoed):
			return err
		case err != nil:
			c.Failed(o, err)
		}
	}
	return nil
}

// Tell tells all.
func (c Chain) Tell(o Occasion) {
	for _, h := range c.Links {
		if h.Hears(o.Name()) {
			h.Tell(o)
		}
	}
}

func (e *Engine) hears(name string) bool { return e.cfg.Hooks != nil && e.cfg.Hooks.Hears(name) }

// consult asks the hooks, in a job's goroutine. After an interrupt nothing that
// they said counts.
func (e *Engine) consult(ctx context.Context, o Occasion) error {
	if !e.hears(o.Name()) {
		return nil
	}
	err := e.cfg.Hooks.Ask(ctx, o)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil && !errors.Is(err, ErrVetoed) { // who vetoes says why in their own words
		err = fmt.Errorf("%s: %w", o.Name(), err)
	}
	return err
}

// tell tells the hooks, in the owner's goroutine.
func (e *Engine) tell(o Occasion) {
	if e.hears(o.Name()) {
		e.cfg.Hooks.Tell(o)
	}
}

// hooked does something that hooks have a say in: at once where nobody listens,
// else beside the owner, after all of before were asked.
func (e *Engine) hooked(what string, do func() error, before ...Occasion) {
	heard := false
	for _, o := range before {
		heard = heard || e.hears(o.Name())
	}
	if !heard {
		if err := do(); err != nil {
			e.notice(Failure, "%v", err)
		}
		return
	}
	e.start(what, func(ctx context.Context) error {
		for _, o := range before {
			if err := e.consult(ctx, o); err != nil {
				return err
			}
		}
		return e.do(func() error { return errors.Join(ctx.Err(), do()) })
	})
}
