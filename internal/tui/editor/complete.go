package editor

import (
	"strings"

	tea "charm.land/bubbletea/v2"
)

// Source gives completions.
type Source struct {
	// Match says whether the text before the caret, on line number line, is
	// something that this source completes, and at which byte that begins.
	Match func(line int, before string) (start int, ok bool)
	// List gives candidates for the text from there to the caret, best first.
	List func(query string) []Candidate
	// Ask is for sources that take their time, in place of List: it gives a
	// function that is called outside of the screen's goroutine.
	Ask func(query string) func() []Candidate
	// Asked: only on Tab, not while typing.
	Asked bool
}

// Candidate is one completion.
type Candidate struct {
	Text   string // put in place of the query
	Label  string // shown; Text if empty
	Detail string // shown beside it
	Done   bool   // nothing more is to be written: Enter may send at once
}

// popup is the list of completions. Closed: no source.
type popup struct {
	source    *Source
	start     int // where in the caret's line the query begins
	query     string
	items     []Candidate
	cursor    int
	top       int  // first item that is shown
	tag       int  // of the last slow question: older answers are late
	dismissed bool // closed by hand, until something else can be completed
}

// popupRows is how many completions are shown at once.
const popupRows = 8

// candidatesMsg is the answer of a slow source.
type candidatesMsg struct {
	id    int64
	tag   int
	items []Candidate
}

// Completing says whether completions are shown.
func (m *Model) Completing() bool { return m.pop.source != nil && len(m.pop.items) > 0 }

// complete looks again for what can be completed at the caret.
func (m *Model) complete() tea.Cmd {
	source, start := m.source(false)
	if source == nil {
		m.closePopup()
		m.pop.dismissed = false
		return nil
	}
	if m.pop.dismissed {
		return nil
	}
	return m.ask(source, start)
}

// completeNow is Tab: sources that wait to be asked are asked too.
func (m *Model) completeNow() tea.Cmd {
	m.pop.dismissed = false
	if source, start := m.source(true); source != nil {
		return m.ask(source, start)
	}
	return nil
}

// source finds who completes what stands before the caret.
func (m *Model) source(asked bool) (*Source, int) {
	before := m.Before()
	for i := range m.opts.Sources {
		s := &m.opts.Sources[i]
		if s.Asked && !asked && m.pop.source != s {
			continue
		}
		if start, ok := s.Match(m.caret.line, before); ok {
			return s, start
		}
	}
	return nil, 0
}

func (m *Model) ask(s *Source, start int) tea.Cmd {
	query := m.Before()[start:]
	if m.pop.source != s || m.pop.start != start {
		m.pop.items = nil
	}
	m.pop.source, m.pop.start, m.pop.query = s, start, query
	m.pop.tag++
	if s.Ask == nil {
		m.offer(s.List(query))
		return nil
	}
	id, tag, list := m.id, m.pop.tag, s.Ask(query)
	return func() tea.Msg { return candidatesMsg{id: id, tag: tag, items: list()} }
}

// candidates takes a slow source's answer, unless more has been typed since.
func (m *Model) candidates(msg candidatesMsg) {
	if m.pop.source != nil && msg.tag == m.pop.tag {
		m.offer(msg.items)
	}
}

// offer shows items. One that is there already in full is no help.
func (m *Model) offer(items []Candidate) {
	if len(items) == 1 && items[0].Text == m.pop.query {
		items = nil
	}
	m.pop.items, m.pop.cursor, m.pop.top = items, 0, 0
}

func (m *Model) closePopup() {
	m.pop.source, m.pop.items = nil, nil
	m.pop.tag++
}

// Dismiss closes the completions until something else can be completed. It says
// whether they were open.
func (m *Model) Dismiss() bool {
	open := m.Completing()
	m.pop.dismissed = m.pop.source != nil
	m.closePopup()
	return open
}

// choose moves the choice, around the ends.
func (m *Model) choose(by int) {
	n := len(m.pop.items)
	m.pop.cursor = (m.pop.cursor + by + n) % n
	m.pop.top = min(max(m.pop.top, m.pop.cursor-popupRows+1), m.pop.cursor)
}

// Accept puts the chosen completion in. It says whether nothing more is to be
// written after it.
func (m *Model) Accept() (done bool) {
	if !m.Completing() {
		return false
	}
	c := m.pop.items[m.pop.cursor]
	from := pos{m.caret.line, m.pop.start}
	m.closePopup()
	m.edit(from, m.caret, m.admit(strings.ReplaceAll(c.Text, "\n", " ")), false)
	m.changed()
	return c.Done
}
