package hook

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"banyan/internal/config"
	// Hooks are run by this program, executed again.
	_ "banyan/internal/sandbox"
)

// world is a home folder and a trusted project.
type world struct {
	*testing.T
	dir   string
	trust config.Trust
}

func newWorld(t *testing.T) world {
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := world{t, filepath.Join(home, "project"), config.Trust{File: filepath.Join(home, "state", "trust.json"), Home: home}}
	if err := os.Mkdir(w.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := w.trust.Grant(w.dir); err != nil {
		t.Fatal(err)
	}
	return w
}

// runner runs hooks of a settings value.
func (w world) runner(settings string, from Source) *Runner {
	w.Helper()
	hooks, problems := Parse([]byte(settings), from)
	if len(problems) > 0 {
		w.Fatal(problems)
	}
	r := New(Config{Dir: w.dir, Project: w.dir, Trust: w.trust, Now: time.Now, Meets: meets}, hooks)
	w.Cleanup(r.Close)
	return r
}

func meets(rule, tool string, args json.RawMessage) (bool, error) {
	if rule == "bad" {
		return false, fmt.Errorf("a bad rule")
	}
	return strings.Contains(string(args), rule), nil
}

var users = Source{File: "/home/settings.json"}

// commands are the settings of hooks of one event, for all that happens.
func commands(event string, lines ...string) string {
	var list []map[string]any
	for _, l := range lines {
		list = append(list, map[string]any{"type": "command", "command": l, "timeout": 20})
	}
	text, _ := json.Marshal(map[string]any{event: []any{map[string]any{"hooks": list}}})
	return string(text)
}

func said(text string) string { return "printf '%s' '" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

func specific(event, rest string) string {
	return fmt.Sprintf(`{"hookSpecificOutput":{"hookEventName":%q,%s}}`, event, rest)
}

// What programs print and how they end, and what it means at each event.
func TestOutcomes(t *testing.T) {
	w := newWorld(t)
	for _, c := range []struct {
		name, event, command string
		want                 string // the outcome in words, with what it says
	}{
		{"nothing", PreToolUse, "true", "ok"},
		{"plain text decides nothing", PreToolUse, "echo deny", "ok"},
		{"exit 2 denies", PreToolUse, "echo no >&2; exit 2", "denied no"},
		{"exit 2 without words", PreToolUse, "exit 2", "denied a hook said no, and not why"},
		{"exit 2 beats an allow beside it", PreToolUse, said(specific(PreToolUse, `"permissionDecision":"allow","permissionDecisionReason":"why not"`)) + "; exit 2", "denied why not"},
		{"allow", PreToolUse, said(specific(PreToolUse, `"permissionDecision":"allow"`)), "allowed"},
		{"ask", PreToolUse, said(specific(PreToolUse, `"permissionDecision":"ask","permissionDecisionReason":"sure?"`)), "asked sure?"},
		{"defer asks", PreToolUse, said(specific(PreToolUse, `"permissionDecision":"defer"`)), "asked"},
		{"deny", PreToolUse, said(specific(PreToolUse, `"permissionDecision":"deny","permissionDecisionReason":"not here"`)), "denied not here"},
		{"the words of old", PreToolUse, said(`{"decision":"block","reason":"old"}`), "denied old"},
		{"the words of old, kindly", PreToolUse, said(`{"decision":"approve"}`), "allowed"},
		{"a program that failed denies", PreToolUse, said(specific(PreToolUse, `"permissionDecision":"deny","permissionDecisionReason":"x"`)) + "; exit 1", "denied x"},
		{"a program that failed allows nothing", PreToolUse, said(specific(PreToolUse, `"permissionDecision":"allow","updatedInput":{"command":"x"}`)) + "; exit 1", "ok"},
		{"other arguments", PreToolUse, said(specific(PreToolUse, `"permissionDecision":"allow","updatedInput":{"command":"pwd","timeout":3000}`)), `allowed, changed the arguments: {"command":"pwd","timeout":3}`},
		{"context", PreToolUse, said(specific(PreToolUse, `"additionalContext":"mind the gap"`)), "added context: mind the gap"},
		{"the end of the turn", PreToolUse, said(`{"continue":false,"stopReason":"enough"}`), "ended the turn: enough"},
		{"a word to the user", PreToolUse, said(`{"systemMessage":"hello"}`), "told you something: hello"},
		{"an allow for the one who is asked", PermissionRequest, said(specific(PermissionRequest, `"decision":{"behavior":"allow"}`)), "allowed"},
		{"a deny that ends the turn", PermissionRequest, said(specific(PermissionRequest, `"decision":{"behavior":"deny","message":"no","interrupt":true}`)), "denied no, ended the turn"},
		{"exit 2 to the one who is asked", PermissionRequest, "echo no >&2; exit 2", "denied no"},
		{"feedback", PostToolUse, "echo lint >&2; exit 2", "told the model: lint"},
		{"feedback by JSON", PostToolUse, said(`{"decision":"block","reason":"lint"}`), "told the model: lint"},
		{"other output", PostToolUse, said(specific(PostToolUse, `"updatedMCPToolOutput":"short"`)), "changed the output: short"},
		{"other output by its newer name", PostToolUse, said(specific(PostToolUse, `"updatedToolOutput":"shorter"`)), "changed the output: shorter"},
		{"a prompt with context", UserPromptSubmit, "echo today is Friday", "added context: today is Friday"},
		{"a prompt that is not sent", UserPromptSubmit, said(`{"decision":"block","reason":"secrets"}`), "denied secrets"},
		{"the start's context", SessionStart, "echo issue 7 is open", "added context: issue 7 is open"},
		{"the start cannot be stopped", SessionStart, "echo oh >&2; exit 2", "told you something: oh"},
		{"more to do", Stop, said(`{"decision":"block","reason":"run the tests"}`), "denied run the tests"},
		{"no compaction", PreCompact, "echo later >&2; exit 2", "denied later"},
		{"no move", PreTree, "echo stay >&2; exit 2", "denied stay"},
		{"a summary of a hook's", PreTree, said(specific(PreTree, `"summary":"we tried X","label":"tried"`)), "changed the summary or label: we tried X"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := w.runner(commands(c.event, c.command), users)
			in := Input{Event: c.event}
			in.Call("1", "bash", []byte(`{"command":"ls"}`), w.dir)
			o := r.Run(t.Context(), in)
			if got := describe(o); got != c.want || len(o.Faults) > 0 {
				t.Errorf("%s\nwant %s; faults %v", got, c.want, o.Faults)
			}
		})
	}
}

// describe is an outcome with what it says.
func describe(o Outcome) string {
	texts := slices.Concat(o.Feedback, o.Context, o.Messages)
	if o.Input != nil {
		texts = append(texts, string(o.Input))
	}
	if o.Output != nil {
		texts = append(texts, *o.Output)
	}
	if o.StopReason != "" {
		texts = append(texts, o.StopReason)
	}
	if o.Tree.Summary != "" {
		texts = append(texts, o.Tree.Summary)
	}
	return strings.TrimSuffix(o.String()+": "+strings.Join(texts, " | "), ": ")
}

// Programs that do not do what they should: each is told once, decides nothing,
// and leaves no process.
func TestBadPrograms(t *testing.T) {
	w := newWorld(t)
	for _, c := range []struct{ name, command, want string }{
		{"exit 1", "echo first >&2; echo second >&2; exit 1", "exit code 1: first"},
		{"garbage like JSON", "echo '{oh}'", "no JSON that says what it should"},
		{"JSON of other types", `echo '{"continue":"yes"}'`, "no JSON that says what it should"},
		{"another event's answer", said(specific(Stop, `"permissionDecision":"deny"`)), `answered for the event "Stop"`},
		{"an unknown decision", said(specific(PreToolUse, `"permissionDecision":"maybe"`)), `decision "maybe" is not known`},
		{"arguments that are none", said(specific(PreToolUse, `"updatedInput":[1]`)), "updatedInput is no object"},
		{"a missing program", "/no/such/program", "exit code 127: "},
		{"a flood", "yes | head -c 300000000", "wrote more than 1024 KB"},
		{"killed", "kill -9 $$", "signal: killed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := w.runner(commands(PreToolUse, c.command), users)
			in := Input{Event: PreToolUse}
			in.Call("1", "bash", []byte(`{}`), w.dir)
			o := r.Run(t.Context(), in)
			if o.Decision != Silent || len(o.Faults) != 1 || !strings.Contains(o.Faults[0].String(), c.want) {
				t.Errorf("%+v", o)
			}
			if again := r.Run(t.Context(), in); len(again.Faults) > 0 {
				t.Errorf("told again: %v", again.Faults)
			}
			if s := r.List()[0]; s.Runs != 2 || !strings.Contains(s.Said, c.want) {
				t.Errorf("%+v", s)
			}
		})
	}
}

