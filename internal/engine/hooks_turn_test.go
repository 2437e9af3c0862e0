package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"banyan/internal/agent"
	"banyan/internal/llm"
	"banyan/internal/llm/llmtest"
	"banyan/internal/permission"
	"banyan/internal/session"
	"banyan/internal/tool"
)

// listened is a world whose engine has a spy for hooks.
func listened(t *testing.T, s *spy, turns ...llmtest.Turn) *world {
	t.Helper()
	w := &world{t: t, model: llmtest.Script(turns...), dir: t.TempDir()}
	w.start(Config{Hooks: s})
	return w
}

func TestHooksHearOfATurnInOrder(t *testing.T) {
	s := &spy{}
	w := listened(t, s, llmtest.Call("c1", "look", `{"n":1}`), llmtest.Text("done"))
	w.say("u1")
	got := s.names("input", "before_agent", "agent", "turn", "message", "context", "tool", "permission")
	got = slices.Compact(got) // updates come in pieces
	want := []string{
		"input", "message_start", "message_end", "before_agent_start", "agent_start",
		"turn_start", "context", "message_start", "message_update", "message_end", "tool_call", "tool_result", "message_start", "message_end", "turn_end",
		"turn_start", "context", "message_start", "message_update", "message_end", "turn_end", "agent_end",
	}
	if !slices.Equal(got, want) {
		t.Errorf("heard\n%q, want\n%q", got, want)
	}
	ends := all[*TurnEnd](s)
	if len(ends) != 2 || ends[1].Index != 1 || len(ends[0].Results) != 1 || ends[1].Message.Text() != "done" {
		t.Errorf("turn_end %+v", ends)
	}
	if e := all[*AgentEnd](s)[0]; e.Err != nil || e.Last.Text() != "done" {
		t.Errorf("agent_end %+v", e)
	}
	w.sameOnDisk()
}

func TestAHookMayChangeAPrompt(t *testing.T) {
	s := &spy{}
	sayTo(s, func(o *Input) error {
		o.Text = strings.ToUpper(o.Text)
		o.Add = []session.CustomMessage{{Type: "x", Content: []llm.Block{llm.Text{Text: "and this"}}}}
		return nil
	})
	w := listened(t, s, llmtest.Text("a1"))
	w.say("u1")
	if got := w.model.Requests()[0].Messages[0].Text(); got != "U1\nand this" {
		t.Errorf("asked %q", got)
	}
	w.sameOnDisk()
}

func TestAHookMayStopOrHandleAPrompt(t *testing.T) {
	for _, handled := range []bool{true, false} {
		s := &spy{}
		sayTo(s, func(o *Input) error {
			o.Handled = handled
			if handled {
				return nil
			}
			return fmt.Errorf("%w: not now", ErrVetoed)
		})
		w := listened(t, s)
		w.engine.Send(Submit{Text: "u1"})
		f := w.finished()
		said := slices.ContainsFunc(w.seen, func(ev Event) bool { n, ok := ev.(Notice); return ok && strings.Contains(n.Text, "not now") })
		if w.snap.Len() != 0 || len(w.model.Requests()) != 0 || f.Err != nil || said == handled {
			t.Errorf("handled %t: %d entries, %v, said %t", handled, w.snap.Len(), f.Err, said)
		}
		if back := takenBack(w); slices.Equal(back, []string{"u1"}) == handled {
			t.Errorf("handled %t: taken back %q", handled, back)
		}
	}
}

// takenBack is what came back to the editor so far.
func takenBack(w *world) (texts []string) {
	for _, ev := range w.seen {
		if q, ok := ev.(Queue); ok {
			texts = append(texts, q.TakenBack...)
		}
	}
	return texts
}

// Steering is shown to hooks where it is delivered, not where it is typed.
func TestAHookMayStopSteering(t *testing.T) {
	s := &spy{}
	sayTo(s, func(o *Input) error {
		if o.Steers && o.Text == "no" {
			return ErrVetoed
		}
		return nil
	})
	w := listened(t, s, llmtest.Call("c1", "change", `{}`), llmtest.Text("a1"))
	w.engine.Send(Submit{Text: "u1"})
	q := w.asked()
	w.engine.Send(Submit{Text: "no"})
	w.engine.Send(Submit{Text: "yes"})
	w.engine.Send(Answer{Ask: q.Ask, Decision: Allow})
	if f := w.finished(); f.Err != nil {
		t.Fatal(f.Err)
	}
	if got := w.roles(); !strings.Contains(got, "yes") || strings.Contains(got, "user no") {
		t.Errorf("path %s", got)
	}
	if back := takenBack(w); !slices.Equal(back, []string{"no"}) {
		t.Errorf("taken back %q", back)
	}
}

