package extension

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"banyan/internal/engine"
	"banyan/internal/llm"
	"banyan/internal/llm/llmtest"
	"banyan/internal/permission"
	"banyan/internal/session"
	"banyan/internal/tool"
)

// chat is an engine with one extension, a scripted model, and a front end that
// remembers what it was told.
type chat struct {
	t      *testing.T
	engine *engine.Engine
	host   *Host
	model  *llmtest.Scripted
	dir    string
	snap   session.Snapshot
	seen   []engine.Event
	ran    []string
	shown  []string // the widget
	// answers are the user's, to dialogs in their order.
	answers []engine.DialogAnswer
}

type oneModel struct{ client llm.Client }

func (m oneModel) Client(session.ModelRef) (llm.Client, engine.ModelInfo, error) {
	return m.client, engine.ModelInfo{Model: llm.Model{Name: "m", Context: 8000}}, nil
}

// newChat runs an extension with a real engine.
func newChat(t *testing.T, path string, turns ...llmtest.Turn) *chat {
	t.Helper()
	c := &chat{t: t, model: llmtest.Script(turns...), dir: t.TempDir()}
	f, err := File(path, "")
	if err != nil {
		t.Fatal(err)
	}
	c.host = New(Options{Cwd: c.dir, Interactive: true, Env: tool.Environ(nil, nil), Limits: Limits{Start: time.Minute, Answer: time.Minute}})
	bash := tool.Tool{
		ToolSpec: llm.ToolSpec{Name: "bash", Schema: json.RawMessage(`{"type":"object"}`)}, Access: tool.Execute,
		Run: func(ctx context.Context, in tool.Input) tool.Result {
			var args struct{ Command string }
			_ = json.Unmarshal(in.Args, &args)
			c.ran = append(c.ran, args.Command)
			cmd := exec.CommandContext(ctx, "sh", "-c", args.Command)
			cmd.Dir = c.dir
			out, err := cmd.CombinedOutput()
			return tool.Result{Content: []llm.Block{llm.Text{Text: "ran " + string(out)}}, Err: err}
		},
	}
	policy := permission.New(permission.Workspace{Dir: c.dir})
	if err := policy.SetMode(permission.Full); err != nil {
		t.Fatal(err)
	}
	c.engine = engine.New(engine.Config{
		SessionDir: filepath.Join(c.dir, ".sessions"), Cwd: c.dir, Hooks: c.host, Models: oneModel{c.model}, Tools: []tool.Tool{bash},
		Model: session.ModelRef{Provider: "script", Model: "m"}, Policy: policy, Compaction: engine.Compaction{KeepRecent: 1},
		Open: func() (*session.Manager, error) {
			return session.New(filepath.Join(c.dir, ".sessions"), c.dir, session.Options{})
		},
	})
	c.host.Start(c.engine, []Found{f})
	ended := make(chan struct{})
	go func() { c.engine.Run(context.Background()); close(ended) }()
	t.Cleanup(func() {
		c.engine.Send(engine.Close{})
		for range c.engine.Events() {
		}
		<-ended
		c.host.Close()
		for _, ev := range c.seen {
			if n, ok := ev.(engine.Notice); ok && n.Level > engine.Note {
				t.Errorf("the user was told %q", n.Text)
			}
		}
	})
	c.until("opened", func(ev engine.Event) bool { _, ok := ev.(engine.Opened); return ok })
	return c
}

func (c *chat) until(what string, ok func(engine.Event) bool) engine.Event {
	c.t.Helper()
	for {
		select {
		case ev, more := <-c.engine.Events():
			if !more {
				c.t.Fatalf("the engine ended before %s", what)
			}
			c.take(ev)
			if ok(ev) {
				return ev
			}
		case <-time.After(30 * time.Second):
			for _, i := range c.host.List() {
				c.t.Logf("%s is %s %s: %s", i.Name, i.State, i.Why, i.Messages)
			}
			c.t.Fatalf("there was no %s; the last events were %v", what, c.seen[max(0, len(c.seen)-5):])
		}
	}
}

