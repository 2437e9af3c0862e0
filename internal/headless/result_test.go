package headless

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"banyan/internal/llm"
	"banyan/internal/llm/llmtest"
	"banyan/internal/result"
	"banyan/internal/tool"
)

const pointSchema = `{"type":"object","properties":{"x":{"type":"integer"},"tag":{"type":"string"}},"required":["x"],"additionalProperties":false}`

// wanting is a world whose runs must end with a result.
func wanting(t *testing.T, schema string, turns ...llmtest.Turn) (*world, Options) {
	t.Helper()
	want, err := result.Parse([]byte(schema))
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, turns...)
	w.config.Tools = append(w.config.Tools, want.Tools()...)
	w.config.Ending = want.Ending
	return w, Options{Result: want}
}

func TestResults(t *testing.T) {
	finish := func(args string) llmtest.Turn { return llmtest.Call("f", tool.Finish, args) }
	text := llmtest.Text("The point is at 1.")
	never := []llmtest.Turn{finish(`{}`), finish(`{"x":"1"}`), finish(`{"x":1.5}`), finish(`{"y":1}`), finish(`{"x":"z"}`), text}
	big := fmt.Sprintf(`{"type":"object","properties":{%s"x":{"type":"integer"}},"required":["x"]}`, strings.Repeat(`"long":{"type":"string","description":"`+strings.Repeat("long ", 100)+`"},`, 300))
	for _, c := range []struct {
		name   string
		schema string
		turns  []llmtest.Turn
		set    func(*world, *Options)
		err    error
		want   string // of the result line
		text   string
		left   int // turns
	}{
		{
			name: "at once", schema: pointSchema, turns: []llmtest.Turn{finish(`{"x": 1, "tag": "a\u001b<b"}`)},
			want: `{"is_error":false,"num_turns":1,"result":"{\"x\":1,\"tag\":\"a\\u001b\u003cb\"}","structured_output":{"tag":"a\u001b\u003cb","x":1},"subtype":"success"}`,
			text: `{"x":1,"tag":"a\u001b<b"}` + "\n",
		},
		{
			name: "mended", schema: pointSchema, turns: []llmtest.Turn{finish(`{"x":"1"}`), finish(`{"x":1}`)},
			want: `{"is_error":false,"num_turns":2,"result":"{\"x\":1}","structured_output":{"x":1},"subtype":"success"}`, text: `{"x":1}` + "\n",
		},
		{
			name: "reminded", schema: pointSchema, turns: []llmtest.Turn{text, llmtest.Call("c", "look", `{}`), text, finish(`{"x":1}`), text},
			want: `{"is_error":false,"num_turns":4,"result":"{\"x\":1}","structured_output":{"x":1},"subtype":"success"}`, text: `{"x":1}` + "\n", left: 1,
		},
		{
			name: "a number", schema: `{"type":"number"}`, turns: []llmtest.Turn{finish(`1`), finish(`{"result":1.50}`)},
			want: `{"is_error":false,"num_turns":2,"result":"1.50","structured_output":1.5,"subtype":"success"}`, text: "1.50\n",
		},
		{
			name: "a big schema", schema: big, turns: []llmtest.Turn{finish(`{}`), finish(`{"x":1}`)},
			want: `{"is_error":false,"num_turns":2,"result":"{\"x\":1}","structured_output":{"x":1},"subtype":"success"}`, text: `{"x":1}` + "\n",
		},
		{
			name: "reminders have an end", schema: pointSchema, turns: []llmtest.Turn{text, text, text, text, text}, err: result.ErrNone, left: 1,
			want: `{"errors":["the model gave no result that fits the schema: it was reminded 3 times and did not call finish"],"is_error":true,"num_turns":4,"subtype":"error_max_structured_output_retries"}`,
		},
		{
			name: "so have mistakes", schema: pointSchema, turns: never, err: result.ErrNone, left: 1,
			want: `{"errors":["the model gave no result that fits the schema: calls of finish failed 5 times, the last because: the arguments of finish do not fit: type: z has type \"string\", want \"integer\" (/properties/x of the schema)"],"is_error":true,"num_turns":5,"subtype":"error_max_structured_output_retries"}`,
		},
		{
			name: "given up", schema: pointSchema, turns: []llmtest.Turn{llmtest.Call("g", tool.GiveUp, `{"reason":"there is no point"}`), text}, err: result.ErrGaveUp, left: 1,
			want: `{"errors":["the model gave up: there is no point"],"is_error":true,"num_turns":1,"subtype":"error_during_execution"}`,
		},
		{
			name: "a limit", schema: pointSchema, turns: []llmtest.Turn{text, text}, err: ErrLimit, left: 1,
			set:  func(w *world, _ *Options) { w.config.MaxRounds = 1 },
			want: `{"errors":["the limit of --max-turns was reached"],"is_error":true,"num_turns":1,"subtype":"error_max_turns"}`,
		},
		{
			name: "the result may cross the limit", schema: pointSchema, turns: []llmtest.Turn{finish(`{"x":1}`)},
			set:  func(_ *world, o *Options) { o.MaxUSD = 0.5 },
			want: `{"is_error":false,"num_turns":1,"result":"{\"x\":1}","structured_output":{"x":1},"subtype":"success"}`, text: `{"x":1}` + "\n",
		},
	} {
		for _, format := range Formats {
			t.Run(c.name+" as "+string(format), func(t *testing.T) {
				w, o := wanting(t, c.schema, c.turns...)
				o.Format = format
				if c.set != nil {
					c.set(w, &o)
				}
				if err := w.run(context.Background(), o); !errors.Is(err, c.err) {
					t.Fatalf("ended with %v, want %v", err, c.err)
				}
				if w.model.Left() != c.left {
					t.Errorf("%d turns left, want %d", w.model.Left(), c.left)
				}
				if format == Text {
					if got := w.out.String(); got != c.text {
						t.Errorf("printed %q, want %q", got, c.text)
					}
					return
				}
				lines := w.lines()
				if got := fields(lines[len(lines)-1], "subtype", "is_error", "result", "structured_output", "errors", "num_turns"); got != c.want {
					t.Errorf("\n got %s\nwant %s", got, c.want)
				}
			})
		}
	}
}

