package editor

import (
	"strings"

	"banyan/internal/tui/keymap"

	tea "charm.land/bubbletea/v2"
)

// Bindings are the editor's keys. The popup's come first: they hold while it is open.
func Bindings() []keymap.Binding[*Model] {
	open := (*Model).Completing
	return []keymap.Binding[*Model]{
		{ID: "complete.accept", Keys: []string{"tab"}, Help: "take the completion", When: open, Run: func(m *Model) tea.Cmd { m.Accept(); return nil }},
		{ID: "complete.next", Keys: []string{"down", "ctrl+n"}, Help: "next completion", When: open, Run: func(m *Model) tea.Cmd { m.choose(1); return nil }},
		{ID: "complete.previous", Keys: []string{"up"}, Help: "previous completion", When: open, Run: func(m *Model) tea.Cmd { m.choose(-1); return nil }},
		{ID: "complete.path", Keys: []string{"tab"}, Help: "complete what stands before the caret", Run: func(m *Model) tea.Cmd { return m.completeNow() }},

		{ID: "editor.newline", Keys: []string{"ctrl+j", "shift+enter", "ctrl+enter"}, Also: "\\+Enter", Help: "new line", Run: do((*Model).newline)},
		{ID: "editor.left", Keys: []string{"left", "ctrl+b"}, Help: "left", Run: do(func(m *Model) { m.caret = m.previous(m.caret) })},
		{ID: "editor.right", Keys: []string{"right", "ctrl+f"}, Help: "right", Run: do(func(m *Model) { m.caret = m.next(m.caret) })},
		{ID: "editor.word-left", Keys: []string{"ctrl+left", "alt+left", "alt+b"}, Help: "word left", Run: do(func(m *Model) { m.caret = m.wordLeft(m.caret) })},
		{ID: "editor.word-right", Keys: []string{"ctrl+right", "alt+right", "alt+f"}, Help: "word right", Run: do(func(m *Model) { m.caret = m.wordRight(m.caret) })},
		{ID: "editor.start", Keys: []string{"home", "ctrl+a"}, Help: "start of line", Run: do(func(m *Model) { m.caret.col = 0 })},
		{ID: "editor.end", Keys: []string{"end", "ctrl+e"}, Help: "end of line", Run: do(func(m *Model) { m.caret.col = len(m.line()) })},
		{ID: "editor.up", Keys: []string{"up"}, Help: "up; at the first row: older prompt", Run: (*Model).up},
		{ID: "editor.down", Keys: []string{"down"}, Help: "down; at the last row: newer prompt", Run: (*Model).down},

		{ID: "editor.delete-left", Keys: []string{"backspace", "ctrl+h", "shift+backspace"}, Help: "delete left", Run: do(func(m *Model) { m.remove(m.previous(m.caret), m.caret) })},
		{ID: "editor.delete-right", Keys: []string{"delete", "ctrl+d"}, Help: "delete right", Run: do(func(m *Model) { m.remove(m.caret, m.next(m.caret)) })},
		{ID: "editor.kill-end", Keys: []string{"ctrl+k"}, Help: "cut to the end of the line", Run: do((*Model).killEnd)},
		{ID: "editor.kill-start", Keys: []string{"ctrl+u"}, Help: "cut to the start of the line", Run: do((*Model).killStart)},
		{ID: "editor.kill-word", Keys: []string{"ctrl+w"}, Help: "cut the word on the left, to a space", Run: do(func(m *Model) { m.kill(m.spaceLeft(m.caret), m.caret) })},
		{ID: "editor.kill-word-left", Keys: []string{"alt+backspace", "ctrl+backspace"}, Help: "cut the word on the left", Run: do(func(m *Model) { m.kill(m.wordLeft(m.caret), m.caret) })},
		{ID: "editor.kill-word-right", Keys: []string{"alt+d", "ctrl+delete", "alt+delete"}, Help: "cut the word on the right", Run: do(func(m *Model) { m.kill(m.caret, m.wordRight(m.caret)) })},
		{ID: "editor.yank", Keys: []string{"ctrl+y"}, Help: "put in what was cut", Run: do((*Model).yankNewest)},
		{ID: "editor.yank-older", Keys: []string{"alt+y"}, Help: "exchange it for what was cut before", Run: do((*Model).yankOlder)},
		{ID: "editor.undo", Keys: []string{"ctrl+_", "ctrl+-", "ctrl+/"}, Help: "undo", Run: do((*Model).Undo)},
		{ID: "editor.redo", Keys: []string{"alt+_", "alt+-", "alt+/", "ctrl+shift+z"}, Help: "redo", Run: do((*Model).Redo)},
		{ID: "editor.stash", Keys: []string{"ctrl+s"}, Help: "put the prompt aside, or take it back", Run: do((*Model).stash)},
		{ID: "editor.external", Keys: []string{"ctrl+g"}, Help: "write in $VISUAL or $EDITOR", Run: (*Model).External},
	}
}

// do makes a binding's function of one that has no command.
func do(f func(*Model)) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd { f(m); return nil }
}

func (m *Model) newline() { m.edit(m.caret, m.caret, "\n", true) }

// Continue takes a backslash before the caret for the wish to write on in a new
// line: it becomes a line feed. It says whether there was one.
func (m *Model) Continue() (bool, tea.Cmd) {
	before := m.Before()
	if !strings.HasSuffix(before, `\`) {
		return false, nil
	}
	m.edit(pos{m.caret.line, m.caret.col - 1}, m.caret, "\n", false)
	return true, m.changed()
}

func (m *Model) remove(from, to pos) {
	m.edit(from, to, "", false)
}

// kill removes text and keeps it for yank.
func (m *Model) kill(from, to pos) {
	if from == to {
		return
	}
	text := m.buf.slice(from, to)
	if n := len(m.kills); m.prev != killed || n == 0 {
		m.kills = append(m.kills, text)
	} else if to == m.caret {
		m.kills[n-1] = text + m.kills[n-1]
	} else {
		m.kills[n-1] += text
	}
	m.last = killed
	m.remove(from, to)
}

func (m *Model) killEnd() {
	end := pos{m.caret.line, len(m.line())}
	if m.caret == end {
		end = m.next(end)
	}
	m.kill(m.caret, end)
}

func (m *Model) killStart() {
	start := pos{m.caret.line, 0}
	if m.caret == start {
		start = m.previous(start)
	}
	m.kill(start, m.caret)
}

func (m *Model) yankNewest() { m.put(len(m.kills)-1, m.caret) }

func (m *Model) yankOlder() {
	if m.prev == yanked {
		m.put((m.yank+len(m.kills)-1)%len(m.kills), m.yanked)
	}
}

// put replaces what stands between a place and the caret by a kill.
func (m *Model) put(i int, from pos) {
	if i < 0 {
		return
	}
	m.edit(from, m.caret, m.kills[i], false)
	m.yank, m.yanked, m.last = i, from, yanked
}

// Undo takes the last change back.
func (m *Model) Undo() {
	if p, ok := m.undo.back(&m.buf); ok {
		m.caret = p
		m.version++
	}
}

// Redo does again what Undo took back.
func (m *Model) Redo() {
	if p, ok := m.undo.forth(&m.buf); ok {
		m.caret = p
		m.version++
	}
}
