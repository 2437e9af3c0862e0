package permission

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// maxCommand is the length in bytes, and maxBrackets the number of brackets,
// above which a command is not judged: nobody reads it, and the depth of parsing
// is up to who wrote it.
const (
	maxCommand  = 64 << 10
	maxBrackets = 2000
)

func tooMuch(command string) bool {
	return len(command) > maxCommand || strings.Count(command, "(")+strings.Count(command, "{")+strings.Count(command, "`") > maxBrackets
}

// maxParts is how many rules "always" stores at most.
const maxParts = 5

type bashArgs struct {
	Command    string            `json:"command"`
	Cwd        string            `json:"cwd"`
	Env        map[string]string `json:"env"`
	Background bool              `json:"background"`
	Unconfined bool              `json:"unconfined"`
}

// decideBash judges a shell command.
func (p *Policy) decideBash(call Call) Verdict {
	var args bashArgs
	if err := json.Unmarshal(call.Args, &args); err != nil {
		return ask("its arguments cannot be read")
	}
	if tooMuch(args.Command) {
		if p.restricts() || p.mode != Full {
			return ask("it is too long, or nested too deeply, to be judged")
		}
		return allow("mode full allows it")
	}
	all, whole := mentioned(args.Command)
	if r, ok := p.aboutCommands(Deny, args.Command, all); ok {
		return byRule(r)
	}
	if r, ok := p.deniedFile(all); ok {
		return byRule(r)
	}
	if !whole && p.restricts() {
		return ask("not all of what it runs can be seen, so the rules that deny and ask cannot be checked")
	}
	if p.mode == Full {
		return allow("mode full allows it")
	}
	v := p.judge(args)
	asked, ruled := p.aboutCommands(Ask, args.Command, all)
	switch {
	case ruled && (v.Action == Allow || p.mode != "plan"):
		return byRule(asked)
	case v.Action == Allow:
		return v
	case p.mode == "plan":
		refused := planned
		refused.Parts = v.Parts
		return refused
	case p.mode == "auto" && p.workspace.Boxed && p.boxable(args, all):
		return Verdict{Action: Allow, Source: "mode auto", Reason: "mode auto runs commands in the sandbox", Parts: v.Parts}
	}
	return v
}

// restricts tells whether there are rules that not every command may get past.
func (p *Policy) restricts() bool {
	return slices.ContainsFunc(p.rules, func(r Rule) bool {
		return r.names("bash") && (r.Action == Deny || r.Action == Ask && p.mode != Full)
	})
}

// aboutCommands finds a rule that is about a command which is mentioned, or
// about the text as a whole.
func (p *Policy) aboutCommands(action Action, text string, all [][]string) (Rule, bool) {
	return p.first(action, "bash", func(r Rule) bool {
		return r.all || globMatch(r.spec, text) || slices.ContainsFunc(all, r.matchesCommand)
	})
}

// deniedFile finds a rule that denies reading a file, or changing one, which a
// command names. What a program does with a name is not known: a program that is
// known to only read may read what must not be changed.
func (p *Policy) deniedFile(all [][]string) (Rule, bool) {
	if !slices.ContainsFunc(p.rules, func(r Rule) bool { return r.Action == Deny && isPathTool(r.tool) }) {
		return Rule{}, false
	}
	for _, words := range all {
		_, reads := readers[words[0]]
		for _, w := range words[1:] {
			if _, value, ok := strings.Cut(w, "="); ok && strings.HasPrefix(w, "-") {
				w = value
			}
			t, err := p.workspace.target(p.workspace.start(), w)
			if err != nil || w == "" {
				continue
			}
			about := func(r Rule) bool { return !r.all && p.matchesTarget(r, t) }
			if r, ok := p.first(Deny, "read", about); ok {
				return r, true
			}
			if r, ok := p.first(Deny, "edit", about); ok && !reads {
				return r, true
			}
		}
	}
	return Rule{}, false
}

// allowing finds a rule that allows commands. Mode plan listens to none: that a
// command may run does not mean that it changes nothing.
func (p *Policy) allowing(matches func(Rule) bool) (Rule, bool) {
	if p.mode == "plan" {
		return Rule{}, false
	}
	return p.first(Allow, "bash", matches)
}

