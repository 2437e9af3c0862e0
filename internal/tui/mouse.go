package tui

import (
	"banyan/internal/tui/transcript"

	tea "charm.land/bubbletea/v2"
)

// wheelLines is how far a notch of the wheel goes.
const wheelLines = 3

// pointer is the mouse: the wheel scrolls, a click opens, closes and switches,
// a drag selects and copies.
func (m *Model) pointer(msg tea.MouseMsg) tea.Cmd {
	if o := m.top(); o != nil {
		return m.tell(o, below(msg, m.height-1-m.layout.bottom))
	}
	at := msg.Mouse()
	inside := at.Y < m.layout.transcript && !m.blank()
	switch msg.(type) {
	case tea.MouseWheelMsg:
		by := wheelLines
		if at.Button == tea.MouseWheelUp {
			by = -wheelLines
		}
		m.shown().ScrollLines(by)
	case tea.MouseClickMsg:
		m.shown().SelectNone()
		if y := at.Y - (m.height - 1 - m.layout.bottom); at.Button == tea.MouseLeft && y >= 0 && y < m.layout.bottom {
			return m.editor.Click(at.X, y)
		}
		if at.Button == tea.MouseLeft && inside {
			m.dragging = true
			m.shown().SelectStart(at.X, at.Y)
		}
	case tea.MouseMotionMsg:
		if m.dragging {
			m.drag(at)
		}
	case tea.MouseReleaseMsg:
		if m.dragging {
			m.dragging = false
			return m.drop(at)
		}
	}
	return nil
}

// below is a message of the mouse for what begins at a row of the screen.
func below(msg tea.MouseMsg, row int) tea.Msg {
	at := msg.Mouse()
	at.Y -= row
	switch msg.(type) {
	case tea.MouseClickMsg:
		return tea.MouseClickMsg(at)
	case tea.MouseReleaseMsg:
		return tea.MouseReleaseMsg(at)
	case tea.MouseMotionMsg:
		return tea.MouseMotionMsg(at)
	}
	return tea.MouseWheelMsg(at)
}

// drag goes on with a selection, and scrolls at the edges.
func (m *Model) drag(at tea.Mouse) {
	switch {
	case at.Y <= 0:
		m.shown().ScrollLines(-1)
	case at.Y >= m.layout.transcript:
		m.shown().ScrollLines(1)
	}
	m.shown().SelectTo(at.X, min(at.Y, m.layout.transcript-1))
}

// drop ends a drag, which copies, or a click, which acts.
func (m *Model) drop(at tea.Mouse) tea.Cmd {
	if m.shown().Selecting() {
		if text := m.shown().SelectEnd(); text != "" {
			return m.copy(text)
		}
		return nil
	}
	hit := m.shown().Click(at.X, at.Y)
	switch hit.Kind {
	case transcript.HitPrev:
		return m.switchFrom(hit.ID, -1)
	case transcript.HitNext:
		return m.switchFrom(hit.ID, 1)
	case transcript.HitTask:
		if f := m.tasks.find(hit.Task); f != nil {
			return m.openTask(f)
		}
	}
	return nil
}
