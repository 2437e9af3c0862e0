package editor

import (
	"slices"
	"strings"
)

// pos is a place in the text, between two clusters.
type pos struct {
	line int // from 0
	col  int // bytes from the line's start
}

func (p pos) before(q pos) bool {
	return p.line < q.line || p.line == q.line && p.col < q.col
}

// buffer is the text.
type buffer struct {
	lines []line // never empty
}

// line is one line and how it was last wrapped.
type line struct {
	text  string
	width int   // that starts is for; 0 when the line was not wrapped since it changed
	rows  []int // byte offsets at which its rows begin; rows[0] is 0
}

func newBuffer() buffer { return buffer{lines: make([]line, 1)} }

// replace puts text in place of what is between two positions and says where it ends.
func (b *buffer) replace(from, to pos, text string) (end pos) {
	head := b.lines[from.line].text[:from.col]
	tail := b.lines[to.line].text[to.col:]
	if !strings.Contains(text, "\n") && from.line == to.line {
		b.lines[from.line] = line{text: head + text + tail}
		return pos{from.line, from.col + len(text)}
	}
	parts := strings.Split(text, "\n")
	fresh := make([]line, len(parts))
	for i, part := range parts {
		fresh[i].text = part
	}
	last := len(parts) - 1
	end = pos{from.line + last, len(parts[last])}
	if last == 0 {
		end.col += len(head)
	}
	fresh[0].text = head + fresh[0].text
	fresh[last].text += tail
	b.lines = slices.Replace(b.lines, from.line, to.line+1, fresh...)
	return end
}

// slice is the text between two positions.
func (b *buffer) slice(from, to pos) string {
	if from.line == to.line {
		return b.lines[from.line].text[from.col:to.col]
	}
	var s strings.Builder
	s.WriteString(b.lines[from.line].text[from.col:])
	for i := from.line + 1; i < to.line; i++ {
		s.WriteByte('\n')
		s.WriteString(b.lines[i].text)
	}
	s.WriteByte('\n')
	s.WriteString(b.lines[to.line].text[:to.col])
	return s.String()
}

// end is the position after the last character.
func (b *buffer) end() pos {
	last := len(b.lines) - 1
	return pos{last, len(b.lines[last].text)}
}

func (b *buffer) text() string { return b.slice(pos{}, b.end()) }

func (b *buffer) empty() bool { return len(b.lines) == 1 && b.lines[0].text == "" }

// after is where a text ends that begins at p.
func after(p pos, text string) pos {
	n := strings.Count(text, "\n")
	if n == 0 {
		return pos{p.line, p.col + len(text)}
	}
	return pos{p.line + n, len(text) - strings.LastIndexByte(text, '\n') - 1}
}
