package hook

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"banyan/internal/engine"
	"banyan/internal/llm"
	"banyan/internal/llm/llmtest"
	"banyan/internal/permission"
	"banyan/internal/session"
	"banyan/internal/tool"
)

// chat is an engine with hooks, a scripted model and the real tools.
type chat struct {
	world
	link   *Link
	engine *engine.Engine
	model  *llmtest.Scripted
	seen   []engine.Event
	snap   session.Snapshot
	ended  bool
}

type models struct{ client llm.Client }

func (m models) Client(ref session.ModelRef) (llm.Client, engine.ModelInfo, error) {
	return m.client, engine.ModelInfo{API: "script", Model: llm.Model{Name: ref.Model, Context: 100_000, Local: true}}, nil
}

// newChat begins a chat with hooks of the user's: pairs of an event and a command.
func newChat(t *testing.T, hooks []string, turns ...llmtest.Turn) *chat {
	t.Helper()
	w := newWorld(t)
	byEvent := map[string][]any{}
	for i := 0; i < len(hooks); i += 2 {
		h := map[string]any{"hooks": []any{map[string]any{"type": "command", "command": hooks[i+1], "timeout": 30}}}
		byEvent[hooks[i]] = append(byEvent[hooks[i]], h)
	}
	settings, err := json.Marshal(byEvent)
	if err != nil {
		t.Fatal(err)
	}
	c := &chat{world: w, model: llmtest.Script(turns...), link: NewLink(w.runner(string(settings), users), false)}
	env, err := tool.NewEnv(w.dir)
	if err != nil {
		t.Fatal(err)
	}
	deny, err := permission.ParseRule(permission.Deny, "Bash(touch forbidden)", permission.Source{Name: "test"})
	if err != nil {
		t.Fatal(err)
	}
	c.engine = engine.New(engine.Config{
		Cwd: w.dir, Hooks: c.link, Models: models{c.model}, Model: session.ModelRef{Provider: "script", Model: "m"}, Tools: tool.All(env),
		Policy:     permission.New(permission.Workspace{Dir: w.dir, Path: "/usr/bin:/bin"}, deny),
		Compaction: engine.Compaction{KeepRecent: 1},
		Tasks: &engine.Tasks{Equip: func(context.Context, session.Task, []tool.Tool) (engine.Equipment, error) {
			return engine.Equipment{Tools: tool.All(env)}, nil
		}},
		Open: func() (*session.Manager, error) {
			return session.New(filepath.Join(w.dir, "..", "sessions"), w.dir, session.Options{})
		},
	})
	c.link.Start(c.engine.Send)
	go c.engine.Run(context.Background())
	t.Cleanup(func() { c.close(); c.link.Close(); env.Close() })
	return c
}

func (c *chat) next() engine.Event {
	c.Helper()
	select {
	case ev, ok := <-c.engine.Events():
		c.ended = !ok
		c.seen = append(c.seen, ev)
		switch ev := ev.(type) {
		case engine.Opened:
			c.snap = ev.Session
		case engine.Appended:
			c.snap = ev.Session
		case engine.Moved:
			c.snap = ev.Session
		}
		return ev
	case <-time.After(20 * time.Second):
		c.Fatalf("nothing happens any more; so far: %v", c.seen)
		return nil
	}
}

func (c *chat) close() {
	if !c.ended {
		c.engine.Send(engine.Close{})
		for !c.ended {
			c.next()
		}
	}
}

// until takes events until one is of a type, and gives it.
func until[E engine.Event](c *chat) E {
	c.Helper()
	for {
		if ev, ok := c.next().(E); ok {
			return ev
		}
		if c.ended {
			c.Fatal("the engine ended")
		}
	}
}

func (c *chat) say(text string) engine.Finished {
	c.Helper()
	c.engine.Send(engine.Submit{Text: text})
	return until[engine.Finished](c)
}

// told is the conversation as a model sees it.
func (c *chat) told() string {
	c.Helper()
	at, err := c.snap.Context(c.snap.Leaf())
	if err != nil {
		c.Fatal(err)
	}
	var parts []string
	for _, m := range at.Messages() {
		parts = append(parts, string(m.Role)+": "+m.Text())
	}
	return strings.Join(parts, " | ")
}

func (c *chat) wants(texts ...string) {
	c.Helper()
	told := c.told()
	for _, text := range texts {
		if !strings.Contains(told, text) {
			c.Errorf("told %q, which lacks %q", told, text)
		}
	}
}

