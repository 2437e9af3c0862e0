package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"banyan/internal/agent"
	"banyan/internal/llm"
	"banyan/internal/session"
	"banyan/internal/tool"
	"banyan/internal/tree"
)

// The flow of going on, top to bottom: resumeTasks or goOn → again, which works on
// the tasks that have no answer, side by side, and gives those that were called
// for when the program died → answered, for each → the turn goes on. It is the
// same at every depth: a task that goes on first goes on with its own.

func (e *Engine) resumeTasks(c ResumeTasks) {
	if e.idleOr("go on with the task") {
		e.startAgain(func(s TaskStatus) bool {
			if len(c.Tasks) == 0 {
				return s.View.State == tool.TaskInterrupted
			}
			return slices.Contains(c.Tasks, s.ID) && s.View.State != tool.TaskDone
		}, len(c.Tasks) == 0, false)
	}
}

// goOn goes on with a task's own session.
func (e *Engine) goOn() {
	e.startAgain(func(s TaskStatus) bool { return s.View.State == tool.TaskInterrupted }, true, true)
}

// startAgain runs a turn that begins with the tasks that are wanted, and, if
// called says so, with those that were called for and not given. Without any
// there is no turn, unless empty says so.
func (e *Engine) startAgain(wanted func(TaskStatus) bool, called, empty bool) {
	if e.cfg.Tasks == nil { // any more
		if !empty {
			e.notice(Warning, "Tasks are off: the setting maxTaskDepth is 0.")
			return
		}
		wanted, called = func(TaskStatus) bool { return false }, false
	}
	snap, o := e.session.Snapshot(), e.cfg.Session
	e.startTurnAfter(func(ctx context.Context, t turn) (bool, error) {
		all, err := tasksOf(snap, o)
		if err != nil {
			return false, err
		}
		on := onPath(snap)
		open := slices.DeleteFunc(all, func(s TaskStatus) bool { return !on(snap.Node(s.Link)) || !wanted(s) })
		var calls []llm.ToolCall
		if called {
			calls = ungiven(snap)
		}
		if len(open)+len(calls) == 0 && !empty {
			return false, errors.New("there is no such task on this branch to go on with")
		}
		if err := t.again(ctx, open, calls); err != nil {
			return false, err
		}
		err = t.do(t.nudge)
		return err == nil, err
	})
}

// again works on tasks side by side and records their answers. Those that are
// interrupted stay open.
func (t turn) again(ctx context.Context, open []TaskStatus, calls []llm.ToolCall) error {
	var work sync.WaitGroup
	failed := make([]error, len(open)+len(calls))
	for i, call := range calls {
		work.Go(func() { failed[len(open)+i] = t.give(ctx, call) })
	}
	for i, s := range open {
		work.Go(func() {
			var known *task
			_ = t.do(func() error { known = t.known(s); return nil })
			if out := t.attend(ctx, known, nil); out.view.State != tool.TaskInterrupted {
				failed[i] = t.do(func() error { return t.answered(known, out) })
			}
		})
	}
	work.Wait()
	return errors.Join(append(failed, ctx.Err())...)
}

// give runs a call for a task that was never run, and records its result.
func (t turn) give(ctx context.Context, call llm.ToolCall) error {
	tasks := t.taskTool()
	r := tool.Fail(tool.Validate(tasks, call.Arguments))
	if r.Err == nil {
		if _, r.Err = t.gate(ctx, &call, tasks); r.Err == nil {
			r = tasks.Run(ctx, tool.Input{CallID: call.ID, Args: call.Arguments, Progress: func(tool.View) {}})
		}
	}
	if ctx.Err() != nil {
		return nil // it stays open
	}
	return t.do(func() error { return t.append(t.taskResult(call.ID, r)) })
}

// taskResult is the message of a call's result.
func (e *Engine) taskResult(callID string, r tool.Result) session.Message {
	text := llm.Message{Content: r.Content}.Text()
	if r.Err != nil {
		text = strings.TrimSpace(r.Err.Error() + "\n" + text)
	}
	return session.Message{Message: llm.Message{
		Role: llm.ToolResult, Time: e.cfg.Now(), CallID: callID, ToolName: "task", IsError: r.Err != nil,
		Content: []llm.Block{llm.Text{Text: text}}, Details: tool.EncodeView(r.View),
	}}
}

// known is the task as the owner knows it.
func (e *Engine) known(s TaskStatus) *task {
	if t := e.findTask(s.ID); t != nil {
		return t
	}
	t := &task{TaskStatus: s}
	e.tasks = append(e.tasks, t)
	return t
}

// answered records the answer of a task: as the result of the call that gave it,
// where that has none and the model still waits for it, else as a message.
func (e *Engine) answered(t *task, out outcome) error {
	result := e.taskResult(t.CallID, out.result())
	snap := e.session.Snapshot()
	calls, _ := openCalls(snap)
	if slices.ContainsFunc(calls, func(c llm.ToolCall) bool { return c.ID == t.CallID }) {
		return e.append(result)
	}
	return e.append(session.CustomMessage{
		Type: TaskAnswerType, Display: true, Details: result.Details,
		Content: []llm.Block{llm.Text{Text: fmt.Sprintf("The task %q, which was interrupted, has gone on and ended. Its answer takes the place of the result that its call had:\n\n%s", t.Description, result.Text())}},
	})
}

// openCalls are the calls without a result of the newest answer on the path, for
// which the model still waits, and where that answer is.
func openCalls(snap session.Snapshot) (calls []llm.ToolCall, at tree.Node) {
	view := snap.Tree()
	var results []string
	for n := snap.Node(snap.Leaf()); n != tree.None; n = view.Parent(n) {
		class := snap.Class(n)
		if class.Kind == "custom_message" || class.Role == llm.User {
			return nil, tree.None
		}
		if class.Role != llm.Assistant && class.Role != llm.ToolResult {
			continue
		}
		entry, err := snap.EntryAt(n)
		m, ok := entry.Data.(session.Message)
		switch {
		case err != nil || !ok:
			return nil, tree.None
		case m.Role == llm.ToolResult:
			results = append(results, m.CallID)
		case m.StopReason == llm.StopError || m.StopReason == llm.StopAborted:
			return nil, tree.None // its calls were never to be run
		default:
			return slices.DeleteFunc(m.Calls(), func(c llm.ToolCall) bool { return slices.Contains(results, c.ID) }), n
		}
	}
	return nil, tree.None
}

// ungiven are the calls that would have given tasks, and did not come to it: there
// is neither a link nor a result.
func ungiven(snap session.Snapshot) []llm.ToolCall {
	calls, at := openCalls(snap)
	links := snap.Tasks()
	return slices.DeleteFunc(calls, func(c llm.ToolCall) bool {
		return c.Name != "task" || slices.ContainsFunc(links, func(l session.Link) bool { return l.CallID == c.ID && l.Node > at })
	})
}

// nudge tells the model to go on where its own words are the last of the path.
func (t turn) nudge() error {
	snap := t.session.Snapshot()
	c, err := snap.Context(snap.Leaf())
	if err != nil {
		return err
	}
	if messages := c.Messages(); len(messages) > 0 && messages[len(messages)-1].Role == llm.Assistant {
		return t.turnEvent(agent.Told{Text: "You were interrupted. Go on where you stopped."})
	}
	return nil
}
