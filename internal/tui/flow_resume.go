package tui

import (
	"context"
	"fmt"
	"slices"
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
		Actions: l.actions(),
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

// actions are what else can be done with sessions.
func (l *sessionList) actions() []picker.Action {
	actions := []picker.Action{{Key: "ctrl+a", Help: "all folders", Run: func(int) (bool, tea.Cmd) {
		l.anywhere = !l.anywhere
		l.show()
		return false, nil
	}}}
	if l.m.opts.DeleteSession != nil {
		actions = append(actions, picker.Action{Key: "ctrl+d", Help: "deletes", Run: func(i int) (bool, tea.Cmd) {
			return false, l.delete(l.sessions[i])
		}})
	}
	return actions
}

// delete removes a session's file, if the user is sure of it.
func (l *sessionList) delete(s Session) tea.Cmd {
	if l.m.opened && l.m.session.Path() == s.Path {
		l.m.refuse("This session is open")
		return nil
	}
	remove := l.m.opts.DeleteSession
	l.m.choose("Delete "+title(s)+"?",
		way{"Keep it", "", func() tea.Cmd { return nil }},
		way{"Delete it", s.Path, func() tea.Cmd {
			l.all = slices.DeleteFunc(l.all, func(x Session) bool { return x.Path == s.Path })
			l.show()
			return work("Deleted", func(ctx context.Context) error { return remove(ctx, s.Path) })
		}})
	return nil
}

// title is what a session is recognised by.
func title(s Session) string {
	for _, t := range []string{s.Name, strings.TrimSpace(s.First)} {
		if t != "" {
			return t
		}
	}
	return "(nothing said yet)"
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
	it := picker.Item{Title: title(s), Mark: " "}
	if l.m.opened && l.m.session.Path() == s.Path {
		it.Mark = "•"
	}
	it.Detail = fmt.Sprintf("%s · %d messages · %s", ago(l.m.opts.Now().Sub(s.Modified)), s.Messages, shortID(s.ID))
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