// What a hook says after the interrupt counts no more, and the prompt is not lost.
func TestAnInterruptEndsAHooksSay(t *testing.T) {
	s := &spy{}
	asked := make(chan struct{})
	s.say = func(ctx context.Context, o Occasion) error {
		if in, ok := o.(*Input); ok {
			close(asked)
			<-ctx.Done()
			in.Text = "too late"
		}
		return nil
	}
	w := listened(t, s)
	w.engine.Send(Submit{Text: "u1"})
	<-asked
	w.engine.Send(Interrupt{})
	if f := w.finished(); !errors.Is(f.Err, context.Canceled) || w.snap.Len() != 0 {
		t.Errorf("%v, %d entries", f.Err, w.snap.Len())
	}
	if back := takenBack(w); !slices.Equal(back, []string{"u1"}) {
		t.Errorf("taken back %q", back)
	}
}

func TestAHookMayAddToATurn(t *testing.T) {
	s := &spy{}
	sayTo(s, func(o *BeforeAgentStart) error {
		if o.Prompt != "u1" {
			return fmt.Errorf("the prompt is %q", o.Prompt)
		}
		o.Append = "be brief"
		o.Add = []session.CustomMessage{{Type: "x", Content: []llm.Block{llm.Text{Text: "remember"}}, Display: true}}
		return nil
	})
	w := listened(t, s, llmtest.Text("a1"))
	w.say("u1")
	r := w.model.Requests()[0]
	if !strings.HasSuffix(r.System, "be brief") || !strings.Contains(r.Messages[0].Text(), "remember") {
		t.Errorf("asked %q, %q", r.System, r.Messages[0].Text())
	}
	w.sameOnDisk()
}

func TestAHookMayChangeARequest(t *testing.T) {
	s := &spy{}
	sayTo(s, func(o *Context) error {
		if len(o.Messages) > 2 {
			o.Messages = o.Messages[2:] // a result without its call is left: it is repaired
		}
		return nil
	})
	w := listened(t, s, llmtest.Call("c1", "look", `{}`), llmtest.Text("a1"))
	if f := w.say("u1"); f.Err != nil {
		t.Fatal(f.Err)
	}
	for _, m := range w.model.Requests()[1].Messages {
		if m.Role != llm.User {
			t.Errorf("sent %+v", m)
		}
	}
	if got := w.roles(); !strings.Contains(got, "look()") {
		t.Errorf("the path lost something: %s", got)
	}
}

func TestAHookMayKeepATurnGoing(t *testing.T) {
	s := &spy{}
	sayTo(s, func(o *AgentEnd) error {
		if o.Again == 0 {
			o.Continue = "the tests fail"
		}
		return nil
	})
	w := listened(t, s, llmtest.Text("a1"), llmtest.Text("a2"))
	if f := w.say("u1"); f.Err != nil {
		t.Fatal(f.Err)
	}
	if got := w.roles(); !strings.Contains(got, "the tests fail") || !strings.Contains(got, "a2") {
		t.Errorf("path %s", got)
	}
	sayTo(s, func(o *AgentEnd) error { o.Continue = "for ever"; return nil })
	for range mostAgain + 1 {
		w.model.Add(llmtest.Text("more"))
	}
	if f := w.say("u2"); f.Err == nil {
		t.Error("a turn without end ended well")
	}
}

// callOf runs one call of a tool that is asked, and says what came of it.
func callOf(t *testing.T, s *spy, name, args string, rules ...permission.Rule) (w *world, result llm.Message) {
	t.Helper()
	w = &world{t: t, model: llmtest.Script(llmtest.Call("c1", name, args), llmtest.Text("a1")), dir: t.TempDir()}
	policy := testPolicy(t, w.dir)
	policy.Remember(rules...)
	w.start(Config{Hooks: s, Policy: policy})
	w.engine.Send(Submit{Text: "u1"})
	w.until("the end of the call", func(ev Event) bool {
		if q, ok := ev.(Asked); ok {
			w.engine.Send(Answer{Ask: q.Ask, Decision: Deny, Comment: "the user was asked"})
		}
		a, ok := ev.(Appended)
		if !ok {
			return false
		}
		m, ok := a.Entry.Data.(session.Message)
		result = m.Message
		return ok && m.Role == llm.ToolResult
	})
	w.finished()
	return w, result
}

