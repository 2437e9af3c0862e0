package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"banyan/internal/llm"
	"banyan/internal/llm/llmtest"
	"banyan/internal/permission"
	"banyan/internal/session"
	"banyan/internal/tool"
)

// world is an engine with a scripted model, tools that do nothing, and a front
// end that remembers what it was told.
type world struct {
	t      *testing.T
	engine *Engine
	model  *llmtest.Scripted
	dir    string
	ran    []string // tools that ran, with their subject
	seen   []Event
	snap   session.Snapshot
	ended  bool
}

var testModel = session.ModelRef{Provider: "script", Model: "m1"}

type scriptModels struct{ client llm.Client }

func (s scriptModels) Client(ref session.ModelRef) (llm.Client, ModelInfo, error) {
	if ref.Provider != "script" {
		return nil, ModelInfo{}, fmt.Errorf("there is no model %s/%s", ref.Provider, ref.Model)
	}
	return s.client, ModelInfo{API: "script", Model: llm.Model{Name: ref.Model, Context: 8000, Local: true}}, nil
}

func newWorld(t *testing.T, turns ...llmtest.Turn) *world {
	t.Helper()
	w := &world{t: t, model: llmtest.Script(turns...), dir: t.TempDir()}
	w.start(Config{})
	return w
}

func (w *world) start(cfg Config) {
	w.t.Helper()
	cfg.SessionDir, cfg.Cwd = filepath.Join(w.dir, "sessions"), w.dir
	if cfg.Models == nil {
		cfg.Models = scriptModels{w.model}
	}
	cfg.Model = testModel
	if cfg.Policy == nil {
		cfg.Policy = testPolicy(w.t, w.dir)
	}
	if cfg.Tools == nil {
		cfg.Tools = []tool.Tool{w.tool("look", tool.Read), w.tool("change", tool.Edit), w.tool("run", tool.Execute)}
	}
	if cfg.Open == nil {
		cfg.Open = func() (*session.Manager, error) {
			return session.New(cfg.SessionDir, cfg.Cwd, cfg.Session)
		}
	}
	w.engine, w.ended = New(cfg), false
	go w.engine.Run(context.Background())
	w.t.Cleanup(w.close)
	w.until("opened", func(ev Event) bool { _, ok := ev.(Opened); return ok })
}

// testPolicy allows looking; changing and running are asked.
func testPolicy(t *testing.T, dir string) *permission.Policy {
	t.Helper()
	look, err := permission.ParseRule(permission.Allow, "look", permission.Source{Name: "test"})
	if err != nil {
		t.Fatal(err)
	}
	return permission.New(permission.Workspace{Dir: dir, Path: "/usr/bin:/bin"}, look)
}

func (w *world) tool(name string, access tool.Access) tool.Tool {
	return tool.Tool{
		ToolSpec: llm.ToolSpec{Name: name, Schema: json.RawMessage(`{"type":"object"}`)},
		Access:   access,
		Subject:  func(args json.RawMessage) string { return string(args) },
		Run: func(_ context.Context, in tool.Input) tool.Result {
			_ = w.engine.do(func() error { w.ran = append(w.ran, name+" "+string(in.Args)); return nil })
			return tool.TextResult(name+" done", nil)
		},
	}
}

// next takes one event.
func (w *world) next() (Event, bool) {
	w.t.Helper()
	select {
	case ev, ok := <-w.engine.Events():
		if !ok {
			w.ended = true
			return nil, false
		}
		w.take(ev)
		return ev, true
	case <-time.After(10 * time.Second):
		w.t.Fatalf("nothing happens any more; the last events were %v", tail(w.seen, 8))
		return nil, false
	}
}

// take remembers what an event says.
func (w *world) take(ev Event) {
	w.seen = append(w.seen, ev)
	switch ev := ev.(type) {
	case Opened:
		w.snap = ev.Session
	case Appended:
		w.snap = ev.Session
	case Moved:
		w.snap = ev.Session
	}
}

func tail[T any](s []T, n int) []T { return s[max(0, len(s)-n):] }

// until takes events until one is as wanted.
func (w *world) until(what string, ok func(Event) bool) Event {
	w.t.Helper()
	for {
		ev, more := w.next()
		if !more {
			w.t.Fatalf("the engine ended before %s; the last events were %v", what, tail(w.seen, 8))
		}
		if ok(ev) {
			return ev
		}
	}
}

