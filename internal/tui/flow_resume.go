package tui

import (
	"context"
	"fmt"
	"strings"
	"time"

	"banyan/internal/engine"
	"banyan/internal/tui/picker"

	tea "charm.land/bubbletea/v2"
)

// sessionList is the picker of sessions. The list may take a moment to come.
type sessionList struct {
	*picker.Model
	m        *Model
	sessions []Session // that are shown
	all      []Session
	anywhere bool // those of other folders too
}

// sessionsMsg are the sessions that were found.
type sessionsMsg struct {
	list     *sessionList
	sessions []Session
	err      error
}

// resume offers the sessions of this folder, those first that are meant by text.
func (m *Model) resume(text string) tea.Cmd {
	find := m.opts.Sessions
	if find == nil {
		m.refuse("There are no sessions to choose from")
		return nil
	}
	l := &sessionList{m: m}
	l.Model = picker.New(picker.Options{
		Title: "Sessions of this folder", Empty: "looking for sessions …", Query: text, Keys: m.opts.Keys,
		Actions: []picker.Action{{Key: "ctrl+a", Help: "all folders", Run: func(int) (bool, tea.Cmd) {
			l.anywhere = !l.anywhere
			l.show()
			return false, nil
		}}},
		Chosen: func(i int) tea.Cmd {
			m.opts.Engine.Send(engine.Open{Path: l.sessions[i].Path})
			return nil
		},
	}, m.theme)
	m.push(l)
	return func() tea.Msg {
		sessions, err := find(context.Background())
		return sessionsMsg{l, sessions, err}
	}
}

// Update implements [overlay].
func (l *sessionList) Update(msg tea.Msg) (bool, tea.Cmd) {
	found, ok := msg.(sessionsMsg)
	if !ok {
		return l.Model.Update(msg)
	}
	if found.list != l {
		return false, nil
	}
	l.all = found.sessions
	l.SetEmpty("there are no sessions of this folder; Ctrl+A looks everywhere")
	if found.err != nil {
		l.SetEmpty(found.err.Error())
	}
	l.show()
	return false, nil
}

// show fills the list.
func (l *sessionList) show() {
	l.sessions = nil
	var items []picker.Item
	for _, s := range l.all {
		if !l.anywhere && s.Cwd != l.m.opts.Cwd {
			continue
		}
		l.sessions = append(l.sessions, s)
		items = append(items, l.item(s))
	}
	l.SetItems(items, 0)
}

func (l *sessionList) item(s Session) picker.Item {
	it := picker.Item{Title: s.Name, Mark: " "}
	if it.Title == "" {
		it.Title = strings.TrimSpace(s.First)
	}
	if it.Title == "" {
		it.Title = "(nothing said yet)"
	}
	if l.m.opened && l.m.session.Path() == s.Path {
		it.Mark = "•"
	}
	it.Detail = fmt.Sprintf("%s · %d messages · %.8s", ago(l.m.opts.Now().Sub(s.Modified)), s.Messages, s.ID)
	if l.anywhere {
		it.Detail += " · " + shortPath(s.Cwd, 30)
	}
	it.Search = it.Title + " " + s.First + " " + s.ID
	return it
}

// ago writes how long ago something was.
func ago(d time.Duration) string {
	switch {
	case d < time.Minute:
		return "just now"
	case d < time.Hour:
		return fmt.Sprintf("%dm ago", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh ago", int(d.Hours()))
	}
	return fmt.Sprintf("%d days ago", int(d.Hours()/24))
}

func (m *Model) newSession(string) tea.Cmd {
	m.opts.Engine.Send(engine.NewSession{})
	return nil
}
