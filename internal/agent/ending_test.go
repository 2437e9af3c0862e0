package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"banyan/internal/llm"
	"banyan/internal/llm/llmtest"
	"banyan/internal/tool"
)

// enders are the plain tools, and one that ends the turn.
func enders() []tool.Tool {
	end := simple("end", tool.Read, done)
	end.Ends = true
	return append([]tool.Tool{end}, plain...)
}

func TestTheEndOfATurn(t *testing.T) {
	call := func(id, name, args string) llm.ToolCall {
		return llm.ToolCall{ID: id, Name: name, Arguments: json.RawMessage(args)}
	}
	var failing []llmtest.Turn
	for i := range 10 {
		failing = append(failing, llmtest.Call("a", "end", fmt.Sprintf(`{"no such":%d}`, i)))
	}
	twice := func(_ context.Context, e Ending) (string, error) {
		if e.Kept == 2 {
			return "", nil
		}
		return fmt.Sprintf("after %s: %d", e.Answer.Text(), e.Kept), nil
	}
	vetoed := errors.New("not like that")
	for _, c := range []struct {
		name   string
		turns  []llmtest.Turn
		ending func(context.Context, Ending) (string, error)
		err    error
		want   string
		left   int
	}{
		{"a call ends it", []llmtest.Turn{llmtest.Call("a", "end", `{}`), llmtest.Text("never")}, nil, nil, "run a, result a done", 1},
		{
			"what came before it runs, what comes after does not",
			[]llmtest.Turn{llmtest.Calls(call("a", "look", `{}`), call("b", "end", `{}`), call("c", "end", `{}`), call("d", "run", `{}`))},
			nil, nil, "run a, result a done, run b, result b done, result c Not run: end had ended the turn., result d Not run: end had ended the turn.", 0,
		},
		{
			"one that fails does not",
			[]llmtest.Turn{llmtest.Calls(call("a", "end", `{"m":1}`), call("b", "end", `{}`))},
			nil, nil, "result a the arguments, run b, result b done", 0,
		},
		{"nor do too many", failing, nil, ErrCannotEnd, strings.TrimSuffix(strings.Repeat("result a the arguments, ", 5), ", "), 5},
		{"it is kept going", []llmtest.Turn{llmtest.Text("x"), llmtest.Text("y"), llmtest.Text("z")}, twice, nil, "told after x: 0, told after y: 1", 0},
		{"until a call ends it", []llmtest.Turn{llmtest.Text("x"), llmtest.Call("a", "end", `{}`)}, twice, nil, "told after x: 0, run a, result a done", 0},
		{"it is ended with an error", []llmtest.Turn{llmtest.Text("x")}, func(context.Context, Ending) (string, error) { return "", vetoed }, vetoed, "", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := stage{model: llmtest.Script(c.turns...), tools: enders(), ending: c.ending}
			if err := s.run(context.Background()); !errors.Is(err, c.err) {
				t.Errorf("error %v, want %v", err, c.err)
			}
			var got []string
			for _, ev := range s.events {
				if ev = strings.ReplaceAll(ev, `"`, ""); strings.HasPrefix(ev, "re") && strings.Contains(ev, "the arguments") {
					ev = "result a the arguments"
				}
				if !strings.HasPrefix(ev, "request") && !strings.HasPrefix(ev, "answer") {
					got = append(got, ev)
				}
			}
			if all := strings.Join(got, ", "); all != c.want || s.model.Left() != c.left {
				t.Errorf("happened: %s\nwant: %s\n%d turns left", all, c.want, s.model.Left())
			}
		})
	}
}
