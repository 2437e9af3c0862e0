package treeview

import (
	"strings"

	"banyan/internal/llm"
	"banyan/internal/session"
	"banyan/internal/tree"
	"banyan/internal/tui/inert"
	"banyan/internal/tui/rich"
	"banyan/internal/tui/theme"

	"github.com/charmbracelet/x/ansi"
)

// previewFrom is the width from which on there is room for a preview.
const previewFrom = 100

// mostPreview is how much of an entry is previewed, in bytes.
const mostPreview = 32 << 10

// preview is an entry as it was drawn beside the tree.
type preview struct {
	node  tree.Node
	width int
	label string
	rows  []string // nil: nothing was drawn yet
}

// treeWidth is what the preview leaves to the tree.
func (m *Model) treeWidth() int {
	if m.w < previewFrom {
		return m.w
	}
	return m.w * 3 / 5
}

// previewWidth is 0 where there is no room.
func (m *Model) previewWidth() int {
	if m.w < previewFrom {
		return 0
	}
	return m.w - m.treeWidth() - 3
}

func (m *Model) scrollPreview(by int) {
	last := 0
	if w := m.previewWidth(); w > 0 {
		last = max(0, len(m.previewed(w))-m.page())
	}
	m.scroll = max(0, min(m.scroll+by, last))
}

// beside puts the preview at the right of lines that are at most tw cells wide.
func (m *Model) beside(lines []string, tw, pw int) {
	rows := m.previewed(pw)
	rows = rows[min(m.scroll, len(rows)):]
	rule := m.theme.Faint.Paint(" │ ")
	for i, line := range lines {
		gap := max(0, tw-ansi.StringWidth(line))
		lines[i] = line + strings.Repeat(" ", gap) + rule
		if i < len(rows) {
			lines[i] += rows[i]
		}
	}
}

// previewed are the rows of the selected entry.
func (m *Model) previewed(w int) []string {
	n := m.outline.Selected()
	if n == tree.None {
		return nil
	}
	p := &m.preview
	if p.rows != nil && p.node == n && p.width == w && p.label == m.labels[n] {
		return p.rows
	}
	*p = preview{node: n, width: w, label: m.labels[n], rows: m.drawPreview(n, w)}
	return p.rows
}

func (m *Model) drawPreview(n tree.Node, w int) []string {
	th := m.theme
	s := m.said(n)
	e := session.Entry{ID: m.session.ID(n)}
	text := s.text
	if d, _ := newReader(m.session).data(n); d != nil {
		if read, err := m.session.EntryAt(n); err == nil {
			e, text = read, Body(read.Data)
		}
	}
	var rows []string
	put := func(text string, st theme.Style) {
		for _, line := range rich.Source(inert.Text(cut(text, mostPreview)), st, 0) {
			for _, part := range rich.Wrap(line, w) {
				rows = append(rows, rich.Draw(part).Text)
			}
		}
	}
	put(strings.Join(facts(e, m.labels[n]), " · "), th.Faint)
	if s.tone == results || s.tone == failures {
		put(s.text, th.Tool)
	}
	rows = append(rows, "")
	_, style := m.tones(s.tone)
	if s.tone == users {
		style = th.Text // all of it bold is no emphasis
	}
	put(text, style)
	return rows
}

// Body is all that an entry says.
func Body(d session.Data) string {
	switch d := d.(type) {
	case session.Message:
		parts := []string{blocks(d.Content)}
		for _, c := range d.Calls() {
			parts = append(parts, "→ "+c.Name+subject(c, ""))
		}
		if d.ErrorMessage != "" {
			parts = append(parts, "("+d.ErrorMessage+")")
		}
		if d.Role == llm.Assistant && parts[0] == "" {
			parts = parts[1:]
		}
		return strings.Join(parts, "\n")
	case session.Command:
		return "! " + d.Command + "\n" + d.Output
	case session.Compaction:
		return d.Summary
	case session.BranchSummary:
		return d.Summary
	case session.CustomMessage:
		return blocks(d.Content)
	case session.Custom:
		return string(d.Data)
	case session.Unknown:
		return string(d.Raw)
	}
	return session.Line(d)
}
