package tui

import (
	"fmt"

	tea "charm.land/bubbletea/v2"
)

// quit leaves. What runs is interrupted by the engine's end. Where the disk has
// refused something, it asks first.
func (m *Model) quit() tea.Cmd {
	if m.state.Unsaved == 0 {
		return tea.Quit
	}
	m.choose(fmt.Sprintf("The disk refused %d entries of this session", m.state.Unsaved),
		way{"Stay", "they are tried again every few seconds", func() tea.Cmd { return nil }},
		way{"Save elsewhere", "to a file on another disk", func() tea.Cmd { return m.saveElsewhere("") }},
		way{"Leave", "they are lost", func() tea.Cmd { return tea.Quit }},
	)
	return nil
}
