package tui

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"banyan/internal/engine"
	"banyan/internal/llm"
	"banyan/internal/session"
	"banyan/internal/tui/transcript"

	tea "charm.land/bubbletea/v2"
)

// Events is a batch of what the engine told, in order. It is the only message
// from outside that this package has.
type Events []engine.Event

// fold takes events into account, one after the other.
func (m *Model) fold(events Events) tea.Cmd {
	var cmds []tea.Cmd
	for _, ev := range events {
		cmds = append(cmds, m.take(ev))
	}
	cmds = append(cmds, m.followTree())
	return tea.Batch(cmds...)
}

func (m *Model) take(ev engine.Event) tea.Cmd {
	switch ev := ev.(type) {
	case engine.Opened:
		return m.open(ev)
	case engine.Moved:
		m.show(ev.Session)
		return m.arrived(ev)
	case engine.Stayed:
		m.stayed(ev)
	case engine.Appended:
		m.session = ev.Session
		m.append(ev.Entry)
	case engine.State:
		m.state = ev
	case engine.Started:
		return m.start(ev)
	case engine.Progress:
		m.progress(ev.Event)
	case engine.ToolStarted:
		m.transcript.ToolStarted(ev.Call, ev.At)
	case engine.ToolProgress:
		m.transcript.ToolProgress(ev.CallID, ev.View)
	case engine.Asked:
		m.asked(ev)
		return m.notify("needs your approval")
	case engine.Withdrawn:
		m.withdrawn(ev.Ask)
	case engine.TaskList:
		for _, s := range ev.Tasks {
			m.taskIs(nil, s)
		}
	case engine.TaskChanged:
		m.taskIs(nil, ev.Status)
	case engine.TaskEvent:
		return m.inTask(ev)
	case engine.Queue:
		return m.queued(ev)
	case engine.Finished:
		return m.finish(ev)
	case engine.CommandRunning:
		m.shell = ev.Command
	case engine.ContextReport:
		m.reported(ev)
	case engine.UsageReport:
		m.usageReported(ev)
	case engine.CompactionEnded:
		m.compacted(ev)
	case engine.Offer, engine.Panel, engine.Dialog, engine.DialogClosed:
		return m.extended(ev)
	case engine.Notice:
		m.say(ev.Level, ev.Text)
	case engine.Closed:
		return m.closed(ev)
	}
	return nil
}

// open is another session, or the first one.
func (m *Model) open(ev engine.Opened) tea.Cmd {
	m.drafts.session, m.drafts.saved = draftOf(ev.Session, m.opts.Cwd), ""
	m.opened = true
	m.running, m.retry = nil, nil
	m.leaveTasks()
	early := m.early
	m.show(ev.Session)
	m.early = nil
	for _, n := range early {
		m.say(n.level, n.text)
	}
	tree := tea.Batch(m.loadTree(), m.landed())
	if m.opts.Prompt != "" && !m.prompted {
		m.prompted = true
		if name, args, ok := slash(m.opts.Prompt); ok {
			return tea.Batch(tree, m.command(name, args))
		}
		m.opts.Engine.Send(engine.Submit{Text: m.opts.Prompt})
		return tree
	}
	if ev.Draft != nil {
		return tea.Batch(tree, m.takeDraft(ev.Draft))
	}
	return tea.Batch(tree, m.loadDraft())
}

// show draws a session from its leaf.
func (m *Model) show(s session.Snapshot) {
	m.session = s
	m.answer = lastAnswer(s)
	m.said = 0
	m.transcript.Reset(transcript.Path(s, s.Leaf()))
}

// append draws the entry that is the leaf now. An answer replaces what was
// streamed of it.
func (m *Model) append(e session.Entry) {
	if streamed(e.Data) {
		m.transcript.Commit()
		m.retry = nil
	}
	if text := answerText(e); text != "" {
		m.answer = text
	}
	m.transcript.Append(transcript.EntryBlock(e))
	if _, ok := e.Data.(session.Message); ok {
		m.drafts.session = m.session.Header().ID
	}
}

// streamed says whether an entry came as Progress before.
func streamed(d session.Data) bool {
	switch d := d.(type) {
	case session.Message:
		return d.Role == llm.Assistant
	case session.Compaction, session.BranchSummary:
		return true
	}
	return false
}

func (m *Model) start(ev engine.Started) tea.Cmd {
	m.running = &ev
	return m.startClock()
}

// retry is a request that failed and is tried again.
type retry struct {
	attempt int
	at      time.Time // when
	why     string
}

func (m *Model) progress(ev llm.Event) {
	m.retry = nil
	if r, ok := ev.(llm.Retry); ok {
		m.retry = &retry{attempt: r.Attempt, at: m.opts.Now().Add(r.Wait)}
		if r.Err != nil {
			m.retry.why = r.Err.Error()
		}
	}
	m.transcript.Stream(ev)
	m.streamWaiting(ev)
}

func (m *Model) finish(ev engine.Finished) tea.Cmd {
	m.running, m.retry, m.shell = nil, nil, session.Command{}
	m.transcript.Commit()
	if ev.Err != nil && !errors.Is(ev.Err, context.Canceled) && !saidBefore(ev.What) && !m.leafSays(ev.Err) {
		m.say(engine.Failure, ev.Err.Error())
	}
	return tea.Batch(m.findBranch(), m.notify("is done"))
}

// saidBefore says whether a job that failed has told why by an event of its own:
// Stayed, or CompactionEnded.
func saidBefore(what string) bool {
	return what == "summary" || what == "navigation" || what == "compaction"
}

// leafSays says whether the answer at the leaf shows an error already.
func (m *Model) leafSays(err error) bool {
	if m.session.Leaf() == "" {
		return false
	}
	e, ok, _ := m.session.Entry(m.session.Leaf())
	answer, is := e.Data.(session.Message)
	return ok && is && answer.StopReason == llm.StopError && answer.ErrorMessage == err.Error()
}

func (m *Model) compacted(ev engine.CompactionEnded) {
	switch {
	case ev.Err == nil:
		m.say(engine.Note, fmt.Sprintf("Compacted: about %s tokens became %s", count(ev.Before), count(ev.After)))
	case !errors.Is(ev.Err, context.Canceled):
		m.say(engine.Failure, "Not compacted: "+ev.Err.Error())
	}
}

// queued shows what waits, and puts back what was taken back, before what is
// being written.
func (m *Model) queued(ev engine.Queue) tea.Cmd {
	back := ev.TakenBack
	ev.TakenBack = nil
	m.queue = ev
	if len(back) == 0 {
		return nil
	}
	text, images := m.editor.Value()
	if text != "" {
		back = append(back, text)
	}
	return m.editor.SetValue(strings.Join(back, "\n\n"), images)
}

// takeDraft puts a draft into an editor in which nothing is written.
func (m *Model) takeDraft(d *engine.Draft) tea.Cmd {
	if d == nil || !m.editor.Empty() {
		return nil
	}
	return m.editor.Restore(d.Text, d.Images)
}

// closed is the end of the engine. If nobody asked for it, the screen has
// nothing more to do.
func (m *Model) closed(ev engine.Closed) tea.Cmd {
	m.failure = ev.Err
	return tea.Quit
}
