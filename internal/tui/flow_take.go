package tui

import (
	"fmt"
	"strings"

	"banyan/internal/engine"
	"banyan/internal/session"

	tea "charm.land/bubbletea/v2"
)

// cherryPick copies entries onto the leaf.
func (m *Model) cherryPick(text string) tea.Cmd {
	if text == "" {
		m.refuse("Name the entries to copy: /cherry-pick <id or label> …. /tree shows them, Ctrl+K there copies one")
		return nil
	}
	var ids []session.ID
	if id, err := m.session.Resolve(text); err == nil && id != "" { // a label may have blanks
		ids = append(ids, id)
	} else {
		for _, word := range strings.Fields(text) {
			id, cmd, ok := m.resolve(word)
			if !ok {
				return cmd
			}
			ids = append(ids, id)
		}
	}
	return m.copyHere(ids)
}

func (m *Model) copyHere(ids []session.ID) tea.Cmd {
	if !m.canAppend() {
		return nil
	}
	did := "Copied " + m.named(ids[0]) + " here"
	if len(ids) > 1 {
		did = fmt.Sprintf("Copied %d entries here", len(ids))
	}
	m.send(engine.CherryPick{Entries: ids}, false, trip{did: did})
	return nil
}

// merge takes over what another branch has: as a summary, or in full.
func (m *Model) merge(text string) tea.Cmd {
	if text == "" {
		m.refuse("Name the branch to take over: /merge <id or label of its end>. /branches lists them")
		return nil
	}
	id, cmd, ok := m.resolve(text)
	if !ok {
		return cmd
	}
	return m.mergeEntry(id)
}

func (m *Model) mergeEntry(id session.ID) tea.Cmd {
	if !m.canAppend() {
		return nil
	}
	t := trip{did: "Took over the branch to " + m.named(id)}
	send := func(c engine.Merge) tea.Cmd {
		c.Target = id
		m.send(c, c.Summarize, t)
		return nil
	}
	m.choose("Take over the branch to "+m.named(id),
		way{"As a summary", "a note of what happened there", func() tea.Cmd { return send(engine.Merge{Summarize: true}) }},
		way{"As a summary with instructions", "say what it should look at", func() tea.Cmd {
			m.prompt(promptOptions{Title: "What should the summary look at?", Hint: "nothing: the usual", Chosen: func(text string) tea.Cmd {
				return send(engine.Merge{Summarize: true, Instructions: text})
			}})
			return nil
		}},
		way{"All its entries", "copies of them, below the leaf", func() tea.Cmd { return send(engine.Merge{}) }})
	return nil
}

// canAppend says, and tells the user, whether something can be added now.
func (m *Model) canAppend() bool {
	switch {
	case m.session.ReadOnly() != "":
		m.refuse("This session is read-only: " + m.session.ReadOnly() + ". /branch goes on in a copy")
	case m.running != nil:
		m.refuse("A " + m.running.What + " is running; Esc interrupts it")
	default:
		return true
	}
	return false
}
