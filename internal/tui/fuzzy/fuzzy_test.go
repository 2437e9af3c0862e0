package fuzzy_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"banyan/internal/tui/fuzzy"

	"pgregory.net/rapid"
)

func rank(query string, limit int, texts ...string) []string {
	var got []string
	for _, m := range fuzzy.Rank(query, len(texts), func(i int) string { return texts[i] }, limit) {
		got = append(got, texts[m.Index])
	}
	return got
}

func TestRank(t *testing.T) {
	texts := []string{"internal/tui/model.go", "Makefile", "cmd/agent/main.go", "docs/モデル.md"}
	for _, tt := range []struct {
		query string
		want  []string
	}{
		{"", texts},
		{"main", []string{"cmd/agent/main.go"}},
		{"go model", []string{"internal/tui/model.go"}},
		{"make", []string{"Makefile"}},
		{"Make", []string{"Makefile"}},
		{"MAKE", nil},
		{"モデ", []string{"docs/モデル.md"}},
		{"zzz", nil},
	} {
		if got := rank(tt.query, 0, texts...); !slices.Equal(got, tt.want) {
			t.Errorf("Rank(%q) = %q, want %q", tt.query, got, tt.want)
		}
	}
}

func TestRankPrefersWholeWords(t *testing.T) {
	if got := rank("tree", 1, "the-rare-edge-event", "internal/tree"); !slices.Equal(got, []string{"internal/tree"}) {
		t.Errorf("best match is %q", got)
	}
}

// Every match holds the letters of the query at the positions it names.
func TestPositions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[a-c/é世 ]{0,20}`).Draw(t, "text")
		query := rapid.StringMatching(`[a-c世]{1,3}`).Draw(t, "query")
		for _, m := range fuzzy.Rank(query, 1, func(int) string { return text }, 0) {
			var b strings.Builder
			runes := []rune(text)
			for _, p := range m.Positions {
				b.WriteRune(runes[p])
			}
			if b.String() != query {
				t.Fatalf("%q in %q: positions spell %q", query, text, b.String())
			}
		}
	})
}

func BenchmarkRank100k(b *testing.B) {
	texts := make([]string, 100_000)
	for i := range texts {
		texts[i] = fmt.Sprintf("internal/pkg%d/some/deeper/path/file_%d.go", i%317, i)
	}
	for b.Loop() {
		fuzzy.Rank("pkg31file", len(texts), func(i int) string { return texts[i] }, 50)
	}
}
