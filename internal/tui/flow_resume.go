package tui

import (
	"context"
	"fmt"
	"strings"
	"time"

	"banyan/internal/engine"
	"banyan/internal/tui/keymap"
	"banyan/internal/tui/picker"

	tea "charm.land/bubbletea/v2"
)

// sessionList is the picker of sessions. The list may take a moment to come.
type sessionList struct {
	*picker.Model
	m       *Model
	keys    keymap.Table[*sessionList]
	all     []Session // as they were found, newest first
	shown   []Session // the items, in their order
	order   sessionOrder
	preview preview

	everywhere bool // those of other folders too
	named      bool // only those that have a name
	renaming   string
}

// sessionsMsg are the sessions that were found.
type sessionsMsg struct {
	list     *sessionList
	sessions []Session
	said     string // what was done before, if anything was
	err      error
}

// resume offers the sessions of this folder, those first that are meant by text.
func (m *Model) resume(text string) tea.Cmd {
	if m.opts.Sessions == nil {
		m.refuse("There are no sessions to choose from")
		return nil
	}
	l := &sessionList{m: m, keys: keymap.New(sessionKeys(), m.opts.Keys)}
	l.Model = picker.New(picker.Options{
		Title: l.title(), Empty: "looking for sessions …", Query: text, Keys: m.opts.Keys, Hints: l.hints(),
		Chosen: func(i int) tea.Cmd {
			m.opts.Engine.Send(engine.Open{Path: l.shown[i].Path})
			return nil
		},
	}, m.theme)
	m.push(l)
	return l.read("", nil)
}

// read finds the sessions, after something was done with one of them.
func (l *sessionList) read(said string, first func(context.Context) error) tea.Cmd {
	list, find := l, l.m.opts.Sessions
	return func() tea.Msg {
		ctx := context.Background()
		if first != nil {
			if err := first(ctx); err != nil {
				return failedMsg{err}
			}
		}
		sessions, err := find(ctx)
		return sessionsMsg{list, sessions, said, err}
	}
}

// sessionKeys are the keys of the list of sessions; the others are those of all lists.
func sessionKeys() []keymap.Binding[*sessionList] {
	can := func(f func(*Options) bool) func(*sessionList) bool {
		return func(l *sessionList) bool { return f(&l.m.opts) }
	}
	return []keymap.Binding[*sessionList]{
		{ID: "sessions.folder", Keys: []string{"tab"}, Help: "sessions of this folder, or of all", Run: (*sessionList).toggleFolder},
		{ID: "sessions.sort", Keys: []string{"ctrl+s"}, Help: "as a tree of forks, newest first, or best match first", Run: (*sessionList).nextOrder},
		{ID: "sessions.named", Keys: []string{"ctrl+n"}, Help: "only sessions with a name, or all", Run: (*sessionList).toggleNamed},
		{ID: "sessions.rename", Keys: []string{"ctrl+r"}, Help: "name the session", When: can(func(o *Options) bool { return o.RenameSession != nil }), Run: (*sessionList).rename},
		{ID: "sessions.delete", Keys: []string{"ctrl+d"}, Help: "move the session to the trash, after a question", When: can(func(o *Options) bool { return o.DeleteSession != nil }), Run: (*sessionList).delete},
	}
}

func (l *sessionList) hints() [][2]string {
	hints := [][2]string{{l.keys.Key("sessions.folder"), "folders"}, {l.keys.Key("sessions.sort"), "sorts"}, {l.keys.Key("sessions.named"), "named"}}
	if l.m.opts.RenameSession != nil {
		hints = append(hints, [2]string{l.keys.Key("sessions.rename"), "renames"})
	}
	if l.m.opts.DeleteSession != nil {
		hints = append(hints, [2]string{l.keys.Key("sessions.delete"), "deletes"})
	}
	return hints
}

func (l *sessionList) toggleFolder() tea.Cmd { l.everywhere = !l.everywhere; l.show(""); return nil }

func (l *sessionList) toggleNamed() tea.Cmd { l.named = !l.named; l.show(""); return nil }

func (l *sessionList) nextOrder() tea.Cmd {
	l.order = (l.order + 1) % sessionOrders
	l.show("")
	return nil
}

// current is the session under the cursor.
func (l *sessionList) current() (Session, bool) {
	if i := l.Index(); i >= 0 {
		return l.shown[i], true
	}
	return Session{}, false
}

// isOpen says whether a session is the one on the screen.
func (l *sessionList) isOpen(s Session) bool { return l.m.opened && l.m.session.Path() == s.Path }

