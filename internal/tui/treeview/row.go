package treeview

import (
	"sort"
	"strings"
	"time"

	"banyan/internal/tree"
	"banyan/internal/tui/inert"
	"banyan/internal/tui/rich"
	"banyan/internal/tui/theme"
)

// here is the node of the row that stands for the leaf: its own, or that of the
// nearest ancestor that has one. It is the last row of the active path, which
// comes before all others.
func (m *Model) here() tree.Node {
	rows := sort.Search(m.outline.Len(), func(i int) bool { return !m.outline.Rows(i, 1, 0)[0].Active })
	return m.outline.NodeAt(rows - 1)
}

// hereMark tells the row where the conversation goes on from one below which it
// does, out of sight.
func (m *Model) hereMark(here tree.Node) string {
	view := m.session.Tree()
	for n := m.session.Node(m.session.Leaf()); n != here && n != tree.None; n = view.Parent(n) {
		if classOf(m.session.Class(n), false)&tree.Bookkeeping == 0 {
			return " ↓ here"
		}
	}
	return " ← here"
}

// row draws a row of w cells.
func (m *Model) row(r tree.Row, here bool, w int) string {
	below := theme.Style{}
	selected := r.Node == m.outline.Selected()
	if selected {
		below = m.theme.Selection
	}
	line := m.rowHead(r, below)
	if selected && m.field != nil {
		text, _ := m.field.view(m.fieldCells(line))
		line = append(line, rich.Chrome("["+text+"] ", m.theme.Label.On(below)))
	} else {
		line = append(line, m.rowLabel(r.Node, below)...)
	}
	var mark []rich.Span
	if here {
		mark = []rich.Span{rich.Chrome(m.hereMark(r.Node), m.theme.Active.On(below))}
	}
	room := w - rich.LineWidth(mark)
	line = append(line, m.rowText(r.Node, below, room-rich.LineWidth(line))...)
	line = append(rich.Truncate(line, room), mark...)
	if gap := w - rich.LineWidth(line); selected && gap > 0 {
		line = append(line, rich.Chrome(strings.Repeat(" ", gap), below))
	}
	return rich.Draw(line).Text
}

// rowHead is what stands before label and text.
func (m *Model) rowHead(r tree.Row, below theme.Style) []rich.Span {
	pointer := "  "
	if r.Node == m.outline.Selected() {
		pointer = "› "
	}
	line := []rich.Span{
		rich.Chrome(pointer, m.theme.Accent.On(below)),
		rich.Chrome(r.Prefix, m.theme.Guide.On(below)),
	}
	if r.Active {
		line = append(line, rich.Chrome("• ", m.theme.Active.On(below)))
	}
	return line
}

// fieldCells is the room for a label that is edited.
func (m *Model) fieldCells(before []rich.Span) int {
	return max(4, m.treeWidth()-rich.LineWidth(before)-2)
}

// rowLabel is an entry's label, and when it was set if that is asked for.
func (m *Model) rowLabel(n tree.Node, below theme.Style) []rich.Span {
	label := m.labels[n]
	if label == "" {
		return nil
	}
	line := m.found("["+inert.Line(label)+"]", m.theme.Label.On(below))
	line = append(line, rich.Chrome(" ", below))
	if m.times {
		at := m.session.LabelTime(m.session.ID(n))
		line = append(line, rich.Chrome(clock(at, m.opts.Now())+" ", m.theme.Faint.On(below)))
	}
	return line
}

// clock is a time as short as it can be told from another: 15:04 today,
// 2 Jan 15:04 this year, else 2 Jan 2006.
func clock(at, now time.Time) string {
	at = at.In(now.Location())
	switch {
	case at.YearDay() == now.YearDay() && at.Year() == now.Year():
		return at.Format("15:04")
	case at.Year() == now.Year():
		return at.Format("2 Jan 15:04")
	}
	return at.Format("2 Jan 2006")
}

// rowText is what an entry says, with what the search found in it, in about w
// cells. Where that lies further on, the text begins shortly before it.
func (m *Model) rowText(n tree.Node, below theme.Style, w int) []rich.Span {
	s := m.said(n)
	who, text := m.tones(s.tone)
	var line []rich.Span
	if s.who != "" {
		line = append(m.found(s.who, who.On(below)), rich.Chrome(" ", who.On(below)))
	}
	body := s.text
	if hits := m.outline.Spans(body); len(hits) > 0 {
		const before = 16 // bytes that lead to it
		if from := hits[0].From - before; rich.Width(body[:hits[0].To]) > w-rich.LineWidth(line) && from > 0 {
			body = "…" + body[len(cut(body, from)):]
		}
	}
	return append(line, m.found(body, text.On(below))...)
}

// found is a text with what the search finds in it painted as such.
func (m *Model) found(text string, s theme.Style) []rich.Span {
	var line []rich.Span
	at := 0
	for _, hit := range m.outline.Spans(text) {
		line = append(line, rich.Chrome(text[at:hit.From], s), rich.Chrome(text[hit.From:hit.To], m.theme.Match))
		at = hit.To
	}
	return append(line, rich.Chrome(text[at:], s))
}

// tones are the styles of who speaks and what is said.
func (m *Model) tones(t tone) (who, text theme.Style) {
	th := m.theme
	switch t {
	case users:
		return th.Accent, th.Strong
	case models:
		return th.Dim, th.Text
	case results:
		return th.Dim, th.Dim
	case failures:
		return th.Failure, th.Failure
	case summaries:
		return th.Summary, th.Summary
	case quiet:
		return th.Faint, th.Faint
	}
	return th.Text, th.Text
}

// said is what a row says. Entries do not change, so it is read once.
func (m *Model) said(n tree.Node) said {
	if s, ok := m.texts[n]; ok {
		return s
	}
	if len(m.texts) >= keptTexts {
		clear(m.texts)
	}
	s := newReader(m.session).say(n)
	m.texts[n] = s
	return s
}
