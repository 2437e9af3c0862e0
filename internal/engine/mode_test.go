package engine

import (
	"encoding/json"
	"strings"
	"testing"

	"banyan/internal/llm/llmtest"
	"banyan/internal/session"
)

// state waits for a State that is as wanted.
func (w *world) state(what string, ok func(State) bool) State {
	w.t.Helper()
	return w.until(what, func(ev Event) bool { s, is := ev.(State); return is && ok(s) }).(State)
}

func (w *world) mode(name string) {
	w.t.Helper()
	w.state("the mode "+name, func(s State) bool { return s.Mode == name })
}

// told says whether the newest request's instructions have a text.
func (w *world) told(text string) bool {
	requests := w.model.Requests()
	return strings.Contains(requests[len(requests)-1].System, text)
}

// A mode is that of the path: it is there again where one goes back to, in
// another process, and after a compaction.
func TestModesAreOfThePath(t *testing.T) {
	w := newWorld(t, llmtest.Text("one"), llmtest.Text("two"), llmtest.Text("three"), llmtest.Text("four"))
	w.say("plain")
	plain := w.snap.Leaf()
	if w.told("Review") {
		t.Error("told of a mode that is not on")
	}
	w.engine.Send(SetMode{Mode: "review", Data: json.RawMessage(`{"instructions":"Review only.","since":7}`)})
	w.mode("review")
	w.say("reviewed")
	reviewed := w.snap.Leaf()
	if !w.told("Review only.") {
		t.Error("the model was not told")
	}
	w.engine.Send(SetMode{Mode: "none"})
	w.mode("")
	w.say("on")
	if w.told("Review only.") {
		t.Error("told of a mode that is over")
	}
	for _, c := range []struct {
		at   session.ID
		mode string
	}{{plain, ""}, {reviewed, "review"}} {
		w.engine.Send(Navigate{Target: c.at, At: true})
		w.moved()
		w.mode(c.mode)
	}
	w.engine.Send(Compact{})
	w.finished()
	path := w.snap.Path()
	w.close()

	w.model = llmtest.Script(llmtest.Text("again"))
	w.start(Config{Open: func() (*session.Manager, error) { return session.Open(path, session.Options{}) }})
	if s := w.state("the state", func(s State) bool { return s.Mode != "" }); s.Mode != "review" {
		t.Errorf("reopened in the mode %q", s.Mode)
	}
	w.say("go on")
	if !w.told("Review only.") {
		t.Error("the model was not told when the session was opened again")
	}
}

func TestPlanningIsAModeOfThePath(t *testing.T) {
	w := newWorld(t, llmtest.Call("c1", "change", `{}`), llmtest.Text("planned"), llmtest.Text("done"))
	w.engine.Send(SetPermission{Mode: "edits"})
	w.engine.Send(SetPermission{Mode: "plan"}) // as the key does, before anything is said
	w.mode("plan")
	w.say("make it better")
	planned := w.snap.Leaf()
	if !strings.Contains(w.file(), `"type":"mode_change"`) || !w.told("Plan mode is on.") || strings.Contains(strings.Join(w.ran, ""), "change") {
		t.Errorf("not planned: ran %v, %s", w.ran, w.file())
	}
	w.engine.Send(SetMode{})
	if s := w.state("the end of the plan", func(s State) bool { return s.Mode == "" }); s.Permission != "edits" {
		t.Errorf("permission mode %s after planning", s.Permission)
	}
	w.say("do it")
	if w.told("Plan mode") {
		t.Error("still told of the plan mode")
	}
	w.engine.Send(Navigate{Target: planned, At: true})
	w.moved()
	if s := w.state("planning", func(s State) bool { return s.Mode == "plan" }); s.Permission != "plan" {
		t.Errorf("permission mode %s on a path of planning", s.Permission)
	}
	w.sameOnDisk()
}

// A key that goes through the permission modes leaves nothing in the file.
func TestGoingThroughTheModesIsNotRecorded(t *testing.T) {
	w := newWorld(t, llmtest.Text("hi"))
	w.say("hello")
	before := w.snap.Len()
	for _, mode := range []string{"edits", "plan", "auto", "ask"} {
		w.engine.Send(SetPermission{Mode: mode})
	}
	w.state("asking", func(s State) bool { return s.Permission == "ask" && s.Mode == "" })
	w.close()
	if n := w.snap.Len(); n != before {
		t.Errorf("%d entries were added", n-before)
	}
}

func TestBadModes(t *testing.T) {
	w := newWorld(t, llmtest.Text("hi"))
	for _, c := range []SetMode{
		{Mode: "two words"}, {Mode: "\x1b[31m"}, {Mode: strings.Repeat("x", 41)}, {Mode: "x", Data: json.RawMessage(`{`)},
	} {
		w.engine.Send(c)
		if n := w.notice(); n.Level != Failure {
			t.Errorf("%+v: %+v", c, n)
		}
	}
	w.engine.Send(SetMode{Mode: "x", Data: json.RawMessage(`["no object"]`)})
	w.mode("x")
	if f := w.say("hello"); f.Err != nil || w.model.Requests()[0].System != "" {
		t.Errorf("%v, told %q", f.Err, w.model.Requests()[0].System)
	}
}

func TestHooksHearOfModes(t *testing.T) {
	heard := &spy{}
	w := &world{t: t, model: llmtest.Script(), dir: t.TempDir()}
	w.start(Config{Hooks: heard})
	w.engine.Send(SetMode{Mode: "goal", Data: json.RawMessage(`{"n":1}`)})
	w.engine.Send(SetMode{Mode: "plan"})
	w.mode("plan")
	w.close()
	var got []string
	for _, m := range all[*ModeSelect](heard) {
		got = append(got, m.Previous+">"+m.Mode+" "+m.Permission)
	}
	if g := strings.Join(got, ", "); g != ">goal ask, goal>plan plan" {
		t.Errorf("heard %s", g)
	}
}

func TestNamesOfModes(t *testing.T) {
	for name, ok := range map[string]bool{
		"plan": true, "Plan-2.x_y": true, "計画": true, "é": true, strings.Repeat("界", 40): true,
		"": false, "-plan": false, ".": false, "a b": false, "a\x1b[2J": false, strings.Repeat("界", 41): false, "a\xff": false,
	} {
		if modeName(name) != ok {
			t.Errorf("%q: %v", name, !ok)
		}
	}
}
