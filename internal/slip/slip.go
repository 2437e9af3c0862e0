// Package slip finds the names that a slip of the fingers, or of memory, may
// have made a word of: for "did you mean". It knows nothing of what is named.
package slip

import (
	"slices"
	"strings"
)

// longest is the longest word that is compared, in bytes: nobody types more, and
// files may name anything.
const longest = 64

// Near are at most `most` of the names that differ from a word in few letters,
// nearest first, those that are as near in the order given. A name that the word
// begins, from two letters on, is as near as one letter. Case does not count.
func Near(word string, names []string, most int) []string {
	type candidate struct {
		name string
		far  int
	}
	if len(word) > longest {
		return nil
	}
	word = strings.ToLower(word)
	allowed := 1 + len(word)/3
	var found []candidate
	for _, name := range names {
		if len(name) > longest || len(name) == 0 {
			continue
		}
		lower := strings.ToLower(name)
		far := Distance(word, lower)
		if len(word) > 1 && strings.HasPrefix(lower, word) {
			far = min(far, 1)
		}
		if far <= allowed {
			found = append(found, candidate{name, far})
		}
	}
	slices.SortStableFunc(found, func(a, b candidate) int { return a.far - b.far })
	var near []string
	for _, c := range found {
		if len(near) < most && !slices.Contains(near, c.name) {
			near = append(near, c.name)
		}
	}
	return near
}

// Distance counts the bytes to insert, delete, replace, or swap with the next, to
// get from one text to the other.
func Distance(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