func TestOneThatHangsIsEnded(t *testing.T) {
	w := newWorld(t)
	mark := fmt.Sprintf("BANYAN_TEST_MARK=%d-%d", os.Getpid(), time.Now().UnixNano())
	r := w.runner(`{"Stop":[{"hooks":[{"type":"command","timeout":0.3,"command":"export `+mark+`; trap '' TERM; setsid sleep 300 & sleep 300"}]}]}`, users)
	o := r.Run(t.Context(), Input{Event: Stop})
	if len(o.Faults) != 1 || !strings.Contains(o.Faults[0].String(), `it was ended after 300ms; its "timeout" says`) {
		t.Errorf("%+v", o)
	}
	environs, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil || len(environs) == 0 {
		t.Skip("finding survivors needs /proc")
	}
	for _, path := range environs {
		if env, err := os.ReadFile(path); err == nil && strings.Contains(string(env), mark) {
			t.Errorf("%s is left", path)
		}
	}
}

func TestAnInterruptEndsHooksWithoutAFault(t *testing.T) {
	w := newWorld(t)
	r := w.runner(commands(Stop, "touch began; sleep 300"), users)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for range 1000 {
			if _, err := os.Stat(filepath.Join(w.dir, "began")); err == nil {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		cancel()
	}()
	if o := r.Run(ctx, Input{Event: Stop}); len(o.Faults) > 0 || o.Decision != Silent {
		t.Errorf("%+v", o)
	}
}

func TestWhatAHookIsTold(t *testing.T) {
	w := newWorld(t)
	t.Setenv("ANTHROPIC_API_KEY", "sk-secret")
	t.Setenv("SOME_TOKEN", "sk-secret")
	r := w.runner(commands(PreToolUse, `cat > in.json; env > env.txt; pwd > pwd.txt`), users)
	in := Input{Event: PreToolUse, SessionID: "s1", TranscriptPath: "/t.jsonl", PermissionMode: Mode("edits")}
	in.Call("call_1", "bash", []byte(`{"command":"ls"}`), w.dir)
	if o := r.Run(t.Context(), in); len(o.Faults) > 0 {
		t.Fatal(o.Faults)
	}
	want := fmt.Sprintf(`{"session_id":"s1","transcript_path":"/t.jsonl","cwd":%q,"permission_mode":"acceptEdits","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"},"tool_use_id":"call_1"}`, w.dir)
	if got := w.read("in.json"); got != want {
		t.Errorf("told\n%s\nwant\n%s", got, want)
	}
	env := w.read("env.txt")
	if strings.Contains(env, "sk-secret") || !strings.Contains(env, "CLAUDE_PROJECT_DIR="+w.dir+"\n") {
		t.Errorf("environment\n%s", env)
	}
	if got := strings.TrimSpace(w.read("pwd.txt")); got != w.dir {
		t.Errorf("ran in %s", got)
	}
}

func (w world) read(name string) string {
	w.Helper()
	data, err := os.ReadFile(filepath.Join(w.dir, name))
	if err != nil {
		w.Fatal(err)
	}
	return string(data)
}

func (w world) write(name, text string) {
	w.Helper()
	path := filepath.Join(w.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		w.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
		w.Fatal(err)
	}
}

// Hooks of an event run side by side: each of these waits for the other. The
// strictest has the last word, and identical ones run once.
func TestSeveralHooks(t *testing.T) {
	w := newWorld(t)
	wait := func(mine, others, then string) string {
		return fmt.Sprintf("touch %s; for i in $(seq 1000); do [ -e %s ] && break; sleep 0.02; done; [ -e %s ] || exit 9; %s", mine, others, others, then)
	}
	allow := said(specific(PreToolUse, `"permissionDecision":"allow","updatedInput":{"command":"first"}`))
	deny := said(specific(PreToolUse, `"permissionDecision":"deny","permissionDecisionReason":"no"`))
	once := "echo x >> count"
	r := w.runner(commands(PreToolUse, wait("a", "b", allow), wait("b", "a", deny), once, once), users)
	in := Input{Event: PreToolUse}
	in.Call("1", "bash", []byte(`{"command":"ls"}`), w.dir)
	o := r.Run(t.Context(), in)
	if o.Decision != Deny || o.Reason != "no" || !strings.Contains(o.By, "touch b") || string(o.Input) != `{"command":"first"}` || len(o.Faults) > 0 {
		t.Errorf("%+v", o)
	}
	if n := strings.Count(w.read("count"), "x"); n != 1 {
		t.Errorf("identical hooks ran %d times", n)
	}
}

func TestIf(t *testing.T) {
	w := newWorld(t)
	for _, c := range []struct {
		rule   string
		denied bool
		faults int
	}{{"rm", true, 0}, {"mv", false, 0}, {"bad", true, 1}} {
		r := w.runner(`{"PreToolUse":[{"hooks":[{"type":"command","command":"exit 2","if":"`+c.rule+`"}]}]}`, users)
		in := Input{Event: PreToolUse}
		in.Call("1", "bash", []byte(`{"command":"rm x"}`), w.dir)
		if o := r.Run(t.Context(), in); (o.Decision == Deny) != c.denied || len(o.Faults) != c.faults {
			t.Errorf("%s: %+v", c.rule, o)
		}
	}
}

func TestOneInTheBackgroundIsNotWaitedFor(t *testing.T) {
	w := newWorld(t)
	r := w.runner(`{"Stop":[{"hooks":[{"type":"command","async":true,"command":"while [ ! -e go ]; do sleep 0.02; done; echo no >&2; exit 2"}]}]}`, users)
	if o := r.Run(t.Context(), Input{Event: Stop}); o.Decision != Silent {
		t.Errorf("%+v", o)
	}
	w.write("go", "")
	for r.List()[0].Runs == 0 {
		time.Sleep(10 * time.Millisecond)
	}
	if s := r.List()[0]; !strings.Contains(s.Said, "exit code 2") {
		t.Errorf("%+v", s)
	}
}

// A project's hook runs when it is approved, and as it was then: what the model
// writes into its script is not run.
func TestOnlyWhatWasApprovedRuns(t *testing.T) {
	w := newWorld(t)
	w.write("hooks/check.sh", "#!/bin/sh\necho ran >> ran\nexit 2\n")
	project := Source{File: filepath.Join(w.dir, ".claude/settings.json"), Asks: true, Project: true}
	r := w.runner(commands(PreToolUse, `"$CLAUDE_PROJECT_DIR"/hooks/check.sh`), project)
	in := Input{Event: PreToolUse}
	in.Call("1", "bash", []byte(`{"command":"ls"}`), w.dir)

	if o := r.Run(t.Context(), in); o.Decision != Silent || len(o.Faults) > 0 || len(r.Waiting()) != 1 {
		t.Errorf("not approved: %+v", o)
	}
	h := r.List()[0]
	if text := h.Text; !strings.Contains(text, `file "hooks/check.sh" sha256`) {
		t.Errorf("approved is\n%s", text)
	}
	if err := r.Approve(h); err != nil {
		t.Fatal(err)
	}
	if o := r.Run(t.Context(), in); o.Decision != Deny {
		t.Errorf("approved: %+v", o)
	}
	w.write("hooks/check.sh", "#!/bin/sh\necho evil >> ran\n")
	o := r.Run(t.Context(), in)
	if o.Decision != Ask || len(o.Faults) != 1 || !strings.Contains(o.Faults[0].String(), "has changed since you approved it") {
		t.Errorf("changed: %+v", o)
	}
	if s := r.List()[0]; s.Approval.OK || !s.Approval.Changed {
		t.Errorf("%+v", s.Approval)
	}
	if err := r.Approve(h); err != nil { // as it was listed, before it changed
		t.Fatal(err)
	}
	if s := r.List()[0]; s.Approval.OK {
		t.Error("a script that nobody has seen is approved")
	}
	if got := w.read("ran"); got != "ran\n" {
		t.Errorf("ran %q", got)
	}
	if err := r.Revoke(h); err != nil {
		t.Fatal(err)
	}
	if o := r.Run(t.Context(), in); o.Decision != Silent {
		t.Errorf("taken back: %+v", o)
	}
	if err := w.trust.Revoke(w.dir); err != nil {
		t.Fatal(err)
	}
	if o := r.Run(t.Context(), in); o.Decision != Silent || len(o.Faults) != 1 {
		t.Errorf("the folder is not trusted: %+v", o)
	}
}

// Of another program's settings of the user's, too.
func TestOtherProgramsHooksAreApproved(t *testing.T) {
	w := newWorld(t)
	r := w.runner(commands(Stop, "echo x > ran"), Source{File: "/home/.claude/settings.json", Asks: true, Others: true})
	r.Run(t.Context(), Input{Event: Stop})
	if _, err := os.Stat(filepath.Join(w.dir, "ran")); err == nil {
		t.Error("it ran before it was approved")
	}
	if err := r.Approve(r.List()[0]); err != nil {
		t.Fatal(err)
	}
	r.Run(t.Context(), Input{Event: Stop})
	w.read("ran")
}

func TestLongTextsAreCut(t *testing.T) {
	w := newWorld(t)
	r := w.runner(commands(UserPromptSubmit, "head -c 100000 /dev/zero | tr '\\0' x"), users)
	if o := r.Run(t.Context(), Input{Event: UserPromptSubmit}); len(o.Context) != 1 || len([]rune(o.Context[0])) != maxText {
		t.Errorf("%d texts", len(o.Context))
	}
}

// BenchmarkHook is what one hook adds to what it is about.
func BenchmarkHook(b *testing.B) {
	hooks, _ := Parse([]byte(commands(Stop, "true")), users)
	r := New(Config{Dir: b.TempDir(), Now: time.Now}, hooks)
	defer r.Close()
	for b.Loop() {
		r.Run(b.Context(), Input{Event: Stop})
	}
}
