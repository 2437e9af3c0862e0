package engine

import (
	"strings"
	"testing"

	"banyan/internal/llm"
	"banyan/internal/llm/llmtest"
	"banyan/internal/rule"
	"banyan/internal/session"
)

func noPanic(t *testing.T) []*rule.Rule {
	t.Helper()
	r, err := rule.New("no-panic", "Return errors instead.", []string{`panic\(`}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return []*rule.Rule{r}
}

// writing is an answer of many pieces that a client would not finish in one go.
func writing(texts ...string) llmtest.Turn {
	var events []llm.Event
	for _, text := range texts {
		for _, p := range strings.SplitAfter(text, " ") {
			events = append(events, llm.TextDelta{Text: p})
		}
	}
	return llmtest.Events(append(events, llm.Done{Reason: llm.StopEnd})...)
}

// The answer that meets a rule leaves the path and stays in the file; the rule is
// told once on a path, and again where the path goes back before it.
func TestARuleEndsTheAnswerAndIsToldOnce(t *testing.T) {
	bad := "I will call panic(err) here. " + strings.Repeat("and so on ", 200)
	w := &world{t: t, model: llmtest.Script(writing(bad), llmtest.Text("an error is returned"), writing(bad), writing(bad), llmtest.Text("again an error")), dir: t.TempDir()}
	w.start(Config{StreamRules: noPanic(t)})
	if f := w.say("write it"); f.Err != nil {
		t.Fatal(f.Err)
	}
	roles := w.roles()
	if strings.Contains(roles, "panic(err)") || !strings.Contains(roles, "Return errors instead.") || !strings.HasSuffix(roles, "assistant an error is returned") {
		t.Errorf("told %s", roles)
	}
	for _, want := range []string{"I will call panic(err)", `"stopReason":"aborted"`, `"type":"ttsr_injection"`, `"injectedRules":["no-panic"]`} {
		if !strings.Contains(w.file(), want) {
			t.Errorf("the file lacks %s", want)
		}
	}
	if strings.Count(w.file(), "and so on") > 150 {
		t.Error("the answer was written to its end")
	}
	requests := w.model.Requests()
	if last := requests[1].Messages; len(requests) != 2 || last[len(last)-1].Role != llm.User {
		t.Errorf("%d requests, %+v", len(requests), requests)
	}
	w.say("more") // it has been told: the model may explain itself
	if !strings.Contains(w.roles(), "panic(err)") {
		t.Errorf("told %s", w.roles())
	}
	w.sameOnDisk()

	// In another process, after a compaction, and before the rule was added.
	path := w.snap.Path()
	w.start(Config{StreamRules: noPanic(t), Open: func() (*session.Manager, error) { return session.Open(path, session.Options{}) }})
	first := w.snap.ID(0)
	w.engine.Send(Navigate{Target: first, At: true})
	w.moved()
	w.say("once more")
	if n := strings.Count(w.file(), `"type":"ttsr_injection"`); n != 2 || !strings.HasSuffix(w.roles(), "again an error") {
		t.Errorf("%d injections, told %s", n, w.roles())
	}
}

func TestARuleThatWasToldIsKnownAfterACompaction(t *testing.T) {
	bad := "panic(1) " + strings.Repeat("and so on ", 100)
	w := &world{t: t, model: llmtest.Script(writing(bad), llmtest.Text("fine"), llmtest.Text("a summary"), writing(bad)), dir: t.TempDir()}
	w.start(Config{StreamRules: noPanic(t), Compaction: Compaction{KeepRecent: 1}})
	w.say("write it")
	w.engine.Send(Compact{})
	if f := w.finished(); f.Err != nil {
		t.Fatal(f.Err)
	}
	w.say("more")
	if n := strings.Count(w.file(), `"type":"ttsr_injection"`); n != 1 {
		t.Errorf("%d injections", n)
	}
}

// A call that meets a rule is not run, nor what stands beside it.
func TestACallThatMeetsARuleIsNotRun(t *testing.T) {
	call := llmtest.Events(
		llm.CallDelta{Block: 0, ID: "c0", Name: "look", Arguments: `{}`}, llm.CallDone{Block: 0},
		llm.CallDelta{Block: 1, ID: "c1", Name: "change", Arguments: `{"text":"pan`}, llm.CallDelta{Block: 1, Arguments: `ic(1)"}`}, llm.CallDone{Block: 1},
		llm.Done{Reason: llm.StopToolUse})
	w := &world{t: t, model: llmtest.Script(call, llmtest.Text("as you wish")), dir: t.TempDir()}
	w.start(Config{StreamRules: noPanic(t)})
	if f := w.say("do it"); f.Err != nil {
		t.Fatal(f.Err)
	}
	if len(w.ran) > 0 || !strings.HasSuffix(w.roles(), "assistant as you wish") {
		t.Errorf("ran %v, told %s", w.ran, w.roles())
	}
}
