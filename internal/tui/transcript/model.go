package transcript

import (
	"errors"
	"time"

	"banyan/internal/llm"
	"banyan/internal/session"
	"banyan/internal/tool"
	"banyan/internal/tui/picture"
	"banyan/internal/tui/theme"
)

var errNoEntry = errors.New("the entry is not in the session any more")

// Model is the state of one transcript. Its methods are for one goroutine.
type Model struct {
	th     theme.Theme
	screen picture.Screen // how pictures are drawn
	w, h   int

	items items
	live  *live
	runs  map[string]*run // calls that run, by id

	expandTools  bool
	showThinking bool
	toggled      map[string]bool // folds that differ from the setting above, by fold
	siblings     func(session.ID) (i, n int)
	now          time.Time

	cache  map[int]*drawn // by item
	anchor anchor
	stick  bool // the end is in view and stays there
	below  int  // items that came while the end was out of view

	sel selection
}

// run is a call that is being run.
type run struct {
	at   time.Time
	view tool.View
}

// Level is how much a notice matters.
type Level uint8

// The levels, in the order of the engine's.
const (
	Note Level = iota
	Warning
	Failure
)

// New makes an empty transcript.
func New(th theme.Theme) *Model {
	return &Model{
		th: th, w: 80, h: 24, stick: true,
		runs: map[string]*run{}, toggled: map[string]bool{}, cache: map[int]*drawn{},
		siblings: func(session.ID) (int, int) { return 0, 1 },
	}
}

// SetSize says how many cells there are. What stands at the top stays there.
func (m *Model) SetSize(w, h int) {
	w, h = max(w, 1), max(h, 0)
	if w != m.w {
		m.keepPlace(func() { m.w = w; m.redraw() })
	}
	m.h = h
	if !m.stick {
		m.goTo(m.top()) // the end may have come into view
	}
}

// SetTheme changes the theme.
func (m *Model) SetTheme(th theme.Theme) {
	m.th = th
	if m.live != nil {
		m.live.restyle(th)
	}
	m.redraw()
}

// SetSiblings says how to find which of how many siblings a turn is, counted
// from 1. It is called for the turns in view, once a frame.
func (m *Model) SetSiblings(f func(session.ID) (i, n int)) { m.siblings = f }

// SetNow tells the time, for how long a running call has taken. Without it no
// such time is shown.
func (m *Model) SetNow(now time.Time) {
	m.now = now
	if len(m.runs) > 0 {
		m.forgetRunning()
	}
}

// Reset shows another conversation, from its end. Notices and what was live are gone.
func (m *Model) Reset(src Source) {
	m.items = items{base: src, baseLen: src.Len()}
	m.live = nil
	m.runs = map[string]*run{}
	m.anchor, m.stick, m.below = anchor{}, true, 0
	m.sel = selection{}
	m.redraw()
}

// Append adds an entry at the end.
func (m *Model) Append(b Block) {
	m.add(item{block: b})
	if !isResult(b.Class) {
		return
	}
	// The result is drawn in the card of its call.
	e, err := b.Load()
	if err != nil {
		return
	}
	if msg, ok := e.Data.(session.Message); ok {
		delete(m.runs, msg.CallID)
	}
	if owner, ok := m.owner(m.items.len() - 1); ok {
		delete(m.cache, owner)
	}
}

// Notice adds a line that is not part of the conversation: what happened, and
// what can be done.
func (m *Model) Notice(level Level, text string) {
	m.add(item{notice: &notice{level: level, text: text}})
}

func (m *Model) add(it item) {
	at := m.items.len()
	if c := it.block.Class; isAnswer(c) || isTurn(c) {
		m.forgetRunning() // what still waits there for a result gets none now
	}
	m.items.tail = append(m.items.tail, it)
	delete(m.cache, at)
	if m.live != nil { // it stays last
		m.live.forget()
		m.anchor.shift(at)
		m.sel.shift(at)
	}
	if !m.stick && it.visible() {
		m.below++
	}
}

// ExpandTools shows all results of tools whole, or folded.
func (m *Model) ExpandTools(on bool) {
	m.sel = selection{}
	m.keepPlace(func() {
		m.expandTools = on
		m.toggled = map[string]bool{}
		m.redraw()
	})
}

// ToolsExpanded says which.
func (m *Model) ToolsExpanded() bool { return m.expandTools }

// ShowThinking shows all thinking whole, or folded.
func (m *Model) ShowThinking(on bool) {
	m.sel = selection{}
	m.keepPlace(func() {
		m.showThinking = on
		m.redraw()
	})
}

// ThinkingShown says which.
func (m *Model) ThinkingShown() bool { return m.showThinking }

// redraw forgets everything that was drawn.
func (m *Model) redraw() {
	clear(m.cache)
	if m.live != nil {
		m.live.forget()
	}
}

// open says whether a fold is open.
func (m *Model) open(fold string, usual bool) bool { return usual != m.toggled[fold] }

// Begin starts an answer.
func (m *Model) Begin() { m.live = newLive(m.th) }

// Stream takes the next event of the answer into account. It begins one where
// none is.
func (m *Model) Stream(ev llm.Event) {
	if m.live == nil {
		m.Begin()
	}
	m.live.apply(ev)
}

// Commit ends the answer that is being written: its entry is, or will be,
// appended as a block and stands in the same place.
func (m *Model) Commit() { m.live = nil }

// Live says whether an answer is being written.
func (m *Model) Live() bool { return m.live != nil }

// ToolStarted says that a call is being run.
func (m *Model) ToolStarted(call llm.ToolCall, at time.Time) {
	m.runs[call.ID] = &run{at: at}
	m.forgetRunning()
}

// ToolProgress shows how far a call is.
func (m *Model) ToolProgress(callID string, view tool.View) {
	r := m.runs[callID]
	if r == nil {
		r = &run{}
		m.runs[callID] = r
	}
	r.view = view
	m.forgetRunning()
}

// forgetRunning has the answer drawn again whose calls are being run.
func (m *Model) forgetRunning() {
	i, _ := m.lastAnswer()
	delete(m.cache, i)
}
