package tui

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"banyan/internal/engine"
	"banyan/internal/session"
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
	switch {
	case m.session.ReadOnly() != "":
		return m.offerCopy(target)
	case m.running != nil:
		m.choose("A "+m.running.What+" is running",
			way{"Interrupt it", "and go there", func() tea.Cmd { return leave(true) }},
			way{"Let it run", "and stay", stay})
		return nil
	}
	return leave(false)
}

// offerCopy offers to go on from an entry elsewhere, where that cannot be done here.
func (m *Model) offerCopy(target session.ID) tea.Cmd {
	m.choose("This session is read-only: "+m.session.ReadOnly(),
		way{"Branch", "go on from there in a new session file", func() tea.Cmd { return m.forkAt(target) }},
		way{"Stay", "look around", stay})
	return nil
}

func stay() tea.Cmd { return nil }

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

// orRoot is how an entry is named in a command.
func orRoot(id session.ID) string {
	if id == "" {
		return session.Root
	}
	return string(id)
}

func (m *Model) stopGoing() {
	if g := m.tree.going; g != nil && g.wait != nil {
		m.remove(g.wait)
	}
	m.tree.going = nil
}
