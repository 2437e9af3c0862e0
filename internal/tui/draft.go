package tui

import (
	"crypto/sha256"
	"fmt"
	"time"

	"banyan/internal/engine"
	"banyan/internal/session"
	"banyan/internal/tree"

	tea "charm.land/bubbletea/v2"
)

// drafts says how far what is being written has been saved.
type drafts struct {
	session string // whose draft it is, see draftOf
	saved   string // whose draft was saved or loaded last
	version int    // of the editor's text that was saved last
	busy    bool   // a save is due or under way: saves do not overtake each other
	failed  bool   // the user knows that drafts cannot be saved
}

// draftOf is the name of a session's draft: its id, or, as long as nothing was
// said in it, one of the folder. Such a session has no file that anybody could
// come back to after a crash, but a new one will be opened in the same folder.
func draftOf(s session.Snapshot, cwd string) string {
	view := s.Tree()
	for n := range tree.Node(view.Len()) {
		if s.Class(n).Kind == "message" {
			return s.Header().ID
		}
	}
	return fmt.Sprintf("new-%x", sha256.Sum256([]byte(cwd)))[:20]
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
	save := m.saveDraft()
	return func() tea.Msg { return draftSavedMsg{save()} }
}

// saveDraft gives what saves the draft as it is now, in the place of one under
// another name.
func (m *Model) saveDraft() func() error {
	d, save := &m.drafts, m.opts.SaveDraft
	text, _ := m.editor.Value()
	before, now := d.saved, d.session
	d.version, d.saved = m.editor.Version(), now
	return func() error {
		if before != "" && before != now {
			if err := save(before, ""); err != nil {
				return err
			}
		}
		return save(now, text)
	}
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
	load, name := m.opts.LoadDraft, m.drafts.session
	if load == nil || name == "" {
		return nil
	}
	m.drafts.saved = name
	return func() tea.Msg { return draftLoadedMsg(load(name)) }
}
