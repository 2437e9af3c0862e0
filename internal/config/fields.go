package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// field is one setting: a row of the table that loading, changing, schema and
// documentation follow.
type field struct {
	// path is its place in the files, with dots; one * stands for a name that
	// the user chooses, which may have dots of its own.
	path string
	help string
	// at points to it in s: a *bool, *int, *float64, *string, *[]string,
	// *[]Rule, *[]Raw, keysOf or serverOf. name is what stands for *.
	at      func(s *Settings, name string) any
	choices []string          // of a text; none: any
	aliases map[string]string // other words for choices, as other programs' files have them
	project tighten
	live    bool // a change counts at once in a chat, not from the next start on
}

// keysOf is the keys of one binding: a text or a list of texts.
type keysOf struct {
	all map[string][]string
	id  string
}

// tighten is what a project's file may do to a setting.
type tighten uint8

const (
	never    tighten = iota // it is ignored and reported
	adds                    // add to a list that restricts
	lower                   // lower a limit
	proposes                // anything: it has no effect before the user approves it
)

// restricts: what is missing of it may loosen something.
func (t tighten) restricts() bool { return t == adds || t == lower }

// Words that settings of more than one place take.
var (
	thinkingLevels = []string{"off", "minimal", "low", "medium", "high", "xhigh"}
	modes          = []string{"ask", "edits", "plan", "auto"}
)

