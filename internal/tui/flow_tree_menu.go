package tui

import (
	"fmt"

	"banyan/internal/engine"
	"banyan/internal/session"
	"banyan/internal/tui/treeview"

	tea "charm.land/bubbletea/v2"
)

// labelEntry gives an entry another label.
func (m *Model) labelEntry(id session.ID, text string) tea.Cmd {
	if why := m.session.ReadOnly(); why != "" {
		m.refuse("This session is read-only: " + why)
		return nil
	}
	was := m.session.Label(id)
	m.opts.Engine.Send(engine.SetLabel{Target: id, Text: text})
	switch {
	case text == "":
		m.hint(`The label "` + was + `" is gone`)
	case was == "":
		m.hint(`Labelled "` + text + `". An empty label takes it away`)
	default:
		m.hint(`Labelled "` + text + `"; it was "` + was + `"`)
	}
	return nil
}

// treeMenu offers what else can be done with an entry.
func (m *Model) treeMenu(id session.ID) tea.Cmd {
	ways := make([]way, 0, len(entryActions))
	for _, a := range entryActions {
		ways = append(ways, way{a.text, a.detail, func() tea.Cmd { return a.run(m, id) }})
	}
	m.choose("Entry "+m.named(id), ways...)
	return nil
}

// entryActions are the action menu of the tree.
var entryActions = []struct {
	text, detail string
	run          func(*Model, session.ID) tea.Cmd
}{
	{"Go there with a summary", "of what is left behind", func(m *Model, id session.ID) tea.Cmd {
		return m.askInterrupt(id, func(interrupt bool) tea.Cmd {
			return m.navigate(engine.Navigate{Target: id, Summarize: true, Interrupt: interrupt}, trip{})
		})
	}},
	{"Edit label", "name this point", func(m *Model, _ session.ID) tea.Cmd { return m.tree.screen.EditLabel() }},
	{"Branch to a file", "go on from here in a new session", (*Model).forkAt},
	{"Cherry-pick", "copy this entry onto the leaf", func(m *Model, id session.ID) tea.Cmd { return m.copyHere([]session.ID{id}) }},
	{"Merge", "take over the branch to here", (*Model).mergeEntry},
	{"Compare", "the branch to here and the active one", (*Model).compareEntry},
	{"Export", "the path to here, as a file", (*Model).exportEntry},
	{"Copy text", "to the clipboard", (*Model).copyEntry},
}

// forkAt goes on from an entry in a new session.
func (m *Model) forkAt(id session.ID) tea.Cmd {
	cmd := m.closeTree()
	m.opts.Engine.Send(engine.Fork{Target: id})
	return cmd
}

// copyEntry copies what an entry says.
func (m *Model) copyEntry(id session.ID) tea.Cmd {
	e, ok, err := m.session.Entry(id)
	if err != nil || !ok {
		m.refuse("The entry could not be read")
		return nil
	}
	return m.copy(treeview.Body(e.Data))
}

// named is an entry's id, and its label if it has one.
func (m *Model) named(id session.ID) string {
	if label := m.session.Label(id); label != "" {
		return fmt.Sprintf("%s [%s]", id, label)
	}
	return orRoot(id)
}
