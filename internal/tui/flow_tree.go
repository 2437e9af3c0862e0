package tui

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"banyan/internal/engine"
	"banyan/internal/llm"
	"banyan/internal/session"
	"banyan/internal/tree"
	"banyan/internal/tui/inert"
	"banyan/internal/tui/picker"
	"banyan/internal/tui/rich"
	"banyan/internal/tui/treeview"

	tea "charm.land/bubbletea/v2"
)

// The flow of /tree, top to bottom:
//
//	openTree ─▶ the tree ─▶ goTo ─▶ askInterrupt ─▶ askSummary ─▶ navigate ─▶ arrived
//	               ▲          │          │              │  ▲          │
//	               └──Esc─────┴──────────┴──────────────┘  └ words    └▶ stayed
//	               └───────────────────────────────────────────────────────┘
//
// The tree stays on the stack until the engine says that the leaf has moved, so
// whatever is left on the way leads back to it, on the same row.

// treeFlow is what the screen knows of the tree and of ways through it.
type treeFlow struct {
	session string         // whose tree it is
	screen  *treeScreen    // nil until it was opened; kept while it is closed
	state   treeview.State // as it was saved
	going   *going         // a navigation that the engine was sent and has not answered
	undone  []undone       // turns that /undo took back, the last one last
}

// trip is what comes of a change of position when it is done.
type trip struct {
	did  string // what is said; empty for the usual
	undo string // how it is undone; empty for the usual
	// then goes on, in the place of what is done with the draft; nil for nothing.
	then func(engine.Moved) tea.Cmd
}

// going is a trip under way.
type going struct {
	trip
	wait *waiting
}

// treeScreen is the tree in the place of the transcript.
type treeScreen struct {
	*treeview.Model
	m *Model
}

// Covers implements [covering].
func (t *treeScreen) Covers() bool { return true }

// Height implements [overlay].
func (t *treeScreen) Height(w, limit int) int {
	if t.Theme() != t.m.theme {
		t.SetTheme(t.m.theme)
	}
	return t.Model.Height(w, limit)
}

// View implements [overlay]. What there is to say stands where the keys do, and
// behind something else there are none.
func (t *treeScreen) View(w, h int) string {
	view := t.Model.View(w, h)
	last := strings.LastIndexByte(view, '\n') + 1
	switch {
	case t.m.top() != t:
		return view[:last]
	case t.m.notice.text != "":
		return view[:last] + rich.Draw(rich.Truncate(t.m.noticeSpans(), w)).Text
	}
	return view
}

// openTree shows the session as a tree, from the leaf.
func (m *Model) openTree(string) tea.Cmd {
	if !m.opened || m.session.Len() == 0 {
		m.refuse("There is nothing in this session yet: the tree grows with the first prompt")
		return nil
	}
	t := m.tree.screen
	if t == nil {
		t = &treeScreen{m: m}
		t.Model = treeview.New(treeview.Options{
			Session: m.session, State: m.tree.state, Keys: m.opts.Keys, Now: m.opts.Now,
			Choose: func(id session.ID) tea.Cmd { return m.goTo(id, false, trip{}) },
			Menu:   m.treeMenu,
			Label:  m.labelEntry,
			Closed: m.keepTree,
		}, m.theme)
		m.tree.screen = t
	} else {
		t.SetSession(m.session)
		t.Reset()
		t.Select(m.session.Leaf())
	}
	m.push(t)
	return t.Init()
}

// closeTree takes the tree, and what was opened from it, off the stack.
func (m *Model) closeTree() tea.Cmd {
	i := m.treeAt()
	if i < 0 {
		return nil
	}
	m.overlays = m.overlays[:i]
	return m.keepTree()
}

// treeAt is the tree's place in the stack, -1 if it is not open.
func (m *Model) treeAt() int {
	return slices.IndexFunc(m.overlays, func(o overlay) bool { _, ok := o.(*treeScreen); return ok })
}

// behind is the tree where something else is on top of it.
func (m *Model) behind() overlay {
	if i := m.treeAt(); i >= 0 && i < len(m.overlays)-1 {
		return m.overlays[i]
	}
	return nil
}

// followTree shows what the session has become, after each batch of events.
func (m *Model) followTree() tea.Cmd {
	if m.treeAt() < 0 {
		return nil
	}
	return m.tree.screen.SetSession(m.session)
}

// goTo goes to where choosing an entry leads, or to the entry itself, after
// asking what has to be asked.
func (m *Model) goTo(target session.ID, itself bool, t trip) tea.Cmd {
	if m.isHere(target) {
		cmd := m.closeTree()
		m.hint("You are here already")
		return cmd
	}
	return m.askInterrupt(target, func(interrupt bool) tea.Cmd {
		return m.askSummary(engine.Navigate{Target: target, At: itself, Interrupt: interrupt}, t)
	})
}