func (c *chat) take(ev engine.Event) {
	c.seen = append(c.seen, ev)
	switch ev := ev.(type) {
	case engine.Opened:
		c.snap = ev.Session
	case engine.Appended:
		c.snap = ev.Session
	case engine.Moved:
		c.snap = ev.Session
	case engine.Panel:
		c.shown = ev.Widget
	case engine.Dialog:
		var a engine.DialogAnswer
		if len(c.answers) > 0 {
			a, c.answers = c.answers[0], c.answers[1:]
		}
		a.ID = ev.ID
		c.engine.Send(a)
	}
}

// say sends a prompt and waits for the end of its turn.
func (c *chat) say(text string) {
	c.t.Helper()
	c.engine.Send(engine.Submit{Text: text})
	c.done()
}

func (c *chat) done() {
	c.t.Helper()
	f := c.until("end", func(ev engine.Event) bool { _, ok := ev.(engine.Finished); return ok }).(engine.Finished)
	if f.Err != nil {
		c.t.Fatal(f.Err)
	}
}

// widget waits for what an extension shows.
func (c *chat) widget(want ...string) {
	c.t.Helper()
	for !slices.Equal(c.shown, want) {
		c.until(fmt.Sprintf("widget %q", want), func(ev engine.Event) bool { _, ok := ev.(engine.Panel); return ok })
	}
}

// texts are the messages of the path in short.
func (c *chat) texts() string {
	ctx, err := c.snap.Context(c.snap.Leaf())
	if err != nil {
		c.t.Fatal(err)
	}
	var out []string
	for _, m := range ctx.Messages() {
		out = append(out, string(m.Role)+" "+m.Text())
	}
	return strings.Join(out, "\n")
}

