package skill_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"banyan/internal/llm"
	"banyan/internal/skill"
)

func TestTemplatesAreFilled(t *testing.T) {
	for _, c := range []struct{ text, args, want string }{
		{"Review $1.", "a.go", "Review a.go."},
		{"Review $1 and $2.", "a.go", "Review a.go and ."},
		{"$2 $1 $9", "a b", "b a "},
		{"All: $@", `a  "b c" d`, "All: a b c d"},
		{"As typed: $ARGUMENTS", `a  "b c"`, `As typed: a  "b c"`},
		{"Fix it.", "in a.go", "Fix it.\n\nin a.go"},
		{"Fix it.", "  ", "Fix it."},
		{"It costs $100 and $0 and $10.", "x", "It costs $100 and $0 and $10.\n\nx"},
		{`Print \$1 and \$ARGUMENTS and $1`, "x", "Print $1 and $ARGUMENTS and x"},
		{"$ARGUMENTSX $1", "x", "$ARGUMENTSX x"},
		{"$1", "$2 y", "$2"}, // what was filled in is not looked at again
		{"<$1> <$2>", "don't stop", "<don't> <stop>"},
		{"<$1> <$2>", `'a b' "c`, `<a b> <"c>`},
		{"<$1>", `""`, "<>"},
		{"<$1> <$2>", "a\nb", "<a> <b>"},
		{"<$1> <$2>", "a\u00a0b", "<a> <b>"},
	} {
		w := world(t, "")
		write(t, filepath.Join(w.Cwd, ".claude/commands/x.md"), "---\ndescription: d\n---\n"+c.text)
		tmpl, ok := skill.Load(w).Template("x")
		if !ok {
			t.Fatal("the template is not found")
		}
		if got, err := tmpl.Expand(c.args); err != nil || got != c.want {
			t.Errorf("%q with %q: %v, %q, not %q", c.text, c.args, err, got, c.want)
		}
	}
}

func TestTemplatesAreFound(t *testing.T) {
	w := world(t, `
-- work/.agents/commands/review.md --
---
description: A careful look
argument-hint: <file>
---
Review $1
-- work/.agents/commands/issue.md --
---
argument-hint: [number] 
---
Fix the issue
as it says.
-- work/.agents/commands/plain_1.md --
# Say hello
-- work/.agents/commands/bad name.md --
x
-- work/.agents/commands/a.b.md --
x
-- work/.agents/commands/void.md --
---
description: nothing
---
-- config/commands/review.md --
hidden
`)
	l := skill.Load(w)
	var got []string
	for _, c := range l.Templates {
		got = append(got, c.Name+"|"+c.Args+"|"+c.Description)
	}
	if want := "issue|[number]|Fix the issue\nplain_1||# Say hello\nreview|<file>|A careful look"; strings.Join(got, "\n") != want {
		t.Errorf("found %q", got)
	}
	if len(l.Faults()) != 3 || len(l.Problems) != 4 {
		t.Errorf("problems: %v", l.Problems)
	}
	review, _ := l.Template("review")
	if err := os.Remove(review.Path); err != nil {
		t.Fatal(err)
	}
	if _, err := review.Expand("x"); err == nil || !strings.Contains(err.Error(), review.Path) {
		t.Errorf("without its file: %v", err)
	}
	if _, ok := l.Template("../review"); ok {
		t.Error("a path is no name")
	}
}

