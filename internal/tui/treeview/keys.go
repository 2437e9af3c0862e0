package treeview

import (
	"banyan/internal/tree"
	"banyan/internal/tui/keymap"
	"banyan/internal/tui/rich"

	tea "charm.land/bubbletea/v2"
)

const (
	idClose  = "tree.close"
	idCancel = "tree.cancel"
)

// Bindings are the keys of the tree. What is not among them is typed into the search.
func Bindings() []keymap.Binding[*Model] {
	move := func(f func(*tree.Outline)) func(*Model) tea.Cmd {
		return func(m *Model) tea.Cmd { f(m.outline); return nil }
	}
	return []keymap.Binding[*Model]{
		{ID: "tree.choose", Keys: []string{"enter"}, Help: "go there", Run: (*Model).choose},
		{ID: idClose, Keys: []string{"esc"}, Help: "clear the search, or close", Run: func(m *Model) tea.Cmd { m.search(""); return nil }},
		{ID: idCancel, Keys: []string{"ctrl+c"}, Help: "close", Run: func(*Model) tea.Cmd { return nil }},
		{ID: "tree.menu", Keys: []string{"ctrl+k"}, Help: "what else can be done with the entry", Run: (*Model).menu},
		{ID: "tree.label", Keys: []string{"L", "shift+l"}, Help: "edit the entry's label", Run: (*Model).EditLabel},
		{ID: "tree.times", Keys: []string{"T", "shift+t"}, Help: "show when labels were set", Run: func(m *Model) tea.Cmd { m.times = !m.times; return nil }},

		{ID: "tree.up", Keys: []string{"up"}, Help: "up", Run: move((*tree.Outline).Up)},
		{ID: "tree.down", Keys: []string{"down"}, Help: "down", Run: move((*tree.Outline).Down)},
		{ID: "tree.page-up", Keys: []string{"left", "pgup"}, Help: "a page up", Run: func(m *Model) tea.Cmd { m.outline.Page(-m.page()); return nil }},
		{ID: "tree.page-down", Keys: []string{"right", "pgdown"}, Help: "a page down", Run: func(m *Model) tea.Cmd { m.outline.Page(m.page()); return nil }},
		{ID: "tree.first", Keys: []string{"home"}, Help: "first row", Run: move((*tree.Outline).Home)},
		{ID: "tree.last", Keys: []string{"end"}, Help: "last row", Run: move((*tree.Outline).End)},
		{ID: "tree.fold", Keys: []string{"ctrl+left", "alt+left"}, Help: "fold the branch, or go to where it begins", Run: move((*tree.Outline).FoldOrUp)},
		{ID: "tree.unfold", Keys: []string{"ctrl+right", "alt+right"}, Help: "unfold the branch, or go to where it forks or ends", Run: move((*tree.Outline).UnfoldOrDown)},
		{ID: "tree.turn-up", Keys: []string{"alt+up"}, Help: "the prompt before", Run: move((*tree.Outline).PrevTurn)},
		{ID: "tree.turn-down", Keys: []string{"alt+down"}, Help: "the prompt after", Run: move((*tree.Outline).NextTurn)},
		{ID: "tree.sibling-up", Keys: []string{"ctrl+up", "alt+,"}, Help: "the branch before at the same fork", Run: move((*tree.Outline).PrevSibling)},
		{ID: "tree.sibling-down", Keys: []string{"ctrl+down", "alt+."}, Help: "the branch after at the same fork", Run: move((*tree.Outline).NextSibling)},
		{ID: "tree.match-up", Keys: []string{"ctrl+p"}, Help: "what the search finds before", Run: move((*tree.Outline).PrevMatch)},
		{ID: "tree.match-down", Keys: []string{"ctrl+n"}, Help: "what the search finds after", Run: move((*tree.Outline).NextMatch)},

		{ID: "tree.default", Keys: []string{"ctrl+d"}, Help: "hide bookkeeping", Run: filter(tree.Default)},
		{ID: "tree.no-tools", Keys: []string{"ctrl+t"}, Help: "hide results of tools, too", Run: filter(tree.NoTools)},
		{ID: "tree.user-only", Keys: []string{"ctrl+u"}, Help: "show prompts only", Run: filter(tree.UserOnly)},
		{ID: "tree.labeled-only", Keys: []string{"ctrl+l"}, Help: "show what has a label", Run: filter(tree.LabeledOnly)},
		{ID: "tree.all", Keys: []string{"ctrl+a"}, Help: "show everything", Run: filter(tree.All)},
		{ID: "tree.next-filter", Keys: []string{"ctrl+o"}, Help: "the next filter", Run: cycle(1)},
		{ID: "tree.prev-filter", Keys: []string{"ctrl+shift+o"}, Help: "the filter before", Run: cycle(-1)},

		{ID: "tree.preview-up", Keys: []string{"shift+up"}, Help: "scroll the preview up", Run: func(m *Model) tea.Cmd { m.scrollPreview(-3); return nil }},
		{ID: "tree.preview-down", Keys: []string{"shift+down"}, Help: "scroll the preview down", Run: func(m *Model) tea.Cmd { m.scrollPreview(3); return nil }},
		{ID: "tree.erase", Keys: []string{"backspace", "ctrl+h"}, Help: "erase a character of the search", Run: func(m *Model) tea.Cmd { m.search(rich.ButLast(m.outline.Query())); return nil }},
		{ID: "tree.erase-word", Keys: []string{"ctrl+w", "alt+backspace"}, Help: "erase a word of the search", Run: func(m *Model) tea.Cmd { m.search(rich.ButLastWord(m.outline.Query())); return nil }},
	}
}

// filter sets a filter, or takes it back where it is set.
func filter(f tree.Filter) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd {
		if m.outline.Filter() == f {
			m.outline.SetFilter(tree.Default)
		} else {
			m.outline.SetFilter(f)
		}
		return nil
	}
}

func cycle(by int) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd { m.outline.SetFilter(m.outline.Filter().Next(by)); return nil }
}

func (m *Model) choose() tea.Cmd {
	if id := m.Selected(); id != "" && m.opts.Choose != nil {
		return m.opts.Choose(id)
	}
	return nil
}

func (m *Model) menu() tea.Cmd {
	if id := m.Selected(); id != "" && m.opts.Menu != nil {
		return m.opts.Menu(id)
	}
	return nil
}
