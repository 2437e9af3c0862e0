package skill_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"banyan/internal/llm"
	"banyan/internal/rule"
	"banyan/internal/skill"
)

func TestRules(t *testing.T) {
	w := world(t, `
-- work/.agents/rules/no-panic.md --
---
description: Errors are returned
condition: '\bpanic\('
scope: "tool:edit(*.{go,mod}), text"
---
Return errors.
-- work/.banyan/rules/other.md --
---
name: no-cache
condition:
  - '\.cache\(\s*\)'
  - CACHE TABLE
interruptMode: tool-only
---
Do not cache.
-- config/rules/no-panic.md --
---
condition: x
---
Hidden by the nearer one.
-- .agents/rules/old.md --
---
ttsr_trigger: TODO: later
interruptMode: prose-only
---
Now.
-- work/.agents/rules/README.md --
no rule
-- work/.agents/rules/bad.md --
---
condition: 'a('
---
x
-- work/.agents/rules/none.md --
Just a text.
-- work/.agents/rules/never.md --
---
condition: x
interruptMode: never
---
x
-- work/.agents/rules/empty.md --
---
condition: x
---
`)
	l := skill.Load(w)
	var got []string
	for _, r := range l.Rules {
		got = append(got, fmt.Sprintf("%s %q %q %q %v", r.Name, r.Patterns, r.Scope, r.Text, r.Project))
	}
	want := []string{
		`no-cache ["\\.cache\\(\\s*\\)" "CACHE TABLE"] ["tool"] "Do not cache." true`,
		`no-panic ["\\bpanic\\("] ["tool:edit(*.{go,mod})" "text"] "Return errors." true`,
		`old ["TODO: later"] ["text" "thinking"] "Now." false`,
	}
	if g, w := strings.Join(got, "\n"), strings.Join(want, "\n"); g != w {
		t.Errorf("rules\n%s\nwant\n%s", g, w)
	}
	faults := fmt.Sprint(l.Faults())
	if len(l.Faults()) != 4 || len(l.Problems) != 5 {
		t.Errorf("faults %s", faults)
	}
	for _, want := range []string{"no regular expression", "it has no condition", "interruptMode is never", "it has no text"} {
		if !strings.Contains(faults, want) {
			t.Errorf("faults %s lack %q", faults, want)
		}
	}
	w.Root = "" // not trusted
	if l := skill.Load(w); len(l.Rules) != 2 {
		t.Errorf("%d rules before trust", len(l.Rules))
	}
}

// The example of docs/rules.md, as it stands there.
func TestTheExampleOfRules(t *testing.T) {
	doc, err := os.ReadFile("../../docs/rules.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(doc), "```markdown\n")
	text, _, _ = strings.Cut(text, "```")
	w := world(t, "")
	write(t, filepath.Join(w.Root, ".agents/rules/no-panic.md"), text)
	l := skill.Load(w)
	if len(l.Rules) != 1 || len(l.Problems) > 0 {
		t.Fatalf("%+v, %v", l.Rules, l.Problems)
	}
	watch := rule.NewWatch([]*rule.Rule{l.Rules[0].Rule}, nil)
	for _, c := range []struct {
		ev   llm.Event
		want bool
	}{
		{llm.CallDelta{Block: 0, Name: "write", Arguments: `{"path":"a.md","content":"panic(\"x\")"}`}, false},
		{llm.CallDone{Block: 0}, false},
		{llm.CallDelta{Block: 1, Name: "write", Arguments: `{"path":"a.go","content":"panic(\"x\")"}`}, false},
		{llm.CallDone{Block: 1}, true},
	} {
		if got := watch.Feed(c.ev) != nil; got != c.want {
			t.Errorf("%+v: met %v", c.ev, got)
		}
	}
}