func (w *world) finished() Finished {
	w.t.Helper()
	return w.until("finished", func(ev Event) bool { _, ok := ev.(Finished); return ok }).(Finished)
}

func (w *world) asked() Asked {
	w.t.Helper()
	return w.until("a question", func(ev Event) bool { _, ok := ev.(Asked); return ok }).(Asked)
}

func (w *world) notice() Notice {
	w.t.Helper()
	return w.until("a notice", func(ev Event) bool { _, ok := ev.(Notice); return ok }).(Notice)
}

func (w *world) moved() Moved {
	w.t.Helper()
	return w.until("a move", func(ev Event) bool { _, ok := ev.(Moved); return ok }).(Moved)
}

// say sends a prompt and waits for the end of its turn.
func (w *world) say(text string) Finished {
	w.t.Helper()
	w.engine.Send(Submit{Text: text})
	return w.finished()
}

func (w *world) close() {
	if w.ended {
		return
	}
	w.engine.Send(Close{})
	for !w.ended {
		w.next()
	}
}

// roles is the context at the leaf in short.
func (w *world) roles() string { return roles(w.t, w.snap) }

func roles(t *testing.T, snap session.Snapshot) string {
	t.Helper()
	c, err := snap.Context(snap.Leaf())
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, m := range c.Messages() {
		s := string(m.Role)
		if text := m.Text(); text != "" {
			s += " " + strings.ReplaceAll(text, "\n", "⏎")
		}
		for _, call := range m.Calls() {
			s += " " + call.Name + "()"
		}
		out = append(out, s)
	}
	return strings.Join(out, " | ")
}

// file is the session file as it is on the disk.
func (w *world) file() string {
	files, _ := filepath.Glob(filepath.Join(w.dir, "sessions", "*.jsonl"))
	var all strings.Builder
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			w.t.Error(err)
		}
		all.Write(data)
	}
	return all.String()
}

func TestChatIsOnDiskInTheOrderOfPromises(t *testing.T) {
	var w *world
	onDisk := func(wanted ...string) func(llm.Request) error {
		return func(llm.Request) error {
			for _, want := range wanted {
				if !strings.Contains(w.file(), want) {
					return fmt.Errorf("%q is not on the disk yet", want)
				}
			}
			return nil
		}
	}
	first := llmtest.Call("c1", "look", `{"at":"x"}`)
	first.Check = onDisk("please look")
	second := llmtest.Text("It is ", "fine.")
	second.Check = onDisk("toolCall", "look done")
	w = newWorld(t, first, second)
	if f := w.say("please look"); f.Err != nil {
		t.Fatal(f.Err)
	}
	if got, want := w.roles(), "user please look | assistant look() | toolResult look done | assistant It is fine."; got != want {
		t.Errorf("context\n got %s\nwant %s", got, want)
	}
	req := w.model.Requests()[1]
	if len(req.Tools) != 3 || req.Messages[len(req.Messages)-1].Role != llm.ToolResult {
		t.Errorf("second request: %+v", req)
	}
	w.sameOnDisk()
}

// sameOnDisk closes the engine and checks that the file says what the front end was told.
func (w *world) sameOnDisk() {
	w.t.Helper()
	told, leaf, n := w.roles(), w.snap.Leaf(), w.snap.Len()
	path := w.snap.Path()
	w.close()
	m, err := session.Open(path, session.Options{ReadOnly: true})
	if err != nil {
		w.t.Fatal(err)
	}
	defer m.Close()
	snap := m.Snapshot()
	if got := roles(w.t, snap); got != told || snap.Leaf() != leaf || snap.Len() != n {
		w.t.Errorf("the file says\n %s (leaf %s, %d entries)\nbut the front end was told\n %s (leaf %s, %d entries)", got, snap.Leaf(), snap.Len(), told, leaf, n)
	}
	if p := snap.Problems(); len(p) > 0 {
		w.t.Errorf("problems in the file: %v", p)
	}
}

