package tui

import (
	"fmt"
	"strings"

	"banyan/internal/tui/inert"
	"banyan/internal/tui/rich"

	tea "charm.land/bubbletea/v2"
)

// View draws the screen. It only reads.
func (m *Model) View() tea.View {
	v := tea.View{AltScreen: true, ReportFocus: true}
	if !m.opts.NoTitle {
		v.WindowTitle = m.title()
	}
	if m.mouse {
		v.MouseMode = tea.MouseModeCellMotion
	}
	if m.running != nil && !m.opts.NoProgress {
		v.ProgressBar = tea.NewProgressBar(tea.ProgressBarIndeterminate, 0)
	}
	if m.tooSmall() {
		v.Content = m.sorry()
		return v
	}
	lines := m.above()
	if m.layout.rule > 0 {
		lines = append(lines, m.theme.Faint.Paint(strings.Repeat("─", m.width)))
	}
	at := len(lines)
	x, y, caret := 0, 0, true
	if o := m.top(); o != nil {
		lines = append(lines, o.View(m.width, m.layout.bottom))
		x, y, caret = o.Cursor()
	} else {
		lines = append(lines, m.editor.View())
		x, y = m.editor.Cursor()
	}
	v.Content = strings.Join(append(lines, m.footer()), "\n")
	if caret {
		v.Cursor = tea.NewCursor(min(x, m.width-1), at+y)
		if v.Cursor.Shape = tea.CursorBar; m.top() == nil && m.editor.Normal() {
			v.Cursor.Shape = tea.CursorBlock
		}
	}
	return v
}

// above are the lines above the editor: the transcript, or the welcome where
// there is none yet, and the status, with the completions over the last of them.
// Below an overlay that takes all of the screen there are none.
func (m *Model) above() []string {
	var lines []string
	if m.layout.transcript > 0 {
		text := m.shown().View()
		if m.blank() {
			text = m.welcome(m.width, m.layout.transcript)
		}
		if o := m.behind(); o != nil {
			text = o.View(m.width, m.layout.transcript)
		}
		lines = strings.Split(text, "\n")
	}
	status := m.status()
	lines = append(lines, status[len(status)-m.layout.status:]...)
	popup := m.editor.Popup(len(lines) - 1)
	if m.top() == nil && len(popup) > 0 {
		lines[len(lines)-len(popup)-1] = ""
		copy(lines[len(lines)-len(popup):], popup)
	}
	return lines
}

// title is the terminal window's.
func (m *Model) title() string {
	name := ""
	if m.opened {
		name = m.session.Name()
	}
	if name == "" {
		name = shortPath(m.opts.Cwd, 40)
	}
	mark := ""
	if m.running != nil {
		mark = "* "
	}
	return inert.Title(mark + name + " - agent")
}

// sorry is what there is on a screen that is too small. Before the terminal has
// said its size there is nothing.
func (m *Model) sorry() string {
	if m.width == 0 || m.height == 0 {
		return ""
	}
	text := fmt.Sprintf("%dx%d is too small: %dx%d, please", m.width, m.height, minWidth, minHeight)
	var rows []string
	for _, line := range rich.Wrap([]rich.Span{rich.Chrome(text, m.theme.Text)}, m.width) {
		rows = append(rows, rich.Draw(line).Text)
	}
	return strings.Join(rows[:min(len(rows), m.height)], "\n")
}