// rename asks for another name of the session under the cursor.
func (l *sessionList) rename() tea.Cmd {
	s, ok := l.current()
	if !ok {
		return nil
	}
	if l.isOpen(s) {
		return l.m.nameSession("")
	}
	rename := l.m.opts.RenameSession
	l.m.prompt(promptOptions{
		Title: "Name of " + title(s), Hint: "nothing takes the name away", Text: s.Name,
		Chosen: func(name string) tea.Cmd {
			l.renaming = s.Path
			return l.read("Named", func(ctx context.Context) error { return rename(ctx, s.Path, name) })
		},
	})
	return nil
}

// delete removes the file of the session under the cursor, if the user is sure of it.
func (l *sessionList) delete() tea.Cmd {
	s, ok := l.current()
	if !ok {
		return nil
	}
	if l.isOpen(s) {
		l.m.refuse("This session is open: /delete removes it")
		return nil
	}
	remove := l.m.opts.DeleteSession
	what := title(s)
	if s.Tasks > 0 { // each may have given some, too
		what += fmt.Sprintf(" and the sessions of its tasks (%d, and theirs)", s.Tasks)
	}
	l.m.choose("Delete "+what+"?",
		way{"Keep it", "", func() tea.Cmd { return nil }},
		way{"Move it to the trash", s.Path, func() tea.Cmd {
			return l.read("It is in the trash", func(ctx context.Context) error { return remove(ctx, s.Path) })
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
func (l *sessionList) Update(msg tea.Msg) (done bool, cmd tea.Cmd) {
	switch msg := msg.(type) {
	case sessionsMsg:
		if msg.list == l {
			l.found(msg)
		}
	case previewMsg:
		if msg.list == l {
			l.preview.take(msg)
		}
	case tea.KeyPressMsg:
		if b, ok := l.keys.Find(l, msg.String()); ok {
			cmd = b.Run(l)
			break
		}
		done, cmd = l.Model.Update(msg)
	default:
		done, cmd = l.Model.Update(msg)
	}
	return done, tea.Batch(cmd, l.look())
}

// found takes what was found. The cursor stays at its session.
func (l *sessionList) found(msg sessionsMsg) {
	keep := l.renaming
	l.renaming = ""
	if s, ok := l.current(); ok && keep == "" {
		keep = s.Path
	}
	l.all = msg.sessions
	l.SetEmpty("there are no sessions here; " + keymap.Title(l.keys.Key("sessions.folder")) + " looks in all folders")
	if msg.err != nil {
		l.SetEmpty(msg.err.Error())
	}
	if msg.said != "" {
		l.m.hint(msg.said)
	}
	l.show(keep)
}

// show fills the list; the cursor goes to a session, or to the first.
func (l *sessionList) show(at string) {
	var some []Session
	for _, s := range l.all {
		if (l.everywhere || s.Cwd == l.m.opts.Cwd) && (!l.named || s.Name != "") {
			some = append(some, s)
		}
	}
	var leads []string
	l.shown = some
	if l.order == byForks {
		l.shown, leads = forkTree(some)
	}
	cursor := -1
	items := make([]picker.Item, len(l.shown))
	for i, s := range l.shown {
		items[i] = l.item(s)
		if leads != nil {
			items[i].Lead = leads[i]
		}
		if s.Path == at {
			cursor = i
		}
	}
	l.SetTitle(l.title())
	l.SetInOrder(l.order == byTime)
	l.SetItems(items, cursor)
}

// title says what is shown, in which order.
func (l *sessionList) title() string {
	what := "Sessions"
	if l.named {
		what = "Named sessions"
	}
	where := "this folder"
	if l.everywhere {
		where = "all folders"
	}
	return what + " of " + where + ", " + orderNames[l.order]
}

func (l *sessionList) item(s Session) picker.Item {
	it := picker.Item{Title: title(s), Mark: " "}
	if l.isOpen(s) {
		it.Mark = "•"
	}
	it.Detail = fmt.Sprintf("%s · %d messages", ago(l.m.opts.Now().Sub(s.Modified)), s.Messages)
	if s.Branches > 1 {
		it.Detail += fmt.Sprintf(" · %d branches", s.Branches)
	}
	if s.Tasks > 0 {
		it.Detail += fmt.Sprintf(" · %d tasks", s.Tasks)
	}
	it.Detail += " · " + shortID(s.ID)
	if l.everywhere {
		it.Detail += " · " + shortPath(s.Cwd, 30)
	}
	it.Search = it.Title + " " + s.First + " " + s.ID
	if l.everywhere {
		it.Search += " " + s.Cwd
	}
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
