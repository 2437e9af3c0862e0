package engine

import (
	"slices"
	"strings"
	"testing"

	"banyan/internal/llm"
	"banyan/internal/llm/llmtest"
	"banyan/internal/session"
)

func TestTheQueueSurvivesARestart(t *testing.T) {
	kept := map[string][]string{}
	keep := Config{
		SaveQueue: func(id string, prompts []string) error { kept[id] = slices.Clone(prompts); return nil },
		LoadQueue: func(id string) []string { return kept[id] },
	}
	held := llmtest.Text("half of it")
	held.Hold, held.HoldAt = make(chan struct{}), 2
	w := &world{t: t, model: llmtest.Script(held, llmtest.Text("one"), llmtest.Text("two")), dir: t.TempDir()}
	w.start(keep)
	w.engine.Send(Submit{Text: "begin"})
	w.until("the answer has a text", func(ev Event) bool { p, _ := ev.(Progress); _, ok := p.Event.(llm.TextDelta); return ok })
	w.engine.Send(Submit{Text: "and then", FollowUp: true})
	w.until("it is queued", func(ev Event) bool { q, ok := ev.(Queue); return ok && len(q.FollowUps) == 1 })
	path := w.snap.Path()
	w.close()

	keep.Open = func() (*session.Manager, error) { return session.Open(path, session.Options{}) }
	w.start(keep)
	w.until("it is queued again", func(ev Event) bool { q, ok := ev.(Queue); return ok && slices.Equal(q.FollowUps, []string{"and then"}) })
	w.say("go on")
	if f := w.finished(); f.Err != nil { // the turn of what waited
		t.Fatal(f.Err)
	}
	if got := w.roles(); !strings.HasSuffix(got, "user go on | assistant one | user and then | assistant two") {
		t.Errorf("context %s", got)
	}
	if id := w.snap.Header().ID; len(kept[id]) != 0 {
		t.Errorf("still kept: %v", kept[id])
	}
}

func TestInstructionsThatToolsMeetAreToldOnce(t *testing.T) {
	asked := []string{}
	w := &world{t: t, model: llmtest.Script(llmtest.Call("c1", "look", `{"path":"sub/a.go"}`), llmtest.Call("c2", "look", `{"path":"sub/b.go"}`), llmtest.Text("done")), dir: t.TempDir()}
	w.start(Config{Below: func(path string) string {
		asked = append(asked, path)
		if len(asked) == 1 {
			return "In sub, use tabs."
		}
		return ""
	}})
	if f := w.say("look"); f.Err != nil {
		t.Fatal(f.Err)
	}
	if got := w.roles(); strings.Count(got, "In sub, use tabs.") != 1 || !strings.Contains(got, "look done | user In sub, use tabs. | assistant look()") {
		t.Errorf("context %s", got)
	}
	if !slices.Equal(asked, []string{"sub/a.go", "sub/b.go"}) {
		t.Errorf("asked for %v", asked)
	}
	w.sameOnDisk()
}

func TestTheQueueCanBePutInOrder(t *testing.T) {
	held, hold := llmtest.Text("half of it"), make(chan struct{})
	held.Hold, held.HoldAt = hold, 2
	w := newWorld(t, held, llmtest.Text("one"), llmtest.Text("two"))
	w.engine.Send(Submit{Text: "begin"})
	w.until("the answer begins", func(ev Event) bool { _, ok := ev.(Progress); return ok })
	picture := llm.Image{Data: "aGk=", MIME: "image/png"}
	w.engine.Send(Submit{Text: "a", FollowUp: true})
	w.engine.Send(Submit{Text: "b", FollowUp: true, Images: []llm.Image{picture}})
	w.engine.Send(Submit{Text: "c", FollowUp: true})
	w.engine.Send(SetQueue{FollowUps: []string{"b", "a"}})
	w.until("it is in order", func(ev Event) bool { q, ok := ev.(Queue); return ok && slices.Equal(q.FollowUps, []string{"b", "a"}) })
	close(hold)
	for range 3 {
		w.finished()
	}
	if got := w.roles(); !strings.HasSuffix(got, "user b | assistant one | user a | assistant two") {
		t.Errorf("context %s", got)
	}
	e, _, err := w.snap.Entry(w.prompts()[1])
	if m, ok := e.Data.(session.Message); err != nil || !ok || len(m.Content) != 2 || m.Content[1] != llm.Block(picture) {
		t.Errorf("the picture did not come along: %+v", e.Data)
	}
}
