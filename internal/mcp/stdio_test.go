package mcp

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"banyan/internal/tool"
)

func TestGoodServer(t *testing.T) {
	t.Setenv("ANTHROPIC_API_KEY", "sk-ant-secret")
	w := newWorld(t)
	w.begin(program(t, "my server", "good"))
	s := w.phase("my server", Ready)
	if s.Program != "good 1.2" || len(s.Prompts) != 1 || len(s.Resources) != 1 {
		t.Errorf("%+v", s)
	}
	var names []string
	for _, x := range s.Tools {
		names = append(names, x.Name)
		if want := map[bool]tool.Access{true: tool.Read, false: tool.Execute}[x.Theirs == "echo"]; x.Access != want {
			t.Errorf("%s: access %v", x.Name, x.Access)
		}
	}
	want := "mcp__my_server__about mcp__my_server__crash mcp__my_server__echo mcp__my_server__fail mcp__my_server__grow mcp__my_server__show_it_all mcp__my_server__work"
	if strings.Join(names, " ") != want {
		t.Errorf("tools %v", names)
	}
	ctx := context.Background()
	if r := w.call(ctx, "my server", "echo", `{"text":"hi"}`, nil); text(r.Content) != "hi" || r.Err != nil {
		t.Errorf("%+v", r)
	}
	if r := w.call(ctx, "my server", "fail", `{}`, nil); r.Err == nil || !strings.Contains(text(r.Content), "it cannot be done") {
		t.Errorf("%+v", r)
	}
	about := text(w.call(ctx, "my server", "about", `{}`, nil).Content)
	if !strings.Contains(about, "in "+w.project+"\n") || !strings.Contains(about, "PATH=") || strings.Contains(about, "sk-ant-secret") {
		t.Errorf("about: %s", about)
	}
	all := text(w.call(ctx, "my server", "show it all!", `{}`, nil).Content)
	for _, part := range []string{"a red text", "<image/png>", "a sound (audio/wav), 4 bytes, in " + filepath.Join(w.dir, "temp"), "resource memo://1 (memo): the user can add it with @my_server:memo://1", "memo://2]\ninside", `{"n":7}`} {
		if !strings.Contains(all, part) {
			t.Errorf("%q is missing in %q", part, all)
		}
	}
	if told := w.notices(); len(told) > 0 {
		t.Errorf("told %q", told)
	}
}

func TestPromptsAndResources(t *testing.T) {
	w := newWorld(t)
	w.begin(program(t, "a", "good"))
	s := w.phase("a", Ready)
	if p := s.Prompts[0]; p.Name != "mcp__a__greet" || p.Usage() != "<who> [how]" {
		t.Errorf("%+v", p)
	}
	ctx := context.Background()
	for args, want := range map[string]string{
		`Eve`:                 "Greet Eve .",
		`"Eve and Ann" well`:  "Greet Eve and Ann well.",
		`Eve very well`:       "Greet Eve very well.",
		`how=loudly Eve`:      "Greet Eve loudly.",
		`who='A B' how="c d"`: "Greet A B c d.",
	} {
		got, err := w.Prompt(ctx, "mcp__a__greet", args)
		if err != nil || !strings.HasPrefix(text(got), want) || !strings.Contains(text(got), "(an answer, as an example)\n\nHello!") {
			t.Errorf("%s: %q, %v", args, text(got), err)
		}
	}
	for args, want := range map[string]string{"": "needs who", "who=x how=y z": "too much"} {
		if _, err := w.Prompt(ctx, "mcp__a__greet", args); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", args, err)
		}
	}
	found := w.Mentions("look at @a:memo://today, (@a:memo://today) and @b:x or a@a.b: @README.md")
	if len(found) != 1 || found[0] != (Mention{"a", "memo://today"}) {
		t.Fatalf("%v", found)
	}
	if got, err := w.Read(ctx, found[0]); err != nil || text(got) != "[resource memo://today (text/plain)]\nbuy milk" {
		t.Errorf("%q, %v", text(got), err)
	}
	if _, err := w.Read(ctx, Mention{"a", "memo://never"}); err == nil {
		t.Error("a resource that there is not")
	}
	if got := w.Resources(); len(got) != 1 || got[0] != "a:memo://today" {
		t.Errorf("%v", got)
	}
}