func TestApproval(t *testing.T) {
	two := llmtest.Calls(llm.ToolCall{Name: "run", Arguments: json.RawMessage(`{"n":1}`)}, llm.ToolCall{Name: "run", Arguments: json.RawMessage(`{"n":1}`)})
	for _, c := range []struct {
		name    string
		answers []Answer
		ran     int
		results string
		err     error
	}{
		{"allow both", []Answer{{Decision: Allow}, {Decision: Allow}}, 2, "run done | run done", nil},
		{"always", []Answer{{Decision: Always}}, 2, "run done | run done", nil},
		{"deny with a comment", []Answer{{Decision: Deny, Comment: "use make"}, {Decision: Allow}}, 1, "use make | run done", nil},
		{"stop", []Answer{{Decision: Stop}}, 0, "stopped | stopped", context.Canceled},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, two, llmtest.Text("ok"))
			w.engine.Send(Submit{Text: "go"})
			for _, a := range c.answers {
				a.Ask = w.asked().Ask
				w.engine.Send(a)
			}
			f := w.finished()
			if c.err != nil && !errors.Is(f.Err, c.err) || c.err == nil && f.Err != nil {
				t.Fatalf("the turn ended with %v", f.Err)
			}
			if len(w.ran) != c.ran {
				t.Errorf("ran %v", w.ran)
			}
			var results []string
			for _, ev := range w.seen {
				if a, ok := ev.(Appended); ok {
					if m, ok := a.Entry.Data.(session.Message); ok && m.Role == llm.ToolResult {
						results = append(results, m.Text())
					}
				}
			}
			for i, want := range strings.Split(c.results, " | ") {
				if i >= len(results) || !strings.Contains(results[i], want) {
					t.Errorf("result %d of %q lacks %q", i, results, want)
				}
			}
			w.sameOnDisk()
		})
	}
}

func TestLookingIsFreeAndPlanModeChangesNothing(t *testing.T) {
	w := newWorld(t, llmtest.Call("c1", "look", `{}`), llmtest.Text("seen"), llmtest.Call("c2", "change", `{}`), llmtest.Text("planned"))
	w.say("look")
	w.engine.Send(SetPermission{Mode: "plan"})
	w.say("change")
	if !slices.Equal(w.ran, []string{"look {}"}) {
		t.Errorf("ran %v", w.ran)
	}
	if !strings.Contains(w.roles(), "plan mode") {
		t.Errorf("the model was not told: %s", w.roles())
	}
}

func TestInterruptKeepsThePartialAnswer(t *testing.T) {
	held := llmtest.Text("half of ", "it")
	held.Hold, held.HoldAt = make(chan struct{}), 2
	w := newWorld(t, held, llmtest.Text("going on"))
	w.engine.Send(Submit{Text: "tell me"})
	w.until("the first half", func(ev Event) bool {
		p, ok := ev.(Progress)
		return ok && p.Event == llm.Event(llm.TextDelta{Text: "half of "})
	})
	w.engine.Send(Submit{Text: "and this", FollowUp: true})
	w.engine.Send(Interrupt{})
	if f := w.finished(); !errors.Is(f.Err, context.Canceled) {
		t.Fatalf("ended with %v", f.Err)
	}
	i := slices.IndexFunc(w.seen, func(ev Event) bool { q, ok := ev.(Queue); return ok && len(q.TakenBack) > 0 })
	if i < 0 || w.seen[i].(Queue).TakenBack[0] != "and this" {
		t.Error("what waited was not given back")
	}
	if f := w.say("go on"); f.Err != nil {
		t.Fatal(f.Err)
	}
	if r := w.roles(); !strings.Contains(r, "half of") || !strings.Contains(r, "going on") {
		t.Errorf("context: %s", r)
	}
	w.sameOnDisk()
}

func TestInterruptDuringAQuestion(t *testing.T) {
	w := newWorld(t, llmtest.Call("c1", "run", `{}`), llmtest.Text("later"))
	w.engine.Send(Submit{Text: "go"})
	w.asked()
	w.engine.Send(Interrupt{})
	w.until("the question is withdrawn", func(ev Event) bool { _, ok := ev.(Withdrawn); return ok })
	w.finished()
	if f := w.say("again"); f.Err != nil || len(w.ran) > 0 {
		t.Fatalf("%v, ran %v", f.Err, w.ran)
	}
	w.sameOnDisk()
}

