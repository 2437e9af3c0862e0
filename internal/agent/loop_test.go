package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"banyan/internal/llm"
	"banyan/internal/llm/llmtest"
	"banyan/internal/tool"
)

// stage runs loops against a script and keeps what they emit.
type stage struct {
	model    *llmtest.Scripted
	messages []llm.Message
	events   []string
	gate     func(llm.ToolCall) error
	tools    []tool.Tool
	rounds   int
	ending   func(context.Context, Ending) (string, error)
}

func (s *stage) run(ctx context.Context) error {
	l := Loop{
		Client: s.model, Ending: s.ending, MaxRounds: s.rounds, Now: func() time.Time { return time.UnixMilli(1) },
		Gate: func(_ context.Context, call *llm.ToolCall, _ tool.Tool) (Approval, error) {
			if s.gate == nil {
				return Approval{Action: "allow", By: "test"}, nil
			}
			return Approval{}, s.gate(*call)
		},
		Request: func() (llm.Request, []tool.Tool, error) {
			return llm.Request{Messages: slices.Clone(s.messages)}, s.tools, nil
		},
	}
	return l.Run(ctx, func(ev Event) error {
		switch ev := ev.(type) {
		case Began:
			s.events = append(s.events, "request")
		case Answered:
			s.messages = append(s.messages, ev.Message)
			s.events = append(s.events, fmt.Sprintf("answer %s %q", ev.Message.StopReason, ev.Message.Text()))
		case Running:
			s.events = append(s.events, "run "+ev.Call.ID)
		case Returned:
			s.messages = append(s.messages, ev.Message)
			s.events = append(s.events, fmt.Sprintf("result %s %q", ev.Message.CallID, ev.Message.Text()))
		case Told:
			s.events = append(s.events, "told "+ev.Text)
		}
		return nil
	})
}

