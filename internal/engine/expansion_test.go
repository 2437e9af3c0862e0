package engine

import (
	"strings"
	"testing"

	"banyan/internal/llm"
	"banyan/internal/llm/llmtest"
	"banyan/internal/session"
)

func stands(text string, once bool) *Expansion {
	return &Expansion{CustomMessage: session.CustomMessage{Type: "test", Content: []llm.Block{llm.Text{Text: text}}}, Once: once}
}

// What a command stands for is told below it; going back to the command gives
// the command, and leaves nothing of it behind.
func TestCommandsAreRecordedAsTheyWereTyped(t *testing.T) {
	w := newWorld(t, llmtest.Text("a1"), llmtest.Text("a2"), llmtest.Text("a3"))
	for range 2 { // again and again: it is not the same prompt
		w.engine.Send(Submit{Text: "/review a.go", Stands: stands("Review a.go.", false)})
		w.finished()
	}
	const turn = "user /review a.go⏎Review a.go. | assistant "
	if got, want := w.roles(), turn+"a1 | "+turn+"a2"; got != want {
		t.Errorf("context\n got %s\nwant %s", got, want)
	}
	w.engine.Send(Navigate{Target: w.prompts()[1]})
	if m := w.moved(); m.Draft == nil || m.Draft.Text != "/review a.go" {
		t.Errorf("the draft is %+v", m.Draft)
	}
	if got, want := w.roles(), turn+"a1"; got != want {
		t.Errorf("after going back: %s", got)
	}
	w.sameOnDisk()
}

// What is to be told once is told again only where the path does not have it.
func TestATextIsGivenOnceOnAPath(t *testing.T) {
	w := newWorld(t, llmtest.Text("a1"), llmtest.Text("a2"), llmtest.Text("a3"), llmtest.Text("a4"))
	use := func(text string) {
		w.engine.Send(Submit{Text: "/skill:x", Stands: stands(text, true)})
		w.finished()
	}
	given := func() int { return strings.Count(w.roles(), "⏎<skill>") }
	use("<skill>x</skill>")
	use("<skill>x</skill>")
	if n := given(); n != 1 {
		t.Errorf("given %d times: %s", n, w.roles())
	}
	use("<skill>x, changed</skill>")
	if n := given(); n != 2 {
		t.Errorf("after it changed %d times: %s", n, w.roles())
	}
	w.engine.Send(Navigate{Target: w.prompts()[0]})
	w.moved()
	use("<skill>x</skill>")
	if n := given(); n != 1 {
		t.Errorf("on another branch %d times: %s", n, w.roles())
	}
	w.sameOnDisk()
}

// A command that waits is taken back as it was typed, and told when its turn comes.
func TestCommandsSteer(t *testing.T) {
	hold := make(chan struct{})
	first := llmtest.Call("c1", "look", `{}`)
	first.Hold, first.HoldAt = hold, 1
	w := newWorld(t, first, llmtest.Text("one"))
	w.engine.Send(Submit{Text: "begin"})
	w.until("the answer begins", func(ev Event) bool { _, ok := ev.(Progress); return ok })
	w.engine.Send(Submit{Text: "/review", Stands: stands("Review it.", false)})
	w.until("it is queued", func(ev Event) bool {
		q, ok := ev.(Queue)
		return ok && len(q.Steering) == 1 && q.Steering[0] == "/review"
	})
	close(hold)
	w.finished()
	if got, want := w.roles(), "user begin | assistant look() | toolResult look done | user /review⏎Review it. | assistant one"; got != want {
		t.Errorf("context\n got %s\nwant %s", got, want)
	}
}
