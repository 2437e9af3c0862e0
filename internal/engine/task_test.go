package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"banyan/internal/llm"
	"banyan/internal/llm/llmtest"
	"banyan/internal/session"
	"banyan/internal/tool"
)

// playing is a model that answers each conversation by what was said in it.
type playing func(prompt string, results []string, req llm.Request) llmtest.Turn

// Stream finds the conversation's first prompt, and the results since.
func (p playing) Stream(ctx context.Context, req llm.Request) iter.Seq2[llm.Event, error] {
	prompt, results := "", []string(nil)
	for _, m := range req.Messages {
		switch {
		case m.Role == llm.User && prompt == "":
			prompt = m.Text()
		case m.Role == llm.ToolResult:
			results = append(results, m.Text())
		}
	}
	return llmtest.Script(p(prompt, results, req)).Stream(ctx, req)
}

// task is a call of the tool.
func taskCall(id, prompt string, more ...string) llm.ToolCall {
	args := map[string]string{"description": "do " + id, "prompt": prompt}
	for i := 0; i+1 < len(more); i += 2 {
		args[more[i]] = more[i+1]
	}
	raw, _ := json.Marshal(args)
	return llm.ToolCall{ID: id, Name: "task", Arguments: raw}
}

// newTaskWorld is a world whose model can give tasks.
func newTaskWorld(t *testing.T, play playing, change ...func(*Config)) *world {
	t.Helper()
	w := &world{t: t, dir: t.TempDir()}
	cfg := taskConfig(w, play)
	for _, f := range change {
		f(&cfg)
	}
	w.start(cfg)
	return w
}

func taskConfig(w *world, play playing) Config {
	return Config{
		Models: scriptModels{play},
		Tasks: &Tasks{Equip: func(_ context.Context, t session.Task, _ []tool.Tool) (Equipment, error) {
			if t.Agent != "" && t.Agent != "looker" {
				return Equipment{}, fmt.Errorf("there is no agent %q; there are looker", t.Agent)
			}
			return Equipment{
				System: "You are " + t.Agent + " in " + t.Cwd,
				Tools:  []tool.Tool{w.tool("look", tool.Read), w.tool("run", tool.Execute)},
			}, nil
		}},
	}
}

// results are the texts of the results of calls on the path.
func (w *world) results() (out []string) {
	c, err := w.snap.Context(w.snap.Leaf())
	if err != nil {
		w.t.Fatal(err)
	}
	for _, m := range c.Messages() {
		if m.Role == llm.ToolResult {
			out = append(out, m.Text())
		}
	}
	return out
}

// taskViews are how the tasks ended, by call.
func (w *world) taskViews() map[string]tool.TaskView {
	views := map[string]tool.TaskView{}
	for _, ev := range w.seen {
		if c, ok := ev.(TaskChanged); ok {
			views[c.Status.CallID] = c.Status.View
		}
	}
	return views
}

func (w *world) running(call string) TaskStatus {
	w.t.Helper()
	return w.until("a task runs", func(ev Event) bool {
		c, ok := ev.(TaskChanged)
		return ok && c.Status.CallID == call && c.Status.View.State == tool.TaskRunning
	}).(TaskChanged).Status
}

