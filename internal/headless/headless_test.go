package headless

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"banyan/internal/engine"
	"banyan/internal/llm"
	"banyan/internal/llm/llmtest"
	"banyan/internal/permission"
	"banyan/internal/session"
	"banyan/internal/tool"
	"banyan/internal/tui/inert"
)

// world is a real engine with a scripted model, two tools that do nothing, and
// a session on the disk.
type world struct {
	t        *testing.T
	dir      string
	model    *llmtest.Scripted
	info     llm.Model
	config   engine.Config
	out, log bytes.Buffer
}

func newWorld(t *testing.T, turns ...llmtest.Turn) *world {
	t.Helper()
	w := &world{
		t: t, dir: t.TempDir(), model: llmtest.Script(turns...),
		// 100 input tokens and 10 output tokens, the script's, cost 1 USD.
		info: llm.Model{Name: "m", Context: 100_000, Price: &llm.Price{Input: 9000, Output: 10_000, CacheRead: 25_000, CacheWrite: 125_000}},
	}
	w.config = engine.Config{
		SessionDir: filepath.Join(w.dir, "sessions"), Cwd: w.dir, Models: w,
		Model:  session.ModelRef{Provider: "script", Model: "m1"},
		Tools:  []tool.Tool{w.tool("look", tool.Read), w.tool("run", tool.Execute)},
		Policy: w.policy(),
	}
	w.config.Open = func() (*session.Manager, error) {
		return session.New(w.config.SessionDir, w.dir, w.config.Session)
	}
	return w
}

// policy allows look, asks about run, and denies what it is told to.
func (w *world) policy(deny ...string) *permission.Policy {
	w.t.Helper()
	rules := []permission.Rule{w.rule(permission.Allow, "look")}
	for _, text := range deny {
		rules = append(rules, w.rule(permission.Deny, text))
	}
	return permission.New(permission.Workspace{Dir: w.dir}, rules...)
}

func (w *world) rule(a permission.Action, text string) permission.Rule {
	w.t.Helper()
	r, err := permission.ParseRule(a, text, permission.Source{Name: "test"})
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}

// Client implements engine.Models.
func (w *world) Client(session.ModelRef) (llm.Client, engine.ModelInfo, error) {
	return w.model, engine.ModelInfo{API: "script", Model: w.info}, nil
}

func (w *world) tool(name string, access tool.Access) tool.Tool {
	return tool.Tool{
		ToolSpec: llm.ToolSpec{Name: name, Schema: json.RawMessage(`{"type":"object"}`)},
		Access:   access,
		Subject:  func(args json.RawMessage) string { return string(args) },
		Run:      func(context.Context, tool.Input) tool.Result { return tool.TextResult(name+" done", nil) },
	}
}

// run runs a prompt in a format, and waits until the engine has ended.
func (w *world) run(ctx context.Context, o Options) error {
	w.t.Helper()
	e := engine.New(w.config)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		e.Run(context.Background())
	}()
	o.Prompt, o.Log = "the prompt", &w.log
	if o.Out == nil {
		o.Out = &w.out
	}
	err := Run(ctx, e, o)
	<-ended
	return err
}

// lines are the output's lines, decoded.
func (w *world) lines() []map[string]any {
	w.t.Helper()
	var list []map[string]any
	for line := range strings.Lines(w.out.String()) {
		var m map[string]any
		if err := json.Unmarshal([]byte(line), &m); err != nil || !strings.HasSuffix(line, "\n") {
			w.t.Fatalf("not one object a line: %q: %v", line, err)
		}
		list = append(list, m)
	}
	return list
}

// fields gives some members of an object as compact JSON.
func fields(m map[string]any, names ...string) string {
	picked := map[string]any{}
	for _, n := range names {
		if v, ok := m[n]; ok {
			picked[n] = v
		}
	}
	text, err := json.Marshal(picked)
	if err != nil {
		panic(err)
	}
	return string(text)
}

