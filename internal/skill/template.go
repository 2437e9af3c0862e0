package skill

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"
)

// Template is a prompt of the user's, sent by a command of its name.
type Template struct {
	Source
	Name        string // letters, digits, - and _
	Description string // one line
	Args        string // how its arguments are written, for people; may be empty
}

type templateFront struct {
	Description string `yaml:"description"`
	Args        hint   `yaml:"argument-hint"`
}

// hint is a text. People write [file], which is a list to YAML.
type hint string

// UnmarshalYAML implements [yaml.Unmarshaler].
func (h *hint) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind == yaml.ScalarNode {
		*h = hint(n.Value)
		return nil
	}
	var list []string
	err := n.Decode(&list)
	*h = hint("[" + strings.Join(list, ", ") + "]")
	return err
}

var templateName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$`)

// template takes <name>.md.
func (l *loader) template(f folder, file string) {
	name, ok := strings.CutSuffix(file, ".md")
	if !ok {
		return
	}
	d, ok := l.read(f, file)
	if !ok {
		return
	}
	var front templateFront
	err := decode(d.front, &front)
	switch {
	case err != nil:
	case !templateName.MatchString(name):
		err = errors.New("its file name is no name for a command: it must have letters, digits, - and _ only")
	case d.body == "":
		err = errors.New("it says nothing")
	}
	if err != nil {
		l.problem(d.Path, err)
		return
	}
	if !l.claim(name, d) {
		return
	}
	t := Template{Source: d.Source, Name: name, Description: line(front.Description), Args: line(string(front.Args))}
	if t.Description == "" {
		first, _, _ := strings.Cut(d.body, "\n")
		t.Description = cut(line(first), 80)
	}
	l.Templates = append(l.Templates, t)
}

// Template finds a template.
func (l *Library) Template(name string) (Template, bool) {
	for _, t := range l.Templates {
		if t.Name == name {
			return t, true
		}
	}
	return Template{}, false
}

// Expand is the prompt that the template's file makes of arguments now.
func (t Template) Expand(args string) (string, error) {
	text, _, err := t.in.read(t.name)
	if err == nil {
		_, text, err = split(text)
	}
	if err != nil {
		return "", fmt.Errorf("reading %s: %w", t.Path, err)
	}
	return fill(text, args), nil
}

// place is where arguments go; a backslash before it takes its meaning away.
var place = regexp.MustCompile(`\\?\$(?:ARGUMENTS\b|@|[0-9]+)`)

// fill puts arguments in their places: $1 to $9, $@ for all of them, $ARGUMENTS
// for what was typed. Text without a place gets them at its end. What was filled
// in is not looked at again.
func fill(text, args string) string {
	args = strings.TrimSpace(args)
	list := arguments(args)
	used := false
	text = place.ReplaceAllStringFunc(text, func(at string) string {
		what := strings.TrimPrefix(at, `\`)
		filled := what
		n, err := strconv.Atoi(what[1:])
		switch {
		case what == "$ARGUMENTS":
			filled = args
		case what == "$@":
			filled = strings.Join(list, " ")
		case err != nil || n < 1 || n > 9: // $100 is money
			return at
		case n <= len(list):
			filled = list[n-1]
		default:
			filled = ""
		}
		if what != at {
			return what
		}
		used = true
		return filled
	})
	if !used && args != "" {
		text += "\n\n" + args
	}
	return text
}

// arguments are the words of a text. What stands between two quotes is one,
// where these begin and end a word; else a quote is an apostrophe.
func arguments(text string) []string {
	var list []string
	for text = strings.TrimSpace(text); text != ""; text = strings.TrimSpace(text) {
		if quote := text[0]; quote == '"' || quote == '\'' {
			if word, rest, ok := strings.Cut(text[1:], string(quote)); ok && (rest == "" || unicode.IsSpace(rune(rest[0]))) {
				list, text = append(list, word), rest
				continue
			}
		}
		end := strings.IndexFunc(text, unicode.IsSpace)
		if end < 0 {
			end = len(text)
		}
		list, text = append(list, text[:end]), text[end:]
	}
	return list
}
