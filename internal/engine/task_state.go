package engine

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"banyan/internal/agent"
	"banyan/internal/llm"
	"banyan/internal/session"
	"banyan/internal/tool"
	"banyan/internal/tree"
)

// What the owner knows of tasks, and tells.

// taskTool is what models give tasks with.
func (e *Engine) taskTool() tool.Tool { return tool.Task(e.delegate) }

func (e *Engine) findTask(id string) *task {
	for _, t := range e.tasks {
		if t.ID == id {
			return t
		}
	}
	return nil
}

func (e *Engine) changed(t *task) { e.emit(TaskChanged{t.TaskStatus}) }

func (e *Engine) taskBegins(t *task, child *Engine) {
	t.engine, t.Began, t.View.State = child, e.cfg.Now(), tool.TaskRunning
	t.before = time.Duration(t.View.Millis) * time.Millisecond
	e.changed(t)
	e.emitState()
	e.tell(&TaskStart{ID: t.ID, Agent: t.Agent, Prompt: t.Prompt, Path: t.Path})
}

// heardOf takes over what a task's engine told.
func (e *Engine) heardOf(t *task, child *Engine, ev Event) {
	switch ev := ev.(type) {
	case Opened: // and it has its prompt: what is said to it from now on comes after that
		e.taskBegins(t, child)
	case Asked:
		e.relay(t, ev)
		return
	case Withdrawn:
		e.unrelay(t, ev.Ask)
		return
	case Notice:
		if ev.Level > Note {
			e.notice(ev.Level, "Task %s: %s", t.Description, ev.Text)
		}
	case Appended:
		if m, ok := ev.Entry.Data.(session.Message); ok && m.Role == llm.Assistant {
			t.View.Answers++
			t.View.Calls += len(m.Calls())
			if text := lastLine(m.Text()); text != "" {
				t.View.Last = text
			}
			e.changed(t)
		}
	case ToolStarted:
		t.View.Last = strings.TrimSpace(ev.Call.Name + " " + tool.Describe(ev.Call.Name, ev.Call.Arguments))
		e.changed(t)
	}
	e.emit(TaskEvent{t.ID, t.CallID, ev})
}

// lastShown is how much of a line a status has, in bytes.
const lastShown = 200

func lastLine(text string) string {
	text = strings.TrimSpace(text)
	text = text[strings.LastIndexByte(text, '\n')+1:]
	if len(text) > lastShown {
		text = strings.ToValidUTF8(text[:lastShown], "") + "…"
	}
	return text
}

// taskEnds says how a task ended, and completes the outcome.
func (e *Engine) taskEnds(ctx context.Context, t *task, out *outcome) {
	switch {
	case out.err == nil:
		t.View.State = tool.TaskDone
	case t.stopped, errors.Is(out.err, agent.ErrStop), errors.Is(out.err, context.Canceled) && ctx.Err() == nil:
		t.View.State = tool.TaskStopped
	case ctx.Err() != nil:
		t.View.State = tool.TaskInterrupted
	default:
		t.View.State = tool.TaskFailed
	}
	if !t.Began.IsZero() {
		t.View.Millis = (t.before + e.cfg.Now().Sub(t.Began)).Milliseconds()
		e.tell(&TaskEnd{ID: t.ID, Agent: t.Agent, Path: t.Path, Result: out.said, Err: out.err})
	}
	t.engine, t.cancel, t.Began = nil, nil, time.Time{}
	out.view = t.View
	e.changed(t)
	e.emitState()
}

// relay asks the user what a task asks.
func (e *Engine) relay(t *task, ev Asked) {
	e.nextAsk++
	e.asks[e.nextAsk] = question{task: t, ask: ev.Ask}
	ev.Ask = e.nextAsk
	ev.Tasks = append([]string{t.Description}, ev.Tasks...)
	e.emit(ev)
	e.tell(&Notification{"permission", t.Description + ": " + ev.Call.Name + " needs approval: " + ev.Subject})
}

// unrelay takes a question of a task back.
func (e *Engine) unrelay(t *task, ask int) {
	for mine, q := range e.asks {
		if q.task == t && q.ask == ask {
			e.withdraw(mine)
		}
	}
}

func (e *Engine) stopTask(c StopTask) {
	t := e.findTask(c.Task)
	if t == nil || t.cancel == nil {
		e.notice(Note, "This task is not running.")
		return
	}
	t.stopped = true
	t.cancel()
}