// noticed says whether the user was told a text, once all that was sent so far
// is handled.
func (c *chat) noticed(text string) bool {
	c.Helper()
	c.engine.Send(engine.Inspect{})
	until[engine.ContextReport](c)
	for _, ev := range c.seen {
		if n, ok := ev.(engine.Notice); ok && strings.Contains(n.Text, text) {
			return true
		}
	}
	return false
}

func bash(id, command string) llmtest.Turn {
	return llmtest.Call(id, "bash", fmt.Sprintf(`{"command":%q}`, command))
}

func TestPromptAndStart(t *testing.T) {
	c := newChat(t, []string{
		SessionStart, `cat > start.json; echo "issue 7 is open"`,
		UserPromptSubmit, `grep -q secret && { echo "no secrets" >&2; exit 2; }; echo "it is Friday"`,
		SessionEnd, `cat > end.json`,
	}, llmtest.Text("hello"), llmtest.Text("again"))
	if f := c.say("hi"); f.Err != nil {
		t.Fatal(f.Err)
	}
	c.wants("user: hi", "issue 7 is open", "it is Friday")
	c.say("the secret is 7")
	if strings.Contains(c.told(), "secret") || !c.noticed("no secrets") {
		t.Errorf("told %q", c.told())
	}
	c.say("more")
	if n := strings.Count(c.told(), "issue 7"); n != 1 {
		t.Errorf("the start was told %d times", n)
	}
	c.close()
	c.link.Close()
	for file, want := range map[string]string{"start.json": `"source":"startup"`, "end.json": `"reason":"prompt_input_exit"`} {
		if got := c.read(file); !strings.Contains(got, want) || !strings.Contains(got, `"session_id":"`+c.snap.Header().ID) || !strings.Contains(got, `"permission_mode":"default"`) {
			t.Errorf("%s: %s", file, got)
		}
	}
}

func TestTheUserIsToldWhichHookIsWaitedFor(t *testing.T) {
	c := newChat(t, []string{UserPromptSubmit, "while [ ! -e go ]; do sleep 0.02; done"}, llmtest.Text("hello"))
	c.engine.Send(engine.Submit{Text: "hi"})
	if p := until[engine.Panel](c); !strings.Contains(p.Status, "hook while") {
		t.Errorf("the footer says %q", p.Status)
	}
	c.write("go", "")
	if p := until[engine.Panel](c); p.Status != "" {
		t.Errorf("the footer still says %q", p.Status)
	}
	until[engine.Finished](c)
}

// What a hook says to a call, what the rules say, and what comes of both.
func TestCallsAreJudgedByHooksAndRules(t *testing.T) {
	allow := said(specific(PreToolUse, `"permissionDecision":"allow"`))
	for _, c := range []struct {
		name, hook, command string
		asked               bool
		want                string
	}{
		{"without a word the user is asked", "true", "touch done", true, "not run: the user said no"},
		{"an allow spares the question", allow, "touch done", false, "[no output]"},
		{"an allow never beats a deny rule", allow, "touch forbidden", false, "Bash(touch forbidden)"},
		{"nor with other arguments", said(specific(PreToolUse, `"permissionDecision":"allow","updatedInput":{"command":"touch forbidden"}`)), "ls", false, "Bash(touch forbidden)"},
		{"a deny is told to the model", "echo not here >&2; exit 2", "ls", false, "not run: not here"},
		{"an ask asks about what would be allowed", said(specific(PreToolUse, `"permissionDecision":"ask","permissionDecisionReason":"sure?"`)), "ls", true, "the user said no"},
		{"other arguments are what runs", said(specific(PreToolUse, `"permissionDecision":"allow","updatedInput":{"command":"echo changed"}`)), "ls", false, "changed"},
		{"arguments that do not fit are refused", said(specific(PreToolUse, `"permissionDecision":"allow","updatedInput":{"cmd":"x"}`)), "ls", false, "an extension changed the arguments"},
		{"context comes with the result", said(specific(PreToolUse, `"permissionDecision":"allow","additionalContext":"mind the gap"`)), "echo hi", false, "mind the gap"},
	} {
		t.Run(c.name, func(t *testing.T) {
			chat := newChat(t, []string{PreToolUse, c.hook}, bash("c1", c.command), llmtest.Text("ok"))
			chat.engine.Send(engine.Submit{Text: "go"})
			if c.asked {
				a := until[engine.Asked](chat)
				chat.engine.Send(engine.Answer{Ask: a.Ask, Decision: engine.Deny})
			}
			for {
				if _, ok := chat.next().(engine.Finished); ok {
					break
				}
			}
			for _, ev := range chat.seen {
				if _, ok := ev.(engine.Asked); ok && !c.asked {
					t.Error("the user was asked")
				}
			}
			chat.wants(c.want)
		})
	}
}

