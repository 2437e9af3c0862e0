package tui

import (
	"context"
	"slices"
	"strings"

	"banyan/internal/tui/editor"

	tea "charm.land/bubbletea/v2"
)

// Fact is a line of a page: a name, and what there is to be said.
type Fact struct{ Name, Text string }

// factsMsg are the facts of a page that had to be asked for.
type factsMsg struct {
	title string
	facts []Fact
}

func (msg factsMsg) apply(m *Model) tea.Cmd {
	m.showFacts(msg.title, msg.facts)
	return nil
}

func (m *Model) showFacts(title string, all []Fact) {
	if len(all) == 0 {
		m.refuse("There are no " + strings.ToLower(title))
		return
	}
	facts := make([]fact, len(all))
	for i, f := range all {
		facts[i] = fact{f.Name, f.Text}
	}
	m.facts(title, facts)
}

// askFacts shows a page of facts when they are known.
func (m *Model) askFacts(title string, ask func(context.Context) ([]Fact, error)) tea.Cmd {
	if ask == nil {
		m.refuse("There are no " + strings.ToLower(title))
		return nil
	}
	return func() tea.Msg {
		facts, err := ask(context.Background())
		if err != nil {
			return failedMsg{err}
		}
		return factsMsg{title, facts}
	}
}

func (m *Model) showSkills(string) tea.Cmd { return m.askFacts("Skills and prompts", m.opts.Skills) }
func (m *Model) showAgents(string) tea.Cmd { return m.askFacts("Agents", m.opts.Agents) }

// showSandbox says what commands may touch, once that is known.
func (m *Model) showSandbox(string) tea.Cmd {
	if !m.opened {
		m.refuse("The session is not open yet")
		return nil
	}
	return m.askFacts("Sandbox", m.opts.Sandbox)
}

// showRules lists the rules for what models write, and says which were added on
// this branch.
func (m *Model) showRules(string) tea.Cmd {
	if m.opts.Rules == nil {
		return m.askFacts("Rules", nil)
	}
	var added []string
	if m.opened {
		if c, err := m.session.State(m.session.Leaf()); err == nil {
			added = c.Rules
		}
	}
	return m.askFacts("Rules", func(ctx context.Context) ([]Fact, error) {
		facts, err := m.opts.Rules(ctx)
		for i, f := range facts {
			if slices.Contains(added, f.Name) {
				facts[i].Text = "added on this branch · " + f.Text
			}
		}
		return facts, err
	})
}

// noRole is the name by which a role is taken away.
const noRole = "none"

// setRole gives the agent a role, or shows those that there are.
func (m *Model) setRole(name string) tea.Cmd {
	set := m.opts.SetRole
	switch {
	case set == nil || m.opts.Roles == nil:
		m.refuse("There are no roles")
		return nil
	case name == "":
		m.showFacts("Roles", m.opts.Roles())
		return nil
	case name == noRole:
		name = ""
	}
	return func() tea.Msg {
		done, err := set(context.Background(), name)
		if err != nil {
			return failedMsg{err}
		}
		return doneMsg(done)
	}
}

// Reserved says whether the screen has a command of that name, whose place no
// template takes.
func Reserved(name string) bool {
	return slices.ContainsFunc(commands(), func(c command) bool { return c.is(name) })
}

func roleNames(m *Model) []editor.Candidate {
	if m.opts.Roles == nil {
		return nil
	}
	candidates := words(noRole)
	for _, r := range m.opts.Roles() {
		candidates = append(candidates, editor.Candidate{Text: r.Name, Detail: r.Text, Done: true})
	}
	return candidates
}
