package slip

import (
	"slices"
	"strings"
	"testing"
)

func TestNear(t *testing.T) {
	names := []string{"model", "models", "mode", "tree", "theme", "Thinking"}
	for _, c := range []struct {
		word string
		most int
		want []string
	}{
		{"modle", 1, []string{"model"}},
		{"modle", 3, []string{"model", "mode", "models"}},
		{"rtee", 2, []string{"tree"}},
		{"TREE", 2, []string{"tree", "theme"}},
		{"th", 3, []string{"theme", "Thinking"}},
		{"thinking", 1, []string{"Thinking"}},
		{"zzzzzz", 3, nil},
		{"", 3, nil},
		{strings.Repeat("x", 1<<20), 3, nil},
	} {
		if got := Near(c.word, names, c.most); !slices.Equal(got, c.want) {
			t.Errorf("Near(%.10q, %d) = %q, want %q", c.word, c.most, got, c.want)
		}
	}
}

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"abc", "", 3}, {"abc", "abc", 0}, {"abc", "acb", 1}, {"abc", "axc", 1}, {"abc", "ac", 1}, {"kitten", "sitting", 3}} {
		if got, back := Distance(c.a, c.b), Distance(c.b, c.a); got != c.want || back != c.want {
			t.Errorf("%q, %q: %d and %d, want %d", c.a, c.b, got, back, c.want)
		}
	}
}