func TestText(t *testing.T) {
	w := newWorld(t, llmtest.Call("c1", "look", `{"n":1}`), llmtest.Text("The ans", "wer\x1b]0;title\x07."))
	if err := w.run(context.Background(), Options{}); err != nil {
		t.Fatal(err)
	}
	if got, want := w.out.String(), "The answer␛]0;title␇.\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestStream(t *testing.T) {
	w := newWorld(t,
		llmtest.Events(
			llm.Start{ResponseID: "msg_1"}, llm.ThinkingDelta{Text: "hm"}, llm.TextDelta{Block: 1, Text: "I look"},
			llm.CallDelta{Block: 2, ID: "c1", Name: "look", Arguments: `{"n": 1}`}, llm.CallDone{Block: 2},
			llm.UsageUpdate{Usage: llm.Usage{Input: 100, Output: 10, CacheRead: 5, CacheWrite: 3, Total: 118}}, llm.Done{Reason: llm.StopToolUse}),
		llmtest.Text("Done."))
	if err := w.run(context.Background(), Options{Format: StreamJSON, Tools: func() []string { return []string{"look", "run"} }}); err != nil {
		t.Fatal(err)
	}
	lines := w.lines()
	want := []string{
		`{"permissionMode":"default","subtype":"init","tools":["look","run"],"type":"system"}`,
		`{"message":{"content":[{"signature":"","thinking":"hm","type":"thinking"},{"text":"I look","type":"text"},{"id":"c1","input":{"n":1},"name":"look","type":"tool_use"}],"id":"msg_1","model":"m1","role":"assistant","stop_reason":"tool_use","stop_sequence":null,"type":"message","usage":{"cache_creation_input_tokens":3,"cache_read_input_tokens":5,"input_tokens":100,"output_tokens":10}},"parent_tool_use_id":null,"type":"assistant"}`,
		`{"message":{"content":[{"content":"look done","tool_use_id":"c1","type":"tool_result"}],"role":"user"},"parent_tool_use_id":null,"type":"user"}`,
		`{"message":{"content":[{"text":"Done.","type":"text"}],"id":"resp_1","model":"m1","role":"assistant","stop_reason":"end_turn","stop_sequence":null,"type":"message","usage":{"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"input_tokens":100,"output_tokens":10}},"parent_tool_use_id":null,"type":"assistant"}`,
		`{"is_error":false,"modelUsage":{"m1":{"cacheCreationInputTokens":3,"cacheReadInputTokens":5,"costUSD":2.5,"inputTokens":200,"outputTokens":20}},"num_turns":2,"permission_denials":[],"result":"Done.","stop_reason":"end_turn","subtype":"success","total_cost_usd":2.5,"type":"result","usage":{"cache_creation_input_tokens":3,"cache_read_input_tokens":5,"input_tokens":200,"output_tokens":20}}`,
	}
	if len(lines) != len(want) {
		t.Fatalf("%d lines, want %d:\n%s", len(lines), len(want), w.out.String())
	}
	for i, line := range lines {
		got := fields(line, "type", "subtype", "message", "parent_tool_use_id", "permissionMode", "tools", "is_error", "num_turns", "result", "stop_reason", "total_cost_usd", "usage", "modelUsage", "permission_denials", "errors", "cost_unknown")
		if got != want[i] {
			t.Errorf("line %d\n got %s\nwant %s", i, got, want[i])
		}
	}
	if lines[0]["cwd"] != w.dir || lines[0]["model"] != "m1" {
		t.Errorf("beginning: %v", lines[0])
	}
	last := lines[len(lines)-1]
	for _, name := range []string{"duration_ms", "duration_api_ms", "ttft_ms"} {
		if n, ok := last[name].(float64); !ok || n < 0 {
			t.Errorf("%s: %v", name, last[name])
		}
	}
	w.checkPlaces(lines)
}

