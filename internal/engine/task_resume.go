package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"banyan/internal/agent"
	"banyan/internal/llm"
	"banyan/internal/session"
	"banyan/internal/tool"
)

// The flow of going on, top to bottom: resumeTasks or goOn → again, which works on
// the tasks that have no answer, side by side → answered, for each → the turn
// goes on. It is the same at every depth: a task that goes on first goes on with
// its own.

func (e *Engine) resumeTasks(c ResumeTasks) {
	if e.idleOr("go on with the task") {
		e.startAgain(func(s TaskStatus) bool {
			if len(c.Tasks) == 0 {
				return s.View.State == tool.TaskInterrupted
			}
			return slices.Contains(c.Tasks, s.ID) && s.View.State != tool.TaskDone
		}, false)
	}
}

// goOn goes on with a task's own session.
func (e *Engine) goOn() {
	e.startAgain(func(s TaskStatus) bool { return s.View.State == tool.TaskInterrupted }, true)
}

// startAgain runs a turn that begins with the tasks that are wanted; without any
// there is none, unless empty says so.
func (e *Engine) startAgain(wanted func(TaskStatus) bool, empty bool) {
	snap, o := e.session.Snapshot(), e.cfg.Session
	e.startTurnAfter(func(ctx context.Context, t turn) (bool, error) {
		all, err := tasksOf(snap, o)
		if err != nil {
			return false, err
		}
		on := onPath(snap)
		open := slices.DeleteFunc(all, func(s TaskStatus) bool { return !on(snap.Node(s.Link)) || !wanted(s) })
		if len(open) == 0 && !empty {
			return false, errors.New("there is no such task on this branch to go on with")
		}
		if err := t.again(ctx, open); err != nil {
			return false, err
		}
		err = t.do(t.nudge)
		return err == nil, err
	})
}

// again works on tasks side by side and records their answers. Those that are
// interrupted stay open.
func (t turn) again(ctx context.Context, open []TaskStatus) error {
	var work sync.WaitGroup
	failed := make([]error, len(open))
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
	r := out.result()
	text := llm.Message{Content: r.Content}.Text()
	if r.Err != nil {
		text = r.Err.Error() + "\n" + text
	}
	if e.waitsFor(t.CallID) {
		return e.append(session.Message{Message: llm.Message{
			Role: llm.ToolResult, Time: e.cfg.Now(), CallID: t.CallID, ToolName: "task", IsError: r.Err != nil,
			Content: []llm.Block{llm.Text{Text: text}}, Details: tool.EncodeView(out.view),
		}})
	}
	return e.append(session.CustomMessage{
		Type: TaskAnswerType, Display: true, Details: tool.EncodeView(out.view),
		Content: []llm.Block{llm.Text{Text: fmt.Sprintf("The task %q, which was interrupted, has gone on and ended. Its answer takes the place of the result that its call had:\n\n%s", t.Description, text)}},
	})
}

// waitsFor says whether the newest answer on the path has a call without a result.
func (e *Engine) waitsFor(callID string) bool {
	snap := e.session.Snapshot()
	view := snap.Tree()
	for n := snap.Node(snap.Leaf()); n >= 0; n = view.Parent(n) {
		class := snap.Class(n)
		if class.Kind == "custom_message" || class.Role == llm.User {
			return false
		}
		if class.Role != llm.Assistant && class.Role != llm.ToolResult {
			continue
		}
		entry, err := snap.EntryAt(n)
		m, ok := entry.Data.(session.Message)
		switch {
		case err != nil || !ok, m.Role == llm.ToolResult && m.CallID == callID:
			return false
		case m.Role == llm.Assistant:
			return slices.ContainsFunc(m.Calls(), func(c llm.ToolCall) bool { return c.ID == callID })
		}
	}
	return false
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
