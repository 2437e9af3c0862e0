package editor

import (
	"fmt"
	"regexp"
	"sync/atomic"

	"banyan/internal/llm"
	"banyan/internal/tui/keymap"
	"banyan/internal/tui/theme"

	tea "charm.land/bubbletea/v2"
)

// Options say how an editor behaves. The zero value is a plain field.
type Options struct {
	Placeholder string
	Keys        map[string][]string // overrides of [Bindings] by id
	Sources     []Source            // of completion, asked in order
	Command     string              // of the external editor; empty for $VISUAL, then $EDITOR
	Secret      bool                // draw dots
	Vi          bool                // Escape leads to vi's commands
}

// Model is a text field. Its owner calls [Model.Update] with messages, and
// reads; it sends nothing. The zero Model is not usable, see [New].
type Model struct {
	id    int64
	opts  Options
	theme theme.Theme
	keys  keymap.Table[*Model]

	buf     buffer
	caret   pos
	version int // counts the changes of buf
	undo    undo
	chips   []chip // what chip runes stand for; only grows
	pastes  int    // chips that are pastes, for their numbers
	images  int    // chips that are pictures

	last, prev step // what this key and the one before did
	goal       int  // the column, in cells, that a run of up and down keeps to

	kills  []string // newest last
	yank   int      // which of kills the last yank put in
	yanked pos      // and where

	past    []string // history, oldest first, in the buffer's form
	recall  int      // the entry of past that is shown; len(past) when none is
	present string   // what was being written before one was shown
	stashed string
	spare   spare

	vi  vi
	pop popup

	width, limit int // cells, and the most rows
	seen         seen
}

// step is what a key did, as far as the next key goes on with it.
type step uint8

const (
	other    step = iota
	killed        // the next kill adds to this one
	yanked        // the next may exchange it for an older one
	vertical      // the next keeps the column
)

// New makes an empty editor of one row.
func New(o Options) *Model {
	m := &Model{
		id:    nextID(),
		opts:  o,
		keys:  keymap.New(Bindings(), o.Keys),
		buf:   newBuffer(),
		width: 80,
		limit: 1,
	}
	m.look()
	return m
}

// SetTheme says how it is painted.
func (m *Model) SetTheme(th theme.Theme) { m.theme = th }

// SetKeys changes what keys do.
func (m *Model) SetKeys(keys map[string][]string, vi bool) {
	m.opts.Keys, m.opts.Vi = keys, vi
	m.keys = keymap.New(Bindings(), keys)
	if !vi {
		m.vi.normal = false
	}
}

// SetSources says where completion comes from.
func (m *Model) SetSources(s ...Source) { m.opts.Sources = s }

// SetSize gives the width in cells and the most rows that [Model.Height] may be.
func (m *Model) SetSize(width, limit int) {
	m.width, m.limit = max(width, 4), max(limit, 1)
	m.look()
}

// Empty says whether there is no text at all.
func (m *Model) Empty() bool { return m.buf.empty() }

// Value is the text as it is to be sent: pastes in full, pictures beside it.
func (m *Model) Value() (string, []llm.Image) { return m.expand(m.buf.text()) }

// Before is the text of the caret's line up to the caret.
func (m *Model) Before() string { return m.buf.lines[m.caret.line].text[:m.caret.col] }

// SetValue replaces everything; it can be undone. Pictures take the places of
// their labels, in order; those that have none come last. The caret goes to the
// end.
func (m *Model) SetValue(text string, images []llm.Image) tea.Cmd {
	text = imageLabel.ReplaceAllStringFunc(m.admit(text), func(label string) string {
		if len(images) == 0 {
			return label
		}
		picture := m.addImage(images[0])
		images = images[1:]
		return picture
	})
	for _, image := range images {
		text += m.addImage(image)
	}
	m.setRaw(text)
	return m.changed()
}

// Insert puts text where the caret is, as if it were typed.
func (m *Model) Insert(text string) tea.Cmd {
	m.edit(m.caret, m.caret, m.admit(text), true)
	return m.changed()
}

// Paste puts text where the caret is; a large one becomes a chip.
func (m *Model) Paste(text string) tea.Cmd {
	m.undo.seal()
	m.edit(m.caret, m.caret, m.fold(text), false)
	return m.changed()
}

// PasteImage puts a picture where the caret is.
func (m *Model) PasteImage(image llm.Image) tea.Cmd {
	m.edit(m.caret, m.caret, m.addImage(image), false)
	return m.changed()
}

func (m *Model) addImage(image llm.Image) string {
	m.images++
	return m.addChip(chip{label: fmt.Sprintf("[Image #%d]", m.images), image: &image})
}

// Clear empties the field, to write anew, and keeps what was in it in the history.
func (m *Model) Clear() {
	m.remember(m.buf.text())
	m.setRaw("")
	m.undo = undo{}
	m.vi = vi{}
	m.closePopup()
	m.look()
}

// Update handles a key, or an answer to one of the editor's own commands; other
// messages are none of its business. It says whether the message was for it.
func (m *Model) Update(msg tea.Msg) (bool, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		return m.key(msg)
	case candidatesMsg:
		if msg.id == m.id {
			m.candidates(msg)
			return true, nil
		}
	case externalMsg:
		if msg.id == m.id {
			return true, m.external(msg)
		}
	}
	return false, nil
}

func (m *Model) key(msg tea.KeyPressMsg) (bool, tea.Cmd) {
	was, version := m.caret, m.version
	m.prev, m.last = m.last, other
	var cmd tea.Cmd
	if m.vi.normal && m.viKey(msg) {
		return true, m.changed()
	} else if b, ok := m.keys.Find(m, msg.String()); ok {
		cmd = b.Run(m)
	} else if msg.Text != "" {
		m.edit(m.caret, m.caret, m.admit(msg.Text), true)
	} else {
		return false, nil
	}
	if m.caret == was && m.version == version {
		return true, cmd
	}
	return true, tea.Batch(cmd, m.changed())
}

// edit is the one way in which the text changes by hand. The caret goes to the
// end of what was put in.
func (m *Model) edit(from, to pos, text string, typed bool) {
	if from == to && text == "" {
		return
	}
	m.undo.record(edit{at: from, removed: m.buf.slice(from, to), inserted: text, caret: m.caret, typed: typed})
	m.caret = m.snap(m.buf.replace(from, to, text))
	m.version++
}

// setRaw replaces everything with text in the buffer's form.
func (m *Model) setRaw(text string) {
	m.edit(pos{}, m.buf.end(), text, false)
	m.caret = m.buf.end()
}

// changed follows every change of the text or the caret.
func (m *Model) changed() tea.Cmd {
	m.look()
	return m.complete()
}

// Version counts the changes of the text, for whoever saves drafts.
func (m *Model) Version() int { return m.version }

// imageLabel is how a picture stands in a text that was sent.
var imageLabel = regexp.MustCompile(`\[Image #\d+\]`)

// nextID tells the editors of one program apart in their messages.
var lastID atomic.Int64

func nextID() int64 { return lastID.Add(1) }
