package tui

import (
	"banyan/internal/tui/keymap"
	"banyan/internal/tui/rich"

	tea "charm.land/bubbletea/v2"
)

// selecting is selecting in the transcript by keyboard: one line in the place of
// the editor, which stays as it is.
type selecting struct {
	m    *Model
	keys keymap.Table[*selecting]
	done bool
}

// selectBlocks begins at the last block in view.
func (m *Model) selectBlocks() tea.Cmd {
	if m.blank() || !m.shown().SelectItem() {
		m.refuse("There is nothing to select yet")
		return nil
	}
	m.push(&selecting{m: m, keys: keymap.New(selectKeys(), m.opts.Keys)})
	return nil
}

// selectKeys are the keys while selecting.
func selectKeys() []keymap.Binding[*selecting] {
	move := func(by int, extend bool) func(*selecting) tea.Cmd {
		return func(s *selecting) tea.Cmd { s.m.shown().MoveSelection(by, extend); return nil }
	}
	return []keymap.Binding[*selecting]{
		{ID: "select.copy", Keys: []string{"enter", "y", "ctrl+c"}, Help: "copy what is selected, as it was written", Run: (*selecting).copy},
		{ID: "select.close", Keys: []string{"esc", "q"}, Help: "back to the editor", Run: (*selecting).close},
		{ID: "select.up", Keys: []string{"up", "k"}, Help: "the block before", Run: move(-1, false)},
		{ID: "select.down", Keys: []string{"down", "j"}, Help: "the block after", Run: move(1, false)},
		{ID: "select.more-up", Keys: []string{"shift+up", "K"}, Help: "the block before, too", Run: move(-1, true)},
		{ID: "select.more-down", Keys: []string{"shift+down", "J"}, Help: "the block after, too", Run: move(1, true)},
		{ID: "select.back", Keys: []string{"pgup"}, Help: "ten blocks up", Run: move(-10, false)},
		{ID: "select.on", Keys: []string{"pgdown"}, Help: "ten blocks down", Run: move(10, false)},
		{ID: "select.unfold", Keys: []string{"o", "space"}, Help: "open or close the block", Run: (*selecting).unfold},
	}
}

func (s *selecting) copy() tea.Cmd {
	text := s.m.shown().SelectEnd()
	s.close()
	if text == "" {
		s.m.refuse("There is nothing in it to copy")
		return nil
	}
	return s.m.copy(text)
}

func (s *selecting) close() tea.Cmd {
	s.m.shown().SelectNone()
	s.done = true
	return nil
}

func (s *selecting) unfold() tea.Cmd {
	if !s.m.shown().ToggleSelected() {
		s.m.hint("There is nothing folded in this block")
	}
	return nil
}

// Update implements [overlay].
func (s *selecting) Update(msg tea.Msg) (bool, tea.Cmd) {
	var cmd tea.Cmd
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		if b, ok := s.keys.Find(s, msg.String()); ok {
			cmd = b.Run(s)
		}
	case tea.MouseWheelMsg:
		by := wheelLines
		if msg.Button == tea.MouseWheelUp {
			by = -wheelLines
		}
		s.m.shown().ScrollLines(by)
	}
	return s.done, cmd
}

// Height implements [overlay].
func (s *selecting) Height(_, limit int) int { return min(1, limit) }

// Cursor implements [overlay].
func (s *selecting) Cursor() (x, y int, ok bool) { return 0, 0, false }

// View implements [overlay].
func (s *selecting) View(w, _ int) string {
	key := s.keys.Key
	hints := s.m.hints(
		key("select.copy"), "copies", key("select.up"), "moves", key("select.more-up"), "selects more",
		key("select.unfold"), "opens", key("select.close"), "goes back")
	return rich.Draw(rich.Truncate(hints, w)).Text
}
