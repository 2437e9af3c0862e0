package treeview

import (
	"banyan/internal/llm"
	"banyan/internal/session"
	"banyan/internal/tree"

	tea "charm.land/bubbletea/v2"
)

// source is what the outline is told of a session.
func (m *Model) source() tree.Source {
	s, labels := m.session, m.labels
	return tree.Source{
		View:  s.Tree(),
		Leaf:  s.Node(s.Leaf()),
		Class: func(n tree.Node) tree.Class { return classOf(s.Class(n), labels[n] != "") },
		Text:  m.searchText,
	}
}

// classOf says what filters look at.
func classOf(c session.Class, labelled bool) tree.Class {
	var class tree.Class
	if labelled {
		class |= tree.Labelled
	}
	switch c.Kind {
	case "message":
		switch c.Role {
		case llm.User:
			class |= tree.User
		case llm.ToolResult:
			class |= tree.ToolResult
		case llm.Assistant:
			// An answer that somebody named is to be found again.
			if !c.HasText && !c.Failed && !labelled {
				class |= tree.Silent
			}
		}
	default:
		if !Speaks(c) {
			class |= tree.Bookkeeping
		}
	}
	return class
}

// Speaks says whether an entry is part of the conversation, and no bookkeeping.
func Speaks(c session.Class) bool {
	switch c.Kind {
	case "message", "compaction", "branch_summary", "custom_message":
		return true
	}
	return false
}

// labelsOf are the labels of a session by node.
func labelsOf(s session.Snapshot) map[tree.Node]string {
	byID := s.Labels()
	labels := make(map[tree.Node]string, len(byID))
	for id, text := range byID {
		labels[s.Node(id)] = text
	}
	return labels
}

// SetSession shows what the session has become, or another leaf of it. Filter,
// search, folds and selection stay. It must be the session that [New] was given.
func (m *Model) SetSession(s session.Snapshot) tea.Cmd {
	if s == m.session {
		return nil
	}
	before := m.labels
	m.session, m.labels = s, labelsOf(s)
	m.outline.Update(m.source())
	for n := range before {
		if m.labels[n] != before[n] {
			m.outline.Changed(n)
		}
	}
	for n := range m.labels {
		if before[n] == "" {
			m.outline.Changed(n)
		}
	}
	return m.index()
}
