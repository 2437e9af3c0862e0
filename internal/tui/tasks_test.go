package tui_test

import (
	"testing"
	"time"

	"banyan/internal/engine"
	"banyan/internal/llm"
	"banyan/internal/session"
	"banyan/internal/tool"
	"banyan/internal/tui"
	"banyan/internal/tui/tuitest"
)

// status is a task in a state.
func status(id, call, description string, state tool.TaskState) engine.TaskStatus {
	return engine.TaskStatus{
		Task: session.Task{ID: id, CallID: call, Description: description, Agent: "scout"},
		Path: "/s/" + id + ".jsonl",
		View: tool.TaskView{Task: id, Description: description, Agent: "scout", State: state, Tokens: 4200, USD: 0.5, Calls: 3, Last: "ls \x1b[31m."},
	}
}

// told are the events of a task's own engine, as they come from it.
func told(id string, events ...engine.Event) []engine.Event {
	var all []engine.Event
	for _, ev := range events {
		all = append(all, engine.TaskEvent{Task: id, Call: "c1", Event: ev})
	}
	return all
}

// chatWithTask is a chat whose model has given one task, which runs and has said
// something.
func chatWithTask(t *testing.T, change ...func(*tui.Options)) *tuitest.Driver {
	t.Helper()
	d := tuitest.New(t, change...).Open()
	d.Emit(engine.Started{What: "turn", At: time.Now()})
	d.Append(session.Message{Message: llm.Message{
		Role: llm.Assistant, StopReason: llm.StopToolUse,
		Content: []llm.Block{llm.ToolCall{ID: "c1", Name: "task", Arguments: []byte(`{"agent":"scout","description":"look around","prompt":"p"}`)}},
	}})
	d.Emit(engine.ToolStarted{Call: llm.ToolCall{ID: "c1", Name: "task"}, At: time.Now()})
	d.Emit(engine.TaskChanged{Status: status("t1", "c1", "look around", tool.TaskRunning)})
	d.Emit(told("t1", engine.Opened{}, engine.Started{What: "turn"}, engine.Progress{Event: llm.TextDelta{Text: "I am looking"}})...)
	return d
}

// A task is a card in the conversation; its own is followed live, what is written
// there goes to it, and Esc goes back.
func TestATaskIsFollowedSteeredAndLeft(t *testing.T) {
	d := chatWithTask(t)
	d.Sees("● task scout look around", "3 calls", "4200 tokens", "ls ␛[31m.")
	d.Misses("I am looking")
	d.Press("ctrl+x", "t").Sees("Tasks of this session", "scout: look around", "running")
	d.Press("enter").Sees("I am looking", "Task look around running", "goes back")
	d.Misses("● task scout")
	d.Emit(told("t1", engine.Progress{Event: llm.TextDelta{Text: " and looking"}})...).Sees("I am looking and looking")
	d.Type("only the tests").Press("enter")
	d.WasSent(engine.ToTask{Task: "t1", Command: engine.Submit{Text: "only the tests"}})
	d.Press("ctrl+x", "k")
	d.WasSent(engine.StopTask{Task: "t1"})
	d.Type("what was half written")
	d.Press("esc").Sees("● task scout look around", "what was half written").Misses("I am looking")
	d.Press("ctrl+c") // clears
	d.Press("esc")    // and now it is the turn that it ends
	d.WasSent(engine.Interrupt{})
}

// What a task of a task says and is told goes through the one above it.
func TestATaskOfATask(t *testing.T) {
	d := chatWithTask(t)
	inner := status("t2", "c9", "deeper", tool.TaskRunning)
	d.Emit(told("t1", engine.TaskChanged{Status: inner}, engine.TaskEvent{Task: "t2", Event: engine.Opened{}},
		engine.TaskEvent{Task: "t2", Event: engine.Progress{Event: llm.TextDelta{Text: "down here"}}})...)
	d.Press("ctrl+x", "t").Sees("  scout: deeper").Press("down", "enter").Sees("down here")
	d.Type("up").Press("enter")
	d.WasSent(engine.ToTask{Task: "t1", Command: engine.ToTask{Task: "t2", Command: engine.Submit{Text: "up"}}})
	d.Press("ctrl+x", "k")
	d.WasSent(engine.ToTask{Task: "t1", Command: engine.StopTask{Task: "t2"}})
	d.Press("esc").Sees("I am looking").Press("esc").Sees("● task scout")
}

// A task that has ended is read from its file; one that was interrupted can be
// gone on with.
func TestAnEndedTaskIsReadAndGoneOnWith(t *testing.T) {
	released := 0
	read := func(_ contextT, path string) (session.Snapshot, func(), error) {
		m, err := session.New("", "/w", session.Options{})
		if err != nil {
			return session.Snapshot{}, nil, err
		}
		_, err = m.Append(session.Message{Message: llm.UserText("from "+path, time.Time{})})
		return m.Snapshot(), func() { released++ }, err
	}
	d := tuitest.New(t, func(o *tui.Options) { o.ReadTask = read }).Open()
	d.Emit(engine.TaskList{Tasks: []engine.TaskStatus{
		status("t1", "c1", "first", tool.TaskDone), status("t2", "c2", "second", tool.TaskInterrupted),
	}})
	d.Type("/tasks").Press("enter").Sees("✓ scout: first", "■ scout: second")
	d.Press("enter").Sees("from /s/t1.jsonl", "Task first done")
	d.Type("hello").Press("enter").Sees("This task has ended")
	d.Press("ctrl+c", "esc").Misses("from /s/t1.jsonl")
	if released != 1 {
		t.Errorf("given back %d times", released)
	}
	d.Press("ctrl+x", "t", "ctrl+r").Sees("This task is done").Press("down", "ctrl+r")
	d.WasSent(engine.ResumeTasks{Tasks: []string{"t2"}})
	d.Press("ctrl+x", "t", "ctrl+a")
	d.WasSent(engine.ResumeTasks{})
}

func TestAQuestionSaysWhichTaskAsks(t *testing.T) {
	d := chatWithTask(t)
	d.Emit(engine.Asked{Ask: 1, Tasks: []string{"look around", "de\x1bper"}, Call: llm.ToolCall{Name: "bash", Arguments: []byte(`{"command":"ls"}`)}, Subject: "ls"})
	d.Sees("May this run? bash for the task look around › de")
}
