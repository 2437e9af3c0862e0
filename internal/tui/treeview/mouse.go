package treeview

import (
	"banyan/internal/tree"

	tea "charm.land/bubbletea/v2"
)

// wheelRows is how far a notch of the wheel goes.
const wheelRows = 3

// mouse selects with a click, chooses with a click on what is selected, folds
// with a click on the fold mark. The wheel moves the selection, or the preview
// when it is over it. Cells are counted from the tree's upper left one.
func (m *Model) mouse(msg tea.MouseMsg) tea.Cmd {
	at := msg.Mouse()
	switch msg.(type) {
	case tea.MouseWheelMsg:
		by := wheelRows
		if at.Button == tea.MouseWheelUp {
			by = -by
		}
		if m.previewWidth() > 0 && at.X >= m.treeWidth() {
			m.scrollPreview(by)
		} else if m.field == nil {
			m.outline.Page(by)
			m.scroll = 0
		}
	case tea.MouseClickMsg:
		if at.Button == tea.MouseLeft {
			return m.click(at.X, at.Y)
		}
	}
	return nil
}

func (m *Model) click(x, y int) tea.Cmd {
	i := y - headRows
	if i < 0 || i >= m.page() || x >= m.treeWidth() {
		return nil
	}
	rows := m.outline.Rows(m.top()+i, 1, m.treeWidth())
	if len(rows) == 0 {
		return nil
	}
	m.field, m.typing, m.scroll = nil, false, 0
	r := rows[0]
	// The mark is the middle of the connector, or stands alone before a root.
	if mark := pointerCells + r.Cells; r.Fold != tree.NoFold && x < mark && x >= mark-3 {
		if m.outline.Select(r.Node); r.Fold == tree.Folded {
			m.outline.Unfold(r.Node)
		} else {
			m.outline.Fold(r.Node)
		}
		return nil
	}
	if r.Node == m.outline.Selected() {
		return m.choose()
	}
	m.outline.Select(r.Node)
	return nil
}
