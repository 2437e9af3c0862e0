package skill

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"

	"banyan/internal/instructions"
)

// split takes a file apart: the YAML between its first two lines of "---", and
// the text that follows. A file without them is all text.
func split(text string) (front, body string, err error) {
	rest, ok := strings.CutPrefix(text, "---\n")
	if !ok {
		return "", text, nil
	}
	for at := 0; ; {
		line, after, more := strings.Cut(rest[at:], "\n")
		if strings.TrimRight(line, " \t") == "---" {
			return rest[:at], strings.TrimSpace(after), nil
		}
		if !more {
			return "", "", errors.New(`its front matter has no end: a line "---" is missing`)
		}
		at += len(line) + 1
	}
}

// decode reads front matter. Keys that we do not know are other programs'.
func decode(front string, into any) error {
	err := yaml.Unmarshal([]byte(front), into)
	if err == nil {
		return nil
	}
	if again := quoted(front); again != front && yaml.Unmarshal([]byte(again), into) == nil {
		return nil
	}
	return fmt.Errorf("its front matter is no YAML that says what it should: %s", strings.TrimPrefix(err.Error(), "yaml: "))
}

// plainValue is a value that people write without the quotes that its colon or
// hash would need.
var plainValue = regexp.MustCompile(`(?m)^([A-Za-z][\w-]*):[ \t]+([^\s"'|>&*!%@\[{][^\n]*?)[ \t]*$`)

// quoted puts such values in quotes.
func quoted(front string) string {
	return plainValue.ReplaceAllStringFunc(front, func(line string) string {
		part := plainValue.FindStringSubmatch(line)
		if !strings.Contains(part[2], ": ") && !strings.HasSuffix(part[2], ":") {
			return line
		}
		return part[1] + ": '" + strings.ReplaceAll(part[2], "'", "''") + "'"
	})
}

// words are a list, or a text with commas or spaces between its words.
type words []string

// UnmarshalYAML implements [yaml.Unmarshaler].
func (w *words) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind == yaml.ScalarNode {
		*w = strings.FieldsFunc(n.Value, func(r rune) bool { return r == ',' || r == ' ' || r == '\t' })
		return nil
	}
	var list []string
	err := n.Decode(&list)
	*w = list
	return err
}

// line is a text as one line. YAML can spell characters that nobody sees.
func line(text string) string {
	text, err := instructions.Plain([]byte(strings.Join(strings.Fields(text), " ")))
	if err != nil { // it has a NUL
		return ""
	}
	return text
}

// cut shortens a text for people to at most n characters.
func cut(text string, n int) string {
	if r := []rune(text); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return text
}
