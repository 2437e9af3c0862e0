package tui

import (
	"time"

	"banyan/internal/engine"
	"banyan/internal/tui/editor"
	"banyan/internal/tui/keymap"
	"banyan/internal/tui/picker"
	"banyan/internal/tui/treeview"

	tea "charm.land/bubbletea/v2"
)

// bindings are the screen's own keys. They come before the editor's.
func bindings() []keymap.Binding[*Model] {
	empty := func(m *Model) bool { return m.editor.Empty() }
	spare := func(m *Model) bool { return m.editor.Spare() }
	writing := func(m *Model) bool { return !m.editor.Normal() } // vi has a use for the key
	return []keymap.Binding[*Model]{
		{ID: "send", Keys: []string{"enter"}, Help: "send; while running: steer", Run: func(m *Model) tea.Cmd { return m.submit(false) }},
		{ID: "follow-up", Keys: []string{"alt+enter"}, Help: "send when the turn has ended", Run: func(m *Model) tea.Cmd { return m.submit(true) }},
		{ID: "take-back", Keys: []string{"alt+up"}, Help: "take queued prompts back", Run: (*Model).takeBack},
		{ID: "escape", Keys: []string{"esc"}, Help: "interrupt, or close what is on top; twice: clear, or with an empty editor the tree", Run: (*Model).escape},
		{ID: "cancel", Keys: []string{"ctrl+c"}, Help: "clear, or interrupt; twice: quit", Run: (*Model).cancel},
		{ID: "quit", Keys: []string{"ctrl+d"}, Help: "quit, with an empty editor", When: empty, Run: (*Model).quit},
		{ID: "suspend", Keys: []string{"ctrl+z"}, Help: "back to the shell for a while", Run: func(*Model) tea.Cmd { return tea.Suspend }},
		{ID: "redraw", Keys: []string{"ctrl+l"}, Help: "draw the screen anew", Run: func(m *Model) tea.Cmd { m.forgetPictures(); return tea.ClearScreen }},

		{ID: "permission", Keys: []string{"shift+tab"}, Help: "next permission mode", Run: (*Model).nextPermission},
		{ID: "thinking", Keys: []string{"alt+t"}, Help: "next thinking level", Run: (*Model).nextThinking},
		{ID: "model", Keys: []string{"alt+p"}, Help: "choose a model", Run: func(m *Model) tea.Cmd { return m.chooseModel("") }},
		{ID: "palette", Keys: []string{"ctrl+p"}, Help: "all commands", Run: (*Model).palette},
		{ID: "help", Keys: []string{"?"}, Help: "keys and commands, with an empty editor", When: empty, Run: (*Model).keysAndCommands},
		{ID: "paste-image", Keys: []string{"ctrl+v", "alt+v"}, Help: "paste a picture", Run: (*Model).pasteImage},
		{ID: "command", Keys: []string{"/"}, Help: "begin a command; a prompt that came back untouched is put aside", When: spare, Run: func(m *Model) tea.Cmd { return m.editor.Command() }},
		{ID: "history", Keys: []string{"ctrl+r"}, Help: "search the prompts of the past", When: writing, Run: (*Model).searchHistory},

		{ID: "expand-tools", Keys: []string{"ctrl+o"}, Help: "show all of what tools gave, or little", Run: func(m *Model) tea.Cmd {
			m.shown().ExpandTools(!m.shown().ToolsExpanded())
			return nil
		}},
		{ID: "show-thinking", Keys: []string{"ctrl+t"}, Help: "show thinking, or fold it", Run: func(m *Model) tea.Cmd {
			m.shown().ShowThinking(!m.shown().ThinkingShown())
			return nil
		}},
		{ID: "page-up", Keys: []string{"pgup"}, Help: "a page up", Run: do(func(m *Model) { m.shown().Page(-1) })},
		{ID: "page-down", Keys: []string{"pgdown"}, Help: "a page down", Run: do(func(m *Model) { m.shown().Page(1) })},
		{ID: "line-up", Keys: []string{"shift+up"}, Help: "a line up", Run: do(func(m *Model) { m.shown().ScrollLines(-1) })},
		{ID: "line-down", Keys: []string{"shift+down"}, Help: "a line down", Run: do(func(m *Model) { m.shown().ScrollLines(1) })},
		{ID: "top", Keys: []string{"ctrl+home"}, Help: "to the beginning", Run: do(func(m *Model) { m.shown().Top() })},
		{ID: "bottom", Keys: []string{"ctrl+end"}, Help: "to the end", Run: do(func(m *Model) { m.shown().Bottom() })},
		{ID: "turn-up", Keys: []string{"ctrl+up"}, Help: "the turn before", Run: do(func(m *Model) { m.shown().PrevTurn() })},
		{ID: "turn-down", Keys: []string{"ctrl+down"}, Help: "the turn after", Run: do(func(m *Model) { m.shown().NextTurn() })},
		{ID: "unfold", Keys: []string{"ctrl+x o"}, Help: "open or close the first fold in view", Run: do(func(m *Model) { m.shown().ToggleInView() })},

		{ID: "select", Keys: []string{"ctrl+space", "ctrl+x v"}, Help: "select in the conversation by keyboard", Run: (*Model).selectBlocks},

		{ID: "tasks", Keys: []string{"ctrl+x t"}, Help: "the tasks of this session", Run: func(m *Model) tea.Cmd { return m.tasksFlow("") }},
		{ID: "stop-task", Keys: []string{"ctrl+x k"}, Help: "stop the task on the screen", When: func(m *Model) bool { return m.tasks.view != nil }, Run: do(func(m *Model) { m.stopTask(m.tasks.view) })},

		{ID: "branch-left", Keys: []string{"alt+,"}, Help: "previous branch at the turn in view", Run: func(m *Model) tea.Cmd { return m.sibling(-1) }},
		{ID: "branch-right", Keys: []string{"alt+."}, Help: "next branch at the turn in view", Run: func(m *Model) tea.Cmd { return m.sibling(1) }},
		{ID: "branch-left-empty", Keys: []string{"alt+left"}, Help: "the same, with an empty editor", When: empty, Run: func(m *Model) tea.Cmd { return m.sibling(-1) }},
		{ID: "branch-right-empty", Keys: []string{"alt+right"}, Help: "the same, with an empty editor", When: empty, Run: func(m *Model) tea.Cmd { return m.sibling(1) }},
		{ID: "undo-turn", Keys: []string{"ctrl+x u"}, Help: "take the last turn back", Run: func(m *Model) tea.Cmd { return m.undo("") }},
		{ID: "redo-turn", Keys: []string{"ctrl+x r"}, Help: "bring back the turn that was taken back", Run: func(m *Model) tea.Cmd { return m.redo("") }},
		{ID: "mouse", Keys: []string{"ctrl+x m"}, Help: "give the mouse to the terminal, or take it back", Run: (*Model).toggleMouse},
	}
}