func example(t *testing.T, name string) string {
	t.Helper()
	if _, err := exec.LookPath("python3"); err != nil && strings.HasSuffix(name, ".py") {
		t.Skip("python3 is not installed: the examples in Python cannot run")
	}
	path, err := filepath.Abs(filepath.Join("..", "..", "examples", name))
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// The list belongs to the branch: going back brings back what it was.
func TestTodoExample(t *testing.T) {
	c := newChat(t, example(t, "todo.py"),
		llmtest.Call("c1", "todo_list", `{"change":"add write the docs"}`), llmtest.Text("noted"), llmtest.Text("done"))
	c.say("remember the docs")
	c.widget("[ ] write the docs")
	first := c.snap.Leaf()
	c.engine.Send(engine.Invoke{From: "todo", Command: "todos", Args: "add run the tests"})
	c.widget("[ ] write the docs", "[ ] run the tests")
	c.engine.Send(engine.Invoke{From: "todo", Command: "todos", Args: "done 2"})
	c.widget("[ ] write the docs", "[x] run the tests")
	second := c.snap.Leaf()
	c.engine.Send(engine.Navigate{Target: first, At: true})
	c.widget("[ ] write the docs")
	c.engine.Send(engine.Navigate{Target: second, At: true})
	c.widget("[ ] write the docs", "[x] run the tests")
	c.engine.Send(engine.Navigate{})
	c.widget()
}

func TestGateExample(t *testing.T) {
	c := newChat(t, example(t, "gate.py"),
		llmtest.Call("c1", "bash", `{"command":"sudo true"}`), llmtest.Call("c2", "bash", `{"command":"echo git push"}`),
		llmtest.Call("c3", "bash", `{"command":"echo git  push"}`), llmtest.Call("c4", "bash", `{"command":"echo fine"}`), llmtest.Text("done"))
	c.answers = []engine.DialogAnswer{{OK: true}, {}}
	c.say("do it all")
	if want := []string{"echo git push", "echo fine"}; !slices.Equal(c.ran, want) {
		t.Errorf("ran %q, want %q", c.ran, want)
	}
	if texts := c.texts(); !strings.Contains(texts, "the gate never lets this run") || !strings.Contains(texts, "the user did not want it") {
		t.Errorf("the model was told\n%s", texts)
	}
}

func TestSummariseExample(t *testing.T) {
	c := newChat(t, example(t, "summarise.py"), llmtest.Text("first answer"), llmtest.Text("second answer"))
	c.say("first thing")
	c.say("second thing")
	c.engine.Send(engine.Compact{})
	c.done()
	e, _, err := c.snap.Entry(c.snap.Leaf())
	sum, ok := e.Data.(session.Compaction)
	if err != nil || !ok || !sum.FromHook || !strings.Contains(sum.Summary, "- first thing") || strings.Contains(sum.Summary, "second answer") {
		t.Errorf("the compaction is %+v, %v", e.Data, err)
	}
	var target session.ID
	for _, id := range c.snap.PathIDs(c.snap.Leaf()) {
		if e, _, _ := c.snap.Entry(id); target == "" {
			if m, ok := e.Data.(session.Message); ok && m.Role == llm.Assistant {
				target = id
			}
		}
	}
	c.engine.Send(engine.Navigate{Target: target, Summarize: true})
	c.done()
	e, _, err = c.snap.Entry(c.snap.Leaf())
	branch, ok := e.Data.(session.BranchSummary)
	if err != nil || !ok || !branch.FromHook || !strings.Contains(branch.Summary, "second thing") {
		t.Errorf("the summary is %+v, %v", e.Data, err)
	}
	if len(c.model.Requests()) != 2 {
		t.Errorf("the model was asked %d times", len(c.model.Requests()))
	}
}

func TestGitNoteExample(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed: there is nothing to label")
	}
	path := filepath.Join(t.TempDir(), "gitnote")
	if out, err := exec.Command("go", "build", "-o", path, "banyan/examples/gitnote").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	commit := `git init -q . && git config user.email a@b && git config user.name a && touch f && git add f && git commit -qm first && git rev-parse HEAD`
	c := newChat(t, path, llmtest.Call("c1", "bash", `{"command":"`+commit+`"}`), llmtest.Text("committed"))
	c.say("commit it")
	for len(c.snap.Labels()) == 0 {
		c.until("label", func(ev engine.Event) bool { _, ok := ev.(engine.Appended); return ok })
	}
	var leaf session.ID
	for id, text := range c.snap.Labels() {
		e, _, err := c.snap.Entry(id)
		m, ok := e.Data.(session.Message)
		if leaf = id; err != nil || !ok || m.Text() != "committed" || !regexp.MustCompile(`^git [0-9a-f]{10}$`).MatchString(text) {
			t.Errorf("%+v is labelled %q", e, text)
		}
	}
	var notes []byte
	for range 100 { // the note comes after the label
		cmd := exec.Command("git", "notes", "--ref=banyan", "show", "HEAD")
		cmd.Dir = c.dir
		if notes, _ = cmd.CombinedOutput(); strings.Contains(string(notes), string(leaf)) {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Errorf("the commit's note is %q", notes)
}

// The example of the documentation runs as it stands there.
func TestDocumentedExample(t *testing.T) {
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("python3 is not installed: the example of the documentation cannot run")
	}
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "extensions.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, code, ok := strings.Cut(string(text), "```python\n")
	code, _, closed := strings.Cut(code, "```\n")
	if !ok || !closed {
		t.Fatal("docs/extensions.md has no example in Python")
	}
	path := filepath.Join(t.TempDir(), "tickets.py")
	if err := os.WriteFile(path, []byte(code), 0o755); err != nil {
		t.Fatal(err)
	}
	c := newChat(t, path, llmtest.Text("a1"))
	c.say("fix T-12")
	if texts := c.texts(); !strings.Contains(texts, "T-12: The tree flickers") {
		t.Errorf("the model was told\n%s", texts)
	}
	c.engine.Send(engine.Invoke{From: "tickets", Command: "ticket", Args: "T-7"})
	c.until("notice", func(ev engine.Event) bool {
		n, ok := ev.(engine.Notice)
		return ok && strings.Contains(n.Text, "T-7")
	})
	c.engine.Send(engine.Submit{Text: "ticket please: T-404"})
	if f := c.until("end", func(ev engine.Event) bool { _, ok := ev.(engine.Finished); return ok }).(engine.Finished); errors.Is(f.Err, context.Canceled) {
		t.Error(f.Err)
	}
}