// judge judges a command part by part.
func (p *Policy) judge(args bashArgs) Verdict {
	if r, ok := p.allowing(func(r Rule) bool { return r.all }); ok {
		return byRule(r)
	}
	if err := p.surroundings(args); err != nil {
		return ask(err.Error())
	}
	commands, err := understand(args.Command)
	if err != nil {
		return ask(err.Error())
	}
	w := p.workspace
	base := w.start()
	if args.Cwd != "" {
		t, _ := w.target(base, args.Cwd)
		base = t.real
	}
	// A cd may fail or be skipped: names are tried from everywhere that the
	// command may be.
	bases := []string{base}
	v := allow("")
	for _, c := range commands {
		part := Part{Text: commandText(c.words), Verdict: p.judgePart(c, bases)}
		v.Parts = append(v.Parts, part)
		if c.words[0] == "cd" && part.Action == Allow && len(c.words) == 2 {
			for _, from := range slices.Clone(bases) {
				bases = append(bases, filepath.Join(from, c.words[1]))
			}
		}
		if len(bases) > 64 {
			return ask("it changes the folder too often")
		}
	}
	return conclude(v)
}

// conclude is the verdict on the whole from those on the parts.
func conclude(v Verdict) Verdict {
	var refused []Part
	for _, part := range v.Parts {
		if part.Action != Allow {
			refused = append(refused, part)
		}
	}
	if len(refused) == 0 {
		first := v.Parts[0].Verdict
		v.Rule, v.Source, v.Reason = first.Rule, first.Source, first.Reason
		if len(v.Parts) > 1 {
			v.Reason = "every part of it is allowed"
		}
		return v
	}
	v.Action, v.Source, v.Reason = Ask, refused[0].Source, refused[0].Reason
	if len(v.Parts) > 1 {
		v.Reason = fmt.Sprintf("%s: %s", refused[0].Text, refused[0].Reason)
	}
	for _, part := range refused {
		if len(part.Always) == 0 || len(refused) > maxParts {
			v.Always = nil
			break
		}
		v.Always = append(v.Always, part.Always...)
	}
	return v
}

// plainVariable are environment variables that steer how programs talk, and
// nothing that they run or load.
var plainVariables = []string{
	"CGO_ENABLED", "GOOS", "GOARCH", "NODE_ENV", "CI", "RUST_BACKTRACE", "RUST_LOG", "LANG", "LC_ALL", "TZ", "NO_COLOR", "FORCE_COLOR", "CLICOLOR",
	"DEBUG", "VERBOSE", "PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE", "LONG", "COLUMNS",
}

// surroundings refuses what changes the meaning of any command.
func (p *Policy) surroundings(args bashArgs) error {
	for name := range args.Env {
		if !slices.Contains(plainVariables, name) {
			return fmt.Errorf("it sets the variable %s", name)
		}
	}
	if args.Unconfined && p.workspace.Boxed {
		return errors.New("it leaves the sandbox")
	}
	if args.Background {
		return errors.New("it goes on in the background")
	}
	if args.Cwd == "" {
		return nil
	}
	t, err := p.workspace.target(p.workspace.start(), args.Cwd)
	if err != nil || !p.workspace.inside(t) {
		return fmt.Errorf("it runs in %s, outside of the workspace", args.Cwd)
	}
	return nil
}

// judgePart judges one command.
func (p *Policy) judgePart(c command, bases []string) Verdict {
	name := c.words[0]
	veto := extraVeto(c)
	rule, ruled := p.allowing(func(r Rule) bool { return r.matchesCommand(c.words) })
	if ruled && (veto == "" || !rule.wild()) {
		return byRule(rule)
	}
	if name == "cd" {
		return p.judgeCd(c, bases)
	}
	words, err := readsOnly(c)
	if err == nil {
		err = p.judgePaths(words, bases)
	}
	if err == nil {
		err = p.fromSystem(name)
	}
	switch {
	case err == nil:
		return allow("it only reads")
	case ruled:
		return ask(fmt.Sprintf("%s is not what %s of %s means", veto, rule, rule.Source.Name), always(c)...)
	}
	return ask(err.Error(), always(c)...)
}