func TestTheQuestionCanBeAnsweredByAHook(t *testing.T) {
	for _, c := range []struct{ hook, want string }{
		{said(specific(PermissionRequest, `"decision":{"behavior":"allow"}`)), "[no output]"},
		{said(specific(PermissionRequest, `"decision":{"behavior":"deny","message":"not today"}`)), "not today"},
	} {
		chat := newChat(t, []string{PermissionRequest, c.hook}, bash("c1", "touch done"), llmtest.Text("ok"))
		if f := chat.say("go"); f.Err != nil {
			t.Fatal(f.Err)
		}
		chat.wants(c.want)
	}
}

func TestAfterACall(t *testing.T) {
	c := newChat(t, []string{
		PostToolUse, `cat > post.json; echo "run gofmt" >&2; exit 2`,
		PostToolUseFailure, said(specific(PostToolUseFailure, `"additionalContext":"it often fails"`)),
	}, bash("c1", "echo hi"), llmtest.Call("c2", "read", `{"path":"missing.txt"}`), llmtest.Text("ok"))
	if f := c.say("go"); f.Err != nil {
		t.Fatal(f.Err)
	}
	c.wants("hi\n", "run gofmt", "it often fails")
	var in struct {
		Response struct{ Stdout string } `json:"tool_response"`
		ID       string                  `json:"tool_use_id"`
	}
	if err := json.Unmarshal([]byte(c.read("post.json")), &in); err != nil || in.Response.Stdout != "hi\n" || in.ID != "c1" {
		t.Errorf("%v, %s", err, c.read("post.json"))
	}
}

// A hook keeps a turn going with a reason, and is told that it has.
func TestStop(t *testing.T) {
	c := newChat(t, []string{
		Stop, `cat > in.json; grep -q '"stop_hook_active":true' in.json && exit 0; echo "run the tests" >&2; exit 2`,
	}, llmtest.Text("done"), llmtest.Text("tested"))
	if f := c.say("go"); f.Err != nil {
		t.Fatal(f.Err)
	}
	c.wants("assistant: done", "run the tests", "assistant: tested")
	if in := c.read("in.json"); !strings.Contains(in, `"last_assistant_message":"tested"`) {
		t.Errorf("told %s", in)
	}
}

func TestAHookThatNeverStopsIsNotHeardForEver(t *testing.T) {
	var turns []llmtest.Turn
	for i := range 20 {
		turns = append(turns, llmtest.Text(fmt.Sprint("answer ", i)))
	}
	c := newChat(t, []string{Stop, `echo more >&2; exit 2`}, turns...)
	if f := c.say("go"); f.Err != nil {
		t.Fatal(f.Err)
	}
	if n := len(c.model.Requests()); n != 1+mostStops {
		t.Errorf("%d requests", n)
	}
	if !c.noticed("8 times") {
		t.Errorf("not told: %v", c.seen)
	}
}

func TestContinueFalseEndsTheTurn(t *testing.T) {
	for _, event := range []string{PreToolUse, PostToolUse} {
		c := newChat(t, []string{event, said(`{"continue":false,"stopReason":"enough for today"}`)}, bash("c1", "echo hi"), llmtest.Text("never"))
		f := c.say("go")
		if f.Err == nil || !c.noticed("enough for today") || len(c.model.Requests()) != 1 {
			t.Errorf("%s: %v after %d requests", event, f.Err, len(c.model.Requests()))
		}
	}
}