// A task is a session of its own, with its own context; its link is in the log of
// the other before it exists. The turn that gives it is not in its way.
func TestTask(t *testing.T) {
	var w *world
	w = newTaskWorld(t, func(prompt string, results []string, req llm.Request) llmtest.Turn {
		switch {
		case prompt == "go" && len(results) == 0:
			return llmtest.Calls(taskCall("c1", "count the files", "agent", "looker"))
		case prompt == "go":
			return llmtest.Text("there are " + results[0])
		case len(results) == 0:
			turn := llmtest.Call("l1", "look", `{"at":"."}`)
			turn.Check = func(llm.Request) error {
				if !strings.Contains(w.file(), `"customType":"banyan.task"`) || !strings.Contains(w.file(), "count the files") {
					return errors.New("the link is not on the disk")
				}
				return nil
			}
			return turn
		}
		if !strings.HasPrefix(req.System, "You are looker") || strings.Contains(fmt.Sprint(req.Messages), "go") {
			return llmtest.Fail(fmt.Errorf("the task was told %q and %v", req.System, req.Messages))
		}
		return llmtest.Text("seven")
	})
	if f := w.say("go"); f.Err != nil {
		t.Fatal(f.Err)
	}
	if got, want := w.roles(), "user go | assistant task() | toolResult seven | assistant there are seven"; got != want {
		t.Errorf("context\n got %s\nwant %s", got, want)
	}
	links := w.snap.Tasks()
	if len(links) != 1 || links[0].CallID != "c1" || links[0].Agent != "looker" || links[0].Depth != 1 {
		t.Fatalf("links %+v", links)
	}
	child, err := session.Open(w.snap.TaskPath(links[0].Task), session.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer child.Close()
	if got := roles(t, child.Snapshot()); got != "user count the files | assistant look() | toolResult look done | assistant seven" {
		t.Errorf("the task: %s", got)
	}
	v := w.taskViews()["c1"]
	if v.State != tool.TaskDone || v.Answers != 2 || v.Calls != 1 || v.Tokens != 2*110 || v.Last != "seven" {
		t.Errorf("view %+v", v)
	}
	var sum TaskSum
	for _, ev := range w.seen {
		if s, ok := ev.(State); ok {
			sum = s.Tasks
		}
	}
	if sum.Tasks != 1 || sum.Running != 0 || sum.Tokens != 220 {
		t.Errorf("sum %+v", sum)
	}
	w.sameOnDisk()
}

// What stands between a call and its result is no end of the results: they are
// taken along.
func TestCherryPickTakesTasksAlong(t *testing.T) {
	w := newTaskWorld(t, func(prompt string, results []string, _ llm.Request) llmtest.Turn {
		if prompt == "u1" && len(results) == 0 {
			return llmtest.Calls(taskCall("c1", "a"), taskCall("c2", "b"))
		}
		return llmtest.Text("said " + prompt)
	})
	w.say("u1")
	answer := w.snap.ID(w.snap.Tree().Parent(w.snap.Tasks()[0].Node))
	w.engine.Send(Navigate{})
	w.moved()
	w.say("u2")
	w.engine.Send(CherryPick{Entries: []session.ID{answer}})
	w.moved()
	if got, want := w.roles(), "user u2 | assistant said u2 | user Continue. | assistant task() task() | toolResult said a | toolResult said b"; got != want {
		t.Errorf("context\n got %s\nwant %s", got, want)
	}
}

func TestTasksThatAreNotGiven(t *testing.T) {
	outside := t.TempDir()
	for _, c := range []struct {
		name, says string
		call       llm.ToolCall
	}{
		{"outside", "do not leave it", taskCall("c", "p", "cwd", outside)},
		{"above", "do not leave it", taskCall("c", "p", "cwd", "..")},
		{"through a link", "do not leave it", taskCall("c", "p", "cwd", "link")},
		{"nowhere", "no such file", taskCall("c", "p", "cwd", "nowhere")},
		{"a file", "not a folder", taskCall("c", "p", "cwd", "file")},
		{"nobody", "there are looker", taskCall("c", "p", "agent", "nobody")},
		{"no prompt", "do not fit", llm.ToolCall{ID: "c", Name: "task", Arguments: json.RawMessage(`{"description":"x","prompt":""}`)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newTaskWorld(t, func(prompt string, results []string, _ llm.Request) llmtest.Turn {
				if len(results) == 0 {
					return llmtest.Calls(c.call)
				}
				return llmtest.Text("ok")
			})
			if err := errors.Join(os.Symlink(outside, filepath.Join(w.dir, "link")), os.WriteFile(filepath.Join(w.dir, "file"), nil, 0o600)); err != nil {
				t.Fatal(err)
			}
			w.say("go")
			if r := w.results(); len(r) != 1 || !strings.Contains(r[0], c.says) {
				t.Errorf("results %q", r)
			}
			if links := w.snap.Tasks(); len(links) != 0 {
				t.Errorf("given all the same: %+v", links)
			}
		})
	}
}

// Tasks give tasks as deep as is allowed, and none with a prompt that is being
// worked on above.
func TestTasksOfTasks(t *testing.T) {
	deeper := func(prompt string) string { return prompt + "'" }
	for _, c := range []struct {
		name string
		next func(string) string
		want string
		deep int
	}{
		{"too deep", deeper, "3 deep here already", 3},
		{"the same again", func(prompt string) string {
			if prompt == "go" {
				return "again and again"
			}
			return "again  and again\n"
		}, "with this very prompt", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			var refused atomic.Value
			w := newTaskWorld(t, func(prompt string, results []string, _ llm.Request) llmtest.Turn {
				if len(results) == 0 {
					return llmtest.Calls(taskCall("c", c.next(prompt)))
				}
				if strings.HasPrefix(results[0], "not given") {
					refused.Store(results[0])
				}
				return llmtest.Text("ended " + prompt)
			}, func(cfg *Config) { cfg.Tasks.MaxDepth = 3 })
			if f := w.say("go"); f.Err != nil {
				t.Fatal(f.Err)
			}
			if text, _ := refused.Load().(string); !strings.Contains(text, c.want) {
				t.Errorf("refused with %q", text)
			}
			files, err := session.Family(w.snap.Path(), session.Options{})
			if err != nil || len(files) != 1+c.deep {
				t.Errorf("family %v: %v", files, err)
			}
			if w.sumOf("c").Tokens != 220*c.deep {
				t.Errorf("what is below does not count: %+v", w.sumOf("c"))
			}
		})
	}
}