func TestSteeringComesBetweenRoundsAndFollowUpsAfterTheTurn(t *testing.T) {
	hold := make(chan struct{})
	first := llmtest.Call("c1", "look", `{}`)
	first.Hold, first.HoldAt = hold, 1
	w := newWorld(t, first, llmtest.Text("one"), llmtest.Text("two"))
	w.engine.Send(Submit{Text: "begin"})
	w.until("the answer begins", func(ev Event) bool { _, ok := ev.(Progress); return ok })
	w.engine.Send(Submit{Text: "afterwards", FollowUp: true})
	w.engine.Send(Submit{Text: "rather this"})
	w.until("both are queued", func(ev Event) bool {
		q, ok := ev.(Queue)
		return ok && len(q.Steering) == 1 && len(q.FollowUps) == 1
	})
	close(hold)
	w.finished()
	w.finished()
	want := "user begin | assistant look() | toolResult look done | user rather this | assistant one | user afterwards | assistant two"
	if got := w.roles(); got != want {
		t.Errorf("context\n got %s\nwant %s", got, want)
	}
	w.sameOnDisk()
}

func TestNavigation(t *testing.T) {
	w := newWorld(t, llmtest.Text("a1"), llmtest.Text("a2"), llmtest.Text("b2"))
	w.say("u1")
	w.say("u2")
	path := w.snap.PathIDs(w.snap.Leaf())
	second := path[len(path)-2] // u2
	before := w.snap.Len()

	w.engine.Send(Navigate{Target: second})
	m := w.moved()
	if m.Draft == nil || m.Draft.Text != "u2" || m.Session.Leaf() != path[len(path)-3] {
		t.Fatalf("draft %+v, leaf %s", m.Draft, m.Session.Leaf())
	}
	if m.Session.Len() != before {
		t.Error("a move wrote an entry")
	}
	w.say("u2 differently")
	if got, want := w.roles(), "user u1 | assistant a1 | user u2 differently | assistant b2"; got != want {
		t.Errorf("after the move %s", got)
	}
	w.engine.Send(Navigate{Target: path[len(path)-1]}) // the first branch's end
	w.moved()
	if got, want := w.roles(), "user u1 | assistant a1 | user u2 | assistant a2"; got != want {
		t.Errorf("back: %s", got)
	}
	w.sameOnDisk() // the position outlives the program
}

func TestNavigationToTheFirstPromptLeavesAnEmptyContext(t *testing.T) {
	w := newWorld(t, llmtest.Text("a1"), llmtest.Text("other"))
	w.say("u1")
	first := w.prompts()[0]
	w.engine.Send(Navigate{Target: first})
	if m := w.moved(); m.Session.Leaf() != w.snap.PathIDs(w.snap.Leaf())[0] && m.Draft.Text != "u1" {
		t.Errorf("leaf %q, draft %+v", m.Session.Leaf(), m.Draft)
	}
	w.say("another beginning")
	if got := w.roles(); got != "user another beginning | assistant other" {
		t.Errorf("context: %s", got)
	}
}

// prompts are the ids of the user's messages on the active path.
func (w *world) prompts() []session.ID {
	entries, err := w.snap.Branch(w.snap.Leaf())
	if err != nil {
		w.t.Fatal(err)
	}
	var ids []session.ID
	for _, e := range entries {
		if m, ok := e.Data.(session.Message); ok && m.Role == llm.User {
			ids = append(ids, e.ID)
		}
	}
	return ids
}

func TestLeavingWithASummary(t *testing.T) {
	w := newWorld(t, llmtest.Text("a1"), llmtest.Text("a2"), llmtest.Text("We tried u2."))
	w.say("u1")
	w.say("u2")
	left := w.snap.Leaf()
	w.engine.Send(Navigate{Target: w.prompts()[1], Summarize: true, Instructions: "be brief"})
	m := w.moved()
	w.finished()
	if m.Draft == nil || m.Draft.Text != "u2" {
		t.Errorf("draft %+v", m.Draft)
	}
	e, _, err := w.snap.Entry(w.snap.Leaf())
	s, ok := e.Data.(session.BranchSummary)
	if err != nil || !ok || !strings.Contains(s.Summary, "We tried u2.") || s.Details.LeftLeaf != left {
		t.Fatalf("leaf: %+v, %v", e, err)
	}
	if p := w.model.Requests()[2].Messages[0].Text(); !strings.Contains(p, "[Assistant]: a2") || strings.Contains(p, "a1") || !strings.Contains(p, "be brief") {
		t.Errorf("what was summarised: %s", p)
	}
	w.sameOnDisk()
}

