package tui

import (
	"fmt"

	"banyan/internal/engine"
	"banyan/internal/llm"
	"banyan/internal/session"
	"banyan/internal/tree"

	tea "charm.land/bubbletea/v2"
)

// deleteSession moves the open session to the trash, if the user is sure of it,
// and begins a new one.
func (m *Model) deleteSession(string) tea.Cmd {
	switch first := firstPrompt(m.session); {
	case m.running != nil || m.tasksActive():
		m.refuse("Something runs in this session. End it first, then /delete")
	case !m.opened || m.session.Path() == "" || first == "" && m.session.Name() == "":
		m.refuse("There is nothing to delete yet")
	case m.session.ReadOnly() != "":
		m.refuse("This session cannot be deleted here: " + m.session.ReadOnly())
	default:
		m.askDelete(title(Session{Name: m.session.Name(), First: first}))
	}
	return nil
}

func (m *Model) askDelete(name string) {
	what := fmt.Sprintf("%s (%s)", name, number(m.session.Len(), "entry", "entries"))
	if n := len(m.session.Tasks()); n > 0 { // each may have given some, too
		what += fmt.Sprintf(" and the sessions of its tasks (%d, and theirs)", n)
	}
	m.choose("Delete "+what+"?",
		way{"Keep it", "", func() tea.Cmd { return nil }},
		way{"Move it to the trash", m.session.Path(), func() tea.Cmd {
			m.opts.Engine.Send(engine.NewSession{Discard: true})
			return nil
		}})
}

// tasksActive says whether a task of this session runs.
func (m *Model) tasksActive() bool {
	for _, f := range m.tasks.all {
		if f.active() {
			return true
		}
	}
	return false
}

// firstPrompt is what the session began with, on one line.
func firstPrompt(s session.Snapshot) string {
	for n := range tree.Node(s.Len()) {
		if c := s.Class(n); c.Kind != "message" || c.Role != llm.User {
			continue
		}
		if e, err := s.EntryAt(n); err == nil {
			return session.Line(e.Data)
		}
	}
	return ""
}
