package engine

import (
	"context"

	"banyan/internal/llm"
	"banyan/internal/permission"
)

// above is the engine that has given the task which this engine works on. What
// there is one of for all tasks, the policy and the budget, is that of the first
// engine: a question goes up, from owner to owner. None of them ever waits for
// one below, so nothing can wait in a circle.
type above struct {
	engine *Engine
	task   *task
}

// verdict judges a call, in a turn's goroutine.
func (e *Engine) verdict(c permission.Call) (v permission.Verdict, err error) {
	if up := e.cfg.above; up != nil {
		if c.Cwd == "" {
			c.Cwd = e.cfg.Cwd
		}
		return up.engine.verdict(c)
	}
	err = e.do(func() error { v = e.cfg.Policy.Decide(c); return nil })
	return v, err
}

// remember adds rules to the policy, from a turn's goroutine.
func (e *Engine) remember(rules []permission.Rule) error {
	if up := e.cfg.above; up != nil {
		return up.engine.remember(rules)
	}
	return e.do(func() error { e.cfg.Policy.Remember(rules...); return nil })
}

// mostTasks is how many tasks of a whole tree may be at work when another one
// below the first level is to be given. Those that wait for the ones below them
// cannot wait for their turn, too: so it is a limit that refuses.
const mostTasks = 64

// atWork counts the tasks that work in the whole tree, and says how many they are.
func (e *Engine) atWork(more int) (n int) {
	if up := e.cfg.above; up != nil {
		return up.engine.atWork(more)
	}
	_ = e.do(func() error { e.working += more; n = e.working; return nil })
	return n
}

// spend counts what a request took, here and above.
func (e *Engine) spend(u llm.Usage) {
	e.spent = e.spent.Add(u)
	up := e.cfg.above
	if up == nil {
		return
	}
	_ = up.engine.do(func() error {
		up.task.count(u)
		up.engine.changed(up.task)
		up.engine.emitState()
		up.engine.spend(u)
		return nil
	})
}

// taskHooks are the hooks as a task has them: those that have a say in calls, and
// in its end. The rest is about a session that the user does not see.
type taskHooks struct{ Hooks }

func (h taskHooks) Hears(name string) bool {
	switch name {
	case (*ToolCall)(nil).Name(), (*ToolResult)(nil).Name(), (*PermissionRequest)(nil).Name():
		return h.Hooks.Hears(name)
	case (*AgentEnd)(nil).Name():
		return h.Hooks.Hears((*TaskStop)(nil).Name())
	}
	return false
}

func (h taskHooks) Ask(ctx context.Context, o Occasion) error {
	if end, ok := o.(*AgentEnd); ok {
		stop := &TaskStop{AgentEnd: end}
		if origin := end.Session.Header().Task; origin != nil {
			stop.ID, stop.Agent = origin.ID, origin.Agent
		}
		o = stop
	}
	return h.Hooks.Ask(ctx, o)
}

// Tell is never called: what is told is not heard.
func (h taskHooks) Tell(Occasion) {}
