package permission

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

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
	t, err := p.workspace.target(p.workspace.start(), name)
	if err != nil {
		return t, fmt.Errorf("%s cannot be resolved: %w", name, err)
	}
	return t, nil
}

// globDir is the folder in which a pattern of the glob tool begins to look.
func globDir(dir, pattern string) string {
	base, _ := doublestar.SplitPattern(pattern)
	if strings.HasPrefix(base, "/") || strings.HasPrefix(base, "~") {
		return base
	}
	return filepath.Join(dir, base)
}