func TestFailedSummaryChangesNothing(t *testing.T) {
	held := llmtest.Text("never")
	held.Hold = make(chan struct{})
	for name, turn := range map[string]llmtest.Turn{
		"error": llmtest.Fail(errors.New("no")), "empty": llmtest.Text(""), "aborted": held,
		"cut off": llmtest.Events(llm.TextDelta{Text: "half"}, llm.Done{Reason: llm.StopLength}),
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, llmtest.Text("a1"), llmtest.Text("a2"), turn)
			w.say("u1")
			w.say("u2")
			leaf, n := w.snap.Leaf(), w.snap.Len()
			w.engine.Send(Navigate{Target: w.prompts()[1], Summarize: true})
			if name == "aborted" {
				w.until("the summary begins", func(ev Event) bool { s, ok := ev.(Started); return ok && s.What == "summary" })
				w.engine.Send(Interrupt{})
			}
			if f := w.finished(); f.What != "summary" || f.Err == nil {
				t.Fatalf("finished %+v", f)
			}
			if w.snap.Leaf() != leaf || w.snap.Len() != n {
				t.Error("something changed")
			}
			w.sameOnDisk()
		})
	}
}

func TestForksAndSwitching(t *testing.T) {
	w := newWorld(t, llmtest.Text("a1"), llmtest.Text("a2"), llmtest.Text("f2"))
	w.say("u1")
	w.say("u2")
	original := w.snap
	w.engine.Send(SetLabel{Text: "end"})
	w.engine.Send(Fork{Target: w.prompts()[1]})
	opened := w.until("the fork", func(ev Event) bool { _, ok := ev.(Opened); return ok }).(Opened)
	if opened.Draft == nil || opened.Draft.Text != "u2" || opened.Session.Path() == original.Path() {
		t.Fatalf("fork: %+v in %s", opened.Draft, opened.Session.Path())
	}
	w.say("u2 in the fork")
	if got, want := w.roles(), "user u1 | assistant a1 | user u2 in the fork | assistant f2"; got != want {
		t.Errorf("fork: %s", got)
	}
	w.engine.Send(Open{Path: original.Path()})
	w.until("the original", func(ev Event) bool { _, ok := ev.(Opened); return ok })
	if got := w.roles(); got != "user u1 | assistant a1 | user u2 | assistant a2" {
		t.Errorf("original: %s", got)
	}
	w.engine.Send(Fork{Target: w.prompts()[0]})
	opened = w.until("the fork before the first prompt", func(ev Event) bool { _, ok := ev.(Opened); return ok }).(Opened)
	if opened.Session.Len() != 0 || opened.Session.Header().Parent != original.Path() || opened.Draft.Text != "u1" {
		t.Errorf("fork at the root: %d entries, parent %s, draft %+v", opened.Session.Len(), opened.Session.Header().Parent, opened.Draft)
	}
}

func TestModelAndThinkingAreRecordedAndRestored(t *testing.T) {
	w := newWorld(t, llmtest.Text("a1"), llmtest.Text("a2"))
	w.say("u1")
	first := w.snap.Leaf()
	w.engine.Send(SetModel{session.ModelRef{Provider: "script", Model: "m2"}})
	w.engine.Send(SetThinking{llm.ThinkingHigh})
	w.say("u2")
	if r := w.model.Requests()[1]; r.Model != "m2" || r.Thinking != llm.ThinkingHigh {
		t.Errorf("request: %s %s", r.Model, r.Thinking)
	}
	w.engine.Send(Navigate{Target: first})
	w.moved()
	s := w.until("the state", func(ev Event) bool { _, ok := ev.(State); return ok }).(State)
	if s.Model != testModel || s.Thinking != llm.ThinkingOff {
		t.Errorf("back there %v %s", s.Model, s.Thinking)
	}
	w.engine.Send(SetModel{session.ModelRef{Provider: "nobody", Model: "x"}})
	if n := w.notice(); n.Level != Failure {
		t.Errorf("notice %+v", n)
	}
}

