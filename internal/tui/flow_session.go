package tui

import (
	"fmt"
	"strings"

	"banyan/internal/engine"
	"banyan/internal/llm"
	"banyan/internal/session"
	"banyan/internal/tree"
	"banyan/internal/tui/inert"
	"banyan/internal/tui/picker"
	"banyan/internal/tui/rich"

	tea "charm.land/bubbletea/v2"
)

// nameSession names the session, or asks for a name.
func (m *Model) nameSession(name string) tea.Cmd {
	take := func(name string) tea.Cmd {
		m.opts.Engine.Send(engine.SetName{Name: name})
		return nil
	}
	if name != "" {
		return take(name)
	}
	m.prompt(promptOptions{Title: "Name of this session", Hint: "nothing takes the name away", Text: m.session.Name(), Chosen: take})
	return nil
}

// labelLeaf names the leaf, or asks for a name.
func (m *Model) labelLeaf(label string) tea.Cmd {
	leaf := m.session.Leaf()
	if leaf == "" {
		m.refuse("There is nothing to label yet")
		return nil
	}
	take := func(label string) tea.Cmd {
		m.opts.Engine.Send(engine.SetLabel{Target: leaf, Text: label})
		if label == "" {
			m.hint("The label is gone")
		} else {
			m.hint(`This point is labelled "` + label + `"`)
		}
		return nil
	}
	if label != "" {
		return take(label)
	}
	m.prompt(promptOptions{Title: "Label of this point", Hint: "nothing takes the label away", Text: m.session.Label(leaf), Chosen: take})
	return nil
}

func (m *Model) compact(focus string) tea.Cmd {
	m.opts.Engine.Send(engine.Compact{Focus: focus})
	return nil
}

func (m *Model) saveElsewhere(path string) tea.Cmd {
	if path == "" {
		m.prompt(promptOptions{Title: "Write the session to", Hint: "a file that does not exist yet", Chosen: m.saveElsewhere})
		return nil
	}
	m.opts.Engine.Send(engine.Save{Path: path})
	return nil
}

// fact is a line of a page of facts.
type fact struct{ name, value string }

// inspectSession shows what the session is.
func (m *Model) inspectSession(string) tea.Cmd {
	s, h := m.session, m.session.Header()
	facts := []fact{
		{"name", s.Name()},
		{"file", s.Path()},
		{"id", h.ID},
		{"folder", h.Cwd},
		{"begun", h.Time.Local().Format("2 January 2006, 15:04")},
		{"parent", h.Parent},
		{"entries", fmt.Sprint(s.Len())},
		{"on this path", fmt.Sprint(len(s.PathIDs(s.Leaf())))},
		{"leaf", string(s.Leaf())},
		{"labels", fmt.Sprint(len(s.Labels()))},
		{"size", fmt.Sprintf("%d bytes", s.Bytes())},
	}
	if s.Path() == "" {
		facts[1].value = "in memory only"
	}
	for _, p := range s.Problems() {
		facts = append(facts, fact{fmt.Sprintf("line %d", p.Line), p.Text})
	}
	m.facts("Session", facts)
	return nil
}

// facts shows a page of names and values.
func (m *Model) facts(title string, facts []fact) {
	th := m.theme
	m.page(title, func(w int) []string {
		widest := 0
		for _, f := range facts {
			widest = max(widest, rich.Width(f.name))
		}
		var lines []string
		for _, f := range facts {
			if f.value == "" {
				continue
			}
			name := fmt.Sprintf("  %-*s  ", widest, f.name)
			for i, part := range rich.Wrap([]rich.Span{rich.Chrome(inert.Line(f.value), th.Text)}, w-widest-5) {
				if i > 0 {
					name = fmt.Sprintf("  %-*s  ", widest, "")
				}
				lines = append(lines, rich.Draw(append([]rich.Span{rich.Chrome(name, th.Dim)}, part...)).Text)
			}
		}
		return lines
	})
}

// copyAnswer puts the last answer on the clipboard of the terminal.
func (m *Model) copyAnswer(string) tea.Cmd {
	if m.answer == "" {
		m.refuse("There is no answer to copy yet")
		return nil
	}
	return m.copy(m.answer)
}

// lastAnswer is the text of the newest answer on the active path.
func lastAnswer(s session.Snapshot) string {
	if s.Leaf() == "" {
		return ""
	}
	view := s.Tree()
	for n := s.Node(s.Leaf()); n != tree.None; n = view.Parent(n) {
		if c := s.Class(n); c.Role != llm.Assistant || !c.HasText {
			continue
		}
		if e, ok, err := s.Entry(s.ID(n)); ok && err == nil {
			return answerText(e)
		}
	}
	return ""
}

// answerText is what an entry says if it is an answer.
func answerText(e session.Entry) string {
	if msg, ok := e.Data.(session.Message); ok && msg.Role == llm.Assistant {
		return msg.Text()
	}
	return ""
}

// searchHistory offers the prompts of the past; the chosen one goes to the editor.
func (m *Model) searchHistory() tea.Cmd {
	prompts := m.editor.History()
	items := make([]picker.Item, len(prompts))
	for i, p := range prompts {
		items[i] = picker.Item{Title: p, Search: p}
	}
	m.push(picked{picker.New(picker.Options{
		Title: "Prompts of the past", Empty: "there are none yet", Items: items, Keys: m.opts.Keys,
		Chosen: func(i int) tea.Cmd { return m.editor.SetValue(prompts[i], nil) },
	}, m.theme)})
	return nil
}

// palette offers all commands.
func (m *Model) palette() tea.Cmd {
	all := m.all()
	items := make([]picker.Item, len(all))
	for i, c := range all {
		title := "/" + c.name + argsOf(c)
		items[i] = picker.Item{Title: title, Detail: c.help, Search: title + " " + strings.Join(c.aliases, " ")}
	}
	m.push(picked{picker.New(picker.Options{
		Title: "Commands", Items: items, Keys: m.opts.Keys,
		Chosen: func(i int) tea.Cmd { return all[i].run(m, "") },
	}, m.theme)})
	return nil
}

func argsOf(c command) string {
	if c.args == "" {
		return ""
	}
	return " " + c.args
}
