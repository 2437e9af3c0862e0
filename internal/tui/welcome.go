package tui

import (
	"strings"

	"banyan/internal/tui/rich"
	"banyan/internal/tui/theme"

	"charm.land/lipgloss/v2"
)

// blank says whether there is nothing to show in the transcript yet.
func (m *Model) blank() bool {
	return m.opened && m.tasks.view == nil && m.session.Leaf() == "" && m.said == 0 && m.running == nil && !m.transcript.Live()
}

// welcome is what stands in place of an empty transcript, in exactly h rows.
func (m *Model) welcome(w, h int) string {
	var rows []string
	for _, l := range m.welcomeLines(h) {
		rows = append(rows, rich.Draw(rich.Truncate(l, w)).Text)
	}
	return lipgloss.Place(w, h, lipgloss.Center, lipgloss.Center, lipgloss.JoinVertical(lipgloss.Left, rows...))
}

func (m *Model) welcomeLines(h int) [][]rich.Span {
	th := m.theme
	text := func(s string, style theme.Style) []rich.Span { return []rich.Span{rich.Chrome(s, style)} }
	title := text("Banyan", th.Title)
	if m.opts.Version != "" {
		title = append(title, rich.Chrome(" "+m.opts.Version, th.Faint))
	}
	lines := [][]rich.Span{title, text("conversations that branch", th.Dim), nil}
	if m.state.Offline {
		lines = append(lines,
			text("No model is connected, so the built-in", th.Warning),
			text("rules answer. /login connects one, or a", th.Warning),
			text("key in ANTHROPIC_API_KEY and the like.", th.Warning), nil)
	}
	tips := [][2]string{{"/", "commands"}, {"@", "names a file"}, {"?", "keys"}, {"Shift+Tab", "changes what needs approval"}}
	for _, tip := range tips {
		lines = append(lines, []rich.Span{
			rich.Chrome(tip[0]+strings.Repeat(" ", 11-len(tip[0])), th.Key),
			rich.Chrome(tip[1], th.Hint),
		})
	}
	if len(lines) > h { // the tips are the least of it
		lines = lines[:h]
	}
	return lines
}
