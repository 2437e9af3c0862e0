// Package fuzzy ranks texts by how well they match what a user has typed so
// far, with fzf's algorithm: the letters in order, words and path elements
// preferred. It is what pickers and completion share.
//
// It is a function. It keeps no index and draws nothing.
package fuzzy

import (
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/junegunn/fzf/src/algo"
	"github.com/junegunn/fzf/src/util"
)

// Match is a text that matches.
type Match struct {
	Index int // of the text, as it was given
	Score int // higher is better
	// Positions are the matched runes of the text, rising, counted in runes.
	Positions []int
}

// initialise fills fzf's tables, which are global.
var initialise = sync.OnceValue(func() bool { return algo.Init("default") })

// Rank gives the texts in which every word of the query is found, best first,
// ties in the order given. An empty query matches everything in that order. A
// capital letter in a word makes that word case-sensitive. At most limit
// matches come back; 0 means all.
func Rank(query string, n int, text func(i int) string, limit int) []Match {
	initialise()
	words := strings.Fields(query)
	slab := util.MakeSlab(16*1024, 2048)
	var found []Match
	for i := range n {
		if m, ok := match(words, text(i), slab); ok {
			m.Index = i
			found = append(found, m)
			if len(words) == 0 && len(found) == limit {
				break
			}
		}
	}
	slices.SortStableFunc(found, func(a, b Match) int { return b.Score - a.Score })
	if limit > 0 && len(found) > limit {
		found = found[:limit]
	}
	return found
}

// match finds every word in one text.
func match(words []string, text string, slab *util.Slab) (Match, bool) {
	var m Match
	chars := util.ToChars([]byte(text))
	for _, word := range words {
		exactCase := strings.ContainsFunc(word, unicode.IsUpper)
		if !exactCase {
			word = strings.ToLower(word)
		}
		r, positions := algo.FuzzyMatchV2(exactCase, true, true, &chars, []rune(word), true, slab)
		if r.Start < 0 {
			return Match{}, false
		}
		m.Score += r.Score
		if positions != nil {
			m.Positions = append(m.Positions, *positions...)
		}
	}
	slices.Sort(m.Positions)
	m.Positions = slices.Compact(m.Positions)
	return m, true
}