func simple(name string, access tool.Access, run func(context.Context, tool.Input) tool.Result) tool.Tool {
	return tool.Tool{
		ToolSpec: llm.ToolSpec{Name: name, Schema: json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}},"additionalProperties":false}`)},
		Access:   access, Run: run,
	}
}

func done(context.Context, tool.Input) tool.Result { return tool.TextResult("done", nil) }

var plain = []tool.Tool{simple("look", tool.Read, done), simple("run", tool.Execute, done)}

func TestRounds(t *testing.T) {
	call := func(id, name, args string) llm.ToolCall {
		return llm.ToolCall{ID: id, Name: name, Arguments: json.RawMessage(args)}
	}
	cutCall := llmtest.Events(llm.TextDelta{Text: "I write"}, llm.CallDelta{Block: 1, ID: "c", Name: "run", Arguments: `{"n":`}, llm.Done{Reason: llm.StopLength})
	closedButLong := llmtest.Events(llm.CallDelta{ID: "c", Name: "run", Arguments: `{"n":1}`}, llm.CallDone{}, llm.Done{Reason: llm.StopLength})
	noEnd := llmtest.Events(llm.TextDelta{Text: "and then"}, llm.CallDelta{Block: 1, ID: "c", Name: "run", Arguments: `{}`}, llm.CallDone{Block: 1})
	broken := errors.New("connection reset")
	for _, c := range []struct {
		name   string
		turns  []llmtest.Turn
		gate   func(llm.ToolCall) error
		rounds int
		err    error
		want   []string
	}{
		{
			name:  "an answer without calls ends the turn",
			turns: []llmtest.Turn{llmtest.Text("hi")},
			want:  []string{"request", `answer stop "hi"`},
		},
		{
			name:  "calls are answered before the next request",
			turns: []llmtest.Turn{llmtest.Calls(call("a", "run", `{}`), call("b", "run", `{}`)), llmtest.Text("ok")},
			want:  []string{"request", `answer toolUse ""`, "run a", `result a "done"`, "run b", `result b "done"`, "request", `answer stop "ok"`},
		},
		{
			name:  "unknown tools and arguments that do not fit are the model's to mend",
			turns: []llmtest.Turn{llmtest.Calls(call("a", "walk", `{}`), call("b", "run", `{"m":1}`)), llmtest.Text("ok")},
			want:  []string{"request", `answer toolUse ""`, `result a "there is no tool`, `result b "`, "request", `answer stop "ok"`},
		},
		{
			name:  "a refusal is told and the turn goes on",
			turns: []llmtest.Turn{llmtest.Calls(call("a", "run", `{}`), call("b", "look", `{}`)), llmtest.Text("ok")},
			gate: func(call llm.ToolCall) error {
				if call.Name == "run" {
					return errors.New("no")
				}
				return nil
			},
			want: []string{"request", `answer toolUse ""`, `result a "no"`, "run b", `result b "done"`, "request", `answer stop "ok"`},
		},
		{
			name:  "a stop ends the turn, and every call has its result",
			turns: []llmtest.Turn{llmtest.Calls(call("a", "run", `{}`), call("b", "run", `{}`))},
			gate:  func(llm.ToolCall) error { return fmt.Errorf("no: %w", ErrStop) },
			err:   ErrStop,
			want:  []string{"request", `answer toolUse ""`, `result a "no: stopped`, `result b "Not run: the user stopped`},
		},
		{
			name:  "a call that was cut off is not run",
			turns: []llmtest.Turn{cutCall, llmtest.Text("ok")},
			want:  []string{"request", `answer length "I write"`, "told Not run: your call of run was cut off", "request", `answer stop "ok"`},
		},
		{
			name:  "nor is a whole call in an answer that was cut off",
			turns: []llmtest.Turn{closedButLong, llmtest.Text("ok")},
			want:  []string{"request", `answer length ""`, "told Not run: your call of run was cut off", "request", `answer stop "ok"`},
		},
		{
			name:  "an answer without an end is an error and runs nothing",
			turns: []llmtest.Turn{noEnd},
			err:   errEnd,
			want:  []string{"request", `answer error "and then"`},
		},
		{
			name:  "a failure keeps what came before it",
			turns: []llmtest.Turn{llmtest.Fail(broken, llm.TextDelta{Text: "half"})},
			err:   broken,
			want:  []string{"request", `answer error "half"`},
		},
		{
			name:   "the number of requests is limited",
			turns:  []llmtest.Turn{llmtest.Call("a", "look", `{"n":1}`), llmtest.Call("b", "look", `{"n":2}`), llmtest.Text("never")},
			rounds: 2, err: ErrMaxRounds,
			want: []string{"request", `answer toolUse ""`, "run a", `result a "done"`, "request", `answer toolUse ""`, "run b", `result b "done"`},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := stage{model: llmtest.Script(c.turns...), gate: c.gate, tools: plain, rounds: c.rounds}
			err := s.run(context.Background())
			if c.err == errEnd {
				if err == nil || !strings.Contains(err.Error(), "ended before") {
					t.Errorf("error %v", err)
				}
			} else if !errors.Is(err, c.err) {
				t.Errorf("error %v, want %v", err, c.err)
			}
			ok := len(s.events) == len(c.want)
			for i := range min(len(s.events), len(c.want)) {
				ok = ok && strings.HasPrefix(s.events[i], c.want[i])
			}
			if !ok {
				t.Errorf("happened\n %s\nwant\n %s", strings.Join(s.events, "\n "), strings.Join(c.want, "\n "))
			}
		})
	}
}

// errEnd stands for the error about an answer without an end.
var errEnd = errors.New("")

func TestTheSameCallOverAndOverIsBrokenOff(t *testing.T) {
	var turns []llmtest.Turn
	for i := range 10 {
		turns = append(turns, llmtest.Call(fmt.Sprint("c", i), "look", `{"n":1}`))
	}
	s := stage{model: llmtest.Script(turns...), tools: plain}
	if err := s.run(context.Background()); !errors.Is(err, ErrRepeats) {
		t.Fatalf("error %v", err)
	}
	if n := len(s.model.Requests()); n != repeatsMax {
		t.Errorf("%d requests", n)
	}
	if !slices.ContainsFunc(s.events, func(e string) bool { return strings.HasPrefix(e, "told You have made the same call 3 times") }) {
		t.Error("the model was not told")
	}
}

func TestCallsWithoutIDsOfTheirOwnGetSome(t *testing.T) {
	twice := llmtest.Events(
		llm.CallDelta{Block: 0, Name: "look", Arguments: `{}`}, llm.CallDone{Block: 0},
		llm.CallDelta{Block: 1, ID: "x", Name: "look", Arguments: `{}`}, llm.CallDone{Block: 1},
		llm.CallDelta{Block: 2, ID: "x", Name: "look", Arguments: `{"n":1}`}, llm.CallDone{Block: 2},
		llm.Done{Reason: llm.StopToolUse})
	s := stage{model: llmtest.Script(twice, llmtest.Text("ok")), tools: plain}
	if err := s.run(context.Background()); err != nil {
		t.Fatal(err)
	}
	ids := map[string]bool{}
	for _, c := range s.messages[0].Calls() {
		ids[c.ID] = true
	}
	if len(ids) != 3 || ids[""] || !ids["x"] {
		t.Errorf("ids %v", ids)
	}
}

func TestAToolThatPanicsHasFailed(t *testing.T) {
	s := stage{
		model: llmtest.Script(llmtest.Call("a", "boom", `{}`), llmtest.Text("ok")),
		tools: []tool.Tool{simple("boom", tool.Read, func(context.Context, tool.Input) tool.Result { panic("index out of range") })},
	}
	if err := s.run(context.Background()); err != nil {
		t.Fatal(err)
	}
	if m := s.messages[1]; !m.IsError || !strings.Contains(m.Text(), "index out of range") {
		t.Errorf("result %+v", m)
	}
}

// Calls that only look meet each other; a call that runs meets nobody.
func TestWhatRunsSideBySide(t *testing.T) {
	var mu sync.Mutex
	running, most := 0, map[string]int{}
	meet := make(chan struct{})
	enter := func(name string) {
		mu.Lock()
		defer mu.Unlock()
		running++
		most[name] = max(most[name], running)
		if name == "look" && running == 3 {
			close(meet)
		}
	}
	leave := func() { mu.Lock(); running--; mu.Unlock() }
	look := simple("look", tool.Read, func(ctx context.Context, in tool.Input) tool.Result {
		enter("look")
		defer leave()
		select {
		case <-meet: // all three are here
		case <-time.After(10 * time.Second):
			return tool.Fail(errors.New("nobody came"))
		}
		in.Progress(tool.Plain{Text: "here"})
		return tool.TextResult("met", nil)
	})
	run := simple("run", tool.Execute, func(context.Context, tool.Input) tool.Result {
		enter("run")
		defer leave()
		return tool.TextResult("alone", nil)
	})
	calls := make([]llm.ToolCall, 5)
	for i, name := range []string{"look", "look", "look", "run", "run"} {
		calls[i] = llm.ToolCall{ID: fmt.Sprint(i), Name: name, Arguments: json.RawMessage(`{}`)}
	}
	s := stage{model: llmtest.Script(llmtest.Calls(calls...), llmtest.Text("ok")), tools: []tool.Tool{look, run}}
	if err := s.run(context.Background()); err != nil {
		t.Fatal(err)
	}
	if most["look"] != 3 || most["run"] != 1 {
		t.Errorf("at once: %v", most)
	}
	for _, m := range s.messages {
		if m.Role == llm.ToolResult && m.IsError {
			t.Errorf("result %+v", m)
		}
	}
}

func TestApprovalIsRecordedBesideThePicture(t *testing.T) {
	drawn := simple("look", tool.Read, func(context.Context, tool.Input) tool.Result {
		return tool.TextResult("x", tool.Plain{Text: "picture"})
	})
	s := stage{
		model: llmtest.Script(llmtest.Calls(
			llm.ToolCall{ID: "a", Name: "look", Arguments: json.RawMessage(`{}`)},
			llm.ToolCall{ID: "b", Name: "run", Arguments: json.RawMessage(`{}`)}), llmtest.Text("ok")),
		tools: []tool.Tool{drawn, simple("run", tool.Execute, done)},
	}
	if err := s.run(context.Background()); err != nil {
		t.Fatal(err)
	}
	for i, picture := range []tool.View{tool.Plain{Text: "picture"}, nil} {
		d := s.messages[1+i].Details
		var got struct{ Approval Approval }
		if err := json.Unmarshal(d, &got); err != nil || got.Approval.By != "test" || tool.DecodeView(d) != picture {
			t.Errorf("details %s: %v", d, err)
		}
	}
}

func TestInterruptAnswersEveryCall(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	slow := simple("run", tool.Execute, func(ctx context.Context, _ tool.Input) tool.Result {
		cancel()
		<-ctx.Done()
		return tool.Fail(ctx.Err())
	})
	s := stage{
		model: llmtest.Script(llmtest.Calls(llm.ToolCall{ID: "a", Name: "run", Arguments: json.RawMessage(`{}`)}, llm.ToolCall{ID: "b", Name: "run", Arguments: json.RawMessage(`{}`)})),
		tools: []tool.Tool{slow},
	}
	if err := s.run(ctx); !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v", err)
	}
	if len(s.messages) != 3 || !strings.Contains(s.messages[2].Text(), "interrupted") {
		t.Errorf("messages %+v", s.messages)
	}
}
