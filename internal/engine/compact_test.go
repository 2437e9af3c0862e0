package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"banyan/internal/llm"
	"banyan/internal/llm/llmtest"
	"banyan/internal/session"
	"banyan/internal/tool"
)

// long is an answer of so many tokens, as estimated, after which the context is
// said to have so many.
func long(tokens, counted int) llmtest.Turn {
	return llmtest.Events(
		llm.TextDelta{Text: strings.Repeat("word", tokens)},
		llm.UsageUpdate{Usage: llm.Usage{Output: 10, Total: counted}},
		llm.Done{Reason: llm.StopEnd})
}

// asked is the same answer to a request that is said to have had so many tokens.
func asked(turn llmtest.Turn, tokens int) llmtest.Turn {
	turn.Events[1] = llm.UsageUpdate{Usage: llm.Usage{Input: tokens, Output: 10}}
	return turn
}

var tooLong413 = &llm.Error{Class: llm.Overflow, Provider: "script", Text: "prompt is too long"}

// script starts an engine with a scripted model, whose window has 8,000 tokens.
func script(t *testing.T, cfg Config, turns ...llmtest.Turn) *world {
	t.Helper()
	w := &world{t: t, model: llmtest.Script(turns...), dir: t.TempDir()}
	w.start(cfg)
	return w
}

func (w *world) compacted() CompactionEnded {
	w.t.Helper()
	return w.until("the end of a compaction", func(ev Event) bool { _, ok := ev.(CompactionEnded); return ok }).(CompactionEnded)
}

// What is not a summary changes nothing, is told once, and the chat goes on.
func TestSummariesThatAreNone(t *testing.T) {
	for name, turn := range map[string]llmtest.Turn{
		"nothing": llmtest.Text(" "),
		"cut off": llmtest.Events(llm.TextDelta{Text: "## Go"}, llm.Done{Reason: llm.StopLength}),
		"a call":  llmtest.Call("c", "look", `{}`),
		"refused": llmtest.Fail(&llm.Error{Class: llm.Stop, Type: "refusal", Provider: "script", Text: "no"}),
		"broken":  llmtest.Fail(errors.New("connection reset"), llm.TextDelta{Text: "## Goal"}),
		"endless": llmtest.Text(strings.Repeat("and so on ", 3000)), // longer than what it stands for
	} {
		t.Run(name, func(t *testing.T) {
			w := script(t, Config{}, long(3000, 7500), turn, llmtest.Text("fine"))
			w.say("u1")
			if f := w.say("u2"); f.Err != nil {
				t.Fatal(f.Err)
			}
			w.checkCompactions(CompactThreshold)
			if i := slices.IndexFunc(w.seen, func(ev Event) bool { _, ok := ev.(CompactionEnded); return ok }); w.seen[i].(CompactionEnded).Err == nil {
				t.Error("it was taken for a summary")
			}
			if got := w.roles(); !strings.HasPrefix(got, "user u1 | assistant wordword") || !strings.HasSuffix(got, "u2 | assistant fine") {
				t.Errorf("context: %.200s", got)
			}
			w.sameOnDisk()
		})
	}
}

// A compaction that failed is not tried again with every request of a tool loop.
func TestFailureIsNotRepeated(t *testing.T) {
	turns := []llmtest.Turn{long(5000, 7000), llmtest.Text("")}
	for i := range 4 {
		turns = append(turns, llmtest.Call(fmt.Sprint("c", i), "look", fmt.Sprintf(`{"n":%d}`, i)))
	}
	for i := range turns[2:] { // the provider goes on counting a context that is nearly full
		turns[2+i].Events[len(turns[2+i].Events)-2] = llm.UsageUpdate{Usage: llm.Usage{Input: 7000 + 20*i}}
	}
	w := script(t, Config{}, append(turns, llmtest.Text("done"))...)
	w.say("u1")
	if f := w.say("u2"); f.Err != nil {
		t.Fatal(f.Err)
	}
	w.checkCompactions(CompactThreshold)
}

