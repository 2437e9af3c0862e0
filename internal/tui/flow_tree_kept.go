package tui

import (
	"encoding/json"
	"slices"

	"banyan/internal/session"
	"banyan/internal/tree"
	"banyan/internal/tui/treeview"

	tea "charm.land/bubbletea/v2"
)

// keptTree is the state of a tree as it is kept over restarts.
type keptTree struct {
	Filter string       `json:"filter,omitempty"`
	Folds  []session.ID `json:"folds,omitempty"`
	Times  bool         `json:"labelTimes,omitempty"`
}

// treeLoadedMsg is the state that was kept of a session's tree.
type treeLoadedMsg struct {
	session string
	text    string
}

// loadTree forgets the tree of another session and asks for the state of this one.
func (m *Model) loadTree() tea.Cmd {
	m.stopGoing()
	_ = m.closeTree() // it belongs to the session that was left
	m.tree = treeFlow{session: m.session.Header().ID, state: m.usualTree()}
	load, id := m.opts.LoadTree, m.tree.session
	if load == nil {
		return nil
	}
	return func() tea.Msg { return treeLoadedMsg{id, load(id)} }
}

// usualTree is the state of a tree of which nothing was kept.
func (m *Model) usualTree() treeview.State {
	f, err := tree.ParseFilter(m.opts.TreeFilter)
	if err != nil {
		f = tree.Default
	}
	return treeview.State{Filter: f}
}

func (msg treeLoadedMsg) apply(m *Model) tea.Cmd {
	var kept keptTree
	if msg.session != m.tree.session || m.tree.screen != nil || json.Unmarshal([]byte(msg.text), &kept) != nil {
		return nil
	}
	f, err := tree.ParseFilter(kept.Filter)
	if err != nil {
		f = m.tree.state.Filter
	}
	m.tree.state = treeview.State{Filter: f, Folds: kept.Folds, Times: kept.Times}
	return nil
}

// keepTree keeps the tree's state, if it has changed.
func (m *Model) keepTree() tea.Cmd {
	state := m.tree.screen.State()
	if m.opts.SaveTree == nil || sameState(state, m.tree.state) {
		return nil
	}
	m.tree.state = state
	text := ""
	if !sameState(state, m.usualTree()) {
		kept, err := json.Marshal(keptTree{state.Filter.String(), state.Folds, state.Times})
		if err != nil {
			return nil // strings always can be written
		}
		text = string(kept)
	}
	save, id := m.opts.SaveTree, m.tree.session
	return func() tea.Msg {
		if err := save(id, text); err != nil {
			return failedMsg{err}
		}
		return nil
	}
}

func sameState(a, b treeview.State) bool {
	return a.Filter == b.Filter && a.Times == b.Times && slices.Equal(a.Folds, b.Folds)
}
