package tui

import (
	"context"
	"slices"

	"banyan/internal/engine"
	"banyan/internal/session"
	"banyan/internal/tool"
	"banyan/internal/tui/picker"
	"banyan/internal/tui/transcript"

	tea "charm.land/bubbletea/v2"
)

// tasks are those of the open session, as far as the engine has told of them.
type tasks struct {
	all  []*taskFlow // in the order in which they were told of
	view *taskFlow   // whose conversation is on the screen; nil: the session's own
	list *taskList   // the open list; nil if there is none
}

// taskFlow is a task and its conversation, which is folded from its events just
// as the session's own is.
type taskFlow struct {
	engine.TaskStatus
	above   *taskFlow // that gave it; nil: the session
	running bool      // its engine runs
	// transcript is nil while its conversation was neither told nor read.
	transcript *transcript.Model
	release    func() // gives back what was read; nil if nothing was
}

func (t *tasks) find(id string) *taskFlow {
	i := slices.IndexFunc(t.all, func(f *taskFlow) bool { return f.ID == id })
	if i < 0 {
		return nil
	}
	return t.all[i]
}

// depth is how many tasks it is below the session.
func (f *taskFlow) depth() int {
	if f.above == nil {
		return 0
	}
	return f.above.depth() + 1
}

// to hands a command to the task, through those above it.
func (f *taskFlow) to(c engine.Command) engine.Command {
	c = engine.ToTask{Task: f.ID, Command: c}
	if f.above != nil {
		return f.above.to(c)
	}
	return c
}

// stop ends the task alone.
func (f *taskFlow) stop() engine.Command {
	c := engine.Command(engine.StopTask{Task: f.ID})
	if f.above != nil {
		c = f.above.to(c)
	}
	return c
}

// active says whether it runs, or waits to.
func (f *taskFlow) active() bool {
	return f.View.State == tool.TaskRunning || f.View.State == tool.TaskWaiting
}

// shown is the conversation on the screen: the session's, or that of a task.
func (m *Model) shown() *transcript.Model {
	if f := m.tasks.view; f != nil && f.transcript != nil {
		return f.transcript
	}
	return m.transcript
}

// leaveTasks forgets the tasks of a session that is left.
func (m *Model) leaveTasks() {
	for _, f := range m.tasks.all {
		f.forget()
	}
	m.tasks.all, m.tasks.view = nil, nil
}

// forget gives the conversation back; it can be read again.
func (f *taskFlow) forget() {
	if f.release != nil {
		f.release()
	}
	f.transcript, f.release = nil, nil
}

// taskIs takes over how a task is, and shows it on the card of its call.
func (m *Model) taskIs(above *taskFlow, s engine.TaskStatus) {
	f := m.tasks.find(s.ID)
	if f == nil {
		f = &taskFlow{above: above}
		m.tasks.all = append(m.tasks.all, f)
	}
	f.TaskStatus = s
	in := m.transcript
	if above != nil {
		in = above.transcript
	}
	if in != nil {
		in.ToolProgress(s.CallID, s.View)
	}
	if m.tasks.list != nil {
		m.tasks.list.refresh()
	}
}

// inTask folds what happened in a task, at whatever depth.
func (m *Model) inTask(ev engine.TaskEvent) tea.Cmd {
	f := m.tasks.find(ev.Task)
	if f == nil {
		return nil
	}
	switch in := ev.Event.(type) {
	case engine.TaskEvent:
		return m.inTask(in)
	case engine.TaskChanged:
		m.taskIs(f, in.Status)
	case engine.TaskList:
		for _, s := range in.Tasks {
			m.taskIs(f, s)
		}
	case engine.Opened:
		f.forget()
		f.transcript, f.running = m.newTranscript(), true
		f.transcript.Reset(transcript.Path(in.Session, in.Session.Leaf()))
	case engine.Closed:
		return m.taskClosed(f)
	default:
		if f.transcript != nil {
			f.take(in)
		}
	}
	return nil
}

