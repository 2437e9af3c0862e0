package skill

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"banyan/internal/rule"
)

// Rule is a text that models are told when they write something: see [rule.Rule].
type Rule struct {
	Source
	*rule.Rule
	Description string // one line; may be empty
}

// ruleFront is the front matter of a rule, with the spellings of oh-my-pi.
type ruleFront struct {
	Name        string `yaml:"name"`
	Description string `yaml:"description"`
	Condition   texts  `yaml:"condition"`
	Trigger     texts  `yaml:"ttsr_trigger"`
	CamelCase   texts  `yaml:"ttsrTrigger"`
	Scope       scopes `yaml:"scope"`
	Interrupt   string `yaml:"interruptMode"`
}

// maxRule is how long the text of a rule may be, in bytes.
const maxRule = 32 << 10

// rule takes <name>.md.
func (l *loader) rule(f folder, file string) {
	name, ok := strings.CutSuffix(file, ".md")
	if !ok || strings.EqualFold(name, "README") {
		return
	}
	d, ok := l.read(f, file)
	if !ok {
		return
	}
	var front ruleFront
	err := decode(d.front, &front)
	name = cmp.Or(front.Name, name)
	var made *rule.Rule
	switch {
	case err != nil:
	case !profileName.MatchString(name):
		err = fmt.Errorf("the name %q is not allowed: it must have letters, digits, -, _ and . only", cut(name, maxName+1))
	case len(d.body) > maxRule:
		err = fmt.Errorf("its text is larger than %d KB", maxRule>>10)
	default:
		var scope []string
		if scope, err = front.scope(); err == nil {
			made, err = rule.New(name, d.body, append(append(front.Condition, front.Trigger...), front.CamelCase...), scope)
		}
	}
	if err != nil {
		l.problem(d.Path, err)
		return
	}
	if l.claim(name, d) {
		l.Rules = append(l.Rules, Rule{d.Source, made, line(front.Description)})
	}
}

// SameRules says whether another library has the same rules.
func (l *Library) SameRules(other *Library) bool {
	return slices.EqualFunc(l.Rules, other.Rules, func(a, b Rule) bool {
		return a.Path == b.Path && a.Text == b.Text && slices.Equal(a.Patterns, b.Patterns) && slices.Equal(a.Scope, b.Scope)
	})
}

// scope is where the rule looks, with what the mode of interrupting says of it.
func (r ruleFront) scope() ([]string, error) {
	switch r.Interrupt {
	case "", "always":
		return r.Scope, nil
	case "prose-only":
		return []string{"text", "thinking"}, nil
	case "tool-only":
		if len(r.Scope) == 0 {
			return []string{"tool"}, nil
		}
		return r.Scope, nil
	case "never":
		return nil, fmt.Errorf("its interruptMode is never: rules that do not end an answer are not known here")
	}
	return nil, fmt.Errorf("the interruptMode %q is not known; there are always, prose-only and tool-only", cut(r.Interrupt, maxName))
}

// texts are a text, or a list of texts.
type texts []string

// UnmarshalYAML implements [yaml.Unmarshaler].
func (t *texts) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind == yaml.ScalarNode {
		*t = []string{n.Value}
		return nil
	}
	var list []string
	err := n.Decode(&list)
	*t = list
	return err
}

// scopes are a list, or a text with commas between its parts; those in
// parentheses and braces separate nothing.
type scopes []string

// UnmarshalYAML implements [yaml.Unmarshaler].
func (s *scopes) UnmarshalYAML(n *yaml.Node) error {
	var list texts
	if err := list.UnmarshalYAML(n); err != nil {
		return err
	}
	for _, text := range list {
		depth := 0
		for _, part := range strings.FieldsFunc(text, func(r rune) bool {
			switch r {
			case '(', '{':
				depth++
			case ')', '}':
				depth--
			}
			return r == ',' && depth <= 0
		}) {
			if part = strings.TrimSpace(part); part != "" {
				*s = append(*s, part)
			}
		}
	}
	return nil
}