// do makes a binding's function of one that has no command.
func do(f func(*Model)) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd { f(m); return nil }
}

// KeyRows are all keys, for help, the reference, and settings.
func KeyRows() []keymap.Row {
	rows := keymap.New(bindings(), nil).Rows()
	rows = append(rows, keymap.New(pagerKeys(), nil).Rows()...)
	rows = append(rows, keymap.New(promptKeys(), nil).Rows()...)
	rows = append(rows, keymap.New(selectKeys(), nil).Rows()...)
	rows = append(rows, keymap.New(editor.Bindings(), nil).Rows()...)
	rows = append(rows, keymap.New(picker.Bindings(), nil).Rows()...)
	rows = append(rows, keymap.New(sessionKeys(), nil).Rows()...)
	rows = append(rows, keymap.New(treeview.Bindings(), nil).Rows()...)
	return append(rows, keymap.New(approvalKeys(), nil).Rows()...)
}

// press is a key and when it was pressed.
type press struct {
	key string
	at  time.Time
}

// twice is how soon the same key has to follow to count as a second press.
const twice = time.Second

// pressed takes a key. Two Esc that arrive together, as over a slow line, read
// as one with Alt: they are two all the same.
func (m *Model) pressed(msg tea.KeyPressMsg) tea.Cmd {
	if msg.Code != tea.KeyEscape || msg.Mod != tea.ModAlt {
		return m.key(msg)
	}
	msg.Mod = 0
	return tea.Batch(m.key(msg), m.key(msg))
}

