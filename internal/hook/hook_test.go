package hook

import (
	"strings"
	"testing"
	"time"
)

func TestParse(t *testing.T) {
	const text = `{
		"PreToolUse": [
			{"matcher": "Bash|Edit", "hooks": [
				{"type": "command", "command": "./check.sh", "timeout": 60, "if": "Bash(rm *)", "async": true, "statusMessage": "…"},
				{"type": "prompt", "prompt": "is it right?"},
				{"type": "command"},
				{"type": "command", "command": "x", "shell": "powershell"},
				{"type": "command", "command": "x", "timeout": -1},
				"x"
			]},
			{"matcher": "a(", "hooks": [{"type": "command", "command": "x"}]},
			7
		],
		"Stop": [{"matcher": "ignored(", "hooks": [{"type": "command", "command": "y", "args": ["1"]}]}],
		"UserPromptSubmit": [{"hooks": [{"type": "command", "command": "z"}, {"type": "command", "command": "z", "if": "Bash"}]}],
		"WorktreeCreate": [{"hooks": [{"type": "command", "command": "z"}]}],
		"SessionEnd": 1
	}`
	hooks, problems := Parse([]byte(text), Source{File: "/s.json"})
	var got []string
	for _, h := range hooks {
		got = append(got, strings.Join([]string{h.Event, h.Matcher, h.If, h.Command, h.Timeout.String()}, " "))
	}
	want := "PreToolUse Bash|Edit Bash(rm *) ./check.sh 1m0s\nStop   y 10m0s\nUserPromptSubmit   z 30s"
	if g := strings.Join(got, "\n"); g != want {
		t.Errorf("hooks\n%s\nwant\n%s", g, want)
	}
	for i, want := range []string{
		`PreToolUse[0].hooks[1]: hooks of the type "prompt"`, `PreToolUse[0].hooks[2]: it has no command`, `PreToolUse[0].hooks[3]: the shell "powershell"`,
		`PreToolUse[0].hooks[4]: a timeout of -1`, `PreToolUse[0].hooks[5]: it takes an object`, `PreToolUse[1].hooks[0]: the matcher "a("`, `PreToolUse[2]: it takes an object`,
		`SessionEnd: it takes a list`, `UserPromptSubmit[0].hooks[1]: "if" is for tool calls`, `WorktreeCreate: this program has no such event`,
	} {
		if i >= len(problems) || !strings.HasPrefix(problems[i].String(), "/s.json: hooks."+want) {
			t.Fatalf("problems %v, want %s at %d", problems, want, i)
		}
	}
	if _, problems := Parse([]byte(`[]`), Source{}); len(problems) != 1 {
		t.Errorf("a list: %v", problems)
	}
}

func TestMatchers(t *testing.T) {
	for _, c := range []struct {
		matcher, tool string
		want          bool
	}{
		{"", "bash", true},
		{"*", "bash", true},
		{"Bash", "bash", true},
		{"bash", "bash", true},
		{"Bas", "bash", false},
		{"Edit|Write", "write", true},
		{"Edit, Bash", "bash", true},
		{"Edit|Write", "read", false},
		{"Ba.h", "bash", true},
		{"^Ba", "bash", true},
		{"^as", "bash", false},
		{"a.h", "bash", true},
		// What changes a file is an edit to permission rules, and so to matchers.
		{"Edit", "rm", true},
		{"Edit", "mkdir", true},
		{"MultiEdit", "edit", true},
		{"Read", "grep", true},
		{"Edit", "ls", false},
		{"mcp__memory__.*", "mcp__memory__add", true},
		{"mcp__memory__add", "mcp__memory__add", true},
		{"mcp__.*__write.*", "mcp__memory__add", false},
		{"Task", "task", true},
		{"WebFetch", "fetch", true},
	} {
		test, err := matcher(c.matcher)
		if err != nil {
			t.Fatal(err)
		}
		var in Input
		in.Call("1", c.tool, []byte(`{}`), "/p")
		if got := test(toolNames(in)); got != c.want {
			t.Errorf("%q about %s: %v", c.matcher, c.tool, got)
		}
	}
}

func TestCallsHaveClaudesNamesThereAndBack(t *testing.T) {
	for _, c := range []struct{ tool, args, name, input, back string }{
		{"bash", `{"background":true,"command":"ls","timeout":2}`, "Bash", `{"command":"ls","run_in_background":true,"timeout":2000}`, ``},
		{"read", `{"path":"a.go"}`, "Read", `{"file_path":"/p/a.go"}`, `{"path":"/p/a.go"}`},
		{"write", `{"content":"x","path":"/b"}`, "Write", `{"content":"x","file_path":"/b"}`, ``},
		{"edit", `{"new_string":"b","old_string":"a","path":"/b"}`, "Edit", `{"file_path":"/b","new_string":"b","old_string":"a"}`, ``},
		{"edit", `{"edits":[],"path":"/b"}`, "MultiEdit", `{"edits":[],"file_path":"/b"}`, ``},
		{"grep", `{"ignore_case":true,"pattern":"x"}`, "Grep", `{"-i":true,"pattern":"x"}`, ``},
		{"rm", `{"path":"/b"}`, "rm", `{"file_path":"/b"}`, ``},
		{"mcp__a__b", `{"x":1}`, "mcp__a__b", `{"x":1}`, ``},
		{"task", `{"agent":"reader","prompt":"x"}`, "Task", `{"prompt":"x","subagent_type":"reader"}`, ``},
		{"todo", `{"items":[]}`, "todo", `{"items":[]}`, ``},
	} {
		var in Input
		in.Call("1", c.tool, []byte(c.args), "/p")
		if in.ToolName != c.name || string(in.ToolInput) != c.input {
			t.Errorf("%s %s: %s %s", c.tool, c.args, in.ToolName, in.ToolInput)
		}
		want := c.back
		if want == "" {
			want = c.args
		}
		if back := string(ours(c.tool, in.ToolInput)); back != want {
			t.Errorf("%s comes back as %s, want %s", c.input, back, want)
		}
	}
}

// The default of an event and not another's.
func TestTimeouts(t *testing.T) {
	for event, want := range map[string]time.Duration{PreToolUse: 600 * time.Second, UserPromptSubmit: 30 * time.Second, SessionEnd: 2 * time.Second} {
		if ev, ok := known(event); !ok || ev.timeout() != want {
			t.Errorf("%s: %v", event, ev.timeout())
		}
	}
}