// Hooks of calls are told whose they are, in which folder, and have a say in the
// end of a task.
func TestTasks(t *testing.T) {
	c := newChat(t, []string{
		PreToolUse, `cat > pre-$(date +%N).json`,
		Stop, `echo stop >> stops`,
		SubagentStop, `cat > "$CLAUDE_PROJECT_DIR"/stop.json; [ -e "$CLAUDE_PROJECT_DIR"/once ] && exit 0; touch "$CLAUDE_PROJECT_DIR"/once; echo "look again" >&2; exit 2`,
	}, llmtest.Call("c1", "task", `{"description":"look","prompt":"look at it","agent":"reader","cwd":"sub"}`),
		llmtest.Call("c2", "read", `{"path":"a.txt"}`), llmtest.Text("looked"), llmtest.Text("looked again"), llmtest.Text("ok"))
	c.write("sub/a.txt", "hello")
	c.engine.Send(engine.SetPermission{Mode: "auto"})
	c.engine.Send(engine.Submit{Text: "go"})
	for {
		ev := c.next()
		if a, ok := ev.(engine.Asked); ok {
			c.engine.Send(engine.Answer{Ask: a.Ask, Decision: engine.Allow})
		}
		if f, ok := ev.(engine.Finished); ok {
			if f.Err != nil {
				t.Fatal(f.Err)
			}
			break
		}
	}
	c.wants("looked again")
	if in := c.read("stop.json"); !strings.Contains(in, `"agent_type":"reader"`) || !strings.Contains(in, `"stop_hook_active":true`) || !strings.Contains(in, `"last_assistant_message":"looked again"`) {
		t.Errorf("told %s", in)
	}
	if n := strings.Count(c.read("stops"), "stop"); n != 1 {
		t.Errorf("the stop of the chat itself was told %d times", n)
	}
	told, _ := filepath.Glob(filepath.Join(c.dir, "pre-*.json"))
	var read string
	for _, file := range told {
		if text := c.read(filepath.Base(file)); strings.Contains(text, `"tool_name":"Read"`) {
			read = text
		}
	}
	if want := `"file_path":"` + filepath.Join(c.dir, "sub", "a.txt") + `"`; !strings.Contains(read, want) || !strings.Contains(read, `"agent_type":"reader"`) {
		t.Errorf("told %s, which lacks %s", read, want)
	}
}

func TestTreeAndCompaction(t *testing.T) {
	c := newChat(t, []string{
		PreTree, `cat > tree.json; [ -e stay ] && { echo "not now" >&2; exit 2; }; ` + said(specific(PreTree, `"summary":"we tried","label":"tried"`)),
		PostTree, `cat > moved.json`,
		PreCompact, `cat > compact.json; echo "later" >&2; exit 2`,
		PreBranch, `echo "no forks" >&2; exit 2`,
	}, llmtest.Text("one"), llmtest.Text("two"))
	c.say("first")
	first := c.snap.Leaf()
	c.say("second")
	c.engine.Send(engine.Compact{Focus: "tests"})
	if e := until[engine.CompactionEnded](c); e.Err == nil || !strings.Contains(e.Err.Error(), "later") {
		t.Errorf("compacted: %v", e.Err)
	}
	if in := c.read("compact.json"); !strings.Contains(in, `"trigger":"manual","custom_instructions":"tests"`) {
		t.Errorf("told %s", in)
	}
	until[engine.Finished](c)
	c.write("stay", "")
	c.engine.Send(engine.Navigate{Target: first, At: true, Summarize: true})
	if s := until[engine.Stayed](c); s.Err == nil || !strings.Contains(s.Err.Error(), "not now") {
		t.Errorf("moved: %v", s.Err)
	}
	until[engine.Finished](c)
	c.write("stay", "")
	if err := os.Remove(filepath.Join(c.dir, "stay")); err != nil {
		t.Fatal(err)
	}
	c.engine.Send(engine.Navigate{Target: first, At: true, Summarize: true})
	until[engine.Moved](c)
	c.wants("we tried")
	if in := c.read("tree.json"); !strings.Contains(in, `"target":"`+string(first)+`"`) || !strings.Contains(in, `"summarize":true`) {
		t.Errorf("told %s", in)
	}
	until[engine.Finished](c)
	c.engine.Send(engine.Fork{Target: first, At: true})
	if f := until[engine.Finished](c); f.Err == nil || !strings.Contains(f.Err.Error(), "no forks") {
		t.Errorf("forked: %v", f.Err)
	}
	c.close()
	c.eventually("moved.json")
}

// eventually waits for a file of a hook that nobody waits for.
func (c *chat) eventually(name string) {
	c.Helper()
	for range 1000 {
		if _, err := os.Stat(filepath.Join(c.dir, name)); err == nil {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	c.Errorf("%s was not written", name)
}

// Nobody who has no hooks pays for them.
func TestNoHooksHearNothing(t *testing.T) {
	l := NewLink(New(Config{}, nil), false)
	var heard []string
	for _, o := range engine.Occasions() {
		if l.Hears(o.Name()) {
			heard = append(heard, o.Name())
		}
	}
	if got := strings.Join(heard, " "); got != "session_start agent_start mode_select" {
		t.Errorf("hears %s", got)
	}
}

// BenchmarkNoHooks is what each occasion of a turn costs where there are no hooks.
func BenchmarkNoHooks(b *testing.B) {
	l := NewLink(New(Config{}, nil), false)
	for b.Loop() {
		if l.Hears("tool_call") {
			b.Fatal("heard")
		}
	}
}
