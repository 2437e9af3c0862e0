package editor

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"banyan/internal/tui/inert"

	"github.com/charmbracelet/x/ansi"
)

// tabWidth is how many cells a tab takes, wherever it stands.
const tabWidth = 4

// cluster is the user-perceived character that s begins with, as bytes of s.
func cluster(s string) string {
	// Two ASCII bytes in a row cannot combine: the common case costs nothing.
	if s[0] < utf8.RuneSelf && (len(s) == 1 || s[1] < utf8.RuneSelf) {
		return s[:1]
	}
	c, _ := ansi.FirstGraphemeCluster(s, ansi.GraphemeWidth)
	if i := strings.IndexFunc(c, isChip); i > 0 {
		return c[:i] // a combining mark never takes a chip in
	} else if i == 0 {
		return c[:chipBytes]
	}
	return c
}

// glyph is how a cluster is drawn, without style, and its width in cells.
func (m *Model) glyph(c string) (string, int) {
	if m.opts.Secret {
		return "•", 1
	}
	if len(c) == 1 && c[0] >= ' ' && c[0] < 0x7f {
		return c, 1
	}
	if c == "\t" {
		return strings.Repeat(" ", tabWidth), tabWidth
	}
	var s string
	if r, _ := utf8.DecodeRuneInString(c); isChip(r) {
		s = m.chips[chipIndex(r)].label
	} else {
		s = inert.Line(c)
	}
	w := ansi.StringWidth(s)
	if most := m.wrapWidth(); w > most { // a label on a very narrow screen
		s = ansi.Truncate(s, most, "…")
		w = ansi.StringWidth(s)
	}
	return s, w
}

// rows are the byte offsets at which a line's rows begin at the model's width,
// from the cache if the line has not changed.
func (m *Model) rows(i int) []int {
	l := &m.buf.lines[i]
	if l.width != m.wrapWidth() || l.rows == nil {
		l.width, l.rows = m.wrapWidth(), m.wrap(l.text, m.wrapWidth())
	}
	return l.rows
}

// wrap breaks a line into rows of at most width cells: after spaces where it
// can, else between any two clusters.
func (m *Model) wrap(text string, width int) []int {
	rows := []int{0}
	used := 0            // cells in this row
	broke, tail := -1, 0 // the last place to break this row at, and the cells after it
	for i := 0; i < len(text); {
		c := cluster(text[i:])
		_, w := m.glyph(c)
		for used+w > width && used > 0 {
			at := i
			if broke > rows[len(rows)-1] {
				at, used = broke, tail
			} else {
				used = 0
			}
			rows = append(rows, at)
			broke = -1
		}
		used += w
		tail += w
		i += len(c)
		if r, _ := utf8.DecodeRuneInString(c); unicode.IsSpace(r) || w > 1 && !isChip(r) {
			broke, tail = i, 0
		}
	}
	return rows
}

// rowOf is the row of a line in which a column stands.
func rowOf(rows []int, col int) int {
	for r := len(rows) - 1; r > 0; r-- {
		if col >= rows[r] {
			return r
		}
	}
	return 0
}

// rowText is one row of a line.
func rowText(text string, rows []int, r int) string {
	if r+1 < len(rows) {
		return text[rows[r]:rows[r+1]]
	}
	return text[rows[r]:]
}

// cells is the width of a text that has no line feed.
func (m *Model) cells(s string) int {
	n := 0
	for s != "" {
		c := cluster(s)
		_, w := m.glyph(c)
		n, s = n+w, s[len(c):]
	}
	return n
}

// offset is the byte offset in s that is nearest to a number of cells from its start.
func (m *Model) offset(s string, cells int) int {
	at := 0
	for at < len(s) {
		c := cluster(s[at:])
		_, w := m.glyph(c)
		if cells < (w+1)/2 {
			break
		}
		cells -= w
		at += len(c)
	}
	return at
}