// A clock that stands still, or goes back, does not let an answer from before the
// compaction count for the context after it.
func TestOldUsageIsKnownByItsPlace(t *testing.T) {
	now := time.Unix(1000, 0)
	clock := func() time.Time { now = now.Add(-time.Second); return now }
	w := script(t, Config{Now: clock, Session: session.Options{Now: clock}, Compaction: Compaction{KeepRecent: 2000}},
		long(3000, 3100), long(50, 7900), llmtest.Text("the summary"), llmtest.Text("a3"))
	w.say("u1")
	w.say("u2")
	w.engine.Send(Submit{Text: "u3"})
	if end := w.compacted(); end.Err != nil || end.Before < 7900 || end.After > 200 {
		t.Errorf("compacted %+v", end)
	}
	if w.finished(); !strings.Contains(w.roles(), "assistant wordword") {
		t.Errorf("the answer of before is not kept: %s", w.roles())
	}
}

func TestCompactionCanBeOff(t *testing.T) {
	w := script(t, Config{Compaction: Compaction{Off: true, KeepRecent: 1}}, long(5000, 7900), llmtest.Text("a2"), llmtest.Text("by command"))
	w.say("u1")
	w.say("u2")
	w.checkCompactions()
	w.engine.Send(Compact{})
	w.finished()
	w.checkCompactions(CompactManual)
	if got := w.roles(); !strings.Contains(got, "by command") {
		t.Errorf("context: %s", got)
	}
}

// roster has two models with windows and prices of their own.
type roster map[string]struct {
	client llm.Client
	model  llm.Model
}

func (r roster) Client(ref session.ModelRef) (llm.Client, ModelInfo, error) {
	m, ok := r[ref.Model]
	if !ok {
		return nil, ModelInfo{}, fmt.Errorf("there is no model %s", ref.Model)
	}
	m.model.Name = ref.Model
	return m.client, ModelInfo{API: "script", Model: m.model}, nil
}

// Another model may write the summaries; its window is its own, and so is its price.
func TestAnotherModelSummarises(t *testing.T) {
	cheap := llmtest.Script(llmtest.Text("part one"), llmtest.Text("part two"), llmtest.Text("the summary"))
	main := llmtest.Script(long(5000, 7900), llmtest.Text("a2"))
	models := roster{
		"m1":    {main, llm.Model{Context: 8000, Local: true}},
		"cheap": {cheap, llm.Model{Context: 6000, Price: &llm.Price{Input: 1e4, Output: 1e4}}},
	}
	cfg := Config{Models: models, Compaction: Compaction{Model: session.ModelRef{Provider: "script", Model: "cheap"}, KeepRecent: 1}}
	w := script(t, cfg)
	w.say("u1")
	if f := w.say("u2"); f.Err != nil {
		t.Fatal(f.Err)
	}
	requests := cheap.Requests()
	if len(requests) != 3 || requests[0].Model != "cheap" {
		t.Fatalf("%d requests to the model for summaries, %d to the other", len(requests), len(main.Requests()))
	}
	c, _ := w.snap.Context(w.snap.Leaf())
	got := c.Items[0].Data.(session.Compaction)
	if want := 3 * 1.1; got.Usage.Cost.Total < want-1e-9 || got.Usage.Cost.Total > want+1e-9 || got.Usage.Total != 330 {
		t.Errorf("the summary took %+v, want $%v", *got.Usage, want)
	}
	w.close()

	cheap.Add(llmtest.Fail(&llm.Error{Class: llm.Stop, Provider: "script", Text: "no credit"}))
	main.Add(long(1500, 1600), llmtest.Text("a2"), llmtest.Text("written by the one that answers"))
	w.start(cfg)
	w.say("u1")
	w.say("u2")
	w.engine.Send(Compact{})
	if n := w.notice(); n.Level != Warning || !strings.Contains(n.Text, "no credit") {
		t.Errorf("notice %+v", n)
	}
	if f := w.finished(); f.Err != nil || !strings.Contains(w.roles(), "written by the one that answers") {
		t.Errorf("%v: %s", f.Err, w.roles())
	}
	w.close()

	cfg.Compaction.Model.Model = "gone"
	w.start(cfg)
	main.Add(llmtest.Text("a"), llmtest.Text("b"), llmtest.Text("c"))
	w.say("u1")
	w.say("u2")
	w.engine.Send(Compact{})
	if n := w.notice(); n.Level != Warning || !strings.Contains(n.Text, "gone") {
		t.Errorf("notice %+v", n)
	}
	if f := w.finished(); f.Err != nil {
		t.Error(f.Err)
	}
}

