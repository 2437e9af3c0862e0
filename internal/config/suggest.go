package config

import "banyan/internal/slip"

// suggest ends an error about an unknown word with the nearest known one; it is
// empty where none is near.
func suggest(word string, known []string) string {
	if near := slip.Near(word, known, 1); len(near) > 0 {
		return "; did you mean \"" + near[0] + "\"?"
	}
	return ""
}