func (p *Policy) judgeCd(c command, bases []string) Verdict {
	if len(c.words) != 2 || strings.HasPrefix(c.words[1], "-") || c.globs[1] {
		return ask("it goes to a folder that is not named")
	}
	if err := p.judgePaths(c.words[1:], bases); err != nil {
		t, e := p.workspace.target(bases[0], c.words[1])
		if e != nil {
			return ask(err.Error())
		}
		return ask(err.Error(), session("Bash", commandText(c.words)), session("Read", "/"+escapeGlob(t.real)+"/**"))
	}
	return allow("it stays in the workspace")
}

// judgePaths refuses words that may name files outside of the workspace, or
// files of secrets.
func (p *Policy) judgePaths(words, bases []string) error {
	for _, word := range words {
		if word == "" || word == "-" {
			continue
		}
		if strings.HasPrefix(word, "/") || strings.HasPrefix(word, "~") || slices.Contains(strings.Split(word, "/"), "..") {
			if !p.namedInside(word) {
				return fmt.Errorf("%s may be outside of the workspace", word)
			}
		}
		for _, base := range bases {
			if err := p.judgePath(base, word); err != nil {
				return err
			}
		}
	}
	return nil
}

// namedInside tells whether an absolute path is in the workspace without doubt.
func (p *Policy) namedInside(word string) bool {
	if !filepath.IsAbs(word) || slices.Contains(strings.Split(word, "/"), "..") {
		return false
	}
	t, err := p.workspace.target("/", word)
	return err == nil && (p.workspace.inside(t) || p.workspace.readable(t))
}

// judgePath judges one name, or each name that a pattern stands for.
func (p *Policy) judgePath(base, word string) error {
	names := []string{word}
	if pattern, ok := widened(word); ok {
		if !filepath.IsAbs(pattern) {
			pattern = filepath.Join(base, pattern)
		}
		found, err := filepath.Glob(pattern)
		if err != nil || len(found) > 1000 {
			return fmt.Errorf("%s stands for too many files to look at", word)
		}
		names = append(names, found...)
	}
	w := p.workspace
	for _, name := range names {
		t, err := w.target(base, name)
		if err != nil {
			return fmt.Errorf("%s cannot be resolved: %w", name, err)
		}
		if !w.inside(t) && !w.readable(t) {
			return fmt.Errorf("%s leads out of the workspace, to %s", name, t.real)
		}
		if isSecret(t) {
			return fmt.Errorf("%s looks like a file of keys or passwords", name)
		}
		if r, ok := p.first(Ask, "read", func(r Rule) bool { return p.matchesTarget(r, t) }); ok {
			return fmt.Errorf("the rule %s of %s says ask", r, r.Source.Name)
		}
	}
	return nil
}

// widened is a pattern that stands for all that the shell's pattern stands for,
// and more: what is in brackets differs between the two languages.
func widened(word string) (string, bool) {
	if !strings.ContainsAny(word, "*?[") {
		return "", false
	}
	parts := strings.Split(word, "/")
	for i, part := range parts {
		if before, _, ok := strings.Cut(part, "["); ok {
			parts[i] = before + "*"
		}
	}
	return strings.Join(parts, "/"), true
}

// shellBuiltins are run by bash itself.
var shellBuiltins = []string{"cd", "echo", "printf", "pwd", "true", "false", "test", "type", "command"}

// fromSystem refuses a program that would be found in the workspace: it is
// whatever the repository says.
func (p *Policy) fromSystem(name string) error {
	if strings.Contains(name, "/") {
		return fmt.Errorf("%s is named by its path", name)
	}
	if slices.Contains(shellBuiltins, name) {
		return nil
	}
	for _, dir := range filepath.SplitList(p.workspace.Path) {
		path := filepath.Join(dir, name)
		info, err := os.Stat(path)
		if err != nil || info.IsDir() || info.Mode()&0o111 == 0 {
			continue
		}
		if real, err := filepath.EvalSymlinks(path); !filepath.IsAbs(dir) || err != nil || p.workspace.within(real) || p.workspace.within(path) {
			return fmt.Errorf("%s is a program of the workspace", name)
		}
		return nil
	}
	return nil // it is not installed: nothing will run
}

// boxable tells whether the sandbox makes up for not knowing what a command
// does: it is understood in the sense that every command of it is seen, and none
// is destructive within the workspace.
func (p *Policy) boxable(args bashArgs, all [][]string) bool {
	if p.surroundings(args) != nil || len(all) == 0 {
		return false
	}
	if _, err := understand(args.Command); err != nil {
		return false
	}
	return !slices.ContainsFunc(all, dangerous)
}