// checkPlaces holds what lines say of the tree against the session's file.
func (w *world) checkPlaces(lines []map[string]any) {
	w.t.Helper()
	m := w.reopen()
	snap := m.Snapshot()
	path, err := snap.Branch(snap.Leaf())
	if err != nil {
		w.t.Fatal(err)
	}
	seen := map[any]bool{}
	for _, line := range lines {
		if line["session_id"] != snap.Header().ID {
			w.t.Errorf("session %v, want %s", line["session_id"], snap.Header().ID)
		}
		if seen[line["uuid"]] || line["uuid"] == "" {
			w.t.Errorf("uuid %v", line["uuid"])
		}
		seen[line["uuid"]] = true
		id, ok := line["entry_id"].(string)
		if !ok {
			continue
		}
		i := slices.IndexFunc(path, func(e session.Entry) bool { return string(e.ID) == id })
		if i < 0 {
			w.t.Errorf("%s is not on the path", id)
			continue
		}
		if parent, _ := line["parent_entry_id"].(string); parent != string(path[i].Parent) {
			w.t.Errorf("parent of %s: %s, want %s", id, parent, path[i].Parent)
		}
		if line["leaf_id"] != id {
			w.t.Errorf("leaf %v after %s", line["leaf_id"], id)
		}
	}
	if last := lines[len(lines)-1]; last["leaf_id"] != string(snap.Leaf()) {
		w.t.Errorf("leaf %v, want %s", last["leaf_id"], snap.Leaf())
	}
}

func (w *world) reopen() *session.Manager {
	w.t.Helper()
	files, err := filepath.Glob(filepath.Join(w.dir, "sessions", "*.jsonl"))
	if err != nil || len(files) != 1 {
		w.t.Fatalf("sessions: %v, %v", files, err)
	}
	m, err := session.Open(files[0], session.Options{})
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { m.Close() })
	return m
}

func TestHowRunsEnd(t *testing.T) {
	broken := errors.New("the connection was reset")
	held := func(text string) llmtest.Turn {
		turn := llmtest.Text(text)
		turn.Hold = make(chan struct{})
		return turn
	}
	call := func(name string) llmtest.Turn { return llmtest.Call("c1", name, `{"n":1}`) }
	for _, c := range []struct {
		name  string
		turns []llmtest.Turn
		set   func(*world, *Options)
		err   error
		want  string // of the result line
	}{
		{
			"a refused call",
			[]llmtest.Turn{call("run"), llmtest.Text("I may not.")},
			nil, ErrRefused,
			`{"is_error":false,"num_turns":2,"permission_denials":[{"tool_input":{"n":1},"tool_name":"run","tool_use_id":"c1"}],"result":"I may not.","subtype":"success"}`,
		},
		{
			"a call that a rule denies",
			[]llmtest.Turn{call("run"), llmtest.Text("I may not.")},
			func(w *world, _ *Options) { w.config.Policy = w.policy("run") }, ErrRefused,
			`{"is_error":false,"num_turns":2,"permission_denials":[{"tool_input":{"n":1},"tool_name":"run","tool_use_id":"c1"}],"result":"I may not.","subtype":"success"}`,
		},
		{
			"a failing model",
			[]llmtest.Turn{llmtest.Fail(broken, llm.TextDelta{Text: "half"})},
			nil, broken,
			`{"errors":["the connection was reset"],"is_error":true,"num_turns":1,"permission_denials":[],"subtype":"error_during_execution"}`,
		},
		{
			"turns",
			[]llmtest.Turn{call("look"), call("look")},
			func(w *world, _ *Options) { w.config.MaxRounds = 1 }, ErrLimit,
			`{"errors":["the limit of --max-turns was reached"],"is_error":true,"num_turns":1,"permission_denials":[],"subtype":"error_max_turns"}`,
		},
		{
			"money",
			[]llmtest.Turn{call("look"), call("look"), held("too much")},
			func(_ *world, o *Options) { o.MaxUSD = 1.5 }, ErrBudget,
			`{"errors":["the limit of --max-budget-usd was reached"],"is_error":true,"num_turns":2,"permission_denials":[],"subtype":"error_max_budget_usd"}`,
		},
		{
			"the last answer may cross the limit",
			[]llmtest.Turn{llmtest.Text("paid")},
			func(_ *world, o *Options) { o.MaxUSD = 0.5 }, nil,
			`{"is_error":false,"num_turns":1,"permission_denials":[],"result":"paid","subtype":"success"}`,
		},
		{
			"a session that cannot be opened", nil, func(w *world, _ *Options) {
				w.config.Open = func() (*session.Manager, error) { return nil, os.ErrPermission }
			}, os.ErrPermission,
			`{"errors":["permission denied"],"is_error":true,"num_turns":0,"permission_denials":[],"subtype":"error_during_execution"}`,
		},
	} {
		for _, format := range Formats {
			t.Run(c.name+" as "+string(format), func(t *testing.T) {
				w := newWorld(t, c.turns...)
				o := Options{Format: format}
				if c.set != nil {
					c.set(w, &o)
				}
				if err := w.run(context.Background(), o); !errors.Is(err, c.err) && (err == nil || c.err == nil || !strings.Contains(err.Error(), c.err.Error())) {
					t.Fatalf("ended with %v, want %v", err, c.err)
				}
				if format == Text {
					return
				}
				lines := w.lines()
				if format == JSON && len(lines) != 1 {
					t.Fatalf("%d objects", len(lines))
				}
				got := fields(lines[len(lines)-1], "subtype", "is_error", "result", "errors", "num_turns", "permission_denials")
				if got != c.want {
					t.Errorf("\n got %s\nwant %s", got, c.want)
				}
			})
		}
	}
}