func TestSizesAreOfTheModel(t *testing.T) {
	sizes := func(ref session.ModelRef) (int, int) {
		if ref == testModel {
			return 1500, 700
		}
		return 1, 1
	}
	w := script(t, Config{Compaction: Compaction{For: sizes}}, long(600, 650), long(600, 1300), long(600, 6600), llmtest.Text("the summary"), llmtest.Text("a4"))
	for i := range 4 {
		if f := w.say(fmt.Sprint("u", i+1)); f.Err != nil {
			t.Fatal(f.Err)
		}
	}
	w.checkCompactions(CompactThreshold) // at 6,500, not at 6,000
	if got := w.roles(); strings.Count(got, "wordword") == 0 || strings.Contains(got, "user u1") {
		t.Errorf("kept: %.300s", got)
	}
}

// An overflow is answered by one compaction; after an answer there may be another.
func TestOverflowAgainAfterAnAnswer(t *testing.T) {
	call := llmtest.Call("c1", "look", `{}`)
	w := &world{t: t, dir: t.TempDir(), model: llmtest.Script(long(3000, 3100),
		llmtest.Fail(tooLong413), llmtest.Text("first summary"), call,
		llmtest.Fail(tooLong413), llmtest.Text("second summary"), llmtest.Text("done"))}
	big := w.tool("look", tool.Read)
	big.Run = func(context.Context, tool.Input) tool.Result {
		return tool.TextResult(strings.Repeat("line of a result\n", 1000), nil)
	}
	w.start(Config{Compaction: Compaction{Off: true}, Tools: []tool.Tool{big}})
	w.say("u1")
	if f := w.say("u2"); f.Err != nil {
		t.Fatal(f.Err)
	}
	w.checkCompactions(CompactOverflow, CompactOverflow)
	if got := w.roles(); !strings.Contains(got, "second summary") || !strings.HasSuffix(got, "assistant done") {
		t.Errorf("context: %.300s", got)
	}
	if strings.Count(w.file(), `"stopReason":"error"`) != 2 {
		t.Error("the failed answers are not in the file")
	}
	w.sameOnDisk()
}

func TestOverflowIsToldWithNumbers(t *testing.T) {
	w := script(t, Config{Compaction: Compaction{Off: true}}, long(3000, 3100),
		llmtest.Fail(tooLong413), llmtest.Text("summary"), llmtest.Fail(tooLong413))
	w.say("u1")
	f := w.say("u2")
	if !errors.Is(f.Err, tooLong413) || !strings.Contains(f.Err.Error(), "8000") || !strings.Contains(f.Err.Error(), "/model") {
		t.Errorf("ended with %v", f.Err)
	}
}

// A window that nobody knows is learned from what did not fit: the huge result is
// cut inside.
func TestUnknownWindow(t *testing.T) {
	model := llmtest.Script(llmtest.Call("c1", "look", `{}`), llmtest.Fail(tooLong413), llmtest.Text("summary"))
	fits := llmtest.Text("done")
	fits.Check = func(req llm.Request) error {
		if n := len(req.Messages[len(req.Messages)-1].Text()); n > 350_000 {
			return fmt.Errorf("a result of %d bytes", n)
		}
		return nil
	}
	model.Add(fits)
	w := &world{t: t, dir: t.TempDir(), model: model}
	big := w.tool("look", tool.Read)
	big.Run = func(context.Context, tool.Input) tool.Result {
		return tool.TextResult(strings.Repeat("line of a result\n", 30_000), nil)
	}
	w.start(Config{Models: roster{"m1": {model, llm.Model{Local: true}}}, Tools: []tool.Tool{big}})
	if f := w.say("u1"); f.Err != nil {
		t.Fatal(f.Err)
	}
	w.checkCompactions(CompactOverflow)
}

// Servers that leave no room to answer and say nothing have overflowed, too.
func TestSilentOverflow(t *testing.T) {
	silent := llmtest.Events(llm.UsageUpdate{Usage: llm.Usage{Input: 7990, Total: 7990}}, llm.Done{Reason: llm.StopLength})
	w := script(t, Config{Compaction: Compaction{Off: true}}, long(3000, 3100), silent, llmtest.Text("summary"), llmtest.Text("done"))
	w.say("u1")
	if f := w.say("u2"); f.Err != nil {
		t.Fatal(f.Err)
	}
	w.checkCompactions(CompactOverflow)
	if got := w.roles(); !strings.HasSuffix(got, "u2 | assistant done") {
		t.Errorf("context: %.200s", got)
	}
}

