package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"banyan/internal/agent"
	"banyan/internal/llm"
	"banyan/internal/permission"
	"banyan/internal/tool"
)

// gate judges a call for the turn, from the turn's goroutine. Where the user is
// asked, it waits for the answer or the interrupt.
//
// Hooks are asked first: they may change the arguments, which are then judged as
// if the model had sent them.
func (e *Engine) gate(ctx context.Context, call *llm.ToolCall, t tool.Tool) (agent.Approval, error) {
	before := call.Arguments
	opinion, err := e.consultCall(ctx, call, t)
	if err != nil {
		return agent.Approval{}, fmt.Errorf("not run: %w", err)
	}
	by, err := e.judge(ctx, *call, t, opinion)
	if string(before) != string(call.Arguments) {
		by.Changed = string(call.Arguments)
	}
	return by, err
}

// judge asks the policy, and the user where that says so.
func (e *Engine) judge(ctx context.Context, call llm.ToolCall, t tool.Tool, opinion Opinion) (agent.Approval, error) {
	v, err := e.verdict(permission.Call{Tool: call.Name, Access: t.Access, Args: call.Arguments})
	if err != nil {
		return agent.Approval{}, err
	}
	v = weighed(v, opinion)
	by := agent.Approval{Action: v.Action.String(), By: v.Source, Rule: v.Rule}
	switch v.Action {
	case permission.Allow:
		return by, nil
	case permission.Deny:
		return by, fmt.Errorf("not run: %s", v.Reason)
	}
	asked := describe(call, t, v)
	if said, err := e.consultQuestion(ctx, asked); err != nil || said.Action != permission.Ask {
		return said.approval(), err
	}
	var answered chan Answer
	if err := e.do(func() error { answered = e.ask(asked); return nil }); err != nil {
		return agent.Approval{}, err
	}
	select {
	case a, ok := <-answered:
		if !ok {
			return agent.Approval{}, context.Canceled // withdrawn
		}
		return e.decided(v, a)
	case <-ctx.Done():
		return agent.Approval{}, ctx.Err()
	}
}

// describe tells of a call to the one who decides. It may read files for the
// preview, so it is not the owner's work.
func describe(call llm.ToolCall, t tool.Tool, v permission.Verdict) Asked {
	asked := Asked{Call: call, Subject: string(call.Arguments), Reason: v.Reason}
	var always []string
	for _, r := range v.Always {
		always = append(always, r.String())
	}
	asked.Always = strings.Join(always, ", ")
	if t.Subject != nil {
		asked.Subject = t.Subject(call.Arguments)
	}
	if t.Preview != nil {
		asked.Preview = t.Preview(tool.Input{CallID: call.ID, Args: call.Arguments, Progress: func(tool.View) {}})
	}
	return asked
}

// consultQuestion lets hooks answer in the user's place.
func (e *Engine) consultQuestion(ctx context.Context, asked Asked) (Opinion, error) {
	o := &PermissionRequest{Call: asked.Call, Subject: asked.Subject, Why: asked.Reason}
	if err := e.consult(ctx, o); err != nil {
		return Opinion{}, fmt.Errorf("not run: %w", err)
	}
	if o.Said && o.Action == permission.Deny {
		return o.Opinion, fmt.Errorf("not run: %s", o.Reason)
	}
	return o.Opinion, nil
}

// question is one that stands: of a turn of ours, or of one of a task's engine.
type question struct {
	answered chan Answer // of ours
	task     *task       // else
	ask      int         // there
}

// ask puts a question to the front end.
func (e *Engine) ask(asked Asked) chan Answer {
	e.nextAsk++
	asked.Ask = e.nextAsk
	answered := make(chan Answer, 1)
	e.asks[asked.Ask] = question{answered: answered}
	e.emit(asked)
	e.tell(&Notification{"permission", asked.Call.Name + " needs approval: " + asked.Subject})
	return answered
}

// answer takes the user's decision to the turn that waits for it.
func (e *Engine) answer(a Answer) {
	q, ok := e.asks[a.Ask]
	if !ok {
		return // withdrawn meanwhile
	}
	delete(e.asks, a.Ask)
	if q.task == nil {
		q.answered <- a
	} else if q.task.engine != nil {
		a.Ask = q.ask
		q.task.engine.Send(a)
	}
}

func (e *Engine) withdraw(ask int) {
	if q := e.asks[ask]; q.task == nil {
		close(q.answered)
	}
	delete(e.asks, ask)
	e.emit(Withdrawn{ask})
}

// decided is what the user's answer means for the call.
func (e *Engine) decided(v permission.Verdict, a Answer) (agent.Approval, error) {
	by := agent.Approval{Action: "allow", By: "user", Comment: a.Comment}
	switch a.Decision {
	case Allow:
		return by, nil
	case Always:
		return by, e.remember(v.Always)
	}
	by.Action = "deny"
	switch {
	case a.Decision == Stop:
		return by, fmt.Errorf("not run: %w", agent.ErrStop)
	case a.Comment != "":
		return by, fmt.Errorf("not run: it was refused: %s", a.Comment)
	}
	return by, errors.New("not run: the user said no")
}

// Modes are the permission modes in the order in which a key cycles them.
var Modes = permission.Modes