func (w *world) sumOf(call string) tool.TaskView { return w.taskViews()[call] }

// Tasks of one answer run side by side, as many as are allowed.
func TestTasksRunSideBySide(t *testing.T) {
	var now, most atomic.Int32
	w := newTaskWorld(t, func(prompt string, results []string, req llm.Request) llmtest.Turn {
		if prompt == "go" && len(results) == 0 {
			var calls []llm.ToolCall
			for i := range 12 {
				calls = append(calls, taskCall(fmt.Sprint("c", i), fmt.Sprint("part ", i)))
			}
			return llmtest.Calls(calls...)
		}
		if prompt == "go" {
			return llmtest.Text("all")
		}
		most.Store(max(most.Load(), now.Add(1)))
		time.Sleep(20 * time.Millisecond)
		now.Add(-1)
		return llmtest.Text("done " + prompt)
	}, func(cfg *Config) { cfg.Tasks.MaxParallel = 3 })
	w.say("go")
	if len(w.results()) != 12 || most.Load() > 3 || most.Load() < 2 {
		t.Errorf("%d results, %d at once", len(w.results()), most.Load())
	}
	for i, r := range w.results() {
		if r != fmt.Sprint("done part ", i) {
			t.Errorf("result %d is %q", i, r)
		}
	}
}

// deep is a world where each of two tasks has one of its own, which hang.
func deep(t *testing.T, hang *atomic.Bool) *world {
	return newTaskWorld(t, func(prompt string, results []string, _ llm.Request) llmtest.Turn {
		switch {
		case prompt == "go" && len(results) == 0:
			return llmtest.Calls(taskCall("c1", "first"), taskCall("c2", "second"))
		case strings.HasSuffix(prompt, "low"), strings.HasPrefix(prompt, "go"):
			turn := llmtest.Text("answer of "+prompt, ": "+strings.Join(results, "+"))
			if strings.HasSuffix(prompt, "low") && hang.Load() {
				turn.Hold, turn.HoldAt = make(chan struct{}), 2
			}
			return turn
		case len(results) == 0:
			return llmtest.Calls(taskCall("d", prompt+" below"))
		}
		return llmtest.Text(prompt + " has " + results[len(results)-1])
	})
}

