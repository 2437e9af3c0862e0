package tui

import (
	"slices"
	"strings"
	"time"

	"banyan/internal/tui/picture"
	"banyan/internal/tui/transcript"

	tea "charm.land/bubbletea/v2"
)

// pictures is what the terminal was told of pictures.
type pictures struct {
	sent  map[uint32]bool    // kitty has them
	over  []transcript.Shown // written over their cells, where they stood
	next  []transcript.Shown // to be written once the screen has come to rest
	round int                // numbers the waits; only the last one counts
}

// restTime is how long pictures must have stood still to be written over their
// cells: each time they move, all of the screen is drawn anew.
const restTime = 150 * time.Millisecond

// drawPictures follows every message: it gives the terminal what it needs for
// the pictures on the screen, each once.
func (m *Model) drawPictures() tea.Cmd {
	way := m.screenOf().Way
	m.transcript.SetPictures(m.screenOf())
	if !way.Pixels() {
		return nil
	}
	var shown []transcript.Shown
	if m.behind() == nil && m.layout.transcript > 0 && !m.tooSmall() {
		shown = m.transcript.Pictures()
	}
	if way == picture.Kitty {
		return m.sendPictures(shown)
	}
	if m.top() == nil && len(m.editor.Popup(m.layout.transcript)) > 0 {
		shown = nil // completions stand over the conversation
	}
	return m.layPictures(slices.DeleteFunc(shown, func(s transcript.Shown) bool { return !s.Whole }))
}

// screenOf is how pictures are drawn on this terminal.
func (m *Model) screenOf() picture.Screen {
	c := m.terminal.caps
	return picture.Screen{Way: picture.Choose(picture.Way(m.opts.Images), c), CellWidth: c.CellWidth, CellHeight: c.CellHeight}
}

// sendPictures gives kitty the pictures that it does not have yet.
func (m *Model) sendPictures(shown []transcript.Shown) tea.Cmd {
	var cmds []tea.Cmd
	screen, wrap := m.screenOf(), m.terminal.wrap
	for _, s := range shown {
		if m.pictures.sent[s.ID] {
			continue
		}
		if m.pictures.sent == nil {
			m.pictures.sent = map[uint32]bool{}
		}
		m.pictures.sent[s.ID] = true
		cmds = append(cmds, func() tea.Msg {
			p, ok := picture.Decode(s.Image.Data, s.Columns, screen)
			if !ok {
				return nil
			}
			return tea.Raw(p.Transmit(s.ID, wrap))()
		})
	}
	return tea.Batch(cmds...)
}

// laidMsg are the pictures that are to be written over their cells, if these
// have not moved.
type laidMsg struct {
	round int
	text  string
}

// settledMsg says that pictures have stood still, unless they have moved since.
type settledMsg int

// layPictures writes pictures over their cells when they have come to rest, and
// has the screen drawn anew where they stood before.
func (m *Model) layPictures(shown []transcript.Shown) tea.Cmd {
	p := &m.pictures
	if slices.Equal(shown, p.next) {
		return nil
	}
	p.next = shown
	p.round++
	var cmds []tea.Cmd
	if len(p.over) > 0 {
		p.over = nil
		cmds = append(cmds, tea.ClearScreen)
	}
	if len(shown) > 0 {
		cmds = append(cmds, m.opts.After(restTime, settledMsg(p.round)))
	}
	return tea.Batch(cmds...)
}

func (msg settledMsg) apply(m *Model) tea.Cmd {
	if int(msg) != m.pictures.round {
		return nil
	}
	screen, shown := m.screenOf(), m.pictures.next
	return func() tea.Msg {
		var b strings.Builder
		for _, s := range shown {
			if p, ok := picture.Decode(s.Image.Data, s.Columns, screen); ok {
				b.WriteString(p.Overlay(screen.Way, s.X, s.Y))
			}
		}
		return laidMsg{int(msg), b.String()}
	}
}

func (msg laidMsg) apply(m *Model) tea.Cmd {
	if msg.round != m.pictures.round {
		return nil
	}
	m.pictures.over = m.pictures.next
	return tea.Raw(msg.text)
}

// forgetPictures has them drawn anew, as the terminal has lost them.
func (m *Model) forgetPictures() { m.pictures = pictures{round: m.pictures.round + 1} }

// dropPictures is what has the terminal forget them.
func (m *Model) dropPictures() string {
	var b strings.Builder
	for id := range m.pictures.sent {
		b.WriteString(picture.Forget(id, m.terminal.wrap))
	}
	return b.String()
}
