package editor

import (
	"unicode"
	"unicode/utf8"
)

func (m *Model) line() string { return m.buf.lines[m.caret.line].text }

// next is the position after one cluster to the right, the next line's start at a line's end.
func (m *Model) next(p pos) pos {
	text := m.buf.lines[p.line].text
	if p.col < len(text) {
		return pos{p.line, p.col + len(cluster(text[p.col:]))}
	}
	if p.line+1 < len(m.buf.lines) {
		return pos{p.line + 1, 0}
	}
	return p
}

// previous is the position before the cluster to the left.
func (m *Model) previous(p pos) pos {
	if p.col == 0 {
		if p.line == 0 {
			return p
		}
		return pos{p.line - 1, len(m.buf.lines[p.line-1].text)}
	}
	return pos{p.line, lastCluster(m.buf.lines[p.line].text[:p.col])}
}

// snap moves a position that a change has left within a cluster to its end:
// what was put in may combine with what follows.
func (m *Model) snap(p pos) pos {
	text := m.buf.lines[p.line].text
	if p.col == 0 || p.col == len(text) {
		return p
	}
	at := lastCluster(text[:p.col])
	p.col = max(p.col, at+len(cluster(text[at:])))
	return p
}

// lastCluster is the offset of the cluster that s ends with. Clusters are found
// from the left; a few dozen bytes before the end a boundary is certain to be
// met again, so a long line is not walked from its start.
func lastCluster(s string) int {
	from := max(0, len(s)-reach)
	for from > 0 && s[from] != ' ' && !(s[from] < utf8.RuneSelf && s[from-1] < utf8.RuneSelf) {
		from--
	}
	at := from
	for i := from; i < len(s); i += len(cluster(s[i:])) {
		at = i
	}
	return at
}

// reach is how far back, in bytes, lastCluster begins to look for two ASCII
// characters in a row.
const reach = 64

// wordRight is the end of the word at or after a position.
func (m *Model) wordRight(p pos) pos {
	inWord := false
	for {
		q := m.next(p)
		if q == p {
			return p
		}
		if is := m.wordAt(p); is {
			inWord = true
		} else if inWord {
			return p
		}
		p = q
	}
}

// wordLeft is the start of the word before a position.
func (m *Model) wordLeft(p pos) pos { return m.leftWhile(p, m.wordAt) }

// spaceLeft is the start of what stands between spaces before a position.
func (m *Model) spaceLeft(p pos) pos {
	return m.leftWhile(p, func(q pos) bool { return !m.spaceAt(q) })
}

// leftWhile goes left to something that is part of a word, and on to its start.
func (m *Model) leftWhile(p pos, part func(pos) bool) pos {
	inWord := false
	for {
		q := m.previous(p)
		if q == p {
			return p
		}
		if part(q) {
			inWord = true
		} else if inWord {
			return p
		}
		p = q
	}
}

func (m *Model) wordAt(p pos) bool {
	r, ok := m.runeAt(p)
	return ok && (unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' || isChip(r))
}

func (m *Model) spaceAt(p pos) bool {
	r, ok := m.runeAt(p)
	return !ok || unicode.IsSpace(r)
}

// runeAt is the rune that a cluster begins with; none at a line's end.
func (m *Model) runeAt(p pos) (rune, bool) {
	text := m.buf.lines[p.line].text
	if p.col >= len(text) {
		return 0, false
	}
	r, _ := utf8.DecodeRuneInString(text[p.col:])
	return r, true
}

// vertical moves the caret by rows as they are drawn, as near as it can to the
// column that a run of such moves began in. It says whether there was a row.
func (m *Model) vertical(by int) bool {
	rows := m.rows(m.caret.line)
	r := rowOf(rows, m.caret.col)
	if m.prev != vertical {
		m.goal = m.cells(m.line()[rows[r]:m.caret.col])
	}
	line, r := m.caret.line, r+by
	switch {
	case r < 0 && line == 0, r >= len(rows) && line+1 == len(m.buf.lines):
		return false
	case r < 0:
		line--
		rows = m.rows(line)
		r = len(rows) - 1
	case r >= len(rows):
		line++
		rows = m.rows(line)
		r = 0
	}
	m.caret = pos{line, rows[r] + m.rowOffset(row{line, r}, m.goal)}
	m.last = vertical
	return true
}