// An interrupt reaches tasks at every depth, and each call has its result; then
// all go on where they were, and their real answers are used.
func TestInterruptedTasksGoOn(t *testing.T) {
	var hang atomic.Bool
	hang.Store(true)
	w := deep(t, &hang)
	w.engine.Send(Submit{Text: "go"})
	for below := 0; below < 2; {
		ev, _ := w.next()
		if outer, ok := ev.(TaskEvent); ok {
			if inner, ok := outer.Event.(TaskEvent); ok {
				if p, ok := inner.Event.(Progress); ok {
					if _, ok := p.Event.(llm.TextDelta); ok {
						below++
					}
				}
			}
		}
	}
	w.engine.Send(Interrupt{})
	if f := w.finished(); !errors.Is(f.Err, context.Canceled) {
		t.Fatalf("ended with %v", f.Err)
	}
	for _, call := range []string{"c1", "c2"} {
		if v := w.taskViews()[call]; v.State != tool.TaskInterrupted {
			t.Errorf("%s: %+v", call, v)
		}
	}
	if r := w.results(); len(r) != 2 || !strings.Contains(r[0], "interrupted") {
		t.Errorf("results %q", r)
	}
	files, err := session.Family(w.snap.Path(), session.Options{})
	if err != nil || len(files) != 5 {
		t.Fatalf("family %v: %v", files, err)
	}
	hang.Store(false)
	w.engine.Send(ResumeTasks{})
	if f := w.finished(); f.Err != nil {
		t.Fatal(f.Err)
	}
	got := w.roles()
	for _, want := range []string{"first has ", "second has ", "answer of second below"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in %s", want, got)
		}
	}
	if after, _ := session.Family(w.snap.Path(), session.Options{}); len(after) != 5 {
		t.Errorf("they began anew: %v", after)
	}
	w.engine.Send(ResumeTasks{})
	if f := w.finished(); f.Err == nil {
		t.Error("there was something left to go on with")
	}
	w.sameOnDisk()
}

// A task whose program died goes on when its session is opened again: as far as
// it had come, and its answer is the result of the call that gave it.
func TestTasksOfADeadProgramGoOn(t *testing.T) {
	for _, c := range []struct {
		name string
		came func(t *testing.T, child *session.Manager)
		want string
	}{
		{"before its link", nil, "from the beginning"},
		{"before it began", nil, "from the beginning"},
		{"at its prompt", func(t *testing.T, child *session.Manager) { put(t, child, said(llm.User, "work")) }, "from the beginning"},
		{"with a call open", func(t *testing.T, child *session.Manager) {
			put(t, child, said(llm.User, "work"), session.Message{Message: llm.Message{
				Role: llm.Assistant, StopReason: llm.StopToolUse, Provider: "script", Model: "m1",
				Content: []llm.Block{llm.ToolCall{ID: "x", Name: "look", Arguments: json.RawMessage(`{}`)}},
			}})
		}, "the outcome was unknown"},
		{"when it was done", func(t *testing.T, child *session.Manager) {
			put(t, child, said(llm.User, "work"), said(llm.Assistant, "it was all there"))
		}, "it was all there"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := &world{t: t, dir: t.TempDir()}
			parent, err := session.New(filepath.Join(w.dir, "sessions"), w.dir, session.Options{})
			if err != nil {
				t.Fatal(err)
			}
			id := "11111111-2222-3333-4444-555555555555"
			link := session.Task{ID: id, Session: session.ChildID(parent.Snapshot().Header().ID, id), CallID: "c1", Description: "d", Prompt: "work", Cwd: w.dir, Depth: 1}
			put(t, parent, said(llm.User, "go"), session.Message{Message: llm.Message{
				Role: llm.Assistant, StopReason: llm.StopToolUse, Provider: "script", Model: "m1", Content: []llm.Block{taskCall("c1", "work")},
			}})
			if c.name != "before its link" {
				put(t, parent, link.Entry())
			}
			if c.came != nil {
				child, err := parent.Snapshot().OpenTask(link, nil, session.Options{})
				if err != nil {
					t.Fatal(err)
				}
				c.came(t, child)
				child.Close()
			}
			parent.Close()
			cfg := taskConfig(w, func(prompt string, results []string, _ llm.Request) llmtest.Turn {
				switch {
				case prompt == "go":
					return llmtest.Text("so: " + results[0])
				case len(results) > 0:
					return llmtest.Text("the outcome was unknown")
				}
				return llmtest.Text("from the beginning")
			})
			cfg.Open = func() (*session.Manager, error) { return session.Open(parent.Snapshot().Path(), session.Options{}) }
			w.start(cfg)
			w.until("the offer", func(ev Event) bool {
				n, ok := ev.(Notice)
				return ok && strings.Contains(n.Text, "/tasks")
			})
			w.engine.Send(ResumeTasks{})
			if f := w.finished(); f.Err != nil {
				t.Fatal(f.Err)
			}
			if got, want := w.roles(), "user go | assistant task() | toolResult "+c.want+" | assistant so: "+c.want; got != want {
				t.Errorf("context\n got %s\nwant %s", got, want)
			}
			w.sameOnDisk()
		})
	}
}