// key goes to the overlay on top, else through the table, else to the editor.
func (m *Model) key(msg tea.KeyPressMsg) tea.Cmd {
	m.notice = notice{}
	if o := m.top(); o != nil {
		return m.tell(o, msg)
	}
	stroke, now := msg.String(), m.opts.Now()
	if m.chord != "" {
		stroke = m.chord + " " + stroke
	}
	inChord := m.chord != ""
	m.chord = ""
	m.again = m.last.key == stroke && now.Sub(m.last.at) < twice
	m.last = press{stroke, now}
	if b, ok := m.keys.Find(m, stroke); ok {
		return b.Run(m)
	}
	run, prefix := m.offers.key(stroke)
	if run != nil {
		run(m)
		return nil
	}
	if prefix || m.keys.IsPrefix(stroke) {
		m.chord = stroke
		return nil
	}
	if inChord {
		m.refuse(keymap.Title(stroke) + " does nothing")
		return nil
	}
	_, cmd := m.editor.Update(msg)
	return cmd
}

// paste goes to the overlay on top, else to the editor.
func (m *Model) paste(msg tea.PasteMsg) tea.Cmd {
	m.notice = notice{}
	if o := m.top(); o != nil {
		return m.tell(o, msg)
	}
	return m.editor.Paste(msg.Content)
}

// escape ends the nearest thing that can be ended. Twice in a row, with nothing
// to end, it clears the editor or opens what the settings say.
func (m *Model) escape() tea.Cmd {
	switch {
	case m.editor.Dismiss():
	case m.editor.Escape():
	case m.tasks.view != nil: // what is written stays
		m.leaveTask()
	case m.running != nil:
		m.opts.Engine.Send(engine.Interrupt{})
	case m.shown().Selecting():
		m.shown().SelectNone()
	case !m.again && m.editor.Empty():
		return nil
	case !m.again:
		m.hint(keymap.Title(m.keys.Key("escape")) + " again clears the prompt; Up brings it back")
		return nil
	case m.editor.Empty():
		m.last = press{}
		return m.doubleEscape()
	default:
		m.editor.Clear()
	}
	m.last = press{} // the next Esc is a first one
	return nil
}

// doubleEscape runs the command that the settings name: the first of those
// that there are.
func (m *Model) doubleEscape() tea.Cmd {
	if m.opts.DoubleEscape == "none" {
		return nil
	}
	for _, name := range []string{m.opts.DoubleEscape, "tree", "branch"} {
		if c, ok := m.find(name); ok {
			return c.run(m, "")
		}
	}
	return nil
}

// cancel clears, else interrupts, else quits when it comes again.
func (m *Model) cancel() tea.Cmd {
	switch {
	case !m.editor.Empty():
		m.editor.Clear()
	case m.again:
		return m.quit()
	case m.running != nil:
		m.opts.Engine.Send(engine.Interrupt{})
		m.hint("Interrupted. " + keymap.Title(m.keys.Key("cancel")) + " again quits")
	default:
		m.hint(keymap.Title(m.keys.Key("cancel")) + " again quits")
	}
	return nil
}

func (m *Model) takeBack() tea.Cmd {
	if len(m.queue.Steering)+len(m.queue.FollowUps) == 0 {
		m.hint("No prompts wait")
		return nil
	}
	m.opts.Engine.Send(engine.Unqueue{})
	return nil
}

func (m *Model) toggleMouse() tea.Cmd {
	m.mouse = !m.mouse
	if m.mouse {
		m.hint("The mouse scrolls, selects and clicks here")
	} else {
		m.hint("The mouse is the terminal's; " + keymap.Title(m.keys.Key("mouse")) + " takes it back")
	}
	return nil
}
