package mcp

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// variable is ${NAME} or ${NAME:-default}. It is made when the first one is
// looked for: most programs that start have no server.
var variable = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\$\{([A-Za-z_][A-Za-z0-9_]*)(:-[^}]*)?\}`)
})

// expander puts the values of variables into texts, and remembers which there
// are not.
type expander struct {
	env     func(string) (string, bool)
	missing []string
}

func (x *expander) text(text string) string {
	if !strings.Contains(text, "${") {
		return text
	}
	return variable().ReplaceAllStringFunc(text, func(match string) string {
		parts := variable().FindStringSubmatch(match)
		name, standard := parts[1], parts[2]
		if value, ok := x.env(name); ok && (value != "" || standard == "") {
			return value
		}
		if standard == "" && !slices.Contains(x.missing, name) {
			x.missing = append(x.missing, name)
		}
		return strings.TrimPrefix(standard, ":-")
	})
}

func (x *expander) values(values map[string]string) map[string]string {
	if len(values) == 0 {
		return nil
	}
	filled := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		filled[name] = x.text(values[name])
	}
	return filled
}

func (x *expander) err() error {
	switch len(x.missing) {
	case 0:
		return nil
	case 1:
		return fmt.Errorf("the environment variable %s is not set", x.missing[0])
	}
	return fmt.Errorf("the environment variables %s are not set", strings.Join(x.missing, ", "))
}

// wildcard matches a name against a pattern in which * is any text.
func wildcard(pattern, name string) bool {
	head, rest, wild := strings.Cut(pattern, "*")
	if !wild {
		return pattern == name
	}
	name, ok := strings.CutPrefix(name, head)
	if !ok {
		return false
	}
	for {
		part, more, again := strings.Cut(rest, "*")
		if !again {
			return strings.HasSuffix(name, part)
		}
		i := strings.Index(name, part)
		if i < 0 {
			return false
		}
		name, rest = name[i+len(part):], more
	}
}