// askInterrupt asks what is to become of what runs, if anything does, before
// going to an entry. A session that cannot be written is left for a copy.
func (m *Model) askInterrupt(target session.ID, leave func(interrupt bool) tea.Cmd) tea.Cmd {
	stay := func() tea.Cmd { return nil }
	switch {
	case m.session.ReadOnly() != "":
		m.choose("This session is read-only: "+m.session.ReadOnly(),
			way{"Branch", "go on from there in a new session file", func() tea.Cmd { return m.forkAt(target) }},
			way{"Stay", "look around", stay})
	case m.running != nil:
		m.choose("A "+m.running.What+" is running",
			way{"Interrupt it", "and go there", func() tea.Cmd { return leave(true) }},
			way{"Let it run", "and stay", stay})
	default:
		return leave(false)
	}
	return nil
}

// isHere says whether an entry is the leaf, or nothing but bookkeeping came after it.
func (m *Model) isHere(target session.ID) bool {
	common, left := engine.Left(m.session, target)
	return common == target && (target != "" || m.session.Leaf() == "") && !m.speaks(left)
}

// speaks says whether any of some entries is part of the conversation.
func (m *Model) speaks(ids []session.ID) bool {
	return slices.ContainsFunc(ids, func(id session.ID) bool {
		return treeview.Speaks(m.session.Class(m.session.Node(id)))
	})
}

// askSummary asks whether to keep a note of what is left behind, where that is
// anything and the settings do not say.
func (m *Model) askSummary(nav engine.Navigate, t trip) tea.Cmd {
	_, left := engine.Left(m.session, nav.Target)
	switch {
	case !m.speaks(left) || m.opts.SummaryPrompt == "never":
		return m.navigate(nav, t)
	case m.opts.SummaryPrompt == "always":
		nav.Summarize = true
		return m.navigate(nav, t)
	}
	summarised := nav
	summarised.Summarize = true
	ways := []way{
		{"No summary", "the branch stays in the tree", func() tea.Cmd { return m.navigate(nav, t) }},
		{"Summarize", "a note of it goes along to the new position", func() tea.Cmd { return m.navigate(summarised, t) }},
		{"Summarize with instructions", "say what the note should look at", func() tea.Cmd { return m.askInstructions(summarised, t) }},
	}
	items := make([]picker.Item, len(ways))
	for i, w := range ways {
		items[i] = picker.Item{Title: w.text, Detail: w.detail}
	}
	m.push(picked{picker.New(picker.Options{
		Title: "You leave " + number(len(left), "entry", "entries") + " behind", Items: items, Keys: m.opts.Keys, Keep: true,
		Chosen: func(i int) tea.Cmd { return ways[i].run() },
	}, m.theme)})
	return nil
}

