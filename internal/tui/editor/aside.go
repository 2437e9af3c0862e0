package editor

import (
	"banyan/internal/llm"

	tea "charm.land/bubbletea/v2"
)

// spare is a text that a command may take the place of as long as the user has
// touched neither it nor the caret. The zero value is none.
type spare struct {
	version int
	caret   pos
	keep    bool // it is put aside, not thrown away
	is      bool
}

// Restore is [Model.SetValue] for a prompt that came back without being asked
// for: a command may be typed in its place, see [Model.Spare].
func (m *Model) Restore(text string, images []llm.Image) tea.Cmd {
	cmd := m.SetValue(text, images)
	m.spare = spare{m.version, m.caret, true, true}
	return cmd
}

// Refuse says that the text is a command that there is not: with the caret at
// its end another may be typed in its place.
func (m *Model) Refuse() { m.spare = spare{m.version, m.buf.end(), false, true} }

// Spare says whether a command may take the place of the text.
func (m *Model) Spare() bool {
	return m.spare.is && !m.Empty() && !m.vi.normal && m.version == m.spare.version && m.caret == m.spare.caret
}

// Command begins a command in the place of a spare text, which is put aside. Of
// a command that was refused only undo knows.
func (m *Model) Command() tea.Cmd {
	if m.spare.keep {
		m.putAside()
	}
	m.setRaw("/")
	return m.changed()
}

// stash puts the text aside; with no text, or no more of a command than its
// slash, it takes back what was.
func (m *Model) stash() {
	if m.Empty() || m.tellsAside() {
		m.setRaw(m.stashed)
		m.stashed = ""
		return
	}
	m.putAside()
	m.setRaw("")
}

// tellsAside says whether there is room beside the text to say what was put aside.
func (m *Model) tellsAside() bool {
	return m.stashed != "" && len(m.buf.lines) == 1 && (m.Empty() || m.line() == "/")
}

// putAside keeps the text for stash. What was kept before goes to the history.
func (m *Model) putAside() {
	m.remember(m.stashed)
	m.stashed = m.buf.text()
}

// DropAside forgets what was put aside if it is a text.
func (m *Model) DropAside(text string) {
	if now, _ := m.expand(m.stashed); now == text {
		m.stashed = ""
	}
}
