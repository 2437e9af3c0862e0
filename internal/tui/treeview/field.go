package treeview

import (
	"strings"

	"banyan/internal/tui/inert"
	"banyan/internal/tui/rich"

	"github.com/charmbracelet/x/ansi"
)

// field is one line of text that is being written.
type field struct {
	text  string
	caret int // in bytes, between characters
}

func newField(text string) *field { return &field{text: text, caret: len(text)} }

func (f *field) insert(text string) {
	f.text = f.text[:f.caret] + text + f.text[f.caret:]
	f.caret += len(text)
}

// key edits. Keys that it does not know do nothing.
func (f *field) key(key, text string) {
	switch key {
	case "left", "ctrl+b":
		f.caret = f.before()
	case "right", "ctrl+f":
		f.caret = f.after()
	case "home", "ctrl+a":
		f.caret = 0
	case "end", "ctrl+e":
		f.caret = len(f.text)
	case "backspace", "ctrl+h":
		f.erase(f.before(), f.caret)
	case "delete", "ctrl+d":
		f.erase(f.caret, f.after())
	case "ctrl+u":
		f.erase(0, f.caret)
	case "ctrl+k":
		f.erase(f.caret, len(f.text))
	case "ctrl+w", "alt+backspace":
		f.erase(len(rich.ButLastWord(f.text[:f.caret])), f.caret)
	default:
		f.insert(text)
	}
}

func (f *field) before() int { return len(rich.ButLast(f.text[:f.caret])) }

func (f *field) after() int {
	c, _ := ansi.FirstGraphemeCluster(f.text[f.caret:], ansi.GraphemeWidth)
	return f.caret + len(c)
}

func (f *field) erase(from, to int) {
	f.text = f.text[:from] + f.text[to:]
	f.caret = from
}

// view is what fits into some cells, and the caret's cell in it.
func (f *field) view(cells int) (text string, caret int) {
	before, after := inert.Line(f.text[:f.caret]), inert.Line(f.text[f.caret:])
	for rich.Width(before) > max(cells-1, 0) && before != "" {
		c, _ := ansi.FirstGraphemeCluster(before, ansi.GraphemeWidth)
		before = strings.TrimPrefix(before, c)
	}
	caret = rich.Width(before)
	return before + rich.TruncateText(after, cells-caret), caret
}
