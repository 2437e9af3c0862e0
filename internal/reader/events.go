package reader

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"banyan/internal/engine"
	"banyan/internal/llm"
	"banyan/internal/session"
	"banyan/internal/tool"
)

// event tells what has happened.
func (t *talk) event(ev engine.Event) {
	switch ev := ev.(type) {
	case engine.Opened:
		t.tasks = nil
		t.begin(ev)
	case engine.TaskList:
		for _, s := range ev.Tasks {
			t.taskIs(s)
		}
	case engine.TaskChanged:
		t.taskIs(ev.Status)
	case engine.Started:
		t.running = true
		t.summing = ev.What != "turn"
		if t.summing {
			t.say.label("Notice", "working on the "+ev.What)
		}
	case engine.Progress:
		t.progress(ev.Event)
	case engine.Appended:
		t.session = ev.Session
		t.appended(ev.Entry.Data)
	case engine.ToolStarted:
		t.calls[ev.Call.ID] = ev.Call
		t.say.label("Tool "+callName(ev.Call), "started")
	case engine.Asked:
		t.asked = append(t.asked, ev)
		if len(t.asked) == 1 {
			t.ask()
		}
	case engine.Withdrawn:
		t.withdrawn(ev.Ask)
	case engine.Queue:
		t.takenBack(ev.TakenBack)
	case engine.Moved:
		t.moved(ev)
	case engine.Stayed:
		if ev.Err != nil && !errors.Is(ev.Err, context.Canceled) {
			t.say.label("Error", ev.Err.Error())
		}
		t.prompt()
	case engine.CompactionStarted:
		t.summing = true
		t.say.label("Notice", "compacting")
	case engine.CompactionEnded:
		t.summing = false
		if ev.Err == nil {
			t.say.label("Notice", fmt.Sprintf("compacted: about %d tokens became %d", ev.Before, ev.After))
		}
	case engine.Finished:
		t.finished(ev)
	case engine.Notice:
		t.notice(ev)
	case engine.Closed:
		t.failure = ev.Err
	}
}

// takenBack are prompts that were not sent, or are not going to be. Whatever
// runs says that it ends.
func (t *talk) takenBack(prompts []string) {
	if len(prompts) == 0 {
		return
	}
	for _, text := range prompts {
		t.say.label("Not sent", text)
	}
	t.running = false
	t.prompt()
	t.leaveWhenDone()
}

func (t *talk) notice(ev engine.Notice) {
	t.say.label([...]string{engine.Note: "Notice", engine.Warning: "Warning", engine.Failure: "Error"}[ev.Level], ev.Text)
	t.prompt()
}

func (t *talk) moved(ev engine.Moved) {
	t.session = ev.Session
	t.say.label("Notice", fmt.Sprintf("moved; %d entries are before this point", len(ev.Session.PathIDs(ev.Session.Leaf()))))
	if ev.Draft != nil && ev.Draft.Text != "" {
		t.say.label("Draft", ev.Draft.Text)
	}
	t.prompt()
}

// openingWords say which session this is, and how it stands.
func (t *talk) openingWords(s session.Snapshot) {
	said := lastWords(s)
	if len(said) == 0 {
		t.say.label("Banyan", "a new session. Type a prompt and press Enter; /help lists the commands")
		return
	}
	name := s.Name()
	if name == "" {
		name = s.Header().ID
	}
	t.say.label("Banyan", fmt.Sprintf("the session %s, %d entries. Last was said", name, s.Len()))
	for _, m := range said {
		who := "Assistant"
		if m.Role == llm.User {
			who = "You"
		}
		t.say.label(who, m.Text())
	}
}

// lastWords are the last prompt of a session and the last answer after it.
func lastWords(s session.Snapshot) []llm.Message {
	ids := s.PathIDs(s.Leaf())
	var said []llm.Message
	for i := len(ids) - 1; i >= 0; i-- {
		class := s.Class(s.Node(ids[i]))
		answer := class.Role == llm.Assistant && class.HasText && len(said) == 0
		if class.Role != llm.User && !answer {
			continue
		}
		e, _, err := s.Entry(ids[i])
		if m, ok := e.Data.(session.Message); ok && err == nil {
			said = append([]llm.Message{m.Message}, said...)
		}
		if class.Role == llm.User {
			break
		}
	}
	return said
}

// progress tells an answer while it comes, a line at a time.
func (t *talk) progress(ev llm.Event) {
	switch ev := ev.(type) {
	case llm.TextDelta:
		t.spoken = true
		label := "Assistant"
		if t.summing {
			label = "Summary"
		}
		t.say.stream(label, ev.Text)
	case llm.Retry:
		why := ""
		if ev.Err != nil {
			why = ": " + ev.Err.Error()
		}
		t.say.label("Notice", fmt.Sprintf("trying again in %v, try %d%s", ev.Wait.Round(time.Second), ev.Attempt, why))
	}
}

// endAnswer tells what is left of the answer that came.
func (t *talk) endAnswer() {
	t.say.endStream()
	t.spoken = false
}

func (t *talk) appended(d session.Data) {
	switch d := d.(type) {
	case session.Message:
		switch d.Role {
		case llm.Assistant:
			told := t.spoken
			t.endAnswer()
			if text := d.Text(); text != "" && !told {
				t.say.label("Assistant", text)
			}
			for _, c := range d.Calls() {
				t.calls[c.ID] = c
			}
		case llm.ToolResult:
			t.result(d)
		}
	case session.Command:
		t.say.label("Command "+d.Command, d.Output)
	case session.BranchSummary:
		t.endAnswer()
	case session.Compaction:
		t.endAnswer()
	}
}

// result tells how a call ended, in one line.
func (t *talk) result(d session.Message) {
	name := d.ToolName
	if call, ok := t.calls[d.CallID]; ok {
		name = callName(call)
		delete(t.calls, d.CallID)
	}
	text := strings.TrimSpace(d.Text())
	if d.IsError {
		first, _, _ := strings.Cut(text, "\n")
		t.say.label("Tool "+name, "failed, "+first)
		return
	}
	t.say.label("Tool "+name, "ok, "+size(tool.DecodeView(d.Details), text))
}

// size says how much a call gave.
func size(v tool.View, text string) string {
	switch v := v.(type) {
	case tool.Diff:
		return fmt.Sprintf("%d lines added, %d removed", v.Added, v.Removed)
	case tool.Listing:
		return count(v.Total, "item")
	case tool.Image:
		return "a picture"
	case tool.Command:
		text = strings.TrimSpace(v.Output)
	case tool.Plain:
		text = strings.TrimSpace(v.Text)
		if v.Cut != nil {
			return count(v.Cut.Lines, "line")
		}
	}
	if text == "" {
		return "no output"
	}
	return count(strings.Count(text, "\n")+1, "line")
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// callName is what a call is recognised by: the tool and what it works on.
func callName(c llm.ToolCall) string {
	subject := tool.Describe(c.Name, c.Arguments)
	if subject == "" {
		subject = string(c.Arguments)
	}
	const most = 200
	if r := []rune(subject); len(r) > most {
		subject = string(r[:most]) + " …"
	}
	return strings.TrimSpace(c.Name + " " + subject)
}
