package offline

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"banyan/internal/llm"
)

// step is one thing that a prompt asks for.
type step struct {
	say   string
	calls []llm.ToolCall
}

func (s step) act(req llm.Request) (string, []llm.ToolCall) {
	for _, c := range s.calls {
		if !offered(req.Tools, c.Name) {
			return "I would use the tool `" + c.Name + "` for that, but it is not available here.", nil
		}
	}
	return s.say, append([]llm.ToolCall(nil), s.calls...)
}

func offered(tools []llm.ToolSpec, name string) bool {
	for _, t := range tools {
		if t.Name == name {
			return true
		}
	}
	return false
}

// rule turns a sentence into a step.
type rule struct {
	name    string
	example string // shown in the help
	pattern *regexp.Regexp
	make    func(m []string) step
}

// rules are tried in order; the first that matches wins. They are compiled when
// they are first needed, not when the program starts.
var rules = sync.OnceValue(func() []rule {
	return []rule{
		{
			"delegate", "delegate list . and find TODO in internal",
			sentence(`delegate (.+)`),
			func(m []string) step {
				var calls []llm.ToolCall
				for _, part := range separators.Split(m[1], -1) {
					calls = append(calls, call("task", map[string]any{"description": part, "prompt": part}))
				}
				return step{"", calls}
			},
		},
		{
			"read", "read main.go",
			sentence(`(?:read|show|open|cat|print|view)(?: me)?(?: the)?(?: file)? lines? (\d+)(?:\s*(?:-|to)\s*(\d+))? (?:of|in|from) (.+)`),
			func(m []string) step {
				from, _ := strconv.Atoi(m[1])
				to := from
				if m[2] != "" {
					to, _ = strconv.Atoi(m[2])
				}
				return step{"", []llm.ToolCall{call("read", map[string]any{"path": bare(m[3]), "offset": max(from, 1), "limit": max(to-from+1, 1)})}}
			},
		},
		{
			"list", "list .",
			sentence(`(?:list|ls|dir)(?: the)?(?: files| folder| directory| contents)?(?: in| of| at)?(?: (\S+))?`),
			func(m []string) step {
				return step{"", []llm.ToolCall{call("ls", map[string]any{"path": or(bare(m[1]), ".")})}}
			},
		},
		{
			"glob", "find files **/*_test.go",
			sentence(`(?:(?:find|list|search)(?: for)? files?(?: named| matching| like)?|glob) (\S+)(?: (?:in|under|below) (\S+))?`),
			func(m []string) step {
				args := map[string]any{"pattern": bare(m[1])}
				if m[2] != "" {
					args["path"] = bare(m[2])
				}
				return step{"", []llm.ToolCall{call("glob", args)}}
			},
		},
		{
			"search", "find TODO in internal",
			sentence(`(?:find|search|grep|look)(?: for)? (.+?)(?: (?:in|under|below) (\S+))?`),
			func(m []string) step {
				return step{"", []llm.ToolCall{call("grep", map[string]any{"pattern": bare(m[1]), "path": or(bare(m[2]), ".")})}}
			},
		},
		{
			"replace", "replace foo with bar in f.go",
			sentence(`(?:replace|change) (.+?) (?:with|by|to|into) (.+?) in (\S+)`),
			func(m []string) step {
				return step{"", []llm.ToolCall{call("edit", map[string]any{"path": bare(m[3]), "old_string": quoted(m[1]), "new_string": quoted(m[2])})}}
			},
		},
		{
			"write", `write "hello" to notes.txt`,
			sentence(`(?:write|save|put) (.+?) (?:to|into) (?:the file )?(\S+)`),
			func(m []string) step {
				return step{"", []llm.ToolCall{call("write", map[string]any{"path": bare(m[2]), "content": ended(quoted(m[1]))})}}
			},
		},
		{
			"create", `create notes.txt with "hello"`,
			sentence(`create (?:the |a )?(?:file )?(\S+) (?:with|containing) (.+)`),
			func(m []string) step {
				return step{"", []llm.ToolCall{call("write", map[string]any{"path": bare(m[1]), "content": ended(quoted(m[2]))})}}
			},
		},
		{
			"run", "run go test ./...",
			sentence(`(?:run|execute|\$) (.+)`),
			func(m []string) step {
				return step{"", []llm.ToolCall{call("bash", map[string]any{"command": ticks(m[1])})}}
			},
		},
		{
			"finish", `finish with {"words": 3}, under --json-schema`,
			sentence(`finish (?:with )?(\{.*\})`),
			func(m []string) step {
				return step{"", []llm.ToolCall{{Name: "finish", Arguments: json.RawMessage(m[1])}}}
			},
		},
		{
			"read", "read go.mod and README.md",
			sentence(`(?:read|show|open|cat|print|view)(?: me)?(?: the)?(?: files?)? (\S+(?:(?:,| and|, and) \S+)*)`),
			func(m []string) step {
				var calls []llm.ToolCall
				for _, path := range separators.Split(m[1], -1) {
					calls = append(calls, call("read", map[string]any{"path": bare(path)}))
				}
				return step{"", calls}
			},
		},
	}
})

var (
	separators = regexp.MustCompile(`(?:,? and |, ?)`)
	nextStep   = regexp.MustCompile(`(?i)(?:,? (?:and )?then |;\s+)`)
	courtesy   = regexp.MustCompile(`(?i)^(?:please |can you |could you |now |then )+|(?: please)?[!?]?$`)
)

// sentence matches a whole sentence, in any case.
func sentence(pattern string) *regexp.Regexp {
	return regexp.MustCompile(`(?is)^` + pattern + `$`)
}

// parse turns a prompt into steps: its first line, cut at "then" and ";". It is
// nil unless every part is understood.
func parse(prompt string) []step {
	line, _, _ := strings.Cut(strings.TrimSpace(prompt), "\n")
	var steps []step
	for _, part := range parts(line) {
		s, ok := match(part)
		if !ok {
			return nil
		}
		steps = append(steps, s)
	}
	return steps
}

// parts cuts a line into sentences. What is to be run is never cut: a shell
// has semicolons of its own.
func parts(line string) []string {
	if m, ok := match(line); ok && m.calls[0].Name == "bash" {
		return []string{line}
	}
	return nextStep.Split(line, -1)
}

func match(text string) (step, bool) {
	text = strings.TrimSpace(courtesy.ReplaceAllString(strings.TrimSpace(text), ""))
	for _, r := range rules() {
		if m := r.pattern.FindStringSubmatch(text); m != nil {
			return r.make(m), true
		}
	}
	return step{}, false
}

// bare is a word without quotes, the comma after it, or the full stop of its sentence.
func bare(s string) string {
	s = strings.Trim(strings.TrimSpace(s), "`'\",")
	if word := strings.TrimSuffix(s, "."); word != "" && word != "." && !strings.HasSuffix(word, "/") {
		return word
	}
	return s
}

// quoted is a text without the one pair of quotes around it.
func quoted(s string) string {
	s = strings.TrimSpace(s)
	for _, q := range []string{"`", `"`, `'`} {
		if len(s) >= 2 && strings.HasPrefix(s, q) && strings.HasSuffix(s, q) {
			return s[1 : len(s)-1]
		}
	}
	return s
}

// ticks is a command without back ticks around it; other quotes belong to the shell.
func ticks(s string) string { return strings.Trim(strings.TrimSpace(s), "`") }

func ended(s string) string {
	if strings.HasSuffix(s, "\n") {
		return s
	}
	return s + "\n"
}

func or(s, other string) string {
	if s == "" {
		return other
	}
	return s
}
