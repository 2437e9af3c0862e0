package tui

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"banyan/internal/engine"
	"banyan/internal/tool"
	"banyan/internal/tui/inert"
	"banyan/internal/tui/picker"
	"banyan/internal/tui/rich"

	tea "charm.land/bubbletea/v2"
)

// tasksFlow lists the tasks of this session and those below them: to be looked
// at, stopped, and gone on with.
func (m *Model) tasksFlow(string) tea.Cmd {
	if len(m.tasks.all) == 0 {
		m.refuse("This session has given no tasks. The model gives one when it should, or when you say so")
		return nil
	}
	l := &taskList{m: m}
	on := func(act func(*taskFlow)) func(int) (bool, tea.Cmd) {
		return func(i int) (bool, tea.Cmd) { act(l.shown[i]); return false, nil }
	}
	l.Model = picker.New(picker.Options{
		Title: "Tasks of this session", Keys: m.opts.Keys, InOrder: true,
		Chosen: func(i int) tea.Cmd { return m.openTask(l.shown[i]) },
		Actions: []picker.Action{
			{Key: "ctrl+d", Help: "stops it", Run: on(m.stopTask)},
			{Key: "ctrl+r", Help: "goes on with it", Run: func(i int) (bool, tea.Cmd) { return m.resumeTask(l.shown[i]), nil }},
			{Key: "ctrl+a", Help: "with all that were interrupted", Run: func(int) (bool, tea.Cmd) {
				m.opts.Engine.Send(engine.ResumeTasks{})
				return true, nil
			}},
		},
	}, m.theme)
	m.tasks.list = l
	l.refresh()
	m.push(l)
	return nil
}

// Update implements [overlay].
func (l *taskList) Update(msg tea.Msg) (bool, tea.Cmd) {
	done, cmd := l.Model.Update(msg)
	if done {
		l.m.tasks.list = nil
	}
	return done, cmd
}

// refresh shows the tasks as they are now, those of a task below it.
func (l *taskList) refresh() {
	var current *taskFlow
	if i := l.Index(); i >= 0 && i < len(l.shown) {
		current = l.shown[i]
	}
	l.shown = l.m.tasks.ordered(nil)
	items := make([]picker.Item, len(l.shown))
	for i, f := range l.shown {
		name, detail := f.Description, taskFacts(f.View, f.took(l.m.opts.Now()))
		if f.Agent != "" {
			name = f.Agent + ": " + name
		}
		if f.View.Last != "" {
			detail += " · " + f.View.Last
		}
		items[i] = picker.Item{Title: name, Detail: detail, Mark: taskMarks[f.View.State], Lead: strings.Repeat("  ", f.depth())}
	}
	l.SetItems(items, max(0, slices.Index(l.shown, current)))
}

// ordered are the tasks of one, each followed by its own.
func (t *tasks) ordered(above *taskFlow) (all []*taskFlow) {
	for _, f := range t.all {
		if f.above == above {
			all = append(append(all, f), t.ordered(f)...)
		}
	}
	return all
}

// taskMarks are the signs of states, one cell each.
var taskMarks = map[tool.TaskState]string{
	tool.TaskWaiting: "○", tool.TaskRunning: "●", tool.TaskDone: "✓",
	tool.TaskFailed: "✗", tool.TaskStopped: "■", tool.TaskInterrupted: "■",
}

// took is how long a task has run.
func (f *taskFlow) took(now time.Time) time.Duration {
	d := time.Duration(f.View.Millis) * time.Millisecond
	if !f.Began.IsZero() {
		d += now.Sub(f.Began)
	}
	return d
}

// taskFacts are state, time, tokens and cost in a few words.
func taskFacts(v tool.TaskView, took time.Duration) string {
	facts := []string{string(v.State)}
	if took >= time.Second {
		facts = append(facts, duration(took))
	}
	if v.Tokens > 0 {
		facts = append(facts, count(v.Tokens)+" tokens")
	}
	if v.USD > 0 {
		facts = append(facts, fmt.Sprintf("$%.2f", v.USD))
	}
	return strings.Join(facts, " · ")
}

func (m *Model) stopTask(f *taskFlow) {
	if !f.active() {
		m.refuse("This task is not running")
		return
	}
	m.opts.Engine.Send(f.stop())
}

// resumeTask goes on with one task; false where that cannot be.
func (m *Model) resumeTask(f *taskFlow) bool {
	switch {
	case f.active():
		m.refuse("This task is running")
	case f.View.State == tool.TaskDone:
		m.refuse("This task is done")
	case f.above != nil:
		m.refuse("It goes on with the task that gave it")
	default:
		m.opts.Engine.Send(engine.ResumeTasks{Tasks: []string{f.ID}})
		return true
	}
	return false
}

// taskSpans say whose conversation is on the screen, and how that task is.
func (m *Model) taskSpans() []rich.Span {
	f := m.tasks.view
	sign := m.theme.Dim
	if f.active() {
		sign = m.theme.Running
	}
	line := []rich.Span{
		rich.Chrome(taskMarks[f.View.State]+" ", sign),
		rich.Chrome("Task "+rich.TruncateText(inert.Line(f.Description), 40), m.theme.Text),
		rich.Chrome(" "+inert.Line(taskFacts(f.View, f.took(m.opts.Now()))), m.theme.Dim),
	}
	line = append(line, m.hints(m.keys.Key("escape"), "goes back")...)
	if f.running {
		line = append(line, m.hints(m.keys.Key("send"), "steers it", m.keys.Key("stop-task"), "stops it")...)
	}
	return line
}