func put(t *testing.T, m *session.Manager, ds ...session.Data) {
	t.Helper()
	if _, err := m.AppendAll(ds...); err != nil {
		t.Fatal(err)
	}
}

func said(role llm.Role, text string) session.Message {
	m := llm.Message{Role: role, Content: []llm.Block{llm.Text{Text: text}}}
	if role == llm.Assistant {
		m.StopReason, m.Provider, m.Model = llm.StopEnd, "script", "m1"
	}
	return session.Message{Message: m}
}

// One task can be stopped; the others and the turn go on, and the model is told.
func TestOneTaskIsStopped(t *testing.T) {
	w := newTaskWorld(t, func(prompt string, results []string, _ llm.Request) llmtest.Turn {
		switch {
		case prompt == "go" && len(results) == 0:
			return llmtest.Calls(taskCall("c1", "hangs"), taskCall("c2", "works"))
		case prompt == "hangs":
			turn := llmtest.Text("I begin", " and")
			turn.Hold, turn.HoldAt = make(chan struct{}), 2
			return turn
		}
		return llmtest.Text("ok")
	})
	w.engine.Send(Submit{Text: "go"})
	task := w.running("c1").ID
	w.until("it says something", func(ev Event) bool {
		in, ok := ev.(TaskEvent)
		p, isProgress := in.Event.(Progress)
		_, text := p.Event.(llm.TextDelta)
		return ok && in.Task == task && isProgress && text
	})
	w.engine.Send(StopTask{Task: task})
	if f := w.finished(); f.Err != nil {
		t.Fatal(f.Err)
	}
	if r := w.results(); !strings.Contains(r[0], "the user stopped this task") || !strings.Contains(r[0], "I begin") || r[1] != "ok" {
		t.Errorf("results %q", r)
	}
	if v := w.taskViews(); v["c1"].State != tool.TaskStopped || v["c2"].State != tool.TaskDone {
		t.Errorf("%+v", v)
	}
}

// What is said to a task is steering for it, and for nobody else.
func TestATaskIsSteered(t *testing.T) {
	hold := make(chan struct{})
	w := newTaskWorld(t, func(prompt string, results []string, req llm.Request) llmtest.Turn {
		switch {
		case prompt == "go" && len(results) == 0:
			return llmtest.Calls(taskCall("c1", "work"))
		case prompt == "go":
			return llmtest.Text(results[0])
		case len(results) == 0:
			turn := llmtest.Call("l", "look", `{}`)
			turn.Hold, turn.HoldAt = hold, 1
			return turn
		}
		return llmtest.Text("told: " + req.Messages[len(req.Messages)-1].Text())
	})
	w.engine.Send(Submit{Text: "go"})
	task := w.running("c1").ID
	w.until("it is being answered", func(ev Event) bool {
		in, ok := ev.(TaskEvent)
		_, answering := in.Event.(Progress)
		return ok && answering
	})
	w.engine.Send(ToTask{Task: task, Command: Submit{Text: "look at the tests only"}})
	w.until("it waits there", func(ev Event) bool {
		in, ok := ev.(TaskEvent)
		q, isQueue := in.Event.(Queue)
		return ok && isQueue && len(q.Steering) == 1
	})
	close(hold)
	w.finished()
	if got, want := w.roles(), "user go | assistant task() | toolResult told: look at the tests only | assistant told: look at the tests only"; got != want {
		t.Errorf("context\n got %s\nwant %s", got, want)
	}
	w.engine.Send(ToTask{Task: task, Command: Submit{Text: "and this"}})
	back := w.until("it comes back", func(ev Event) bool { q, ok := ev.(Queue); return ok && len(q.TakenBack) > 0 }).(Queue)
	if back.TakenBack[0] != "and this" {
		t.Errorf("came back: %+v", back)
	}
}

