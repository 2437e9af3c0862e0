package hook

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"
)

// Hook is one command and when it is run.
type Hook struct {
	Event   string
	Matcher string   // as it stands in the settings; empty for every occurrence
	If      string   // a permission rule that a tool call must match; empty for any
	Command string   // for bash; a program's name if Args are given
	Args    []string // nil: Command is for bash
	Timeout time.Duration
	Async   bool   // nobody waits for it, and it decides nothing
	Status  string // what the user is told while it runs; empty for its command
	Source  Source

	matches func(names []string) bool
}

// Source is where a hook stands.
type Source struct {
	File string // absolute
	// Asks: it is not the user's own settings of this program, so that its hooks
	// run after the user has approved them.
	Asks bool
	// Project: it lies in a project: whoever made that may have written it.
	Project bool
	// Others: the file is another program's. What we do not have of its hooks is
	// not a mistake.
	Others bool
}

// Problem is a hook that is not used.
type Problem struct {
	Source Source
	Where  string // "PreToolUse[0].hooks[1]"
	Text   string
}

// String is for people. It may quote the file: it is not fit for a terminal as it is.
func (p Problem) String() string {
	return fmt.Sprintf("%s: hooks.%s: %s", p.Source.File, p.Where, p.Text)
}

// What is taken where nothing is said: as Claude Code has it.
const (
	usualTimeout  = 600 * time.Second
	promptTimeout = 30 * time.Second // the user waits
	endTimeout    = 2 * time.Second  // the program is ending
	maxTimeout    = time.Hour
)

type wireGroup struct {
	Matcher string            `json:"matcher"`
	Hooks   []json.RawMessage `json:"hooks"`
}

type wireHook struct {
	Type    string   `json:"type"`
	Command string   `json:"command"`
	Args    []string `json:"args"`
	Timeout float64  `json:"timeout"` // seconds
	Async   bool     `json:"async"`
	If      string   `json:"if"`
	Shell   string   `json:"shell"`
	Status  string   `json:"statusMessage"`
}

// Parse reads the value of "hooks" in a file of settings. What is wrong in it is
// a problem each; the rest counts.
func Parse(value []byte, from Source) (hooks []Hook, problems []Problem) {
	wrong := func(where, format string, args ...any) {
		problems = append(problems, Problem{from, where, fmt.Sprintf(format, args...)})
	}
	var byEvent map[string]json.RawMessage
	if err := json.Unmarshal(value, &byEvent); err != nil {
		wrong("", "it takes an object, { \"PreToolUse\": [ … ] }")
		return nil, problems
	}
	for _, name := range slices.Sorted(maps.Keys(byEvent)) {
		ev, ok := known(name)
		if !ok {
			wrong(name, "this program has no such event")
			continue
		}
		var groups []json.RawMessage
		if err := json.Unmarshal(byEvent[name], &groups); err != nil {
			wrong(name, "it takes a list, [ { \"hooks\": [ … ] } ]")
			continue
		}
		for i, raw := range groups {
			where := fmt.Sprintf("%s[%d]", name, i)
			var group wireGroup
			if err := json.Unmarshal(raw, &group); err != nil {
				wrong(where, "it takes an object, { \"matcher\": \"Bash\", \"hooks\": [ … ] }: %v", err)
				continue
			}
			for j, raw := range group.Hooks {
				h, err := one(ev, group.Matcher, raw)
				if err != nil {
					wrong(fmt.Sprintf("%s.hooks[%d]", where, j), "%v", err)
					continue
				}
				h.Source = from
				hooks = append(hooks, h)
			}
		}
	}
	return hooks, problems
}

// one reads one hook.
func one(ev event, match string, raw json.RawMessage) (Hook, error) {
	var w wireHook
	if err := json.Unmarshal(raw, &w); err != nil {
		return Hook{}, fmt.Errorf("it takes an object, { \"type\": \"command\", \"command\": \"…\" }: %w", err)
	}
	switch {
	case w.Type != "command":
		return Hook{}, fmt.Errorf("hooks of the type %q are not run here; those of the type \"command\" are", w.Type)
	case w.Command == "":
		return Hook{}, fmt.Errorf("it has no command")
	case w.Shell != "" && w.Shell != "bash":
		return Hook{}, fmt.Errorf("the shell %q is not used here; commands are for bash", w.Shell)
	case w.Timeout < 0 || w.Timeout > maxTimeout.Seconds():
		return Hook{}, fmt.Errorf("a timeout of %v seconds is not possible; it takes up to %v", w.Timeout, maxTimeout.Seconds())
	case w.If != "" && !ev.ofTool():
		return Hook{}, fmt.Errorf("\"if\" is for tool calls, which %s is not about", ev.name)
	}
	if ev.on == nil {
		match = ""
	}
	test, err := matcher(match)
	if err != nil {
		return Hook{}, err
	}
	return Hook{
		Event: ev.name, Matcher: match, If: w.If, Command: w.Command, Args: w.Args, Async: w.Async, Status: w.Status,
		Timeout: cmp.Or(time.Duration(w.Timeout*float64(time.Second)), ev.timeout()), matches: test,
	}, nil
}

func (e event) timeout() time.Duration {
	switch e.name {
	case UserPromptSubmit:
		return promptTimeout
	case SessionEnd:
		return endTimeout
	}
	return usualTimeout
}

// about says whether a hook is for what happens.
func (h Hook) about(ev event, in Input) bool {
	if h.Event != ev.name {
		return false
	}
	return ev.on == nil || h.matches(ev.on(in))
}

// same says whether two hooks would do the same; only one of them is run.
func (h Hook) same(other Hook) bool {
	return h.Command == other.Command && slices.Equal(h.Args, other.Args) && h.If == other.If && h.Async == other.Async
}

// object is a value if it is a JSON object, else nil.
func object(raw json.RawMessage) json.RawMessage {
	if raw = bytes.TrimSpace(raw); len(raw) > 0 && raw[0] == '{' {
		return raw
	}
	return nil
}