// fields is the table of settings, in the order in which people are shown them.
var fields = []field{
	{path: "model", help: "The model that answers, `provider/model` or `provider/model:thinking`. Empty: the first provider that is configured.", at: func(s *Settings, _ string) any { return &s.Model }},
	{path: "fallbackModels", help: "Models to go on with, in this order, when the first cannot answer.", at: func(s *Settings, _ string) any { return &s.FallbackModels }},
	{path: "thinking", help: "How much the model reasons before it answers. Empty: as the model's name says, else off.", choices: thinkingLevels, at: func(s *Settings, _ string) any { return &s.Thinking }},
	{path: "theme", live: true, help: "The name of a theme. `auto` follows the terminal's background.", at: func(s *Settings, _ string) any { return &s.Theme }},
	{path: "mouse", live: true, help: "Take the mouse: wheel, selection, clicks.", at: func(s *Settings, _ string) any { return &s.Mouse }},
	{path: "notifications", live: true, help: "How to call you when a turn has ended or a question waits, and the terminal is not in front. `auto`: as the terminal is known to understand, else the bell.", choices: []string{"auto", "off", "bell", "osc9", "osc777", "osc99"}, at: func(s *Settings, _ string) any { return &s.Notifications }},
	{path: "title", live: true, help: "Set the terminal's title to the session's name.", at: func(s *Settings, _ string) any { return &s.Title }},
	{path: "reducedMotion", live: true, help: "No animation: no spinners, no blinking.", at: func(s *Settings, _ string) any { return &s.ReducedMotion }},
	{path: "images", live: true, help: "How to draw pictures. `auto`: as the terminal can, by kitty's graphics, iTerm2's or sixels, else in blocks of colour when they are asked for.", choices: []string{"auto", "kitty", "sixel", "iterm", "blocks", "off"}, at: func(s *Settings, _ string) any { return &s.Images }},
	{path: "vim", live: true, help: "Edit prompts with vi's modes.", at: func(s *Settings, _ string) any { return &s.Vim }},
	{path: "keys.*", live: true, help: "The key or the list of keys of one binding, by its id, for example `\"send\": [\"enter\", \"ctrl+s\"]`. An empty list takes its keys away. The ids are in [keys.md](keys.md).", at: func(s *Settings, id string) any { return keysOf{s.Keys, id} }},
	{path: "doubleEscapeAction", live: true, help: "What Esc Esc opens over an empty editor.", choices: []string{"tree", "branch", "none"}, at: func(s *Settings, _ string) any { return &s.DoubleEscapeAction }},
	{path: "treeFilter", live: true, help: "The filter that the tree opens with.", choices: []string{"default", "no-tools", "user-only", "labeled-only", "all"}, at: func(s *Settings, _ string) any { return &s.TreeFilter }},
	{path: "branchSummary.prompt", live: true, help: "Whether to summarise a branch that is left: ask each time, always, or never.", choices: []string{"ask", "always", "never"}, at: func(s *Settings, _ string) any { return &s.BranchSummary.Prompt }},
	{path: "branchSummary.instructions", help: "What branch summaries should look at, besides the usual.", at: func(s *Settings, _ string) any { return &s.BranchSummary.Instructions }},
	{path: "compaction.enabled", help: "Summarise the older part of a conversation by itself when the model's window is nearly full.", at: func(s *Settings, _ string) any { return &s.Compaction.Enabled }},
	{path: "compaction.reserveTokens", help: "The room, in tokens, that is left in the window when compaction begins.", at: func(s *Settings, _ string) any { return &s.Compaction.ReserveTokens }},
	{path: "compaction.keepRecentTokens", help: "How much of the newest part is kept as it is, in tokens.", at: func(s *Settings, _ string) any { return &s.Compaction.KeepRecentTokens }},
	{path: "extensions", help: "Extensions to run besides those of the folder `extensions`: executables, or folders with one. Relative paths begin at the folder of the settings.", at: func(s *Settings, _ string) any { return &s.Extensions }},
	{path: "compaction.model", help: "The model that writes summaries, `provider/model`. Empty: the one that answers.", at: func(s *Settings, _ string) any { return &s.Compaction.Model }},
	{path: "compaction.models.*.reserveTokens", help: "`reserveTokens` for one model, by `provider/model` or its id.", at: func(s *Settings, model string) any { return &s.modelCompaction(model).ReserveTokens }},
	{path: "compaction.models.*.keepRecentTokens", help: "`keepRecentTokens` for one model.", at: func(s *Settings, model string) any { return &s.modelCompaction(model).KeepRecentTokens }},
	{path: "permissions.allow", help: "Calls that run without asking, as rules: `Bash(npm run *)`, `Read(//etc/**)`, `Edit(src/**)`, `WebFetch(domain:example.com)`, `mcp__server__tool`.", at: func(s *Settings, _ string) any { return &s.Permissions.Allow }},
	{path: "permissions.ask", help: "Calls that are always asked about.", project: adds, at: func(s *Settings, _ string) any { return &s.Permissions.Ask }},
	{path: "permissions.deny", help: "Calls that never run. Deny beats ask, which beats allow.", project: adds, at: func(s *Settings, _ string) any { return &s.Permissions.Deny }},
	{path: "permissions.defaultMode", help: "The permission mode that a chat begins with.", choices: modes, aliases: map[string]string{"default": "ask", "acceptEdits": "edits"}, at: func(s *Settings, _ string) any { return &s.Permissions.DefaultMode }},
	{path: "permissions.additionalDirectories", help: "Folders that count as the workspace besides the working folder.", at: func(s *Settings, _ string) any { return &s.Permissions.AdditionalDirectories }},
	{path: "maxTurns", help: "End a turn after this many requests to the model. 0: no limit.", project: lower, at: func(s *Settings, _ string) any { return &s.MaxTurns }},
	{path: "maxBudgetUsd", help: "End a run without a screen when it has cost this much, in USD. 0: no limit.", project: lower, at: func(s *Settings, _ string) any { return &s.MaxBudgetUSD }},
	{path: "maxTaskDepth", help: "How deep tasks may give tasks. 0: the agent gives none.", at: func(s *Settings, _ string) any { return &s.MaxTaskDepth }},
	{path: "maxParallelTasks", help: "How many tasks of one conversation run at once; the others wait. 0: as many as usual.", at: func(s *Settings, _ string) any { return &s.MaxParallelTasks }},
	{path: "hooks", help: "Commands that run when something happens, by event, in the format of Claude Code: see [hooks.md](hooks.md).", project: adds, at: func(s *Settings, _ string) any { return &s.Hooks }},
	{path: "disableAllHooks", help: "Run no hooks.", at: func(s *Settings, _ string) any { return &s.DisableAllHooks }},
	{path: "mcpServers.*", help: "An MCP server by its name, in the shape that `.mcp.json` has: see [mcp.md](mcp.md).", project: proposes, at: func(s *Settings, name string) any { return serverOf{&s.MCPServers, name} }},
	{path: "disabledMcpServers", help: "Names of MCP servers that are not started.", project: adds, at: func(s *Settings, _ string) any { return &s.DisabledMCPServers }},
	{path: "store", help: "Where sessions are kept: `files`, `files:FOLDER`, `sqlite:PATH` or `postgres://HOST/DATABASE`, without a password. Empty: in files. See [stores.md](stores.md).", at: func(s *Settings, _ string) any { return &s.Store }},
	{path: "shell.env", help: "Names of environment variables that commands may see besides the usual ones.", at: func(s *Settings, _ string) any { return &s.ShellEnv }},
}

func (s *Settings) modelCompaction(model string) *ModelCompaction {
	m := s.Compaction.Models[model]
	if m == nil {
		m = &ModelCompaction{}
		s.Compaction.Models[model] = m
	}
	return m
}

// match finds the field of a path, and the name that stands for its *.
func match(path string) (f field, name string, ok bool) {
	for _, f := range fields {
		before, after, wild := strings.Cut(f.path, "*")
		if !wild {
			if f.path == path {
				return f, "", true
			}
			continue
		}
		name, ok := strings.CutPrefix(path, before)
		if !ok {
			continue
		}
		if name, ok = strings.CutSuffix(name, after); ok && name != "" {
			return f, name, true
		}
	}
	return field{}, "", false
}