// toTask hands a command to a task. A prompt for one that runs no more is not lost.
func (e *Engine) toTask(c ToTask) {
	if t := e.findTask(c.Task); t != nil && t.engine != nil {
		t.engine.Send(c.Command)
		return
	}
	e.notice(Warning, "This task is not running.")
	if s, ok := c.Command.(Submit); ok {
		e.giveBack([]Submit{s})
	}
}

// sumTasks is what the tasks of the active path took.
func (e *Engine) sumTasks() (sum TaskSum) {
	if len(e.tasks) == 0 || e.session == nil {
		return sum
	}
	snap := e.session.Snapshot()
	on := onPath(snap)
	for _, t := range e.tasks {
		if !on(snap.Node(t.Link)) {
			continue
		}
		sum.Tasks++
		if t.cancel != nil {
			sum.Running++
		}
		sum.Tokens += t.View.Tokens
		sum.USD += t.View.USD
		sum.CostUnknown = sum.CostUnknown || t.View.CostUnknown
	}
	return sum
}

// onPath says which nodes are on the active path.
func onPath(snap session.Snapshot) func(tree.Node) bool {
	view, leaf := snap.Tree(), snap.Node(snap.Leaf())
	return func(n tree.Node) bool { return n != tree.None && view.Common(n, leaf) == n }
}

// listTasks finds the session's tasks beside the owner, because it reads a lot.
func (e *Engine) listTasks() {
	e.tasks = nil
	e.listing++
	mine, snap, o := e.listing, e.session.Snapshot(), e.cfg.Session
	go func() {
		found, err := tasksOf(snap, o)
		calls := len(ungiven(snap))
		_ = e.do(func() error {
			switch {
			case e.listing != mine:
			case err != nil:
				e.notice(Failure, "The tasks of the session could not be read: %v", err)
			default:
				e.listed(found, calls)
			}
			return nil
		})
	}()
}

// listed takes the tasks that were found; those that were given meanwhile follow.
// interrupted calls were to give more.
func (e *Engine) listed(found []TaskStatus, interrupted int) {
	var all []*task
	for _, s := range found {
		if e.findTask(s.ID) == nil {
			all = append(all, &task{TaskStatus: s})
			if s.View.State == tool.TaskInterrupted {
				interrupted++
			}
		}
	}
	if e.tasks = append(all, e.tasks...); len(e.tasks) > 0 {
		list := TaskList{}
		for _, t := range e.tasks {
			list.Tasks = append(list.Tasks, t.TaskStatus)
		}
		e.emit(list)
	}
	if interrupted > 0 && e.cfg.above == nil && e.cfg.Tasks != nil {
		e.notice(Note, "Tasks that were interrupted: %d. /tasks goes on with them.", interrupted)
	}
	e.emitState()
}

// tasksOf are the tasks of a session and how its log says that they ended: by the
// view in the call's result, or by the answer that came later. What has no end
// was interrupted; what it took is read from its own files.
func tasksOf(snap session.Snapshot, o session.Options) ([]TaskStatus, error) {
	links := snap.Tasks()
	if len(links) == 0 {
		return nil, nil
	}
	views := map[string]tool.TaskView{}
	for n := links[0].Node; int(n) < snap.Len(); n++ {
		class := snap.Class(n)
		if class.Role != llm.ToolResult && class.Kind != "custom_message" {
			continue
		}
		e, err := snap.EntryAt(n)
		if err != nil {
			return nil, err
		}
		if v, ok := taskEnd(e.Data); ok {
			views[v.Task] = v
		}
	}
	list := make([]TaskStatus, len(links))
	for i, l := range links {
		list[i] = status(snap, l)
		if v, ok := views[l.ID]; ok {
			list[i].View = v
		}
		if list[i].View.State == tool.TaskInterrupted && list[i].Path != "" {
			u := session.FamilyUsage(list[i].Path, o)
			list[i].View.Tokens, list[i].View.USD, list[i].View.CostUnknown = u.Context(), u.Cost.Total, u.CostUnknown
		}
	}
	return list, nil
}

// taskEnd is what an entry says of the end of a task.
func taskEnd(d session.Data) (tool.TaskView, bool) {
	var details json.RawMessage
	switch d := d.(type) {
	case session.Message:
		details = d.Details
	case session.CustomMessage:
		if d.Type == TaskAnswerType {
			details = d.Details
		}
	}
	v, ok := tool.DecodeView(details).(tool.TaskView)
	return v, ok
}
