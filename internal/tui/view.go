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
	v := tea.View{AltScreen: true, ReportFocus: true, WindowTitle: m.title()}
	if m.mouse {
		v.MouseMode = tea.MouseModeCellMotion
	}
	if m.running != nil {
		v.ProgressBar = tea.NewProgressBar(tea.ProgressBarIndeterminate, 0)
	}
	if m.tooSmall() {
		v.Content = m.sorry()
		return v
	}
	status := m.status()
	parts := make([]string, 0, 5)
	parts = append(parts, m.above())
	parts = append(parts, status[len(status)-m.layout.status:]...)
	if m.layout.rule > 0 {
		parts = append(parts, m.theme.Faint.Paint(strings.Repeat("─", m.width)))
	}
	x, y, caret := 0, 0, true
	if o := m.top(); o != nil {
		parts = append(parts, o.View(m.width, m.layout.bottom))
		x, y, caret = o.Cursor()
	} else {
		parts = append(parts, m.editor.View())
		x, y = m.editor.Cursor()
	}
	parts = append(parts, m.footer())
	v.Content = strings.Join(parts, "\n")
	if caret {
		v.Cursor = tea.NewCursor(min(x, m.width-1), m.layout.transcript+m.layout.status+m.layout.rule+y)
		v.Cursor.Shape = tea.CursorBar
	}
	return v
}

// above is the transcript, or the welcome where there is none yet, with the
// completions over its last rows.
func (m *Model) above() string {
	var text string
	if m.blank() {
		text = m.welcome(m.width, m.layout.transcript)
	} else {
		text = m.transcript.View()
	}
	popup := m.editor.Popup(m.layout.transcript)
	if m.top() != nil || len(popup) == 0 {
		return text
	}
	lines := strings.Split(text, "\n")
	copy(lines[len(lines)-len(popup):], popup)
	return strings.Join(lines, "\n")
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
	return rich.TruncateText(text, m.width)
}
