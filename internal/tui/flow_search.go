package tui

import (
	"context"
	"fmt"
	"time"

	"banyan/internal/engine"
	"banyan/internal/session"
	"banyan/internal/tui/picker"

	tea "charm.land/bubbletea/v2"
)

// Found is an entry that a search found.
type Found struct {
	Path string // of its session
	ID   session.ID
	Who  string // said it
	Text string // around what was found, one line
}

// searchList is what a search has found so far. Sessions are searched a few at a
// time, each batch a tea.Cmd that is given what is left; closing the list ends it.
type searchList struct {
	*picker.Model
	m      *Model
	text   string
	ctx    context.Context
	cancel context.CancelFunc
	found  []Found
	left   []Session // that are still to be searched
	failed int       // sessions that could not be read
}

// foundMsg is a batch of a search.
type foundMsg struct {
	list   *searchList
	found  []Found
	left   []Session
	failed int
	err    error // there is no list of sessions
}

const (
	searchBatch = 200 * time.Millisecond // after which what was found is shown
	searchMost  = 2000                   // that are listed: nobody looks at more
)

// search looks for a text in all sessions, on all branches, this session first.
func (m *Model) search(text string) tea.Cmd {
	switch {
	case m.opts.Search == nil || m.opts.Sessions == nil:
		m.refuse("There are no sessions to search")
		return nil
	case text == "":
		m.prompt(promptOptions{Title: "Search all sessions for", Hint: "words that an entry has", Chosen: func(text string) tea.Cmd {
			if text == "" {
				return nil
			}
			return m.search(text)
		}})
		return nil
	}
	l := &searchList{m: m, text: text}
	l.ctx, l.cancel = context.WithCancel(context.Background())
	l.Model = picker.New(picker.Options{
		Title: "Search for " + text, Empty: "searching …", Keys: m.opts.Keys, InOrder: true,
		Closed: l.cancel,
		Chosen: func(i int) tea.Cmd { l.cancel(); return m.jump(l.found[i].Path, l.found[i].ID) },
	}, m.theme)
	m.push(l)
	ctx, find, look, here := l.ctx, m.opts.Sessions, m.opts.Search, m.session.Path()
	list := l
	return func() tea.Msg {
		all, err := find(ctx)
		if err != nil {
			return foundMsg{list: list, err: err}
		}
		for i, s := range all {
			if s.Path == here { // first
				copy(all[1:i+1], all[:i])
				all[0] = s
			}
		}
		return searchSome(ctx, list, look, all, text)
	}
}

// searchSome searches sessions until there is something to show.
func searchSome(ctx context.Context, list *searchList, look func(context.Context, string, string) ([]Found, error), all []Session, text string) foundMsg {
	msg := foundMsg{list: list}
	for begun := time.Now(); len(all) > 0 && ctx.Err() == nil && time.Since(begun) < searchBatch; all = all[1:] {
		found, err := look(ctx, all[0].Path, text)
		if err != nil {
			msg.failed++
		}
		msg.found = append(msg.found, found...)
	}
	msg.left = all
	return msg
}

// apply shows a batch and asks for the next one.
func (msg foundMsg) apply(m *Model) tea.Cmd {
	l := msg.list
	if l.ctx.Err() != nil {
		return nil // it is closed
	}
	l.failed += msg.failed
	l.found = append(l.found, msg.found...)
	l.left = msg.left
	if len(l.found) >= searchMost {
		l.found, l.left = l.found[:searchMost], nil
	}
	items := make([]picker.Item, len(l.found))
	for i, f := range l.found {
		items[i] = picker.Item{Title: f.Text, Detail: f.Who, Search: f.Text + " " + f.Who}
		if f.Path == m.session.Path() {
			items[i].Mark = "•"
		}
	}
	l.SetItems(items, l.Index())
	l.SetTitle("Search for " + l.text + l.progress())
	l.SetEmpty("nothing has been found yet")
	if msg.err != nil {
		l.SetEmpty(msg.err.Error())
	} else if len(l.left) == 0 {
		l.SetEmpty("no session has it")
	}
	if len(l.left) == 0 {
		return nil
	}
	ctx, look, left, text := l.ctx, m.opts.Search, l.left, l.text
	return func() tea.Msg { return searchSome(ctx, l, look, left, text) }
}

// progress says how far the search is.
func (l *searchList) progress() string {
	text := ""
	if n := len(l.left); n > 0 {
		text = fmt.Sprintf(", %d sessions to go", n)
	}
	if l.failed > 0 {
		text += fmt.Sprintf(", %d could not be read", l.failed)
	}
	return text
}

// landing is an entry to be shown when its session is open.
type landing struct {
	path string
	id   session.ID
}

// jump shows an entry of this session, or of another one, which is opened.
func (m *Model) jump(path string, id session.ID) tea.Cmd {
	if path == m.session.Path() {
		return m.land(id)
	}
	m.landing = landing{path, id}
	m.opts.Engine.Send(engine.Open{Path: path})
	return nil
}

// land shows an entry: scrolls to it, or goes to its branch.
func (m *Model) land(id session.ID) tea.Cmd {
	if m.transcript.ShowEntry(id) {
		return nil
	}
	return m.goTo(id, true, trip{did: "Went to " + m.named(id)})
}

// landed goes to what the session was opened for.
func (m *Model) landed() tea.Cmd {
	l := m.landing
	m.landing = landing{}
	if l.id == "" || l.path != m.session.Path() {
		return nil
	}
	return m.land(l.id)
}