// number writes how many there are of something.
func number(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// askInstructions asks in words; Esc leads back to the choice.
func (m *Model) askInstructions(nav engine.Navigate, t trip) tea.Cmd {
	m.prompt(promptOptions{
		Title: "What should the summary look at?", Hint: "nothing: the usual",
		Chosen: func(text string) tea.Cmd {
			nav.Instructions = text
			return m.navigate(nav, t)
		},
	})
	return nil
}

// navigate sends the engine there. What was asked is off the screen; a summary
// is waited for in its place.
func (m *Model) navigate(nav engine.Navigate, t trip) tea.Cmd {
	m.send(nav, nav.Summarize, t)
	return nil
}

// send sends a command that ends a trip.
func (m *Model) send(c engine.Command, summary bool, t trip) {
	m.overlays = m.overlays[:m.treeAt()+1]
	m.tree.going = &going{trip: t}
	if summary {
		m.tree.going.wait = &waiting{m: m}
		m.push(m.tree.going.wait)
	}
	m.opts.Engine.Send(c)
}

// arrived says what was done and how to undo it.
func (m *Model) arrived(ev engine.Moved) tea.Cmd {
	g := m.tree.going
	if g == nil {
		return m.takeDraft(ev.Draft) // the engine moved by itself
	}
	m.stopGoing()
	cmd := m.closeTree()
	text := cmp.Or(g.did, "Went there") + m.price(g) + ". " + cmp.Or(g.undo, "/switch "+orRoot(ev.From)+" goes back")
	if g.then == nil && ev.Draft != nil && !m.editor.Empty() {
		text += ". Your own draft stays in the editor"
	}
	m.hint(text)
	if g.then != nil {
		return tea.Batch(cmd, g.then(ev))
	}
	return tea.Batch(cmd, m.takeDraft(ev.Draft))
}

// price is what the summary took that came with a trip, where it cost something.
func (m *Model) price(g *going) string {
	if g.wait == nil {
		return ""
	}
	e, _, err := m.session.Entry(m.session.Leaf())
	usd := treeview.Usage(e.Data).Cost.Total
	if err != nil || usd == 0 {
		return ""
	}
	return fmt.Sprintf(" with a summary ($%.4f)", usd)
}

// stayed says why nothing was done. The tree is there again, on the same row.
func (m *Model) stayed(ev engine.Stayed) {
	m.stopGoing()
	switch {
	case ev.Err == nil:
		m.hint("You are here already")
	case errors.Is(ev.Err, context.Canceled):
		m.hint("Interrupted. Nothing has changed")
	default:
		m.say(engine.Failure, "Nothing has changed: "+ev.Err.Error())
	}
}

// saidByStayed are the jobs whose failure [engine.Stayed] tells.
func saidByStayed(what string) bool { return what == "summary" || what == "navigation" }

// orRoot is how an entry is named in a command.
func orRoot(id session.ID) string {
	if id == "" {
		return session.Root
	}
	return string(id)
}

func (m *Model) streamWaiting(ev llm.Event) {
	text, ok := ev.(llm.TextDelta)
	if g := m.tree.going; ok && g != nil && g.wait != nil {
		g.wait.text = append(g.wait.text, text.Text...)
	}
}

func (m *Model) stopGoing() {
	if g := m.tree.going; g != nil && g.wait != nil {
		m.remove(g.wait)
	}
	m.tree.going = nil
}

// waiting shows a summary while it is written.
type waiting struct {
	m    *Model
	text []byte
	stop bool // the user does not want it any more
}

// waitingRows is how much of the text is shown.
const waitingRows = 6

// Update implements [overlay].
func (w *waiting) Update(msg tea.Msg) (bool, tea.Cmd) {
	if key, ok := msg.(tea.KeyPressMsg); ok && (key.String() == "esc" || key.String() == "ctrl+c") && !w.stop {
		w.stop = true
		w.m.opts.Engine.Send(engine.Interrupt{})
	}
	return false, nil
}

// Height implements [overlay].
func (w *waiting) Height(_, limit int) int { return min(limit, waitingRows+1) }

// Cursor implements [overlay].
func (w *waiting) Cursor() (x, y int, ok bool) { return 0, 0, false }

// View implements [overlay]: the end of the text.
func (w *waiting) View(width, h int) string {
	th := w.m.theme
	title := []rich.Span{rich.Chrome(" ● ", th.Running), rich.Chrome("Summarizing what you leave behind", th.Text)}
	if r := w.m.running; r != nil {
		title = append(title, rich.Chrome(" "+duration(w.m.opts.Now().Sub(r.At)), th.Dim))
	}
	if w.stop {
		title = append(title, rich.Chrome("  stopping …", th.Dim))
	} else {
		title = append(title, w.m.hints("esc", "stops; nothing changes")...)
	}
	lines := []string{rich.Draw(rich.Truncate(title, width)).Text}
	var text []string
	for _, line := range rich.Source(inert.Text(tail(string(w.text), 4096)), th.Dim, 0) {
		for _, part := range rich.Wrap(line, width-4) {
			text = append(text, "  "+rich.Draw(part).Text)
		}
	}
	lines = append(lines, text[max(0, len(text)-(h-1)):]...)
	for len(lines) < h {
		lines = append(lines, "")
	}
	return strings.Join(lines[:h], "\n")
}

// tail is a text's end of about so many bytes, from the beginning of a line.
func tail(text string, most int) string {
	if len(text) <= most {
		return text
	}
	_, text, _ = strings.Cut(text[len(text)-most:], "\n")
	return text
}

// labelEntry gives an entry another label.
func (m *Model) labelEntry(id session.ID, text string) tea.Cmd {
	if why := m.session.ReadOnly(); why != "" {
		m.refuse("This session is read-only: " + why)
		return nil
	}
	was := m.session.Label(id)
	m.opts.Engine.Send(engine.SetLabel{Target: id, Text: text})
	switch {
	case text == "":
		m.hint("The label " + was + " is gone")
	case was == "":
		m.hint("Labelled " + text + ". An empty label takes it away")
	default:
		m.hint("Labelled " + text + "; it was " + was)
	}
	return nil
}

// treeMenu offers what else can be done with an entry.
func (m *Model) treeMenu(id session.ID) tea.Cmd {
	ways := make([]way, 0, len(entryActions))
	for _, a := range entryActions {
		ways = append(ways, way{a.text, a.detail, func() tea.Cmd { return a.run(m, id) }})
	}
	m.choose("Entry "+m.named(id), ways...)
	return nil
}

// entryActions are the action menu of the tree.
var entryActions = []struct {
	text, detail string
	run          func(*Model, session.ID) tea.Cmd
}{
	{"Go there with a summary", "of what is left behind", func(m *Model, id session.ID) tea.Cmd {
		return m.askInterrupt(id, func(interrupt bool) tea.Cmd {
			return m.navigate(engine.Navigate{Target: id, Summarize: true, Interrupt: interrupt}, trip{})
		})
	}},
	{"Edit label", "name this point", func(m *Model, _ session.ID) tea.Cmd { return m.tree.screen.EditLabel() }},
	{"Branch to a file", "go on from here in a new session", (*Model).forkAt},
	{"Cherry-pick", "copy this entry onto the leaf", func(m *Model, id session.ID) tea.Cmd { return m.copyHere([]session.ID{id}) }},
	{"Merge", "take over the branch to here", (*Model).mergeEntry},
	{"Compare", "the branch to here and the active one", (*Model).compareEntry},
	{"Export", "the path to here, as a file", (*Model).exportEntry},
	{"Copy text", "to the clipboard", (*Model).copyEntry},
}

// forkAt goes on from an entry in a new session.
func (m *Model) forkAt(id session.ID) tea.Cmd {
	cmd := m.closeTree()
	m.opts.Engine.Send(engine.Fork{Target: id})
	return cmd
}

// copyEntry copies what an entry says.
func (m *Model) copyEntry(id session.ID) tea.Cmd {
	e, ok, err := m.session.Entry(id)
	if err != nil || !ok {
		m.refuse("The entry could not be read")
		return nil
	}
	return m.copy(treeview.Body(e.Data))
}

// named is an entry's id, and its label if it has one.
func (m *Model) named(id session.ID) string {
	if label := m.session.Label(id); label != "" {
		return fmt.Sprintf("%s [%s]", id, label)
	}
	return orRoot(id)
}

// keptTree is the state of a tree as it is kept over restarts.
type keptTree struct {
	Filter string       `json:"filter,omitempty"`
	Folds  []session.ID `json:"folds,omitempty"`
	Times  bool         `json:"labelTimes,omitempty"`
}

// treeLoadedMsg is the state that was kept of a session's tree.
type treeLoadedMsg struct {
	session string
	text    string
}

// loadTree forgets the tree of another session and asks for the state of this one.
func (m *Model) loadTree() tea.Cmd {
	m.stopGoing()
	_ = m.closeTree() // it belongs to the session that was left
	m.tree = treeFlow{session: m.session.Header().ID, state: m.usualTree()}
	load, id := m.opts.LoadTree, m.tree.session
	if load == nil {
		return nil
	}
	return func() tea.Msg { return treeLoadedMsg{id, load(id)} }
}

// usualTree is the state of a tree of which nothing was kept.
func (m *Model) usualTree() treeview.State {
	f, err := tree.ParseFilter(m.opts.TreeFilter)
	if err != nil {
		f = tree.Default
	}
	return treeview.State{Filter: f}
}

func (msg treeLoadedMsg) apply(m *Model) tea.Cmd {
	var kept keptTree
	if msg.session != m.tree.session || m.tree.screen != nil || json.Unmarshal([]byte(msg.text), &kept) != nil {
		return nil
	}
	f, err := tree.ParseFilter(kept.Filter)
	if err != nil {
		f = m.tree.state.Filter
	}
	m.tree.state = treeview.State{Filter: f, Folds: kept.Folds, Times: kept.Times}
	return nil
}

// keepTree keeps the tree's state, if it has changed.
func (m *Model) keepTree() tea.Cmd {
	state := m.tree.screen.State()
	if m.opts.SaveTree == nil || sameState(state, m.tree.state) {
		return nil
	}
	m.tree.state = state
	text := ""
	if !sameState(state, m.usualTree()) {
		kept, err := json.Marshal(keptTree{state.Filter.String(), state.Folds, state.Times})
		if err != nil {
			return nil // strings always can be written
		}
		text = string(kept)
	}
	save, id := m.opts.SaveTree, m.tree.session
	return func() tea.Msg {
		if err := save(id, text); err != nil {
			return failedMsg{err}
		}
		return nil
	}
}

func sameState(a, b treeview.State) bool {
	return a.Filter == b.Filter && a.Times == b.Times && slices.Equal(a.Folds, b.Folds)
}
