package reader

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"banyan/internal/engine"
	"banyan/internal/llm"
	"banyan/internal/llm/llmtest"
	"banyan/internal/permission"
	"banyan/internal/session"
	"banyan/internal/tool"
)

// room is a conversation with a real engine, whose model follows a script, in
// memory, and a user who types when the output has come to a place.
type room struct {
	t     *testing.T
	model *llmtest.Scripted
	in    *io.PipeWriter
	out   chan string
	told  string // all output so far
	seen  int    // of told: what was waited for
	ctrlC chan os.Signal
	ended chan error
}

func enter(t *testing.T, prompt string, turns ...llmtest.Turn) *room {
	t.Helper()
	in, typed := io.Pipe()
	r := &room{
		t: t, model: llmtest.Script(turns...), in: typed, out: make(chan string, 1000),
		ctrlC: make(chan os.Signal), ended: make(chan error, 1),
	}
	look, err := permission.ParseRule(permission.Allow, "look", permission.Source{Name: "test"})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	e := engine.New(engine.Config{
		Cwd: dir, Models: r, Model: session.ModelRef{Provider: "script", Model: "m"},
		Tools:  []tool.Tool{thing("look", tool.Read), thing("run", tool.Execute)},
		Policy: permission.New(permission.Workspace{Dir: dir}, look),
		Tasks: &engine.Tasks{Equip: func(context.Context, session.Task, []tool.Tool) (engine.Equipment, error) {
			return engine.Equipment{Tools: []tool.Tool{thing("run", tool.Execute)}}, nil
		}},
		Open: func() (*session.Manager, error) { return session.New("", dir, session.Options{}) },
	})
	over := make(chan struct{})
	go func() {
		defer close(over)
		e.Run(context.Background())
	}()
	go func() {
		err := Run(context.Background(), e, Options{In: in, Out: r, Interrupts: r.ctrlC, Prompt: prompt, Expand: expand})
		<-over
		close(r.out)
		r.ended <- err
	}()
	t.Cleanup(func() { typed.Close(); <-over })
	return r
}

func expand(_ context.Context, text string) (engine.Submit, error) {
	if text == "/fail" {
		return engine.Submit{}, errors.New("it cannot be read")
	}
	return engine.Submit{Text: strings.Replace(text, "/review", "please review", 1)}, nil
}

func (r *room) Write(b []byte) (int, error) { r.out <- string(b); return len(b), nil }

func (r *room) Client(session.ModelRef) (llm.Client, engine.ModelInfo, error) {
	return r.model, engine.ModelInfo{Model: llm.Model{Name: "m", Context: 100_000}}, nil
}

func thing(name string, access tool.Access) tool.Tool {
	return tool.Tool{
		ToolSpec: llm.ToolSpec{Name: name, Schema: json.RawMessage(`{"type":"object"}`)},
		Access:   access,
		Subject:  func(args json.RawMessage) string { return string(args) },
		Run: func(context.Context, tool.Input) tool.Result {
			return tool.TextResult("one\ntwo", nil)
		},
	}
}

// hears waits until texts have come, one after the other, since the last call.
func (r *room) hears(texts ...string) *room {
	r.t.Helper()
	for _, text := range texts {
		for {
			if i := strings.Index(r.told[r.seen:], text); i >= 0 {
				r.seen += i + len(text)
				break
			}
			more, ok := <-r.out
			if !ok {
				r.t.Fatalf("it ended without %q:\n%s", text, r.told)
			}
			r.told += more
		}
	}
	return r
}

func (r *room) types(line string) *room {
	r.t.Helper()
	if _, err := io.WriteString(r.in, line+"\n"); err != nil {
		r.t.Fatal(err)
	}
	return r
}

// leaves waits for the end, and gives all that was told.
func (r *room) leaves() string {
	r.t.Helper()
	for more := range r.out {
		r.told += more
	}
	if err := <-r.ended; err != nil {
		r.t.Errorf("it ended with %v", err)
	}
	return r.told
}

func TestConversation(t *testing.T) {
	r := enter(t, "", llmtest.Call("c1", "look", `{"path":"a"}`), llmtest.Text("The first\nline, an", "d the second \x1b]0;title\x07."))
	r.hears("Banyan: a new session", "\nYou: ").types("look at a")
	r.hears("Tool look", ": started\n", "Tool look", ": ok, 2 lines\n", "Assistant: The first\nline, and the second ␛]0;title␇.\n", "You: ")
	r.types("/quit")
	if told := r.leaves(); strings.ContainsAny(told, "\x1b\r\x07") || !strings.HasSuffix(told, "\n") && !strings.HasSuffix(told, "You: ") {
		t.Errorf("%q", told)
	}
}

func TestApproval(t *testing.T) {
	call := func() llmtest.Turn { return llmtest.Call("c1", "run", `{"x":1}`) }
	r := enter(t, "go", call(), llmtest.Text("one"), call(), llmtest.Text("two"), call(), llmtest.Text("three"))
	r.hears("You: go\n", "Approval: may this run? run", "Choices: y yes", "Answer: ").types("yes but carefully")
	r.hears("none of the choices", "Approval: may this run?", "Answer: ").types("")
	r.hears("none of the choices", "Answer: ").types("y")
	r.hears("ok, 2 lines", "Assistant: one", "You: ").types("again")
	r.hears("Answer: ").types("n use look")
	r.hears("failed, ", "Assistant: two", "You: ").types("again")
	r.hears("Answer: ").types("s")
	r.hears("You: ").types("/quit")
	r.leaves()
	said := r.model.Requests()
	text, _ := json.Marshal(said[len(said)-1].Messages)
	if !strings.Contains(string(text), "use look") {
		t.Errorf("the model was not told why: %s", text)
	}
}

func TestInterrupt(t *testing.T) {
	held := llmtest.Text("half an answer\n", "never")
	held.Hold = make(chan struct{})
	held.HoldAt = 2
	r := enter(t, "go", held)
	r.hears("Assistant: half an answer\n")
	r.ctrlC <- os.Interrupt
	r.hears("Notice: interrupting", "Notice: interrupted", "You: ")
	r.ctrlC <- os.Interrupt
	r.hears("Control C again", "You: ").types("/name a name")
	r.hears("You: ")
	r.ctrlC <- os.Interrupt // not the second in a row
	r.hears("Control C again", "You: ")
	r.ctrlC <- os.Interrupt
	r.leaves()
}

func TestTheEndOfTheInput(t *testing.T) {
	r := enter(t, "", llmtest.Call("c1", "run", `{}`), llmtest.Text("Done."))
	r.hears("You: ").types("go")
	r.in.Close()
	if told := r.leaves(); !strings.Contains(told, "Assistant: Done.\n") || !strings.Contains(told, "failed, ") {
		t.Errorf("what was asked for is done, and nothing is approved:\n%s", told)
	}
}

func TestCommands(t *testing.T) {
	r := enter(t, "", llmtest.Text("reviewed"))
	r.hears("You: ")
	for _, c := range []struct{ line, want string }{
		{"/help", "/resume <id or file>: open another session"},
		{"/resume", "Error: /resume needs <id or file>"},
		{"/model opus", "Error: name the provider, too: /model anthropic/opus"},
		{"/switch nowhere", "Error: "},
		{"/nosuch", "Error: there is no /nosuch; /help reads the commands"},
		{"/fail", "Error: it cannot be read"},
		{"/permissions plan", ""},
		{"/review x", "Assistant: reviewed"},
	} {
		r.types(c.line).hears(c.want, "You: ")
	}
	r.types("/new").hears("a new session", "You: ").types("/exit")
	r.leaves()
}
