package config

import "strings"

// suggest ends an error about an unknown word with the nearest known one; it is
// empty where none is near.
func suggest(word string, known []string) string {
	if best := nearest(word, known); best != "" {
		return "; did you mean \"" + best + "\"?"
	}
	return ""
}

func nearest(word string, known []string) string {
	best, least := "", 1+len(word)/3
	for _, k := range known {
		if strings.EqualFold(word, k) {
			return k
		}
		// The lengths alone say that it cannot be near: no table is filled for
		// a megabyte of name.
		if len(word)-len(k) > least || len(k)-len(word) > least {
			continue
		}
		if d := distance(strings.ToLower(word), strings.ToLower(k)); d <= least && (best == "" || d < least) {
			best, least = k, d
		}
	}
	return best
}

// distance counts the bytes to insert, delete, replace, or swap with the next.
func distance(a, b string) int {
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
