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
	"banyan/internal/tui/treeview"

	tea "charm.land/bubbletea/v2"
)

// turn is a prompt of the user.
type turn struct {
	id   session.ID
	text string
}

// turnList is the picker of turns. Reading them may take a moment.
type turnList struct {
	*picker.Model
	session session.Snapshot
	turns   []turn // newest first
	whole   bool   // those of other branches, too
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
	l := &turnList{session: m.session}
	l.Model = picker.New(picker.Options{
		Title: "Take a prompt back into a new session", Empty: "reading …", Query: text, Keys: m.opts.Keys,
		Actions: []picker.Action{{Key: "tab", Help: "this branch or all", Run: func(int) (bool, tea.Cmd) {
			l.whole = !l.whole
			return false, l.read()
		}}},
		Chosen: func(i int) tea.Cmd {
			m.opts.Engine.Send(engine.Fork{Target: l.turns[i].id})
			return nil
		},
	}, m.theme)
	m.push(l)
	return l.read()
}

// read reads the turns that are to be shown.
func (l *turnList) read() tea.Cmd {
	list, s, whole := l, l.session, l.whole
	return func() tea.Msg {
		turns, err := turnsOf(s, whole)
		return turnsMsg{list, turns, err}
	}
}

// turnsOf reads the user's turns on the active path, or in the whole file,
// newest first.
func turnsOf(s session.Snapshot, whole bool) ([]turn, error) {
	next := s.Tree().Parent
	at := s.Node(s.Leaf())
	if whole {
		next = func(n tree.Node) tree.Node { return n - 1 } // [tree.None] comes before the first
		at = tree.Node(s.Len() - 1)
	}
	var turns []turn
	for ; at != tree.None; at = next(at) {
		id := s.ID(at)
		if !isUser(s, id) {
			continue
		}
		e, err := s.EntryAt(at)
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

// family are the turns that go on from the same place, oldest first: with nothing
// of the conversation but notes of branches between it and them.
func (m *Model) family(id session.ID) []session.ID {
	s, view := m.session, m.session.Tree()
	from := s.Node(id)
	if from == tree.None {
		return []session.ID{id}
	}
	for from = view.Parent(from); from != tree.None && onlyNotes(s.Class(from)); from = view.Parent(from) {
	}
	var turns []tree.Node
	for stack := view.Children(from); len(stack) > 0; {
		n := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		switch c := s.Class(n); {
		case c.Kind == "message" && c.Role == llm.User:
			turns = append(turns, n)
		case onlyNotes(c):
			stack = append(stack, view.Children(n)...)
		}
	}
	slices.Sort(turns)
	ids := make([]session.ID, len(turns))
	for i, n := range turns {
		ids[i] = s.ID(n)
	}
	return ids
}

// onlyNotes says whether turns on either side of an entry go on from the same place.
func onlyNotes(c session.Class) bool { return c.Kind == "branch_summary" || !treeview.Speaks(c) }

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
	if m.running != nil {
		m.refuse("A " + m.running.What + " is running; Esc interrupts it")
		return nil
	}
	i := (slices.Index(family, turn) + by + len(family)) % len(family)
	end := m.session.ID(m.session.Tree().Newest(m.session.Node(family[i])))
	return m.navigate(engine.Navigate{Target: end, At: true}, trip{did: fmt.Sprintf("Branch %d of %d", i+1, len(family))})
}
