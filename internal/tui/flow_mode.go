package tui

import (
	"slices"

	"banyan/internal/engine"
	"banyan/internal/session"
	"banyan/internal/tree"
	"banyan/internal/tui/editor"
	"banyan/internal/tui/picker"

	tea "charm.land/bubbletea/v2"
)

// The modes that are there without anybody having named them.
const (
	planMode = "plan"
	noMode   = "none"
)

// togglePlan goes to planning, and back to what was before.
func (m *Model) togglePlan(string) tea.Cmd {
	if m.state.Permission != planMode {
		return m.setMode(planMode)
	}
	if m.state.Mode != planMode { // it was begun so, and there is no before
		m.permit("ask")
		return nil
	}
	return m.setMode(noMode)
}

// setMode takes the branch into a mode. The names of permission modes mean those.
func (m *Model) setMode(name string) tea.Cmd {
	switch {
	case name == "":
		return m.pickMode()
	case name != planMode && slices.Contains(engine.Modes, name):
		return m.setPermission(name)
	}
	m.opts.Engine.Send(engine.SetMode{Mode: name})
	if name == noMode {
		m.hint("No mode")
	} else {
		m.hint("Mode: " + name)
	}
	return nil
}

func (m *Model) pickMode() tea.Cmd {
	names := m.modes()
	items := make([]picker.Item, len(names))
	for i, name := range names {
		items[i] = picker.Item{Title: name, Detail: aboutMode[name]}
	}
	m.push(picked{picker.New(picker.Options{
		Title: "The mode of this branch", Items: items, Keys: m.opts.Keys,
		Cursor: max(0, slices.Index(names, m.state.Mode)),
		Chosen: func(i int) tea.Cmd { return m.setMode(names[i]) },
	}, m.theme)})
	return nil
}

var aboutMode = map[string]string{noMode: "as usual", planMode: "look and plan, change nothing"}

// modes are those that can be named: ours, and those that the session has seen.
func (m *Model) modes() []string {
	names := []string{noMode, planMode}
	if !m.opened {
		return names
	}
	for n := range m.session.Len() {
		if m.session.Class(tree.Node(n)).Kind != "mode_change" {
			continue
		}
		e, err := m.session.EntryAt(tree.Node(n))
		if change, ok := e.Data.(session.ModeChange); err == nil && ok && change.Mode != "" && !slices.Contains(names, change.Mode) {
			names = append(names, change.Mode)
		}
	}
	return names
}

func modeNames(m *Model) []editor.Candidate {
	candidates := words(m.modes()...)
	for i := range candidates {
		candidates[i].Detail = aboutMode[candidates[i].Text]
	}
	return candidates
}
