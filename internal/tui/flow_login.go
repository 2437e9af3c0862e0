package tui

import (
	"context"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
)

// login connects a provider: which one, then its key.
func (m *Model) login(provider string) tea.Cmd {
	if m.opts.Login == nil {
		m.refuse("Keys are taken from the environment only, e.g. ANTHROPIC_API_KEY")
		return nil
	}
	return m.provider("Connect which provider?", provider, m.askKey)
}

func (m *Model) askKey(provider string) tea.Cmd {
	save := m.opts.Login
	m.prompt(promptOptions{
		Title: "Key of " + provider, Hint: "paste it; it is not shown", Secret: true,
		Chosen: func(key string) tea.Cmd {
			if key == "" {
				return nil
			}
			return work(provider+" is connected; /model chooses among its models", func(ctx context.Context) error {
				return save(ctx, provider, key)
			})
		},
	})
	return nil
}

// logout forgets a provider's key.
func (m *Model) logout(provider string) tea.Cmd {
	forget := m.opts.Logout
	if forget == nil {
		m.refuse("No keys are kept: they are taken from the environment only")
		return nil
	}
	return m.provider("Forget the key of which provider?", provider, func(provider string) tea.Cmd {
		return work("The key of "+provider+" is forgotten", func(ctx context.Context) error {
			return forget(ctx, provider)
		})
	})
}

// provider goes on with the provider that was named, or asks for one.
func (m *Model) provider(title, name string, chosen func(string) tea.Cmd) tea.Cmd {
	var all []string
	if m.opts.Providers != nil {
		all = m.opts.Providers()
	}
	switch {
	case slices.Contains(all, name):
		return chosen(name)
	case name != "":
		m.refuse("There is no provider " + name + ": " + strings.Join(all, ", "))
		return nil
	}
	ways := make([]way, len(all))
	for i, name := range all {
		ways[i] = way{text: name, run: func() tea.Cmd { return chosen(name) }}
	}
	m.choose(title, ways...)
	return nil
}
