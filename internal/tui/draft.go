package tui

import (
	"time"

	"banyan/internal/engine"

	tea "charm.land/bubbletea/v2"
)

// drafts says how far what is being written has been saved.
type drafts struct {
	session string // whose draft it is
	version int    // of the editor's text that was saved last
	busy    bool   // a save is due or under way: saves do not overtake each other
	failed  bool   // the user knows that drafts cannot be saved
}

// draftDelay is how long a draft may be unsaved.
const draftDelay = 400 * time.Millisecond

type (
	draftDueMsg    struct{}
	draftSavedMsg  struct{ err error }
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

// apply saves the draft.
func (draftDueMsg) apply(m *Model) tea.Cmd {
	save, session := m.opts.SaveDraft, m.drafts.session
	text, _ := m.editor.Value()
	m.drafts.version = m.editor.Version()
	return func() tea.Msg { return draftSavedMsg{save(session, text)} }
}

func (msg draftSavedMsg) apply(m *Model) tea.Cmd {
	m.drafts.busy = false
	if msg.err != nil && !m.drafts.failed { // once is enough
		m.drafts.failed = true
		m.say(engine.Warning, "What you write is not kept: "+msg.err.Error())
	}
	return nil
}

func (msg draftLoadedMsg) apply(m *Model) tea.Cmd {
	return m.takeDraft(&engine.Draft{Text: string(msg)})
}

func (m *Model) loadDraft() tea.Cmd {
	load, session := m.opts.LoadDraft, m.drafts.session
	if load == nil || session == "" {
		return nil
	}
	return func() tea.Msg { return draftLoadedMsg(load(session)) }
}
