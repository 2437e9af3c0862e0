package engine

import (
	"context"
	"errors"
	"fmt"

	"banyan/internal/agent"
	"banyan/internal/llm"
	"banyan/internal/tool"
)

// Policy says which calls may run. The engine's goroutine alone calls it.
type Policy interface {
	// Decide judges a call.
	Decide(call llm.ToolCall, t tool.Tool) Verdict
	// Remember allows all calls like this one from now on, as Verdict.Always said.
	Remember(call llm.ToolCall, t tool.Tool)
	// Mode and SetMode: the permission mode, one of Modes.
	Mode() string
	SetMode(mode string) error
}

// Verdict is a policy's judgement.
type Verdict struct {
	Action Action
	Reason string // why, for people and, when denied, for the model
	Always string // what Remember would allow, exactly; empty if it cannot be remembered
}

// Action is what is done with a call.
type Action uint8

const (
	Ask Action = iota // the user decides
	Permit
	Refuse
)

// gate judges a call for the turn, from the turn's goroutine. Where the user is
// asked, it waits for the answer or the interrupt.
func (e *Engine) gate(ctx context.Context, call llm.ToolCall, t tool.Tool) error {
	var verdict Verdict
	if err := e.do(func() error { verdict = e.cfg.Policy.Decide(call, t); return nil }); err != nil {
		return err
	}
	switch verdict.Action {
	case Permit:
		return nil
	case Refuse:
		return fmt.Errorf("not run: %s", verdict.Reason)
	}
	asked := question(call, t, verdict)
	var answered chan Answer
	if err := e.do(func() error { answered = e.ask(asked); return nil }); err != nil {
		return err
	}
	select {
	case a, ok := <-answered:
		if !ok {
			return context.Canceled // withdrawn
		}
		return e.decided(call, t, a)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// question describes a call to the one who decides. It may read files for the
// preview, so it is not the owner's work.
func question(call llm.ToolCall, t tool.Tool, v Verdict) Asked {
	asked := Asked{Call: call, Subject: string(call.Arguments), Reason: v.Reason, Always: v.Always}
	if t.Subject != nil {
		asked.Subject = t.Subject(call.Arguments)
	}
	if t.Preview != nil {
		asked.Preview = t.Preview(tool.Input{CallID: call.ID, Args: call.Arguments, Progress: func(tool.View) {}})
	}
	return asked
}

// ask puts a question to the front end.
func (e *Engine) ask(asked Asked) chan Answer {
	e.nextAsk++
	asked.Ask = e.nextAsk
	answered := make(chan Answer, 1)
	e.asks[asked.Ask] = answered
	e.emit(asked)
	return answered
}

// answer takes the user's decision to the turn that waits for it.
func (e *Engine) answer(a Answer) {
	answered, ok := e.asks[a.Ask]
	if !ok {
		return // withdrawn meanwhile
	}
	delete(e.asks, a.Ask)
	answered <- a
}

func (e *Engine) withdraw(ask int) {
	close(e.asks[ask])
	delete(e.asks, ask)
	e.emit(Withdrawn{ask})
}

func (e *Engine) decided(call llm.ToolCall, t tool.Tool, a Answer) error {
	switch a.Decision {
	case Allow:
		return nil
	case Always:
		return e.do(func() error {
			e.cfg.Policy.Remember(call, t)
			return nil
		})
	case Stop:
		return fmt.Errorf("not run: %w", agent.ErrStop)
	}
	if a.Comment != "" {
		return fmt.Errorf("not run: the user said no, and: %s", a.Comment)
	}
	return errors.New("not run: the user said no")
}

// Modes are the permission modes in the order in which a key cycles them.
var Modes = []string{"ask", "edits", "plan", "auto"}