// What is told comes to the model where it can mend it, and is in the session,
// so that the outcome can be read from there.
func TestResultsAreInTheSession(t *testing.T) {
	var told []string
	look := func(req llm.Request) error {
		last := req.Messages[len(req.Messages)-1]
		told = append(told, string(last.Role)+" "+last.Text())
		return nil
	}
	turns := []llmtest.Turn{llmtest.Text("done"), llmtest.Call("f", tool.Finish, `{"x":"1"}`), llmtest.Call("f", tool.Finish, `{"x":7}`)}
	for i := range turns {
		turns[i].Check = look
	}
	w, o := wanting(t, pointSchema, turns...)
	if err := w.run(context.Background(), o); err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"user the prompt", "user This task ends with a call", `toolResult the arguments of finish do not fit: type: 1 has type "string", want "integer" (/properties/x of the schema)`} {
		if i >= len(told) || !strings.HasPrefix(told[i], want) {
			t.Errorf("request %d ended with %q, want %q", i, told, want)
		}
	}
	snap := w.reopen().Snapshot()
	c, err := snap.Context(snap.Leaf())
	if err != nil {
		t.Fatal(err)
	}
	outcome := o.Result.Outcome()
	for _, m := range c.Messages() {
		outcome.Add(m)
	}
	if err := outcome.Err(nil); err != nil || string(outcome.Value) != `{"x":7}` {
		t.Errorf("read back: %s, %v", outcome.Value, err)
	}
}

func TestInterruptedResult(t *testing.T) {
	held := llmtest.Call("f", tool.Finish, `{"x":1}`)
	held.Hold, held.HoldAt = make(chan struct{}), 2
	w, o := wanting(t, pointSchema, llmtest.Text("x"), held)
	ctx, cancel := context.WithCancel(context.Background())
	held.Check = func(llm.Request) error { cancel(); return nil }
	w.model = llmtest.Script(llmtest.Text("x"), held)
	if err := w.run(ctx, o); !errors.Is(err, context.Canceled) || w.out.Len() > 0 {
		t.Errorf("%v, %q", err, w.out.String())
	}
}

// The names are ours: no other tool may have them.
func TestResultToolsAreReserved(t *testing.T) {
	want, err := result.Parse(json.RawMessage(pointSchema))
	if err != nil {
		t.Fatal(err)
	}
	for _, tl := range want.Tools() {
		if !tool.Reserved(tl.Name) {
			t.Errorf("%s is not reserved", tl.Name)
		}
	}
	if tool.Reserved("finished") {
		t.Error("finished is reserved")
	}
}
