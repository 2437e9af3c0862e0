package tui

import (
	"context"

	tea "charm.land/bubbletea/v2"
)

// trust lets the folder's own settings and instructions count, once the user has
// confirmed what that means.
func (m *Model) trust(string) tea.Cmd {
	grant := m.opts.Trust
	if grant == nil {
		m.refuse("There is nothing to trust here")
		return nil
	}
	yes := way{text: "Yes, this folder and what is below it", run: func() tea.Cmd {
		return func() tea.Msg {
			done, err := grant(context.Background())
			if err != nil {
				return failedMsg{err}
			}
			return doneMsg(done)
		}
	}}
	no := way{text: "No", run: func() tea.Cmd { return nil }}
	m.choose("Do you trust who wrote this folder? Its AGENTS.md and settings will be told to the model.", no, yes)
	return nil
}