// What a task wants to do is judged by the one policy, and asked of the one user,
// who is told which task asks. An "always" counts for all.
func TestTasksAskTheUser(t *testing.T) {
	w := newTaskWorld(t, func(prompt string, results []string, _ llm.Request) llmtest.Turn {
		switch {
		case prompt == "go" && len(results) == 0:
			return llmtest.Calls(taskCall("c1", "outer"))
		case prompt == "outer" && len(results) == 0:
			return llmtest.Calls(taskCall("d1", "inner"))
		case prompt == "inner" && len(results) < 2, prompt == "go" && len(results) == 1:
			return llmtest.Call(fmt.Sprint("r", len(results)), "run", `{"n":1}`)
		}
		return llmtest.Text("ok " + results[len(results)-1])
	})
	w.engine.Send(Submit{Text: "go"})
	q := w.asked()
	if strings.Join(q.Tasks, " > ") != "do c1 > do d1" || q.Call.Name != "run" || q.Always == "" {
		t.Errorf("asked %+v", q)
	}
	w.engine.Send(Answer{Ask: q.Ask, Decision: Always})
	if f := w.finished(); f.Err != nil {
		t.Fatal(f.Err)
	}
	if len(w.ran) != 3 {
		t.Errorf("ran %v", w.ran)
	}
	asked := 0
	for _, ev := range w.seen {
		if _, ok := ev.(Asked); ok {
			asked++
		}
	}
	if asked != 1 {
		t.Errorf("asked %d times", asked)
	}
}

func TestAQuestionGoesWithItsTask(t *testing.T) {
	w := newTaskWorld(t, func(prompt string, results []string, _ llm.Request) llmtest.Turn {
		if prompt == "go" {
			return llmtest.Calls(taskCall("c1", "work"))
		}
		return llmtest.Call("r", "run", `{}`)
	})
	w.engine.Send(Submit{Text: "go"})
	q := w.asked()
	w.engine.Send(Interrupt{})
	w.until("it is withdrawn", func(ev Event) bool { x, ok := ev.(Withdrawn); return ok && x.Ask == q.Ask })
	w.finished()
	if len(w.ran) != 0 {
		t.Errorf("ran %v", w.ran)
	}
}

// The limit of money counts what tasks take, and ends them too.
func TestTasksSpendTheOneBudget(t *testing.T) {
	w := newTaskWorld(t, func(prompt string, results []string, _ llm.Request) llmtest.Turn {
		if prompt == "go" && len(results) == 0 {
			return llmtest.Calls(taskCall("c1", "work"))
		}
		return llmtest.Call(fmt.Sprint("l", len(results)), "look", fmt.Sprintf(`{"n":%d}`, len(results)))
	}, func(cfg *Config) {
		client := cfg.Models.(scriptModels).client
		cfg.MaxUSD, cfg.Models = 3.5, roster{"m1": {client, llm.Model{Price: &llm.Price{Input: 1e4, Output: 1e4}}}}
	})
	if f := w.say("go"); !errors.Is(f.Err, ErrBudget) {
		t.Fatalf("ended with %v", f.Err)
	}
	if v := w.taskViews()["c1"]; v.State != tool.TaskFailed || v.USD < 3.29 || v.USD > 3.31 {
		t.Errorf("%+v", v)
	}
}