// named is the path with a name for its *.
func (f field) named(name string) string { return strings.Replace(f.path, "*", name, 1) }

// addsUp says whether the lists of several sources add up.
func (f field) addsUp() bool {
	switch f.at(scratch(), "x").(type) {
	case *[]Rule, *[]Raw:
		return true
	case *[]string:
		return f.path != "fallbackModels" // an order: the last one counts
	}
	return false
}

func scratch() *Settings { s := Defaults(); return &s }

// put decodes a JSON value into the setting. Its error says what is allowed; the
// setting is then as it was, unless ok says that a part of it was right: a list
// keeps the items that are.
func (f field) put(s *Settings, name string, value []byte, from Source) (ok bool, err error) {
	var list []string
	switch to := f.at(s, name).(type) {
	case *bool:
		err = decode(value, to, "true or false")
		return err == nil, err
	case *int:
		err = putNumber(f, to, value, "a whole number", from)
		return err == nil, err
	case *float64:
		err = putNumber(f, to, value, "a number", from)
		return err == nil, err
	case *string:
		err = f.putText(to, value)
		return err == nil, err
	case *[]string:
		if list, err = texts(value); list == nil {
			return false, err
		}
		if !f.addsUp() {
			*to = nil
		}
		for _, t := range list {
			if !slices.Contains(*to, t) {
				*to = append(*to, t)
			}
		}
	case *[]Rule:
		list, err = texts(value)
		for _, t := range list {
			*to = append(*to, Rule{t, from})
		}
	case *[]Raw:
		if value[0] != '{' {
			return false, fmt.Errorf("it takes an object, { … }, not %s", short(value))
		}
		*to = append(*to, Raw{slices.Clone(value), from})
		return true, nil
	case keysOf:
		if list, err = texts(value); list != nil {
			to.all[to.id] = list
		}
	case serverOf:
		err = to.put(value, from)
		return err == nil, err
	}
	return list != nil, err
}

func (f field) putText(to *string, value []byte) error {
	var text string
	what := "a text"
	if len(f.choices) > 0 {
		what = oneOf(f.choices)
	}
	if err := decode(value, &text, what); err != nil {
		return err
	}
	if other, ok := f.aliases[text]; ok {
		text = other
	}
	if len(f.choices) > 0 && !slices.Contains(f.choices, text) {
		return fmt.Errorf("it takes %s, not %s%s", what, value, suggest(text, f.choices))
	}
	*to = text
	return nil
}

// errLooser says that a project tried to loosen a limit.
var errLooser = errors.New("a project can only lower it; the lower limit counts")

// putNumber sets a number. In a project's file it must be a lower limit than the
// one that counts already; zero is no limit.
func putNumber[N int | float64](f field, to *N, value []byte, what string, from Source) error {
	var n N
	if err := decode(value, &n, what); err != nil {
		return err
	}
	switch {
	case n < 0:
		return errors.New("it takes no number below 0")
	case f.project == lower && from.Scope.OfProject() && (n == 0 || *to > 0 && n > *to):
		return errLooser
	}
	*to = n
	return nil
}

// decode reads a JSON value; what names what would have been right.
func decode[T any](value []byte, to *T, what string) error {
	if err := json.Unmarshal(value, to); err != nil {
		return fmt.Errorf("it takes %s, not %s", what, short(value))
	}
	return nil
}

// texts reads a list of texts, or one text. The list has what is right of it and
// is nil if it is none at all: a rule that denies must not lose its effect over
// a pair of brackets, or over what stands beside it.
func texts(value []byte) ([]string, error) {
	var one string
	if json.Unmarshal(value, &one) == nil {
		return []string{one}, nil
	}
	var items []json.RawMessage
	if err := decode(value, &items, "a list of texts"); err != nil {
		return nil, err
	}
	var wrong error
	list := []string{}
	for i, item := range items {
		var t *string
		if json.Unmarshal(item, &t) == nil && t != nil {
			list = append(list, *t)
		} else if wrong == nil {
			wrong = fmt.Errorf("it takes a list of texts, and item %d is %s", i+1, short(item))
		}
	}
	return list, wrong
}

// short is a value as an error shows it.
func short(value []byte) string {
	const most = 60
	value = bytes.Join(bytes.Fields(value), []byte(" "))
	if len(value) <= most {
		return string(value)
	}
	return strings.ToValidUTF8(string(value[:most]), "") + "…"
}

func oneOf(choices []string) string {
	quoted := make([]string, len(choices))
	for i, c := range choices {
		quoted[i] = fmt.Sprintf("%q", c)
	}
	last := len(quoted) - 1
	return strings.Join(quoted[:last], ", ") + " or " + quoted[last]
}