func TestCompactionIsTold(t *testing.T) {
	long := llmtest.Events(llm.TextDelta{Text: strings.Repeat("word ", 3000)}, llm.UsageUpdate{Usage: llm.Usage{Input: 7500, Total: 7500}}, llm.Done{Reason: llm.StopEnd})
	w := newWorld(t, long, llmtest.Text("the summary"), llmtest.Text("short"))
	w.info.Context = 8000
	if err := w.run(context.Background(), Options{Format: JSON}); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(w.dir, "sessions", "*.jsonl"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	w.config.Open = func() (*session.Manager, error) { return session.Open(files[0], w.config.Session) }
	w.out.Reset()
	if err := w.run(context.Background(), Options{Format: StreamJSON}); err != nil {
		t.Fatal(err)
	}
	lines := w.lines()
	kinds := ""
	for _, l := range lines {
		kinds += fields(l, "type", "subtype")
	}
	if want := `{"subtype":"init","type":"system"}{"subtype":"compact_boundary","type":"system"}{"type":"assistant"}{"subtype":"success","type":"result"}`; kinds != want {
		t.Fatalf("\n got %s\nwant %s", kinds, want)
	}
	about, ok := lines[1]["compact_metadata"].(map[string]any)
	if !ok || about["trigger"] != "auto" || about["pre_tokens"].(float64) <= about["post_tokens"].(float64) {
		t.Errorf("%v", lines[1])
	}
	// The summary is paid for, too, but is no answer.
	if got := fields(lines[3], "num_turns", "total_cost_usd"); got != `{"num_turns":1,"total_cost_usd":2}` {
		t.Error(got)
	}
	w.checkPlaces(lines)
}

func TestBudgetIsALimit(t *testing.T) {
	if !errors.Is(ErrBudget, ErrLimit) || errors.Is(ErrLimit, ErrBudget) || errors.Is(ErrRefused, ErrLimit) {
		t.Error("exit codes are chosen by errors.Is")
	}
}

func TestUnknownPriceIsSaid(t *testing.T) {
	w := newWorld(t, llmtest.Call("c1", "look", `{}`), llmtest.Text("x"))
	w.info.Price = nil
	if err := w.run(context.Background(), Options{Format: JSON, MaxUSD: 0.01}); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(w.log.String(), "price of this model is not known"); n != 1 {
		t.Errorf("said %d times: %s", n, w.log.String())
	}
	if got := fields(w.lines()[0], "total_cost_usd", "cost_unknown"); got != `{"cost_unknown":true,"total_cost_usd":0}` {
		t.Error(got)
	}
}

func TestInterrupt(t *testing.T) {
	held := llmtest.Text("half an ", "answer")
	held.Hold, held.HoldAt = make(chan struct{}), 2
	w := newWorld(t, held)
	ctx, cancel := context.WithCancel(context.Background())
	out := cancelAt{&w.out, `"init"`, cancel} // the turn has begun
	if err := w.run(ctx, Options{Format: StreamJSON, Out: out}); !errors.Is(err, context.Canceled) {
		t.Fatalf("ended with %v", err)
	}
	lines := w.lines()
	if got := fields(lines[len(lines)-1], "subtype", "is_error", "stop_reason", "errors"); got != `{"errors":["interrupted"],"is_error":true,"stop_reason":null,"subtype":"error_during_execution"}` {
		t.Error(got)
	}
}

// cancelAt cancels when a text is written.
type cancelAt struct {
	*bytes.Buffer
	text   string
	cancel func()
}

func (c cancelAt) Write(p []byte) (int, error) {
	if bytes.Contains(p, []byte(c.text)) {
		c.cancel()
	}
	return c.Buffer.Write(p)
}

// full is a reader that has gone away.
type full struct{ writes *int }

func (f full) Write([]byte) (int, error) { *f.writes++; return 0, os.ErrClosed }

func TestOutputThatCannotBeWrittenEndsTheRun(t *testing.T) {
	for _, format := range Formats {
		writes := 0
		w := newWorld(t, llmtest.Call("c1", "look", `{}`), llmtest.Call("c1", "look", `{}`), llmtest.Text("x"))
		if err := w.run(context.Background(), Options{Format: format, Out: full{&writes}}); !errors.Is(err, os.ErrClosed) || !strings.Contains(err.Error(), "write the output") {
			t.Errorf("%s: %v", format, err)
		}
		if format == StreamJSON && w.model.Left() == 0 {
			t.Error("the model went on talking to nobody")
		}
	}
}

func TestUnknownFormat(t *testing.T) {
	w := newWorld(t)
	if err := w.run(context.Background(), Options{Format: "xml"}); err == nil || !strings.Contains(err.Error(), `"xml"; there are text, json and stream-json`) {
		t.Error(err)
	}
}

// Each line goes out by itself, whole: a reader sees it when it happens.
func TestLinesAreWrittenWhole(t *testing.T) {
	w := newWorld(t, llmtest.Call("c1", "look", `{}`), llmtest.Text("x"))
	var writes []string
	if err := w.run(context.Background(), Options{Format: StreamJSON, Out: writeFunc(func(p []byte) { writes = append(writes, string(p)) })}); err != nil {
		t.Fatal(err)
	}
	for _, p := range writes {
		if strings.Count(p, "\n") != 1 || !strings.HasSuffix(p, "\n") {
			t.Errorf("%q", p)
		}
	}
	if len(writes) != 5 {
		t.Errorf("%d writes", len(writes))
	}
}

type writeFunc func([]byte)

func (f writeFunc) Write(p []byte) (int, error) { f(p); return len(p), nil }

// What is printed can do nothing to a terminal, and JSON loses nothing by it.
func TestOutputIsInert(t *testing.T) {
	nasty := "a\x1b[2J\u009b31m\u202egnp\u2066 \U000e0041 é 👩‍💻 \u2028 \x7f \x00 \xff " + strings.Repeat("\u0301", 50)
	args, err := json.Marshal(map[string]string{"s": nasty})
	if err != nil {
		t.Fatal(err)
	}
	for _, format := range Formats {
		w := newWorld(t, llmtest.Calls(llm.ToolCall{ID: "c\x1b1", Name: "run", Arguments: args}), llmtest.Text(nasty))
		if err := w.run(context.Background(), Options{Format: format}); !errors.Is(err, ErrRefused) {
			t.Fatal(err)
		}
		for _, text := range []string{w.out.String(), w.log.String()} {
			if inert.Text(text) != text {
				t.Errorf("%s: %q", format, text)
			}
		}
		if format == Text {
			continue
		}
		lines := w.lines()
		want := strings.ToValidUTF8(nasty, "\uFFFD")
		if got := lines[len(lines)-1]["result"]; got != want {
			t.Errorf("%s:\n got %q\nwant %q", format, got, want)
		}
		denials := fmt.Sprint(lines[len(lines)-1]["permission_denials"])
		if !strings.Contains(denials, want) {
			t.Errorf("%s: %q", format, denials)
		}
	}
}

func FuzzInertJSON(f *testing.F) {
	f.Add("plain")
	f.Add("\u202e\U0001f469\u200d\U0001f4bb\x7f\xff\u0301")
	f.Fuzz(func(t *testing.T, s string) {
		line, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		out := inertJSON(line)
		var got string
		if err := json.Unmarshal(out, &got); err != nil || got != strings.ToValidUTF8(s, "\uFFFD") && got != string([]rune(s)) {
			t.Errorf("%q became %q: %v", s, got, err)
		}
		if inert.Text(string(out)) != string(out) {
			t.Errorf("not inert: %q", out)
		}
	})
}