func TestOverflowCompactsOnceAndGoesOn(t *testing.T) {
	overflow := &llm.Error{Class: llm.Overflow, Provider: "script", Text: "prompt is too long"}
	big := llmtest.Text(strings.Repeat("long answer ", 1000))
	w := newWorld(t, big, llmtest.Fail(overflow), llmtest.Text("what came before"), llmtest.Text("now it fits"))
	w.start(Config{Compaction: Compaction{Off: true, KeepRecent: 100}})
	w.say("u1")
	if f := w.say("u2"); f.Err != nil {
		t.Fatal(f.Err)
	}
	got := w.roles()
	if !strings.Contains(got, "what came before") || !strings.HasSuffix(got, "u2 | assistant now it fits") || strings.Contains(got, "long answer") {
		t.Errorf("context: %s", got)
	}
	w.checkCompactions(CompactOverflow)
	w.sameOnDisk()
}

func (w *world) checkCompactions(why ...CompactionReason) {
	w.t.Helper()
	var started, ended []CompactionReason
	for _, ev := range w.seen {
		switch ev := ev.(type) {
		case CompactionStarted:
			started = append(started, ev.Reason)
		case CompactionEnded:
			ended = append(ended, ev.Reason)
		}
	}
	if !slices.Equal(started, why) || !slices.Equal(ended, why) {
		w.t.Errorf("compactions started %v, ended %v, want %v", started, ended, why)
	}
}

func TestSecondOverflowIsTold(t *testing.T) {
	overflow := &llm.Error{Class: llm.Overflow, Provider: "script", Text: "prompt is too long"}
	w := newWorld(t, llmtest.Text(strings.Repeat("long answer ", 1000)), llmtest.Fail(overflow), llmtest.Text("summary"), llmtest.Fail(overflow))
	w.start(Config{Compaction: Compaction{Off: true, KeepRecent: 100}})
	w.say("u1")
	if f := w.say("u2"); !errors.Is(f.Err, overflow) {
		t.Fatalf("ended with %v", f.Err)
	}
}

func TestThresholdCompactsBeforeTheRequest(t *testing.T) {
	full := llmtest.Events(llm.TextDelta{Text: strings.Repeat("word ", 3000)}, llm.UsageUpdate{Usage: llm.Usage{Input: 7500, Total: 7500}}, llm.Done{Reason: llm.StopEnd})
	w := newWorld(t, full, llmtest.Text("the summary"), llmtest.Text("short"))
	w.say("u1")
	if f := w.say("u2"); f.Err != nil {
		t.Fatal(f.Err)
	}
	if got := w.roles(); !strings.Contains(got, "the summary") || !strings.HasSuffix(got, "u2 | assistant short") {
		t.Errorf("context: %s", got)
	}
	w.checkCompactions(CompactThreshold)
	w.sameOnDisk()
}

func TestFailedCompactionLeavesTheChatGoing(t *testing.T) {
	w := newWorld(t, llmtest.Text(strings.Repeat("word ", 3000)), llmtest.Text(""), llmtest.Text("fine"))
	w.say("u1")
	n := w.snap.Len()
	w.engine.Send(Compact{Focus: "x"})
	if f := w.finished(); f.Err == nil || w.snap.Len() != n {
		t.Fatalf("%v, %d entries", f.Err, w.snap.Len())
	}
	if f := w.say("u2"); f.Err != nil {
		t.Fatal(f.Err)
	}
}

func TestOpeningFails(t *testing.T) {
	e := New(Config{Models: scriptModels{}, Model: testModel, Policy: permission.New(permission.Workspace{}), Open: func() (*session.Manager, error) { return nil, os.ErrNotExist }})
	go e.Run(context.Background())
	var last Event
	for ev := range e.Events() {
		last = ev
	}
	if c, ok := last.(Closed); !ok || !errors.Is(c.Err, os.ErrNotExist) {
		t.Errorf("the last event is %+v", last)
	}
}