// Esc during a compaction changes nothing and ends it once; what was typed
// meanwhile comes back.
func TestInterruptedCompaction(t *testing.T) {
	held := llmtest.Text("the ", "summary")
	held.Hold, held.HoldAt = make(chan struct{}), 2
	w := script(t, Config{}, long(3000, 3100), long(1000, 4100), held)
	w.say("u1")
	w.say("u2")
	n := w.snap.Len()
	w.engine.Send(Compact{})
	w.until("the summary", func(ev Event) bool { _, ok := ev.(Progress); return ok })
	w.engine.Send(Submit{Text: "typed meanwhile"})
	w.until("it waits", func(ev Event) bool { q, ok := ev.(Queue); return ok && len(q.FollowUps) == 1 })
	w.engine.Send(Interrupt{})
	back := w.until("it comes back", func(ev Event) bool { q, ok := ev.(Queue); return ok && len(q.TakenBack) > 0 }).(Queue)
	if f := w.finished(); !errors.Is(f.Err, context.Canceled) || w.snap.Len() != n || back.TakenBack[0] != "typed meanwhile" {
		t.Errorf("%v, %d entries, back came %q", f.Err, w.snap.Len()-n, back.TakenBack)
	}
	w.checkCompactions(CompactManual)
}

// What is sent while a compaction runs is asked after it, also when it fails.
func TestQueuedPromptsSurviveCompactions(t *testing.T) {
	for _, answer := range []string{"the summary", ""} {
		release := make(chan struct{})
		held := llmtest.Text(answer)
		held.Hold = release
		w := script(t, Config{}, long(3000, 3100), long(1000, 4100), held, llmtest.Text("a3"))
		w.say("u1")
		w.say("u2")
		w.engine.Send(Compact{})
		w.until("it began", func(ev Event) bool { _, ok := ev.(CompactionStarted); return ok })
		w.engine.Send(Submit{Text: "u3"})
		w.until("it waits", func(ev Event) bool { q, ok := ev.(Queue); return ok && len(q.FollowUps) == 1 })
		close(release)
		if end := w.compacted(); (end.Err == nil) != (answer != "") {
			t.Errorf("ended with %v", end.Err)
		}
		w.finished() // of the compaction
		if f := w.finished(); f.What != "turn" || f.Err != nil || !strings.HasSuffix(w.roles(), "u3 | assistant a3") {
			t.Errorf("%+v: %.200s", f, w.roles())
		}
	}
}

// A compaction is an entry: before it stands what it stood for, and that can be
// compacted elsewhere.
func TestCompactionCanBeUndone(t *testing.T) {
	w := script(t, Config{Compaction: Compaction{KeepRecent: 1}}, llmtest.Text("a1"), llmtest.Text("a2"), llmtest.Text("a3"),
		llmtest.Text("first summary"), llmtest.Text("second summary"), llmtest.Text("a4"))
	w.say("u1")
	w.say("u2")
	w.say("u3")
	before, leaf := w.roles(), w.snap.Leaf()
	w.engine.Send(Compact{})
	w.finished()
	first := w.snap.Leaf()
	w.engine.Send(Navigate{Target: leaf, At: true})
	w.moved()
	if got := w.roles(); got != before {
		t.Errorf("before the compaction\n got %s\nwant %s", got, before)
	}
	w.engine.Send(Navigate{Target: w.prompts()[2]})
	w.moved()
	w.engine.Send(Compact{Focus: "elsewhere"})
	w.finished()
	w.say("u4")
	if got := w.roles(); !strings.Contains(got, "second summary") || strings.Contains(got, "first") || strings.Contains(got, "u3") {
		t.Errorf("compacted elsewhere: %s", got)
	}
	w.engine.Send(Navigate{Target: first, At: true})
	w.moved()
	if got := w.roles(); !strings.Contains(got, "first summary") || strings.Contains(got, "second") {
		t.Errorf("back at the first: %s", got)
	}
	w.sameOnDisk()
}

// The report's entries can be dropped, with what follows, on a branch.
func TestDropFromTheReport(t *testing.T) {
	w := script(t, Config{}, llmtest.Text("a1"), llmtest.Text("a2"))
	w.say("u1")
	w.say("u2")
	w.engine.Send(Inspect{})
	r := w.until("the report", func(ev Event) bool { _, ok := ev.(ContextReport); return ok }).(ContextReport)
	for i := len(r.Entries) - 1; i >= 0; i-- {
		w.engine.Send(Navigate{Target: r.Entries[i].Parent, At: true})
		w.moved()
		want := []string{"", "user u1", "user u1 | assistant a1", "user u1 | assistant a1 | user u2"}[i]
		if got := w.roles(); got != want {
			t.Errorf("without %q and what follows: %q", r.Entries[i].Text, got)
		}
	}
}

