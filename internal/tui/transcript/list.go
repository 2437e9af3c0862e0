package transcript

import (
	"strings"

	"banyan/internal/session"
	"banyan/internal/tui/markdown"
	"banyan/internal/tui/rich"
)

// drawn is an item as rows. It holds for the model's width, theme and folds,
// and is dropped when one of them changes.
type drawn struct {
	rows   []rich.Row
	source []part // what the rows' marks lead to, each part followed by a line feed
	zones  []zone
	claims map[int]bool // results that are drawn within: items of their own without rows
	turn   turnMark     // the siblings as they were drawn

	pictures []pictured // that the terminal itself draws
}

// part is a piece of an item's source. That of a stream is asked for when it is
// wanted: while it is being written it would have to be copied for each frame.
type part struct {
	text   string
	stream *markdown.Stream
}

// text is the source of what was drawn.
func (d *drawn) text() string {
	var b strings.Builder
	for _, p := range d.source {
		if p.stream != nil {
			b.WriteString(p.stream.Source())
		}
		b.WriteString(p.text)
		b.WriteByte('\n')
	}
	return b.String()
}

// turnMark is which of how many siblings a turn is.
type turnMark struct{ i, n int }

// zone is a part of an item that can be clicked: cells from a to before b of a row.
type zone struct {
	row, a, b int
	hit       Hit
}

// maxCached is how many drawn items are kept: far more than a screen shows.
const maxCached = 1024

// count is the number of items, the live one included.
func (m *Model) count() int {
	n := m.items.len()
	if m.live != nil {
		n++
	}
	return n
}

// draw gives an item as rows, from the cache where it can.
func (m *Model) draw(i int) *drawn {
	if i >= m.items.len() {
		return m.drawLive()
	}
	if d := m.cache[i]; d != nil && (d.turn.n == 0 || d.turn == m.turnMark(i)) {
		return d
	}
	d := m.drawItem(i)
	if len(m.cache) >= maxCached {
		m.evict(i)
	}
	m.cache[i] = d
	return d
}

// evict drops what was drawn far from an item.
func (m *Model) evict(near int) {
	for i := range m.cache {
		if i < near-maxCached/4 || i > near+maxCached/4 {
			delete(m.cache, i)
		}
	}
}

// turnMark asks for the siblings of a turn.
func (m *Model) turnMark(i int) turnMark {
	at, n := m.siblings(m.items.at(i).block.ID)
	return turnMark{at, max(n, 1)}
}

// anchor is a place in the conversation: a line of an item.
type anchor struct{ item, line int }

// shift keeps an anchor at the live item when an item comes in before it.
func (a *anchor) shift(at int) {
	if a.item == at {
		a.item++
	}
}

// height is the number of rows of an item.
func (m *Model) height(i int) int { return len(m.draw(i).rows) }

// end is the anchor of a screen that shows the end, and whether there is less
// than a screen of rows in all.
func (m *Model) end() (anchor, bool) {
	left := m.h
	for i := m.count() - 1; i >= 0; i-- {
		h := m.height(i)
		if h >= left {
			return anchor{i, h - left}, false
		}
		left -= h
	}
	return anchor{}, true
}

// top is the line at the top of the screen.
func (m *Model) top() anchor {
	if m.stick {
		a, _ := m.end()
		return a
	}
	a := m.anchor
	if a.item >= m.count() {
		a, _ := m.end()
		return a
	}
	a.line = min(a.line, max(m.height(a.item)-1, 0))
	if e, short := m.end(); short || e.before(a) {
		return e
	}
	return a
}

func (a anchor) before(b anchor) bool {
	return a.item < b.item || a.item == b.item && a.line < b.line
}

// slice is the rows of an item that are on the screen: from from to before to.
type slice struct{ item, from, to int }

// window is what is on the screen, from the top.
func (m *Model) window() []slice {
	var parts []slice
	left := m.h
	a := m.top()
	for i, line := a.item, a.line; i < m.count() && left > 0; i, line = i+1, 0 {
		n := min(m.height(i)-line, left)
		if n <= 0 {
			continue
		}
		parts = append(parts, slice{i, line, line + n})
		left -= n
	}
	return parts
}

// View is the screen: exactly as many lines as its height, none wider than its
// width. It changes nothing that can be seen.
func (m *Model) View() string {
	var b strings.Builder
	lines := 0
	for _, p := range m.window() {
		d := m.draw(p.item)
		source, lo, hi := m.selected(p.item, d)
		for row := p.from; row < p.to; row++ {
			if lines > 0 {
				b.WriteByte('\n')
			}
			b.WriteString(m.paint(d.rows[row], source, lo, hi))
			lines++
		}
	}
	for lines = max(lines, 1); lines < m.h; lines++ {
		b.WriteByte('\n')
	}
	return b.String()
}

// keepPlace makes a change after which heights differ, and keeps the line at
// the top of the screen there, as near as its source can be found again.
func (m *Model) keepPlace(change func()) {
	if m.stick || m.count() == 0 {
		change()
		return
	}
	a := m.top()
	d := m.draw(a.item)
	src, ok := sourceAt(d, a.line)
	fromEnd := len(d.rows) - a.line
	change()
	after := m.draw(a.item)
	switch {
	case a.line == 0:
	case ok:
		a.line = rowOf(after, src)
	default:
		a.line = max(len(after.rows)-fromEnd, 0)
	}
	m.goTo(a)
}

// sourceAt is the first byte of the source that is drawn at or below a row.
func sourceAt(d *drawn, row int) (int, bool) {
	for _, r := range d.rows[min(row, len(d.rows)):] {
		if len(r.Marks) > 0 {
			return int(r.Marks[0].Src), true
		}
	}
	return 0, false
}

// rowOf is the last row that begins at or before a byte of the source.
func rowOf(d *drawn, src int) int {
	at := 0
	for i, r := range d.rows {
		if len(r.Marks) > 0 && int(r.Marks[0].Src) <= src {
			at = i
		}
	}
	return at
}

// TurnInView is the turn that keys for turns act on: of those whose beginning is
// on the screen the last that has siblings, else the last, else the one that
// what is on the screen belongs to.
func (m *Model) TurnInView() (session.ID, bool) {
	parts := m.window()
	found := -1
	for _, p := range parts {
		if p.item >= m.items.len() || !isTurn(m.items.class(p.item)) {
			continue
		}
		if begin := lead(m.draw(p.item)); begin < p.from || begin >= p.to {
			continue
		}
		if found < 0 || m.turnMark(p.item).n > 1 || m.turnMark(found).n == 1 {
			found = p.item
		}
	}
	if found < 0 && len(parts) > 0 {
		found = m.turnBefore(parts[0].item + 1)
	}
	if found < 0 {
		return "", false
	}
	return m.items.at(found).block.ID, true
}

// turnBefore is the last turn before an item, -1 if there is none.
func (m *Model) turnBefore(i int) int {
	for i = min(i, m.items.len()) - 1; i >= 0; i-- {
		if isTurn(m.items.class(i)) {
			return i
		}
	}
	return -1
}

// lead is the number of blank rows that an item begins with.
func lead(d *drawn) int {
	for i, r := range d.rows {
		if r.Width > 0 {
			return i
		}
	}
	return 0
}
