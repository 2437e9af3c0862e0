package tui

import (
	"time"

	tea "charm.land/bubbletea/v2"
)

// drafts says how far what is being written has been saved.
type drafts struct {
	session string // whose draft it is
	version int    // of the editor's text that was saved last
	busy    bool   // a save is due or under way: saves do not overtake each other
}

// draftDelay is how long a draft may be unsaved.
const draftDelay = 400 * time.Millisecond

type (
	draftDueMsg    struct{}
	draftSavedMsg  struct{}
	draftLoadedMsg string
)

// keepDraft follows every message: if the text has changed, it will be saved soon.
func (m *Model) keepDraft() tea.Cmd {
	d := &m.drafts
	if m.opts.SaveDraft == nil || d.session == "" || d.busy || d.version == m.editor.Version() {
		return nil
	}
	d.busy = true
	return m.opts.After(draftDelay, draftDueMsg{})
}

func (m *Model) saveDraft() tea.Cmd {
	save, session := m.opts.SaveDraft, m.drafts.session
	text, _ := m.editor.Value()
	m.drafts.version = m.editor.Version()
	return func() tea.Msg {
		if err := save(session, text); err != nil {
			return tea.BatchMsg{
				func() tea.Msg { return failedMsg{err} },
				func() tea.Msg { return draftSavedMsg{} },
			}
		}
		return draftSavedMsg{}
	}
}

func (m *Model) loadDraft() tea.Cmd {
	load, session := m.opts.LoadDraft, m.drafts.session
	if load == nil || session == "" {
		return nil
	}
	return func() tea.Msg { return draftLoadedMsg(load(session)) }
}