func TestAHooksOpinionOfACall(t *testing.T) {
	rule := func(action permission.Action, text string) permission.Rule {
		r, err := permission.ParseRule(action, text, permission.Source{Name: "test"})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	for _, tt := range []struct {
		name, tool string
		say        permission.Action
		rules      []permission.Rule
		ran        bool
		result     string
	}{
		{"a deny blocks what is allowed", "look", permission.Deny, nil, false, "not run: my reason"},
		{"an ask asks for what is allowed", "look", permission.Ask, nil, false, "the user was asked"},
		{"an allow spares a question", "change", permission.Allow, nil, true, "change done"},
		{"an allow never beats a deny", "change", permission.Allow, []permission.Rule{rule(permission.Deny, "change")}, false, "says deny"},
		{"an allow does not beat an ask of the user's", "change", permission.Allow, []permission.Rule{rule(permission.Ask, "change")}, false, "the user was asked"},
	} {
		s := &spy{}
		sayTo(s, func(o *ToolCall) error { o.Decide(tt.say, "my reason", "x"); return nil })
		w, result := callOf(t, s, tt.tool, `{}`, tt.rules...)
		if (len(w.ran) > 0) != tt.ran || !strings.Contains(result.Text(), tt.result) {
			t.Errorf("%s: ran %q, result %q", tt.name, w.ran, result.Text())
		}
	}
}

func TestTheStrictestOpinionCounts(t *testing.T) {
	actions := []permission.Action{permission.Allow, permission.Ask, permission.Deny}
	for i, a := range actions {
		for j, b := range actions {
			var o Opinion
			o.Decide(a, "", "")
			o.Decide(b, "", "")
			if o.Action != actions[max(i, j)] {
				t.Errorf("%v then %v gives %v", a, b, o.Action)
			}
		}
	}
}

func TestAHookMayAnswerForTheUser(t *testing.T) {
	for _, action := range []permission.Action{permission.Allow, permission.Deny} {
		s := &spy{}
		sayTo(s, func(o *PermissionRequest) error { o.Decide(action, "my reason", "x"); return nil })
		w, result := callOf(t, s, "change", `{}`)
		if ran := len(w.ran) > 0; ran != (action == permission.Allow) || strings.Contains(result.Text(), "the user was asked") {
			t.Errorf("%v: ran %q, result %q", action, w.ran, result.Text())
		}
		if !strings.Contains(string(result.Details), `"by":"x"`) {
			t.Errorf("recorded %s", result.Details)
		}
	}
}

func TestAHookMayChangeACallAndItsResult(t *testing.T) {
	s := &spy{}
	s.say = func(_ context.Context, o Occasion) error {
		switch o := o.(type) {
		case *ToolCall:
			o.Arguments = json.RawMessage(`{"n":2}`)
		case *ToolResult:
			o.Content = append(o.Content, llm.Text{Text: "seen " + string(o.Arguments)})
		}
		return nil
	}
	w, result := callOf(t, s, "look", `{"n":1}`)
	if want := []string{`look {"n":2}`}; !slices.Equal(w.ran, want) || !strings.Contains(result.Text(), `seen {"n":2}`) {
		t.Errorf("ran %q, result %q", w.ran, result.Text())
	}
	if !strings.Contains(string(result.Details), `"changed":"{\"n\":2}"`) {
		t.Errorf("recorded %s", result.Details)
	}
	sayTo(s, func(o *ToolCall) error { o.Arguments = json.RawMessage(`[1]`); return nil })
	if w, result := callOf(t, s, "look", `{}`); len(w.ran) != 0 || !result.IsError {
		t.Errorf("ran %q with arguments that do not fit: %q", w.ran, result.Text())
	}
}

func TestAHookMayTakeACommandOver(t *testing.T) {
	s := &spy{}
	said := "elsewhere"
	sayTo(s, func(o *UserBash) error { o.Output = &said; return nil })
	w := &world{t: t, model: llmtest.Script(), dir: t.TempDir()}
	w.start(Config{Hooks: s, Tools: []tool.Tool{w.tool("bash", tool.Execute)}})
	w.engine.Send(RunCommand{Command: "make"})
	w.finished()
	e, _, _ := w.snap.Entry(w.snap.Leaf())
	if c, ok := e.Data.(session.Command); !ok || c.Output != said || len(w.ran) != 0 {
		t.Errorf("leaf %+v, ran %q", e.Data, w.ran)
	}
	sayTo(s, func(*UserBash) error { return ErrVetoed })
	n := w.snap.Len()
	w.engine.Send(RunCommand{Command: "make"})
	if f := w.finished(); !errors.Is(f.Err, ErrVetoed) || w.snap.Len() != n {
		t.Errorf("%v, %d entries", f.Err, w.snap.Len())
	}
}

func TestHooksAddToASummarysPrompt(t *testing.T) {
	s := &spy{}
	sayTo(s, func(o *SessionCompacting) error { o.Context = []string{"keep the names"}; return nil })
	w := &world{t: t, model: llmtest.Script(llmtest.Text("a1"), llmtest.Text("a2"), llmtest.Text("short")), dir: t.TempDir()}
	w.start(Config{Hooks: s, Compaction: Compaction{KeepRecent: 1}})
	w.say("u1")
	w.say("u2")
	w.engine.Send(Compact{Focus: "the goal"})
	if f := w.finished(); f.Err != nil {
		t.Fatal(f.Err)
	}
	if p := w.model.Requests()[2].Messages[0].Text(); !strings.Contains(p, "the goal") || !strings.Contains(p, "keep the names") {
		t.Errorf("asked %q", p)
	}
}

func TestChain(t *testing.T) {
	var order []string
	link := func(name string, err error) *spy {
		return &spy{say: func(_ context.Context, o Occasion) error {
			in := o.(*Input)
			order = append(order, name+" sees "+in.Text)
			if err == nil {
				in.Text += name
			}
			return err
		}}
	}
	var failed []string
	c := Chain{
		Links:  []Hooks{link("a", nil), link("b", errors.New("broke")), &spy{deaf: []string{"input"}}, link("c", nil), link("d", ErrVetoed), link("e", nil)},
		Failed: func(o Occasion, err error) { failed = append(failed, o.Name()+" "+err.Error()) },
	}
	if err := c.Ask(t.Context(), &Input{Text: "u"}); !errors.Is(err, ErrVetoed) {
		t.Errorf("it ended with %v", err)
	}
	if want := []string{"a sees u", "b sees ua", "c sees ua", "d sees uac"}; !slices.Equal(order, want) {
		t.Errorf("asked %q, want %q", order, want)
	}
	if want := []string{"input broke"}; !slices.Equal(failed, want) {
		t.Errorf("failed %q", failed)
	}
	if !c.Hears("input") || (Chain{}).Hears("input") {
		t.Error("it does not know what it hears")
	}
}

// Every occasion has a name of its own, also as a nil pointer: that is how the
// engine asks who hears it.
func TestOccasionsHaveNames(t *testing.T) {
	seen := map[string]bool{}
	for _, o := range Occasions() {
		if n := o.Name(); n == "" || seen[n] {
			t.Errorf("%T is called %q", o, n)
		}
		seen[o.Name()] = true
	}
}

// quietHooks hear everything and say nothing.
type quietHooks struct{}

func (quietHooks) Hears(string) bool                   { return true }
func (quietHooks) Ask(context.Context, Occasion) error { return nil }
func (quietHooks) Tell(Occasion)                       {}

// What hooks cost the engine for each piece of an answer and for each request:
// without any, nothing that can be measured.
func BenchmarkHooks(b *testing.B) {
	for _, n := range []int{0, 1, 10} {
		e := New(Config{})
		if n > 0 {
			e.cfg.Hooks = Chain{Links: slices.Repeat([]Hooks{quietHooks{}}, n)}
		}
		b.Run(fmt.Sprintf("piece/%d", n), func(b *testing.B) {
			b.ReportAllocs()
			ev := agent.Delta{Event: llm.TextDelta{Text: "word "}}
			for b.Loop() {
				e.hear(ev)
			}
		})
		b.Run(fmt.Sprintf("request/%d", n), func(b *testing.B) {
			b.ReportAllocs()
			t, messages := turn{Engine: e}, []llm.Message{llm.UserText("u", time.UnixMilli(1))}
			for b.Loop() {
				if _, err := t.consultRequest(b.Context(), messages); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