// The footer knows whether the size is counted; the estimate follows what the
// provider counts, within bounds.
func TestContextSizeIsCountedOrEstimated(t *testing.T) {
	w := script(t, Config{System: strings.Repeat("s", 4000)}, asked(long(1000, 0), 1090), asked(long(1000, 0), 4990), llmtest.Text("the summary"), asked(long(10, 0), 100_000))
	state := func(what string, tokens int, estimated bool) {
		t.Helper()
		var last State
		for _, ev := range w.seen {
			if s, ok := ev.(State); ok {
				last = s
			}
		}
		if last.ContextTokens != tokens || last.ContextEstimated != estimated {
			t.Errorf("%s: %d tokens, estimated %v; want %d, %v", what, last.ContextTokens, last.ContextEstimated, tokens, estimated)
		}
	}
	var fixed int
	var ratio float64
	look := func() {
		t.Helper()
		if err := w.engine.do(func() error { fixed, ratio = w.engine.fixed(), w.engine.ratio(testModel); return nil }); err != nil {
			t.Fatal(err)
		}
	}
	w.say("abcd")
	state("after an answer", 1100, false)
	w.engine.Send(Submit{Text: "efgh"})
	w.until("the prompt", func(ev Event) bool { _, ok := ev.(Appended); return ok })
	w.until("its estimate", func(ev Event) bool { _, ok := ev.(State); return ok })
	state("a prompt is estimated", 1101, true)
	w.finished()
	state("after the next answer", 5000, false)
	// 4,990 were counted for both answers, about 1,000 and 2,000 tokens as estimated.
	w.engine.Send(Compact{})
	w.finished()
	c, _ := w.snap.Context(w.snap.Leaf())
	look()
	m := measure(w.snap, c, fixed)
	if m.counted != 0 || ratio < 1.2 || ratio > 2.5 {
		t.Errorf("after the compaction %+v, ratio %v", m, ratio)
	}
	state("after a compaction", int(float64(m.guessed)*ratio), true)
	w.say("ijkl")
	if look(); ratio > mostRatio {
		t.Errorf("ratio %v", ratio)
	}
}

func TestHooksCannotBreakTheSession(t *testing.T) {
	s := &spy{}
	w := script(t, Config{Hooks: s, Compaction: Compaction{KeepRecent: 1}}, llmtest.Text("a1"), llmtest.Text("a2"))
	w.say("u1")
	w.say("u2")
	n := w.snap.Len()
	for _, given := range []session.Compaction{{Summary: " "}, {Summary: "s", FirstKept: "nowhere"}} {
		sayTo(s, func(o *SessionBeforeCompact) error { o.Summary = &given; return nil })
		w.engine.Send(Compact{})
		if f := w.finished(); f.Err == nil || w.snap.Len() != n {
			t.Errorf("%+v was taken", given)
		}
	}
	sayTo(s, func(*SessionBeforeCompact) error { panic("a fault") })
	w.engine.Send(Compact{})
	if end := w.compacted(); end.Err == nil {
		t.Error("a fault ended it well")
	}
	w.finished()
	w.checkCompactions(CompactManual, CompactManual, CompactManual)
}

func TestMaxUSD(t *testing.T) {
	model := llmtest.Script(llmtest.Call("c1", "look", `{}`), llmtest.Call("c2", "look", `{"n":2}`), llmtest.Text("never"))
	w := script(t, Config{Models: roster{"m1": {model, llm.Model{Price: &llm.Price{Input: 1e4, Output: 1e4}}}}, MaxUSD: 2})
	f := w.say("u1") // $1.10 a request
	if !errors.Is(f.Err, ErrBudget) || len(model.Requests()) != 2 || len(w.ran) != 2 {
		t.Errorf("ended with %v after %d requests and %v", f.Err, len(model.Requests()), w.ran)
	}
	w.engine.Send(Compact{})
	if f := w.finished(); f.Err == nil || len(model.Requests()) != 2 {
		t.Errorf("a summary was asked for: %v", f.Err)
	}
	w.sameOnDisk()
}
