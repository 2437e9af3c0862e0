package tool

import (
	"strings"

	"github.com/aymanbagabas/go-udiff"
)

// diffOf is the picture of a change. Both texts are UTF-8 as far as they are text.
func diffOf(name, before, after string, created bool) Diff {
	edits := udiff.Lines(before, after)
	text, err := udiff.ToUnified("a", "b", before, edits, udiff.DefaultContextLines)
	if err != nil { // cannot be: the edits are its own
		text = ""
	}
	// Without the two lines of file names.
	for range 2 {
		_, text, _ = strings.Cut(text, "\n")
	}
	d := Diff{Path: name, Diff: text, Created: created}
	for line := range strings.Lines(text) {
		switch line[0] {
		case '+':
			d.Added++
		case '-':
			d.Removed++
		}
	}
	return d
}
