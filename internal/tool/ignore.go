package tool

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// ignores are the rules of one folder's .gitignore and, through parent, of the
// folders above. The last rule that matches decides, the deepest file first.
type ignores struct {
	parent *ignores
	dir    string // absolute; patterns are relative to it
	rules  []ignoreRule
}

type ignoreRule struct {
	pattern  string // for doublestar
	negate   bool   // "!": not ignored after all
	dirOnly  bool   // "/" at the end
	anchored bool   // matches the path below dir, not the name alone
}

// match tells whether a path is ignored. That a folder above it is, is for the
// walk to know: it does not go there.
func (ig *ignores) match(path string, dir bool) bool {
	name := filepath.Base(path)
	for ; ig != nil; ig = ig.parent {
		rel, ok := below(ig.dir, path)
		if !ok {
			continue
		}
		rel = filepath.ToSlash(rel)
		for i := len(ig.rules) - 1; i >= 0; i-- {
			r := ig.rules[i]
			if r.dirOnly && !dir {
				continue
			}
			subject := name
			if r.anchored {
				subject = rel
			}
			if doublestar.MatchUnvalidated(r.pattern, subject) {
				return !r.negate
			}
		}
	}
	return false
}

// with adds the rules of a file in git's format, if it exists.
func (ig *ignores) with(dir, file string) *ignores {
	text, err := os.ReadFile(file)
	if err != nil {
		return ig
	}
	var rules []ignoreRule
	for line := range strings.Lines(strings.TrimPrefix(string(text), "\uFEFF")) {
		if r, ok := parseIgnore(strings.TrimRight(line, "\r\n")); ok {
			rules = append(rules, r)
		}
	}
	if len(rules) == 0 {
		return ig
	}
	return &ignores{parent: ig, dir: dir, rules: rules}
}

func parseIgnore(line string) (ignoreRule, bool) {
	var r ignoreRule
	for strings.HasSuffix(line, " ") && !strings.HasSuffix(line, `\ `) {
		line = line[:len(line)-1]
	}
	if line == "" || line[0] == '#' {
		return r, false
	}
	line, r.negate = strings.CutPrefix(line, "!")
	line, r.dirOnly = strings.CutSuffix(line, "/")
	r.anchored = strings.Contains(line, "/")
	line = strings.TrimPrefix(line, "/")
	r.pattern = toDoublestar(line)
	return r, line != "" && doublestar.ValidatePattern(r.pattern)
}

// toDoublestar writes a pattern of git in doublestar's language, where braces
// mean something, classes of characters have no names, and "a/**" is a too.
func toDoublestar(pattern string) string {
	var out strings.Builder
	for i := 0; i < len(pattern); i++ {
		switch c := pattern[i]; c {
		case '\\':
			out.WriteByte(c)
			if i++; i < len(pattern) {
				out.WriteByte(pattern[i])
			}
		case '{', '}':
			out.WriteString(`\` + string(c))
		case '[':
			n := classEnd(pattern[i:])
			out.WriteString(class(pattern[i : i+n]))
			i += n - 1
		default:
			out.WriteByte(c)
		}
	}
	if text := out.String(); strings.HasSuffix(text, "/**") {
		return text + "/*"
	}
	return out.String()
}

// classEnd is the length of the character class that text begins with, 1 if it
// has no end.
func classEnd(text string) int {
	for i := 1; i < len(text); i++ {
		switch {
		case text[i] == '\\':
			i++
		case strings.HasPrefix(text[i:], "[:"):
			if end := strings.Index(text[i:], ":]"); end > 0 {
				i += end + 1
			}
		case text[i] == ']' && i > 1 && !(i == 2 && (text[1] == '!' || text[1] == '^')):
			return i + 1
		}
	}
	return 1
}

// class writes a class in doublestar's language, where "]" is never its first
// member and there are no names.
func class(text string) string {
	for _, start := range []string{"[!", "[^", "["} {
		if rest, ok := strings.CutPrefix(text, start); ok {
			if strings.HasPrefix(rest, "]") && len(rest) > 1 {
				rest = `\` + rest
			}
			return start + namedClasses.Replace(rest)
		}
	}
	return text
}

var namedClasses = strings.NewReplacer(
	"[:alpha:]", "a-zA-Z", "[:digit:]", "0-9", "[:alnum:]", "a-zA-Z0-9", "[:upper:]", "A-Z", "[:lower:]", "a-z",
	"[:space:]", ` \t\n\r\f\v`, "[:xdigit:]", "0-9a-fA-F",
)

// ignoresAbove are the rules that hold for dir from outside of it: those of the
// folders above it up to the root of its repository, the repository's own
// list, and the user's.
func ignoresAbove(dir string) *ignores {
	root := dir
	for {
		if _, err := os.Lstat(filepath.Join(root, ".git")); err == nil {
			break
		}
		up := filepath.Dir(root)
		if up == root {
			return nil // in no repository
		}
		root = up
	}
	var ig *ignores
	if config, err := os.UserConfigDir(); err == nil {
		ig = ig.with(root, filepath.Join(config, "git", "ignore"))
	}
	ig = ig.with(root, filepath.Join(root, ".git", "info", "exclude"))
	rel, _ := below(root, dir)
	at := root
	for _, part := range strings.Split(rel, string(filepath.Separator)) {
		if at == dir {
			break
		}
		ig = ig.with(at, filepath.Join(at, ".gitignore"))
		at = filepath.Join(at, part)
	}
	return ig
}
