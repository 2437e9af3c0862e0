package tui

import (
	"banyan/internal/engine"
	"banyan/internal/llm"
	"banyan/internal/session"
	"banyan/internal/tree"
	"banyan/internal/tui/keymap"

	tea "charm.land/bubbletea/v2"
)

// undone is a turn that was taken back.
type undone struct {
	at   session.ID // where the leaf was put
	end  session.ID // where it had been
	text string     // what came back to the editor
}

// lastTurn is the last prompt on the active path.
func (m *Model) lastTurn() (session.ID, bool) {
	view := m.session.Tree()
	for n := m.session.Node(m.session.Leaf()); n != tree.None; n = view.Parent(n) {
		if c := m.session.Class(n); c.Kind == "message" && c.Role == llm.User {
			return m.session.ID(n), true
		}
	}
	return "", false
}

// undo takes the last turn back: its prompt returns to the editor, and what came
// of it stays in the tree.
func (m *Model) undo(string) tea.Cmd {
	turn, ok := m.lastTurn()
	if !ok {
		m.refuse("There is no turn to take back")
		return nil
	}
	if m.session.ReadOnly() != "" {
		return m.offerCopy(turn)
	}
	return m.navigate(engine.Navigate{Target: turn, Interrupt: m.running != nil}, trip{
		did: "Took the last turn back", undo: keymap.Title(m.keys.Key("redo-turn")) + " or /redo brings it again",
		then: func(ev engine.Moved) tea.Cmd {
			u := undone{at: ev.Session.Leaf(), end: ev.From}
			free := m.editor.Empty() || m.holdsUndone()
			if ev.Draft != nil && free {
				u.text = ev.Draft.Text
			}
			m.tree.undone = append(m.tree.undone, u)
			if ev.Draft == nil || !free {
				return nil
			}
			return m.editor.Restore(ev.Draft.Text, ev.Draft.Images)
		},
	})
}

// holdsUndone says whether all that is in the editor is what the last undo put
// there: it may make room for another prompt.
func (m *Model) holdsUndone() bool {
	n := len(m.tree.undone) - 1
	now, _ := m.editor.Value()
	return n >= 0 && now != "" && now == m.tree.undone[n].text
}

// redo brings back what undo took, or else the next turn of the newest branch
// below the leaf, which is what undo took before a restart.
func (m *Model) redo(string) tea.Cmd {
	leaf, text := m.session.Leaf(), ""
	to, ok := nextTurn(m.session)
	if n := len(m.tree.undone) - 1; n >= 0 {
		if u := m.tree.undone[n]; u.at == leaf {
			to, text, ok = u.end, u.text, true
		}
	}
	if !ok {
		m.refuse("There is no turn to bring back")
		return nil
	}
	if m.session.ReadOnly() != "" {
		return m.offerCopy(to)
	}
	return m.navigate(engine.Navigate{Target: to, At: true, Interrupt: m.running != nil}, trip{
		did: "Brought the turn back", undo: keymap.Title(m.keys.Key("undo-turn")) + " or /undo takes it again",
		then: func(engine.Moved) tea.Cmd {
			if n := len(m.tree.undone) - 1; n >= 0 && m.tree.undone[n].at == leaf {
				m.tree.undone = m.tree.undone[:n]
			}
			if text == "" {
				return nil
			}
			m.editor.DropAside(text)
			if now, _ := m.editor.Value(); now == text {
				return m.editor.SetValue("", nil)
			}
			return nil
		},
	})
}

// nextTurn is the end of the next turn on the way to the newest entry below the leaf.
func nextTurn(s session.Snapshot) (session.ID, bool) {
	view, leaf := s.Tree(), s.Node(s.Leaf())
	newest := tree.Node(view.Len() - 1)
	if leaf != tree.None {
		newest = view.Newest(leaf)
	}
	if newest == leaf {
		return "", false
	}
	// Going up, the end is what stands above the highest turn but one.
	end, above := newest, newest
	for n := newest; n != leaf && n != tree.None; n = view.Parent(n) {
		if c := s.Class(n); c.Kind == "message" && c.Role == llm.User {
			end, above = above, view.Parent(n)
		}
	}
	return s.ID(end), true
}

// pop goes back to the prompt before, or to an entry, with a note of what is left.
func (m *Model) pop(text string) tea.Cmd {
	target, ok := m.lastTurn()
	if text != "" {
		var cmd tea.Cmd
		if target, cmd, ok = m.resolve(text); !ok {
			return cmd
		}
	} else if !ok {
		m.refuse("There is no turn to go back to")
		return nil
	}
	return m.askInterrupt(target, func(interrupt bool) tea.Cmd {
		return m.navigate(engine.Navigate{Target: target, Summarize: true, Interrupt: interrupt}, trip{did: "Went back to " + m.named(target)})
	})
}

// branchHere begins a branch in this file at the last prompt, which comes back
// to the editor, or in the place of which a text is sent.
func (m *Model) branchHere(text string) tea.Cmd {
	turn, ok := m.lastTurn()
	if !ok {
		m.refuse("There is no prompt to branch at yet")
		return nil
	}
	t := trip{did: "A new branch begins here"}
	if text != "" {
		t.then = func(engine.Moved) tea.Cmd {
			m.opts.Engine.Send(engine.Submit{Text: text})
			return nil
		}
	}
	return m.askInterrupt(turn, func(interrupt bool) tea.Cmd {
		return m.askSummary(engine.Navigate{Target: turn, Interrupt: interrupt}, t)
	})
}
