package tui

import (
	"fmt"
	"slices"
	"strings"

	"banyan/internal/engine"
	"banyan/internal/llm"
	"banyan/internal/session"
	"banyan/internal/tree"
	"banyan/internal/tui/picker"

	tea "charm.land/bubbletea/v2"
)

// turn is a prompt of the user on the active path.
type turn struct {
	id   session.ID
	text string
}

// turnList is the picker of turns. Reading them may take a moment.
type turnList struct {
	*picker.Model
	turns []turn // newest first
}

// turnsMsg are the turns that were read.
type turnsMsg struct {
	list  *turnList
	turns []turn
	err   error
}

// forkFlow offers the user's turns; the one that is chosen comes back to the
// editor, in a new session that holds what came before it.
func (m *Model) forkFlow(text string) tea.Cmd {
	if !m.opened || m.session.Leaf() == "" {
		m.refuse("There is nothing to branch from yet")
		return nil
	}
	l := &turnList{}
	l.Model = picker.New(picker.Options{
		Title: "Take a prompt back into a new session", Empty: "reading …", Query: text, Keys: m.opts.Keys,
		Chosen: func(i int) tea.Cmd {
			m.opts.Engine.Send(engine.Fork{Target: l.turns[i].id})
			return nil
		},
	}, m.theme)
	m.push(l)
	snapshot := m.session
	return func() tea.Msg {
		turns, err := turnsOf(snapshot)
		return turnsMsg{l, turns, err}
	}
}

// turnsOf reads the user's turns on the active path, newest first.
func turnsOf(s session.Snapshot) ([]turn, error) {
	var turns []turn
	for _, id := range slices.Backward(s.PathIDs(s.Leaf())) {
		if !isUser(s, id) {
			continue
		}
		e, _, err := s.Entry(id)
		if err != nil {
			return turns, fmt.Errorf("reading entry %s: %w", id, err)
		}
		if msg, ok := e.Data.(session.Message); ok {
			turns = append(turns, turn{id, msg.Text()})
		}
	}
	return turns, nil
}

func isUser(s session.Snapshot, id session.ID) bool {
	c := s.Class(s.Node(id))
	return c.Kind == "message" && c.Role == llm.User
}

// Update implements [overlay].
func (l *turnList) Update(msg tea.Msg) (bool, tea.Cmd) {
	read, ok := msg.(turnsMsg)
	if !ok {
		return l.Model.Update(msg)
	}
	if read.list != l {
		return false, nil
	}
	l.turns = read.turns
	items := make([]picker.Item, len(l.turns))
	for i, t := range l.turns {
		items[i] = picker.Item{Title: strings.TrimSpace(t.text), Search: t.text}
	}
	l.SetEmpty("there are no prompts on this path")
	if read.err != nil {
		l.SetEmpty(read.err.Error())
	}
	l.SetItems(items, 0)
	return false, nil
}

// cloneSession goes on in a copy of the active path.
func (m *Model) cloneSession(string) tea.Cmd {
	if !m.opened || m.session.Leaf() == "" {
		m.refuse("There is nothing to copy yet")
		return nil
	}
	m.opts.Engine.Send(engine.Fork{Target: m.session.Leaf(), At: true})
	return nil
}

// siblings says which of how many branches a turn begins, for ‹2/3›. It is
// called for the turns in view.
func (m *Model) siblings(id session.ID) (i, n int) {
	family := m.family(id)
	return slices.Index(family, id) + 1, len(family)
}

// family are the user's turns with the same parent, oldest first.
func (m *Model) family(id session.ID) []session.ID {
	e, ok, err := m.session.Entry(id)
	if !ok || err != nil {
		return []session.ID{id}
	}
	s := m.session
	return slices.DeleteFunc(s.Children(e.Parent), func(id session.ID) bool { return !isUser(s, id) })
}

// sibling goes to the branch beside that of the turn in view, to its newest end.
func (m *Model) sibling(by int) tea.Cmd {
	turn, ok := m.transcript.TurnInView()
	if !ok {
		m.hint("There is no turn in view")
		return nil
	}
	return m.switchFrom(turn, by)
}

func (m *Model) switchFrom(turn session.ID, by int) tea.Cmd {
	family := m.family(turn)
	if len(family) < 2 {
		m.hint("This turn has no other branches")
		return nil
	}
	i := (slices.Index(family, turn) + by + len(family)) % len(family)
	m.opts.Engine.Send(engine.Navigate{Target: m.newestEnd(family[i])})
	return nil
}

// newestEnd follows the newest child of each entry down to a leaf.
func (m *Model) newestEnd(id session.ID) session.ID {
	view := m.session.Tree()
	node := m.session.Node(id)
	for {
		kids := view.Children(node)
		if len(kids) == 0 || node == tree.None {
			return m.session.ID(node)
		}
		node = kids[len(kids)-1]
	}
}