func TestUserCommands(t *testing.T) {
	env, err := tool.NewEnv(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer env.Close()
	w := &world{t: t, model: llmtest.Script(llmtest.Text("seen")), dir: t.TempDir()}
	w.start(Config{Tools: tool.All(env)})
	w.engine.Send(RunCommand{Command: "echo out; exit 3"})
	w.finished()
	w.engine.Send(RunCommand{Command: "echo secret", Exclude: true})
	w.finished()
	w.say("what happened?")
	got := w.roles()
	if !strings.Contains(got, "echo out; exit 3") || !strings.Contains(got, "out") || strings.Contains(got, "secret") {
		t.Errorf("context: %s", got)
	}
	e, _, _ := w.snap.Entry(w.prompts()[0])
	parent, _, _ := w.snap.Entry(e.Parent)
	if c, ok := parent.Data.(session.Command); !ok || !c.Excluded || c.Output != "secret\n" {
		t.Errorf("the excluded command is not in the session: %+v", parent)
	}
	w.sameOnDisk()
}

func TestUserCommandIsKilledByEsc(t *testing.T) {
	env, err := tool.NewEnv(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer env.Close()
	w := &world{t: t, model: llmtest.Script(), dir: t.TempDir()}
	w.start(Config{Tools: tool.All(env)})
	w.engine.Send(RunCommand{Command: "echo begun; sleep 1000"})
	w.until("it runs", func(ev Event) bool { r, ok := ev.(CommandRunning); return ok && r.Command.Output != "" })
	w.engine.Send(Interrupt{})
	if f := w.finished(); !errors.Is(f.Err, context.Canceled) {
		t.Fatalf("ended with %v", f.Err)
	}
	e, _, _ := w.snap.Entry(w.snap.Leaf())
	if c, ok := e.Data.(session.Command); !ok || !c.Cancelled || !strings.Contains(c.Output, "begun") {
		t.Errorf("recorded %+v", e.Data)
	}
	w.sameOnDisk()
}

func TestContextReport(t *testing.T) {
	w := newWorld(t, llmtest.Call("c1", "look", `{}`), llmtest.Text("answer"), llmtest.Text("the summary"))
	w.start(Config{Compaction: Compaction{KeepRecent: 3}, System: strings.Repeat("s", 400)})
	w.say("a question\nwith a second line")
	report := func() ContextReport {
		w.engine.Send(Inspect{})
		return w.until("the report", func(ev Event) bool { _, ok := ev.(ContextReport); return ok }).(ContextReport)
	}
	r := report()
	var kinds []ContextKind
	total := 0
	for _, p := range r.Parts {
		kinds = append(kinds, p.Kind)
		total += p.Tokens
	}
	if want := []ContextKind{ContextSystem, ContextTools, ContextPrompts, ContextAnswers, ContextResults}; !slices.Equal(kinds, want) {
		t.Errorf("parts %v", r.Parts)
	}
	if total != r.Total || r.Window != 8000 || r.Counted != 110 || r.Parts[0].Tokens != 100 {
		t.Errorf("report %+v", r)
	}
	if len(r.Entries) != 4 || r.Entries[0].Text != "a question" || r.Entries[0].ID != w.prompts()[0] {
		t.Errorf("entries %+v", r.Entries)
	}
	w.engine.Send(Compact{})
	w.finished()
	if r := report(); r.Counted != 0 || r.Entries[0].Kind != ContextSummaries {
		t.Errorf("after a compaction %+v", r)
	}
}

// Providers cache what a request begins with: the next request of a
// conversation begins with all of the one before, to the byte.
func TestRequestsBeginAsTheOneBefore(t *testing.T) {
	var turns []llmtest.Turn
	for i := range 4 {
		turns = append(turns, llmtest.Call(fmt.Sprint("c", i), "look", `{"a":1,"b":[2]}`), llmtest.Text("answer ", fmt.Sprint(i)))
	}
	w := newWorld(t, turns...)
	w.start(Config{System: "the same"})
	for i := range 4 {
		w.say(fmt.Sprintf("question %d", i))
	}
	text := func(r llm.Request) string {
		raw, err := json.Marshal([]any{r.System, r.Tools, r.Messages})
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSuffix(string(raw), "]]")
	}
	requests := w.model.Requests()
	for i := 1; i < len(requests); i++ {
		if !strings.HasPrefix(text(requests[i]), text(requests[i-1])) {
			t.Errorf("request %d does not begin as the one before:\n%s\n%s", i, text(requests[i-1]), text(requests[i]))
		}
	}
}
