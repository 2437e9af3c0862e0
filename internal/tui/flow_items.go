package tui

import (
	"context"
	"strings"

	"banyan/internal/tui/inert"
	"banyan/internal/tui/picker"
	"banyan/internal/tui/rich"

	tea "charm.land/bubbletea/v2"
)

// Item is one of some things that can be looked at and that something can be done
// with, such as the hooks of /hooks. Its texts may come from anywhere.
type Item struct {
	Title, Detail string
	Text          string // all about it, in lines
	Deeds         []Deed
}

// Deed is something that can be done with an item.
type Deed struct {
	Text, Detail string
	// Do does it, and says what was done.
	Do func(context.Context) (string, error)
}

// itemsMsg are the items of a list that had to be asked for.
type itemsMsg struct {
	title string
	items []Item
}

func (msg itemsMsg) apply(m *Model) tea.Cmd {
	items := make([]picker.Item, len(msg.items))
	for i, item := range msg.items {
		items[i] = picker.Item{Title: item.Title, Detail: item.Detail}
	}
	m.push(picked{picker.New(picker.Options{
		Title: msg.title, Items: items, Keys: m.opts.Keys, InOrder: true,
		Chosen: func(i int) tea.Cmd { m.showItem(msg.items[i]); return nil },
	}, m.theme)})
	return nil
}

// askItems shows a list of items when they are known.
func (m *Model) askItems(title, none string, ask func(context.Context) ([]Item, error)) tea.Cmd {
	if ask == nil {
		m.refuse(none)
		return nil
	}
	return func() tea.Msg {
		items, err := ask(context.Background())
		switch {
		case err != nil:
			return failedMsg{err}
		case len(items) == 0:
			return doneMsg(none)
		}
		return itemsMsg{title, items}
	}
}

// showItem asks what to do with an item.
func (m *Model) showItem(item Item) {
	ways := []way{{text: "Show it", run: func() tea.Cmd { m.pageText(item.Title, item.Text); return nil }}}
	for _, d := range item.Deeds {
		ways = append(ways, way{text: d.Text, detail: d.Detail, run: func() tea.Cmd {
			return func() tea.Msg {
				done, err := d.Do(context.Background())
				if err != nil {
					return failedMsg{err}
				}
				return doneMsg(done)
			}
		}})
	}
	m.choose(item.Title, ways...)
}

// pageText shows a text of lines from anywhere.
func (m *Model) pageText(title, text string) {
	m.page(title, func(w int) []string {
		var lines []string
		for line := range strings.SplitSeq(text, "\n") {
			for _, part := range rich.Hard([]rich.Span{rich.Chrome("  "+inert.Line(line), m.theme.Text)}, w) {
				lines = append(lines, rich.Draw(part).Text)
			}
		}
		return lines
	})
}

// showHooks lists the commands that run when something happens.
func (m *Model) showHooks(string) tea.Cmd {
	return m.askItems("Hooks", "There are no hooks; docs/hooks.md says how to write some", m.opts.Hooks)
}

// showServers lists the MCP servers.
func (m *Model) showServers(string) tea.Cmd {
	return m.askItems("MCP servers", "There are no MCP servers; agent mcp add, or docs/mcp.md, says how to have some", m.opts.Servers)
}
