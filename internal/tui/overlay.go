package tui

import (
	"slices"

	"banyan/internal/tui/picker"

	tea "charm.land/bubbletea/v2"
)

// overlay is something that takes the editor's place, and the keys, until it is
// done: a list, a question, a text to read. It is opened with continuations, so
// whoever opens it says what happens next.
type overlay interface {
	// Update handles a key, a paste, the mouse at a cell of View, or an answer
	// to one of the overlay's own commands. Done takes it off the stack.
	Update(tea.Msg) (done bool, cmd tea.Cmd)
	// Height is how many rows it wants at a width, of at most limit.
	Height(width, limit int) int
	// View draws exactly height rows of at most width cells. It changes nothing.
	View(width, height int) string
	// Cursor is the caret's cell, if it has one.
	Cursor() (x, y int, ok bool)
}

// covering is an overlay that takes all of the screen but the footer when it
// says so, like a tree in the place of the transcript.
type covering interface {
	overlay
	Covers() bool
}

func covers(o overlay) bool {
	c, ok := o.(covering)
	return ok && c.Covers()
}

// push opens an overlay on top.
func (m *Model) push(o overlay) {
	m.editor.Dismiss()
	m.overlays = append(m.overlays, o)
}

// top has the keys; nil when the editor has.
func (m *Model) top() overlay {
	if len(m.overlays) == 0 {
		return nil
	}
	return m.overlays[len(m.overlays)-1]
}

// tell gives an overlay a message and takes it off the stack when it is done.
// Its continuation may have opened others meanwhile.
func (m *Model) tell(o overlay, msg tea.Msg) tea.Cmd {
	done, cmd := o.Update(msg)
	if done {
		m.remove(o)
	}
	return cmd
}

func (m *Model) remove(o overlay) {
	if i := slices.Index(m.overlays, o); i >= 0 {
		m.overlays = slices.Delete(m.overlays, i, i+1)
	}
}

// way is one of several ways to go on.
type way struct {
	text, detail string
	run          func() tea.Cmd
}

// choose asks which way to go on. Esc goes none.
func (m *Model) choose(title string, ways ...way) {
	items := make([]picker.Item, len(ways))
	for i, w := range ways {
		items[i] = picker.Item{Title: w.text, Detail: w.detail}
	}
	m.push(picked{picker.New(picker.Options{
		Title: title, Items: items, Keys: m.opts.Keys,
		Chosen: func(i int) tea.Cmd { return ways[i].run() },
	}, m.theme)})
}

// picked is a list as an overlay.
type picked struct{ *picker.Model }