func (m *Model) newTranscript() *transcript.Model {
	t := transcript.New(m.theme)
	t.ExpandTools(m.transcript.ToolsExpanded())
	t.ShowThinking(m.transcript.ThinkingShown())
	t.SetNow(m.opts.Now())
	t.SetSize(m.width, m.layout.transcript)
	return t
}

// take folds an event of the task's own conversation.
func (f *taskFlow) take(ev engine.Event) {
	switch ev := ev.(type) {
	case engine.Moved:
		f.transcript.Reset(transcript.Path(ev.Session, ev.Session.Leaf()))
	case engine.Appended:
		if streamed(ev.Entry.Data) {
			f.transcript.Commit()
		}
		f.transcript.Append(transcript.EntryBlock(ev.Entry))
	case engine.Progress:
		f.transcript.Stream(ev.Event)
	case engine.ToolStarted:
		f.transcript.ToolStarted(ev.Call, ev.At)
	case engine.ToolProgress:
		f.transcript.ToolProgress(ev.CallID, ev.View)
	case engine.Finished:
		f.transcript.Commit()
	case engine.Notice:
		f.transcript.Notice(transcript.Level(ev.Level), ev.Text)
	}
}

// taskClosed: what was told of a task's conversation is in its file now. It is
// read from there when somebody wants to see it.
func (m *Model) taskClosed(f *taskFlow) tea.Cmd {
	f.running = false
	if f.Path == "" || m.opts.ReadTask == nil {
		return nil
	}
	if m.tasks.view == f {
		return m.readTask(f)
	}
	f.forget()
	return nil
}

// taskReadMsg is the conversation of a task as it was read from its file.
type taskReadMsg struct {
	task    string // its id
	session session.Snapshot
	release func()
	err     error
}

func (m *Model) readTask(f *taskFlow) tea.Cmd {
	read, path, task := m.opts.ReadTask, f.Path, f.ID
	return func() tea.Msg {
		s, release, err := read(context.Background(), path)
		return taskReadMsg{task, s, release, err}
	}
}

func (msg taskReadMsg) apply(m *Model) tea.Cmd {
	f := m.tasks.find(msg.task)
	switch wanted := f != nil && m.tasks.view == f && !f.running; {
	case msg.err != nil:
		m.refuse("The task cannot be read: " + msg.err.Error())
		if wanted && f.transcript == nil {
			m.tasks.view = nil
		}
		return nil
	case !wanted: // it goes on meanwhile, or nobody looks any more
		msg.release()
		return nil
	}
	f.forget()
	f.transcript, f.release = m.newTranscript(), msg.release
	f.transcript.Reset(transcript.Path(msg.session, msg.session.Leaf()))
	return nil
}

// openTask puts the conversation of a task in the place of the session's. What is
// written then goes to the task.
func (m *Model) openTask(f *taskFlow) tea.Cmd {
	m.tasks.view = f
	if f.transcript != nil {
		return nil
	}
	if f.Path == "" || m.opts.ReadTask == nil || f.View.State == tool.TaskWaiting {
		m.tasks.view = nil
		m.refuse("There is nothing to see of this task")
		return nil
	}
	return m.readTask(f)
}

// leaveTask goes back to the conversation that gave the task.
func (m *Model) leaveTask() {
	f := m.tasks.view
	m.tasks.view = f.above
	if !f.running && f.Path != "" {
		f.forget()
	}
	if f.above != nil && f.above.transcript == nil {
		m.tasks.view = nil
	}
}

// steerTask sends what is written to the task on the screen.
func (m *Model) steerTask(s engine.Submit) tea.Cmd {
	f := m.tasks.view
	if !f.running {
		m.refuse("This task has ended; Esc goes back, and what is written there goes to the one who gave it")
		return nil
	}
	m.editor.Clear()
	m.shown().Bottom()
	m.opts.Engine.Send(f.to(s))
	return m.remember(s.Text)
}

// taskList is the open list of tasks.
type taskList struct {
	*picker.Model
	m     *Model
	shown []*taskFlow
}