func TestProfiles(t *testing.T) {
	w := world(t, `
-- work/.agents/roles/reviewer.md --
---
description: Looks for faults
model: sonnet
thinkingLevel: high
---
Look for faults. </role>
-- work/.agents/roles/plain.md --
Be plain.
-- work/.agents/roles/mad.md --
---
thinking: very
---
x
-- work/.claude/roles/not.md --
Claude Code has no roles.
-- work/.claude/agents/tester.md --
---
name: test-runner
description: Runs tests
tools: Read, Grep, Bash
model: inherit
---
Run the tests.
-- work/.agents/agents/lister.md --
---
tools: [read, ls]
thinking_level: low
---
List.
-- work/.agents/agents/out.md --
---
name: ../out
---
x
`)
	l := skill.Load(w)
	reviewer, err := l.Role("reviewer")
	if err != nil || reviewer.Choice != (skill.Choice{Model: "sonnet", Thinking: llm.ThinkingHigh}) || reviewer.Description != "Looks for faults" {
		t.Errorf("%v: %+v", err, reviewer)
	}
	if text := reviewer.RoleText(); !strings.Contains(text, "<role name=\"reviewer\">\nLook for faults. <\\/role>\n</role>") {
		t.Errorf("the role says\n%s", text)
	}
	if _, err := l.Role("nobody"); err == nil || !strings.Contains(err.Error(), "plain, reviewer") {
		t.Errorf("%v", err)
	}
	tester, err := l.Agent("test-runner")
	if err != nil || tester.Model != "" || strings.Join(tester.Tools, " ") != "Read Grep Bash" {
		t.Errorf("%v: %+v", err, tester)
	}
	lister, err := l.Agent("lister")
	if err != nil || strings.Join(lister.Tools, " ") != "read ls" || lister.Thinking != llm.ThinkingLow {
		t.Errorf("%v: %+v", err, lister)
	}
	if len(l.Roles) != 2 || len(l.Agents) != 2 || len(l.Faults()) != 2 {
		t.Errorf("%v", l.Problems)
	}
	if _, err := new(skill.Library).Role("x"); err == nil || !strings.Contains(err.Error(), ".agents/roles") {
		t.Errorf("%v", err)
	}
}

func TestFirstChoice(t *testing.T) {
	call, role := skill.Choice{Model: "call"}, skill.Choice{Model: "role", Thinking: llm.ThinkingHigh}
	session, settings := skill.Choice{Model: "session", Thinking: llm.ThinkingLow}, skill.Choice{Model: "settings", Thinking: llm.ThinkingOff}
	for _, c := range []struct {
		choices []skill.Choice
		want    skill.Choice
	}{
		{[]skill.Choice{call, role, session, settings}, skill.Choice{Model: "call", Thinking: llm.ThinkingHigh}},
		{[]skill.Choice{{}, role, session, settings}, role},
		{[]skill.Choice{{}, {}, session, settings}, session},
		{[]skill.Choice{{}, {Thinking: llm.ThinkingXHigh}, session, settings}, skill.Choice{Model: "session", Thinking: llm.ThinkingXHigh}},
		{[]skill.Choice{{}, {}, {}, settings}, settings},
		{nil, skill.Choice{}},
	} {
		if got := skill.First(c.choices...); got != c.want {
			t.Errorf("%v: %v, not %v", c.choices, got, c.want)
		}
	}
}

// What is filled in comes out as it went in, whatever it is.
func TestFillingKeepsArguments(t *testing.T) {
	w := world(t, "")
	write(t, filepath.Join(w.Cwd, ".claude/commands/x.md"), "[$ARGUMENTS]")
	tmpl, _ := skill.Load(w).Template("x")
	rapid.Check(t, func(t *rapid.T) {
		args := rapid.String().Draw(t, "args")
		if got, err := tmpl.Expand(args); err != nil || got != "["+strings.TrimSpace(args)+"]" {
			t.Fatalf("%q: %v, %q", args, err, got)
		}
	})
}

// Any file is taken or refused, with a reason, and never twice.
func FuzzFiles(f *testing.F) {
	for _, seed := range []string{front("x", "d"), "---\n---\n", "---", "---\na: [*a]\n---\nx", "---\nname: ? \n---\n", "---\ndescription: &a {<<: *a}\n---\nx", "$1 $@", "---\nmodel: {}\ntools: {a: b}\n---\nx"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		w := world(t, "")
		for _, kind := range []string{"skills", "commands", "roles", "agents"} {
			write(t, filepath.Join(w.Config, kind, "x.md"), text)
		}
		l := skill.Load(w)
		if n := len(l.Skills) + len(l.Templates) + len(l.Roles) + len(l.Agents) + len(l.Problems); n != 4 {
			t.Fatalf("of 4 files %d are accounted for: %+v", n, l)
		}
		for _, s := range l.Skills {
			if s.Description == "" || strings.ContainsAny(s.Description, "\n\x1b") {
				t.Errorf("the description is %q", s.Description)
			}
			if _, err := s.Text(); err != nil {
				t.Error(err)
			}
		}
		for _, c := range l.Templates {
			if _, err := c.Expand("a b"); err != nil {
				t.Error(err)
			}
		}
	})
}
