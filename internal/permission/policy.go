package permission

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"banyan/internal/tool"
)

// Workspace is what a policy knows of the machine.
type Workspace struct {
	Dir  string   // the working folder: absolute, links resolved
	Dirs []string // folders added to it, the same
	Home string
	// Readable are folders of ours that models are pointed to, such as that of
	// cut outputs.
	Readable []string
	// Protected are folders that no tool changes: our settings, sessions and
	// credentials.
	Protected []string
	// Path is the list of folders that commands are looked for in, as PATH.
	Path string
	// Boxed says that commands run in a sandbox that keeps them in the
	// workspace, off the network and away from .git/hooks: a full box. Only
	// then does mode auto run what it does not know.
	Boxed bool

	cwd string // Call.Cwd of the call that is judged
}

// Call is a tool call to be judged.
type Call struct {
	Tool   string      // as the model calls it: "bash", "mcp__server__tool"
	Access tool.Access // what the tool may do
	Args   json.RawMessage
	// Cwd is the folder that its relative paths start from: absolute, links
	// resolved, in the workspace. Empty means the working folder.
	Cwd string
}

// Verdict is what is done with a call, and why.
type Verdict struct {
	Action Action
	Rule   string // the rule that decided, as it stands in settings; "" for none of the user's
	Source string // where that rule is from, or "built in", or "mode plan"
	Reason string // a sentence for people and, when denied, for the model
	// Always are the rules that would allow this call from now on. Empty if
	// nothing is remembered for it.
	Always []Rule
	// Parts are the commands that a shell command is made of, each with its
	// own verdict, where they are known.
	Parts []Part
}

// Part is one command of a shell command.
type Part struct {
	Text string // its words, quoted where they need it
	Verdict
}

// Modes in the order in which a key cycles them. "full" is only reached by its
// long flag.
var Modes = []string{"ask", "edits", "plan", "auto"}

// Full allows everything that no rule denies.
const Full = "full"

// Policy decides. It is not safe for concurrent use: the engine owns it.
type Policy struct {
	workspace Workspace
	mode      string
	rules     []Rule // that count
	ignored   []Rule // Allow rules of projects
}

// New makes a policy in mode ask.
func New(w Workspace, rules ...Rule) *Policy {
	p := &Policy{workspace: w, mode: "ask"}
	for _, r := range rules {
		if r.Source.Project && r.Action == Allow {
			p.ignored = append(p.ignored, r)
			continue
		}
		p.rules = append(p.rules, r)
	}
	return p
}

// Ignored are the rules that do not count: what a repository's settings would
// allow.
func (p *Policy) Ignored() []Rule { return slices.Clone(p.ignored) }

// Rules are the rules that count, in the order in which they were given.
func (p *Policy) Rules() []Rule { return slices.Clone(p.rules) }

// Mode is the current mode.
func (p *Policy) Mode() string { return p.mode }

// SetMode changes the mode.
func (p *Policy) SetMode(mode string) error {
	if mode != Full && !slices.Contains(Modes, mode) {
		return fmt.Errorf("there is no permission mode %q; there are %s", mode, strings.Join(Modes, ", "))
	}
	p.mode = mode
	return nil
}

// Remember adds rules for as long as the program runs.
func (p *Policy) Remember(rules ...Rule) {
	for _, r := range rules {
		if !slices.ContainsFunc(p.rules, func(old Rule) bool { return old.Action == r.Action && old.String() == r.String() }) {
			p.rules = append(p.rules, r)
		}
	}
}

// Decide judges a call.
func (p *Policy) Decide(call Call) Verdict {
	if call.Cwd != "" {
		from := *p
		from.workspace.cwd = call.Cwd
		p = &from
	}
	switch call.Tool {
	case "bash":
		return p.decideBash(call)
	case "fetch":
		return p.decideFetch(call)
	case "read", "ls", "stat", "exists", "grep", "glob":
		return p.decideRead(call)
	case "write", "edit", "mkdir", "rm":
		return p.decideEdit(call)
	}
	return p.decideOther(call)
}

// builtIn is the Source of what no rule of the user's decided.
const builtIn = "built in"

func allow(reason string) Verdict { return Verdict{Action: Allow, Source: builtIn, Reason: reason} }

func ask(reason string, always ...Rule) Verdict {
	always = slices.DeleteFunc(always, func(r Rule) bool { return r.tool == "" }) // no rule says it
	return Verdict{Source: builtIn, Reason: reason, Always: always}
}

func deny(reason string) Verdict { return Verdict{Action: Deny, Source: builtIn, Reason: reason} }

// byRule is the verdict of a rule.
func byRule(r Rule) Verdict {
	return Verdict{
		Action: r.Action, Rule: r.String(), Source: r.Source.Name,
		Reason: fmt.Sprintf("the rule %s of %s says %s", r, r.Source.Name, r.Action),
	}
}

// planned is the verdict of mode plan on what is not reading.
var planned = Verdict{
	Action: Deny, Source: "mode plan",
	Reason: "in plan mode nothing is changed: say what you would do, and let the user leave the mode",
}

// first finds a rule of an action that is about a tool and matches.
func (p *Policy) first(action Action, tool string, matches func(Rule) bool) (Rule, bool) {
	for _, r := range p.rules {
		if r.Action == action && r.names(tool) && matches(r) {
			return r, true
		}
	}
	return Rule{}, false
}

// byRules is the verdict of the user's rules: deny over ask over allow.
func (p *Policy) byRules(tool string, matches func(Rule) bool) (Verdict, bool) {
	for _, action := range []Action{Deny, Ask, Allow} {
		if action == Ask && p.mode == Full {
			continue
		}
		if r, ok := p.first(action, tool, matches); ok {
			return byRule(r), true
		}
	}
	return Verdict{}, false
}

// session makes the rule that "always" would add, the zero Rule if none can
// say it.
func session(tool, spec string) Rule {
	text := tool
	if spec != "" {
		text += "(" + spec + ")"
	}
	r, err := ParseRule(Allow, text, Source{Name: "this session"})
	if err != nil {
		return Rule{}
	}
	return r
}

// decideOther judges tools that we know nothing of, such as those of MCP
// servers, and our own harmless ones.
func (p *Policy) decideOther(call Call) Verdict {
	subject := tool.Describe(call.Tool, call.Args)
	if call.Access == tool.Delegate {
		var to struct{ Agent string }
		_ = json.Unmarshal(call.Args, &to) // the tool says what is wrong with them
		subject = to.Agent
	}
	v, ruled := p.byRules(call.Tool, func(r Rule) bool { return r.all || globMatch(r.spec, subject) })
	_, ours := ruleNames[call.Tool]
	switch {
	case ruled && v.Action == Deny:
		return v
	case p.mode == "plan" && call.Access != tool.Read && call.Access != tool.Delegate:
		return planned
	case ruled:
		return v
	case p.mode == Full:
		return allow("mode full allows it")
	case ours && call.Access == tool.Read:
		return allow("it changes nothing")
	case ours && call.Access == tool.Delegate:
		return allow("what it does is judged call by call")
	}
	return ask(fmt.Sprintf("it is not known what %s does", call.Tool), session(call.Tool, ""))
}
