package transcript

import (
	"strings"

	"banyan/internal/tui/rich"
)

// selection is a stretch of the conversation's source text, held by bytes of
// it, so that it stays where it is while the screen scrolls and text streams in.
type selection struct {
	active   bool
	from, to place // as they were picked, in either order
}

// place is a cell's text: a byte of an item's source, and the byte after the
// character there.
type place struct{ item, src, after int }

func (s *selection) shift(at int) {
	if s.from.item == at {
		s.from.item++
	}
	if s.to.item == at {
		s.to.item++
	}
}

// bounds are the selection in the order of the text: the byte of the first
// item where it begins, and of the last where it ends.
func (s *selection) bounds() (a, b place) {
	a, b = s.from, s.to
	if b.item < a.item || b.item == a.item && b.src < a.src {
		a, b = b, a
	}
	return a, b
}

// SelectStart begins a selection at a cell. Nothing is selected until [Model.SelectTo].
func (m *Model) SelectStart(x, y int) {
	m.sel = selection{}
	if p, ok := m.placeAt(x, y); ok {
		m.sel.from, m.sel.to = p, p
	}
}

// SelectTo moves the other end of the selection to a cell.
func (m *Model) SelectTo(x, y int) {
	if p, ok := m.placeAt(x, y); ok {
		m.sel.active = true
		m.sel.to = p
	}
}

// SelectEnd is the text that is selected, as it was written: Markdown as
// Markdown, code without line numbers, long lines whole. The selection stays
// until the next begins or [Model.SelectNone].
func (m *Model) SelectEnd() string {
	if !m.sel.active {
		return ""
	}
	a, b := m.sel.bounds()
	var parts []string
	for i := a.item; i <= b.item && i < m.count(); i++ {
		d := m.draw(i)
		source := d.text()
		lo, hi := m.sel.within(i, len(source))
		if text := strings.Trim(source[lo:hi], "\n"); text != "" {
			parts = append(parts, text)
		}
	}
	return strings.Join(parts, "\n\n")
}

// SelectNone ends the selection.
func (m *Model) SelectNone() { m.sel = selection{} }

// Selecting says whether there is a selection.
func (m *Model) Selecting() bool { return m.sel.active }

// within are the bytes of an item's source, of n bytes, that are selected.
func (s *selection) within(i, n int) (lo, hi int) {
	a, b := s.bounds()
	lo, hi = 0, n
	if i == a.item {
		lo = min(a.src, n)
	}
	if i == b.item {
		hi = min(b.after, n)
	}
	return lo, max(lo, hi)
}

// selected are the source of an item and the bytes of it that are selected.
func (m *Model) selected(i int, d *drawn) (source string, lo, hi int) {
	a, b := m.sel.bounds()
	if !m.sel.active || i < a.item || i > b.item {
		return "", 0, 0
	}
	source = d.text()
	lo, hi = m.sel.within(i, len(source))
	return source, lo, hi
}

// paint draws a row, what is selected of its source in the style for that.
func (m *Model) paint(r rich.Row, source string, lo, hi int) string {
	if lo == hi {
		return r.Text
	}
	from, to := r.Columns(source, lo, hi)
	return r.Paint(from, to, m.th.Selection)
}

// placeAt is the text at a cell; below the last row, the end of the text.
func (m *Model) placeAt(x, y int) (place, bool) {
	i, row, ok := m.rowAt(y)
	if !ok {
		return place{}, false
	}
	d := m.draw(i)
	source := d.text()
	for at := row; at < len(d.rows); at++ { // a blank row: the text below it
		col := x
		if at > row {
			col = 0
		}
		src, ok := d.rows[at].Offset(source, col, false)
		if !ok {
			continue
		}
		after, _ := d.rows[at].Offset(source, col, true)
		return place{i, src, after}, true
	}
	return place{i, len(source), len(source)}, true
}

// rowAt is the row of an item at a line of the screen; the nearest one, if the
// line is outside of what is drawn.
func (m *Model) rowAt(y int) (item, row int, ok bool) {
	parts := m.window()
	if len(parts) == 0 {
		return 0, 0, false
	}
	for _, p := range parts {
		if y < p.to-p.from {
			return p.item, p.from + max(y, 0), true
		}
		y -= p.to - p.from
	}
	last := parts[len(parts)-1]
	return last.item, last.to - 1, true
}
