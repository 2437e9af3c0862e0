package hook

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// exact are matchers that are names, or lists of names.
var exact = regexp.MustCompile(`^[A-Za-z0-9_\-, |]*$`)

// matcher makes the test of a matcher: everything, one of some names, or a
// regular expression that matches anywhere.
func matcher(text string) (func(names []string) bool, error) {
	switch {
	case text == "" || text == "*":
		return func([]string) bool { return true }, nil
	case exact.MatchString(text):
		list := strings.FieldsFunc(text, func(r rune) bool { return r == '|' || r == ',' })
		for i := range list {
			list[i] = strings.TrimSpace(list[i])
		}
		return func(names []string) bool {
			return slices.ContainsFunc(names, func(n string) bool { return slices.Contains(list, n) })
		}, nil
	}
	re, err := regexp.Compile(text)
	if err != nil {
		return nil, fmt.Errorf("the matcher %q is no regular expression that this program takes (those of RE2): %w", text, err)
	}
	return func(names []string) bool { return slices.ContainsFunc(names, re.MatchString) }, nil
}