// Data that are wanted of a task come by the tools that end it; what does not fit
// is mended, and that there is none is an answer, too.
func TestTasksGiveData(t *testing.T) {
	schema := `,"result":{"type":"object","required":["n"],"properties":{"n":{"type":"integer"}}}}`
	for _, c := range []struct {
		name, says string
		play       func(results []string) llmtest.Turn
		state      tool.TaskState
	}{
		{"mended", `{"n":7}`, func(results []string) llmtest.Turn {
			if len(results) == 0 {
				return llmtest.Call("f", "finish", `{"n":"seven"}`)
			}
			return llmtest.Call("f", "finish", `{"n": 7}`)
		}, tool.TaskDone},
		{"given up", "there are no files", func([]string) llmtest.Turn {
			return llmtest.Call("f", "give_up", `{"reason":"there are no files"}`)
		}, tool.TaskFailed},
		{"never", "did not call finish", func([]string) llmtest.Turn { return llmtest.Text("seven") }, tool.TaskFailed},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newTaskWorld(t, func(prompt string, results []string, _ llm.Request) llmtest.Turn {
				switch {
				case prompt == "count":
					return c.play(results)
				case len(results) == 0:
					return llmtest.Call("c1", "task", `{"description":"x","prompt":"count"`+schema)
				}
				return llmtest.Text("ok")
			})
			if f := w.say("go"); f.Err != nil {
				t.Fatal(f.Err)
			}
			if r := w.results(); len(r) != 1 || !strings.Contains(r[0], c.says) || w.taskViews()["c1"].State != c.state {
				t.Errorf("results %q, %+v", r, w.taskViews()["c1"])
			}
		})
	}
}

// telling are hooks that remember which tasks began and ended, and veto commands
// of tasks.
type telling struct{ told []string }

func (*telling) Hears(name string) bool { return true }

func (*telling) Ask(_ context.Context, o Occasion) error {
	if c, ok := o.(*ToolCall); ok && c.Tool == "run" {
		return fmt.Errorf("no running: %w", ErrVetoed)
	}
	return nil
}

func (h *telling) Tell(o Occasion) {
	switch o := o.(type) {
	case *TaskStart:
		h.told = append(h.told, "start "+o.Prompt)
	case *TaskEnd:
		h.told = append(h.told, fmt.Sprintf("end %s %v", o.Result, o.Err))
	}
}

// Hooks hear once that a task has begun and once that it has ended, however it
// did, and have their say in what it calls.
func TestTasksBeginAndEndOnce(t *testing.T) {
	hooks := &telling{}
	w := newTaskWorld(t, func(prompt string, results []string, _ llm.Request) llmtest.Turn {
		switch {
		case prompt == "go" && len(results) == 0:
			return llmtest.Calls(taskCall("c1", "good"), taskCall("c2", "bad"))
		case prompt == "good" && len(results) == 0:
			return llmtest.Call("r", "run", `{}`)
		case prompt == "bad":
			return llmtest.Fail(errors.New("broken"))
		}
		return llmtest.Text("ok: " + strings.Join(results, "+"))
	}, func(cfg *Config) { cfg.Hooks, cfg.Tasks.MaxParallel = hooks, 1 })
	if f := w.say("go"); f.Err != nil {
		t.Fatal(f.Err)
	}
	w.close()
	got := strings.Join(hooks.told, " | ")
	if strings.Count(got, "start ") != 2 || strings.Count(got, "end ") != 2 || !strings.Contains(got, "broken") || !strings.Contains(got, "no running") {
		t.Errorf("told %s", got)
	}
	if len(w.ran) != 0 {
		t.Errorf("ran %v", w.ran)
	}
}

func TestTasksThatAreOffDoNotGoOn(t *testing.T) {
	w := newWorld(t)
	w.engine.Send(ResumeTasks{})
	if n := w.notice(); !strings.Contains(n.Text, "maxTaskDepth") {
		t.Errorf("told %q", n.Text)
	}
}

// A tree of tasks does not grow without end: where many are at work, tasks give
// no more, and are told so. What the first conversation gives waits.
func TestTasksAreNotGivenWithoutEnd(t *testing.T) {
	var refused atomic.Int32
	w := newTaskWorld(t, func(prompt string, results []string, _ llm.Request) llmtest.Turn {
		if prompt == "go" && len(results) == 0 {
			return llmtest.Calls(taskCall("c1", "wide"))
		}
		if prompt == "wide" && len(results) == 0 {
			return llmtest.Calls(taskCall("d1", "one more"))
		}
		if len(results) > 0 && strings.Contains(results[0], "are at work already") {
			refused.Add(1)
		}
		return llmtest.Text("ok")
	})
	w.engine.atWork(mostTasks)
	if f := w.say("go"); f.Err != nil || refused.Load() != 1 {
		t.Errorf("%v, %d refused", f.Err, refused.Load())
	}
	if n := w.engine.atWork(0); n != mostTasks {
		t.Errorf("%d are counted afterwards", n)
	}
}