func TestProgressAndCancellation(t *testing.T) {
	w := newWorld(t)
	stopped := filepath.Join(w.dir, "stopped")
	t.Setenv("STOPPED_AT", stopped)
	c := program(t, "a", "good")
	c.JSON = []byte(strings.Replace(string(c.JSON), `"env": {`, `"env": {"STOPPED": "${STOPPED_AT}", `, 1))
	w.begin(c)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var seen string
	r := w.call(ctx, "a", "work", `{}`, func(v tool.View) {
		if seen = v.(tool.Plain).Text; strings.HasPrefix(seen, "3 of 10") {
			cancel()
		}
	})
	if r.Err == nil || seen != "3 of 10 (30%): working" {
		t.Errorf("%+v after %q", r, seen)
	}
	for end := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) {
		if text, _ := os.ReadFile(stopped); string(text) == "told to stop" {
			break
		}
		if time.Now().After(end) {
			t.Fatal("the server was not told to stop")
		}
	}
	if r := w.call(context.Background(), "a", "echo", `{"text":"still there"}`, nil); r.Err != nil {
		t.Errorf("%+v", r)
	}
}

func TestCallTimesOut(t *testing.T) {
	w := newWorld(t)
	w.begin(program(t, "a", "good", `, "tool_timeout_sec": 0.3`))
	if r := w.call(context.Background(), "a", "work", `{}`, nil); r.Err == nil || !strings.Contains(r.Err.Error(), "within 300ms") {
		t.Errorf("%+v", r)
	}
}

func TestFilters(t *testing.T) {
	w := newWorld(t)
	w.begin(program(t, "a", "good", `, "enabled_tools": ["e*", "fail"], "disabled_tools": ["*ail"]`), program(t, "b", "good", `, "disabled": true`))
	if s := w.phase("a", Ready); len(s.Tools) != 1 || s.Tools[0].Theirs != "echo" {
		t.Errorf("%+v", s.Tools)
	}
	w.phase("b", Disabled)
	if err := w.Enable("b"); err != nil {
		t.Fatal(err)
	}
	w.phase("b", Ready)
	if err := w.Disable("a"); err != nil {
		t.Fatal(err)
	}
	w.phase("a", Disabled)
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.changed["a"]) > 0 || len(w.changed["b"]) == 0 {
		t.Errorf("%v", w.changed)
	}
}

// A server that ends by itself is started again, and its user is told once.
func TestCrashedServerComesBack(t *testing.T) {
	w := newWorld(t)
	w.begin(program(t, "a", "good"))
	for range 2 {
		since := w.phase("a", Ready).Since
		if r := w.call(context.Background(), "a", "crash", `{}`, nil); r.Err == nil {
			t.Errorf("%+v", r)
		}
		w.await("a", "there again", func(s State) bool { return s.Phase == Ready && s.Since.After(since) })
	}
	if r := w.call(context.Background(), "a", "echo", `{"text":"back"}`, nil); text(r.Content) != "back" {
		t.Errorf("%+v", r)
	}
	if told := w.notices(); len(told) != 1 || !strings.Contains(told[0], "exit code 5") {
		t.Errorf("told %q", told)
	}
}

func TestServerThatAlwaysEndsIsGivenUp(t *testing.T) {
	w := newWorld(t)
	w.begin(program(t, "a", "once"))
	w.phase("a", Failed)
	if told := w.notices(); len(told) != 1 || !strings.Contains(told[0], "ended") {
		t.Errorf("told %q", told)
	}
}

func TestToolsThatComeLaterAreHeldBack(t *testing.T) {
	w := newWorld(t)
	w.begin(program(t, "a", "good"))
	w.call(context.Background(), "a", "grow", `{"text":"newcomer"}`, nil)
	s := w.await("a", "told of the newcomer", func(s State) bool { return len(s.Held()) > 0 })
	if got := strings.Join(s.Held(), " "); got != "newcomer" || s.Asks == "" {
		t.Errorf("held %q, asks %q", got, s.Asks)
	}
	if err := w.approve("a"); err != nil {
		t.Fatal(err)
	}
	s = w.await("a", "without held tools", func(s State) bool { return len(s.Held()) == 0 && len(s.Tools) == 8 })
	if s.Asks != "" {
		t.Errorf("still asks %q", s.Asks)
	}
	if told := w.notices(); len(told) != 1 || !strings.Contains(told[0], "newcomer") {
		t.Errorf("told %q", told)
	}
}
