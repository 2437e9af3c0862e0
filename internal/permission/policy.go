package permission

import (
	"encoding/json"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

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
	// workspace and off the network. Only then does mode auto run what it does
	// not know.
	Boxed bool
}

// Call is a tool call to be judged.
type Call struct {
	Tool   string      // as the model calls it: "bash", "mcp__server__tool"
	Access tool.Access // what the tool may do
	Args   json.RawMessage
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

// decideRead judges the tools that look at files.
func (p *Policy) decideRead(call Call) Verdict {
	t, err := p.pathOf(call)
	if err != nil {
		return ask(err.Error())
	}
	w := p.workspace
	if v, ok := p.byRules(call.Tool, func(r Rule) bool { return p.matchesTarget(r, t) }); ok {
		return v
	}
	if call.Tool == "grep" {
		hidden, ok := p.first(Deny, "read", func(r Rule) bool { return r.couldMatchBelow(t.real, w) })
		if ok && p.mode != Full {
			return ask(fmt.Sprintf("it may search files that the rule %s of %s denies", hidden, hidden.Source.Name))
		}
	}
	content := call.Tool == "read" || call.Tool == "grep"
	switch {
	case p.mode == Full:
		return allow("mode full allows it")
	case content && isSecret(t):
		return ask("it looks like a file of keys or passwords")
	case w.inside(t) || w.readable(t):
		return allow("it only reads, in the workspace")
	}
	return ask(fmt.Sprintf("%s is outside of the workspace", t.real), readRule(t.real))
}

// matchesTarget tells whether a rule is about a path. What denies or asks is
// about either of its names, what allows about both.
func (p *Policy) matchesTarget(r Rule, t target) bool {
	named, real := r.matchesPath(t.named, p.workspace), r.matchesPath(t.real, p.workspace)
	if r.Action == Allow {
		return named && real
	}
	return named || real
}

// decideEdit judges the tools that change files.
func (p *Policy) decideEdit(call Call) Verdict {
	t, err := p.pathOf(call)
	if err != nil {
		return ask(err.Error())
	}
	w := p.workspace
	if p.mode != Full {
		for _, dir := range w.Protected {
			if _, ok := below(dir, t.real); ok {
				return deny(fmt.Sprintf("%s belongs to this program: no tool changes it", t.real))
			}
		}
		if isForbidden(t) {
			return deny(fmt.Sprintf("%s steers programs: no tool changes it, the user can", t.named))
		}
	}
	v, ruled := p.byRules(call.Tool, func(r Rule) bool { return p.matchesTarget(r, t) })
	switch {
	case ruled && v.Action == Deny:
		return v
	case p.mode == "plan":
		return planned
	case ruled:
		return v
	case p.mode == Full:
		return allow("mode full allows it")
	case !w.inside(t):
		return ask(fmt.Sprintf("%s is outside of the workspace", t.real), editRule(w, t))
	case isDelicate(t):
		return ask(fmt.Sprintf("%s does more than it seems: other programs run or obey it", t.named))
	case isSecret(t):
		return ask("it looks like a file of keys or passwords")
	case p.mode == "edits" || p.mode == "auto":
		return Verdict{Action: Allow, Source: "mode " + p.mode, Reason: fmt.Sprintf("mode %s allows changes in the workspace", p.mode)}
	}
	return ask("it changes a file", editRule(w, t))
}

// readRule allows reading what is in a path's folder.
func readRule(real string) Rule {
	i := strings.LastIndexByte(real, '/')
	return session("Read", "/"+escapeGlob(real[:max(i, 0)])+"/**")
}

// editRule allows changing this file.
func editRule(w Workspace, t target) Rule {
	if rel, ok := below(w.Dir, t.real); ok {
		return session("Edit", "/"+escapeGlob(rel))
	}
	return session("Edit", "/"+escapeGlob(t.real))
}

func escapeGlob(path string) string {
	return strings.NewReplacer("*", `\*`, "?", `\?`, "[", `\[`, "{", `\{`, `\`, `\\`).Replace(path)
}

// pathOf is the path that a call is about.
func (p *Policy) pathOf(call Call) (target, error) {
	var args struct{ Path, Pattern string }
	if err := json.Unmarshal(call.Args, &args); err != nil {
		return target{}, fmt.Errorf("its arguments cannot be read: %w", err)
	}
	name := args.Path
	if call.Tool == "glob" {
		name = globDir(args.Path, args.Pattern)
	}
	if name == "" {
		name = "."
	}
	t, err := p.workspace.target(p.workspace.Dir, name)
	if err != nil {
		return t, fmt.Errorf("%s cannot be resolved: %w", name, err)
	}
	return t, nil
}

// decideFetch judges getting a web page.
func (p *Policy) decideFetch(call Call) Verdict {
	var args struct{ URL string }
	u := &url.URL{}
	err := json.Unmarshal(call.Args, &args)
	if err == nil {
		u, err = url.Parse(args.URL)
	}
	if err != nil || u.Hostname() == "" {
		return ask("its address cannot be read")
	}
	host := u.Hostname()
	v, ruled := p.byRules("fetch", func(r Rule) bool { return r.matchesHost(host) })
	switch {
	case ruled && v.Action != Allow:
		return v
	case p.mode == Full:
		return allow("mode full allows it")
	case carriesData(u):
		return ask("the address is long enough to carry data away")
	case ruled:
		return v
	}
	return ask(fmt.Sprintf("it talks to %s", host), session("WebFetch", "domain:"+strings.ToLower(host)))
}

// carriesData tells whether an address may hold more than a question: something
// that was read here, for whoever reads there.
func carriesData(u *url.URL) bool {
	if len(u.RawQuery) > 512 || len(u.Path) > 1024 || len(u.Fragment) > 512 || len(u.Hostname()) > 100 {
		return true
	}
	run := 0
	for _, c := range u.Host + " " + u.Path + " " + u.RawQuery {
		if c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '+' || c == '=' || c == '%' {
			run++
		} else {
			run = 0
		}
		if run > 64 { // a word of base64 or hex
			return true
		}
	}
	return false
}

// decideOther judges tools that we know nothing of, such as those of MCP
// servers, and our own harmless ones.
func (p *Policy) decideOther(call Call) Verdict {
	subject := tool.Describe(call.Tool, call.Args)
	v, ruled := p.byRules(call.Tool, func(r Rule) bool { return r.all || globMatch(r.spec, subject) })
	_, ours := ruleNames[call.Tool]
	switch {
	case ruled && v.Action == Deny:
		return v
	case p.mode == "plan" && call.Access != tool.Read:
		return planned
	case ruled:
		return v
	case p.mode == Full:
		return allow("mode full allows it")
	case ours && call.Access == tool.Read:
		return allow("it changes nothing")
	}
	return ask(fmt.Sprintf("it is not known what %s does", call.Tool), session(call.Tool, ""))
}

// globDir is the folder in which a pattern of the glob tool begins to look.
func globDir(dir, pattern string) string {
	base, _ := doublestar.SplitPattern(pattern)
	if strings.HasPrefix(base, "/") || strings.HasPrefix(base, "~") {
		return base
	}
	return filepath.Join(dir, base)
}
