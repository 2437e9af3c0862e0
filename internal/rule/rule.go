package rule

import (
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
)

// Rule is a text that models are told when they write something. It does not
// change and may be used from anywhere. Make it with [New].
type Rule struct {
	Name     string
	Patterns []string // RE2; one of them is met
	Scope    []string // as [New] takes it; never empty
	Text     string   // what the model is told

	patterns []pattern
	places   []place
}

// pattern is one that was read.
type pattern struct {
	*regexp.Regexp
	// first: it is about a block's beginning; last: about its end.
	first, last bool
	// needs are texts of which one is in every match; nil where none is known.
	needs [][]byte
}

// place is where a rule looks.
type place struct {
	kind kind
	tool string // of calls: the tool's name; empty for all
	glob string // of calls: of the path that it names; empty for all
}

type kind uint8

const (
	text kind = iota
	thinking
	call
)

// everywhere is where a rule looks that does not say it.
var everywhere = []string{"text", "tool"}

// maxPatterns is how many patterns a rule may have.
const maxPatterns = 64

// New makes a rule. The scope is a list of "text", "thinking", "tool",
// "tool:edit", "tool:edit(*.go)"; empty for text and all tools.
func New(name, text string, patterns, scope []string) (*Rule, error) {
	r := &Rule{Name: name, Text: strings.TrimSpace(text), Patterns: patterns, Scope: scope}
	switch {
	case len(patterns) == 0:
		return nil, errors.New("it has no condition: a pattern, or a list of patterns")
	case len(patterns) > maxPatterns:
		return nil, fmt.Errorf("it has more than %d conditions", maxPatterns)
	case r.Text == "":
		return nil, errors.New("it has no text to tell the model")
	}
	if len(scope) == 0 {
		r.Scope = everywhere
	}
	for _, p := range patterns {
		read, err := readPattern(p)
		if err != nil {
			return nil, err
		}
		r.patterns = append(r.patterns, read)
	}
	for _, s := range r.Scope {
		at, err := readPlace(s)
		if err != nil {
			return nil, err
		}
		r.places = append(r.places, at)
	}
	return r, nil
}

func readPattern(p string) (pattern, error) {
	tree, err := syntax.Parse(p, syntax.Perl)
	if err != nil {
		return pattern{}, fmt.Errorf("the condition %q is no regular expression that this program takes (those of RE2): %w", p, err)
	}
	re, err := regexp.Compile(p)
	if err != nil {
		return pattern{}, fmt.Errorf("the condition %q: %w", p, err)
	}
	if re.MatchString("") {
		return pattern{}, fmt.Errorf("the condition %q is met by nothing at all, and so by everything", p)
	}
	return pattern{re, has(tree, syntax.OpBeginText), has(tree, syntax.OpEndText), needed(tree)}, nil
}

// has says whether an expression has an operator anywhere in it.
func has(tree *syntax.Regexp, op syntax.Op) bool {
	return tree.Op == op || slices.ContainsFunc(tree.Sub, func(sub *syntax.Regexp) bool { return has(sub, op) })
}

func readPlace(s string) (place, error) {
	switch {
	case s == "text":
		return place{kind: text}, nil
	case s == "thinking":
		return place{kind: thinking}, nil
	case s == "tool":
		return place{kind: call}, nil
	}
	name, ok := strings.CutPrefix(s, "tool:")
	if !ok || name == "" {
		return place{}, fmt.Errorf("the scope %q is not known; there are text, thinking, tool, tool:edit and tool:edit(*.go)", s)
	}
	tool, glob, ok := strings.Cut(name, "(")
	if !ok {
		return place{kind: call, tool: name}, nil
	}
	glob, ok = strings.CutSuffix(glob, ")")
	if !ok || glob == "" || tool == "" {
		return place{}, fmt.Errorf("the scope %q has no pattern of paths in its parentheses", s)
	}
	for _, g := range braces(glob) {
		if _, err := path.Match(g, ""); err != nil {
			return place{}, fmt.Errorf("the scope %q: %w", s, err)
		}
	}
	return place{kind: call, tool: tool, glob: glob}, nil
}

// looksAt says whether a rule may look at a block of a kind; of a call's path it is
// known later.
func (r *Rule) looksAt(k kind, tool string) bool {
	return slices.ContainsFunc(r.places, func(p place) bool {
		return p.kind == k && (p.tool == "" || strings.EqualFold(p.tool, tool))
	})
}

// about says whether a rule is about a call that names a path; known is false
// while the path is not known, and it matters.
func (r *Rule) about(tool, file string, fileKnown bool) (yes, known bool) {
	known = true
	for _, p := range r.places {
		if p.kind != call || p.tool != "" && !strings.EqualFold(p.tool, tool) {
			continue
		}
		switch {
		case p.glob == "":
			return true, true
		case !fileKnown:
			known = false
		case matchPath(p.glob, file):
			return true, true
		}
	}
	return false, known
}

// matchPath matches a path against a pattern: one without a slash is about the
// file's name, ** is any folders.
func matchPath(glob, file string) bool {
	file = filepath.ToSlash(file)
	for _, g := range braces(glob) {
		if !strings.Contains(g, "/") {
			if ok, _ := path.Match(g, path.Base(file)); ok {
				return true
			}
			continue
		}
		if matchParts(strings.Split(g, "/"), strings.Split(file, "/")) {
			return true
		}
	}
	return false
}

// matchParts matches from any folder of an absolute path on: rules do not know
// where the project lies.
func matchParts(glob, file []string) bool {
	if len(file) > 0 && file[0] == "" { // absolute
		for i := 1; i < len(file); i++ {
			if matchHere(glob, file[i:]) {
				return true
			}
		}
		return false
	}
	return matchHere(glob, file)
}

func matchHere(glob, file []string) bool {
	for i, g := range glob {
		if g == "**" {
			for j := i; j <= len(file); j++ {
				if matchHere(glob[i+1:], file[j:]) {
					return true
				}
			}
			return false
		}
		if i >= len(file) {
			return false
		}
		if ok, _ := path.Match(g, file[i]); !ok {
			return false
		}
	}
	return len(glob) == len(file)
}

// braces are the patterns that *.{go,mod} stands for.
func braces(glob string) []string {
	before, rest, ok := strings.Cut(glob, "{")
	inside, after, closed := strings.Cut(rest, "}")
	if !ok || !closed {
		return []string{glob}
	}
	var all []string
	for _, one := range strings.Split(inside, ",") {
		all = append(all, braces(before+one+after)...)
	}
	return all
}

func (r *Rule) isAbout(tool, file string, known bool) bool {
	yes, _ := r.about(tool, file, known)
	return yes
}
