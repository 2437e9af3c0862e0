package permission

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// Action is what is done with a call.
type Action uint8

// The actions. The zero value is the careful one.
const (
	Ask Action = iota
	Allow
	Deny
)

// String is the action in the word of settings.
func (a Action) String() string { return [...]string{"ask", "allow", "deny"}[a] }

// Source is where a rule comes from.
type Source struct {
	Name string // for people: a file's path, "--allowed-tools", "this session"
	// Base is the folder that paths like "/x" in the rule start from: the
	// project's root. Empty means the workspace.
	Base string
	// Project is set for settings that come with a repository. They can only
	// tighten: their Allow rules do not count.
	Project bool
}

// Rule is one rule. Make it with [ParseRule].
type Rule struct {
	Action Action
	Source Source

	tool    string // "Bash", "Read", "mcp__server__tool"
	spec    string // what is in parentheses; "" for every call
	all     bool   // no specifier, or one that says everything
	pattern pathPattern
	exact   string // a command in the form of commandText, where the specifier is one
}

// String is the rule as it stands in settings.
func (r Rule) String() string {
	if r.spec == "" {
		return r.tool
	}
	return r.tool + "(" + r.spec + ")"
}

// ParseRule reads a rule: a tool's name, or a name and a specifier in
// parentheses.
func ParseRule(action Action, text string, from Source) (Rule, error) {
	r := Rule{Action: action, Source: from, tool: strings.TrimSpace(text)}
	if name, rest, ok := strings.Cut(r.tool, "("); ok {
		spec, ok := strings.CutSuffix(rest, ")")
		if !ok {
			return Rule{}, fmt.Errorf("the permission rule %q has no closing parenthesis", text)
		}
		r.tool, r.spec = name, strings.TrimSpace(spec)
		if r.spec == "" {
			return Rule{}, fmt.Errorf("the permission rule %q says nothing in its parentheses: write %s for every call", text, name)
		}
	}
	if r.tool == "" || strings.ContainsAny(r.tool, " \t\n()\"'") {
		return Rule{}, fmt.Errorf("the permission rule %q does not begin with the name of a tool", text)
	}
	r.all = r.spec == "" || r.spec == "*" || r.spec == ":*" || r.spec == "**" && isPathTool(r.tool)
	switch {
	case r.tool == "Bash" && !r.wild():
		if c, err := understand(r.spec); err == nil && len(c) == 1 {
			r.exact = commandText(c[0].words)
		}
	case isPathTool(r.tool) && !r.all:
		p, err := parsePathPattern(r.spec)
		if err != nil {
			return Rule{}, fmt.Errorf("the permission rule %q: %w", text, err)
		}
		r.pattern = p
	case r.tool == "WebFetch" && !r.all && !strings.HasPrefix(r.spec, "domain:"):
		return Rule{}, fmt.Errorf("the permission rule %q: a specifier of WebFetch is domain: and a host name", text)
	case strings.HasPrefix(r.tool, "mcp__") && r.spec != "":
		return Rule{}, fmt.Errorf("the permission rule %q: rules for MCP tools have no specifier", text)
	}
	return r, nil
}

// ruleNames are the names by which rules mean our tools. Every one of the names
// counts.
var ruleNames = map[string][]string{
	"bash":        {"Bash"},
	"bash_output": {"BashOutput"},
	"bash_kill":   {"KillShell"},
	"read":        {"Read"},
	"ls":          {"Read", "LS"},
	"stat":        {"Read"},
	"exists":      {"Read"},
	"grep":        {"Read", "Grep"},
	"glob":        {"Read", "Glob"},
	"write":       {"Edit", "Write"},
	"edit":        {"Edit", "MultiEdit"},
	"mkdir":       {"Edit"},
	"rm":          {"Edit"},
	"fetch":       {"WebFetch"},
	"task":        {"Agent", "Task"},
	"skill":       {"Skill"},
	"todo":        {"TodoWrite"},
	"finish":      {},
	"give_up":     {},
}

func isPathTool(name string) bool {
	switch name {
	case "Read", "LS", "Grep", "Glob", "Edit", "Write", "MultiEdit":
		return true
	}
	return false
}

// Names tells whether the rule is about a tool, in some of its calls at least.
func (r Rule) Names(tool string) bool { return r.names(tool) }

// names tells whether the rule is about a tool.
func (r Rule) names(tool string) bool {
	if r.tool == tool {
		return true
	}
	for _, name := range ruleNames[tool] {
		if r.tool == name {
			return true
		}
	}
	if !strings.HasPrefix(r.tool, "mcp__") || !strings.HasPrefix(tool, "mcp__") {
		return false
	}
	// mcp__server and mcp__server__* mean every tool of a server.
	server, _ := strings.CutSuffix(r.tool, "__*")
	return strings.Count(server, "__") == 1 && strings.HasPrefix(tool, server+"__")
}

// matchesCommand tells whether a rule for Bash is about one command, given as
// its words.
func (r Rule) matchesCommand(words []string) bool {
	if r.all {
		return true
	}
	text := commandText(words)
	if r.exact != "" {
		return text == r.exact
	}
	if prefix, ok := strings.CutSuffix(r.spec, ":*"); ok {
		return text == prefix || strings.HasPrefix(text, prefix+" ")
	}
	if prefix, ok := strings.CutSuffix(r.spec, " *"); ok && globMatch(prefix, text) {
		return true
	}
	return globMatch(r.spec, text)
}

// wild tells whether a rule for Bash is about more than one command.
func (r Rule) wild() bool { return strings.Contains(r.spec, "*") }

// globMatch matches a text against a pattern in which * is any text.
func globMatch(pattern, text string) bool {
	first, rest, found := strings.Cut(pattern, "*")
	if !found {
		return text == pattern
	}
	text, ok := strings.CutPrefix(text, first)
	if !ok {
		return false
	}
	for {
		part, more, found := strings.Cut(rest, "*")
		if !found {
			return strings.HasSuffix(text, part)
		}
		i := strings.Index(text, part)
		if i < 0 {
			return false
		}
		text, rest = text[i+len(part):], more
	}
}

// matchesHost tells whether a rule for WebFetch is about a host.
func (r Rule) matchesHost(host string) bool {
	if r.all {
		return true
	}
	want := strings.ToLower(strings.TrimPrefix(r.spec, "domain:"))
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	if domain, ok := strings.CutPrefix(want, "*."); ok {
		return strings.HasSuffix(host, "."+domain)
	}
	return host == want
}

// base is where relative paths of a rule start.
func (r Rule) base(workspace string) string {
	if r.Source.Base != "" {
		return filepath.Clean(r.Source.Base)
	}
	return workspace
}

// Names are the names by which rules mean a tool of ours, besides its own.
func Names(tool string) []string { return slices.Clone(ruleNames[tool]) }
