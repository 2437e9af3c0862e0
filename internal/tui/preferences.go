package tui

import (
	"banyan/internal/engine"
	"banyan/internal/tui/keymap"

	tea "charm.land/bubbletea/v2"
)

// Preferences are what the user has set about the screen. They may change while
// it is there; the zero value is as usual.
type Preferences struct {
	Theme string              // name or file; empty or "auto" follows the terminal's background
	Keys  map[string][]string // keystrokes by action id, instead of the usual ones
	// DoubleEscape is the command that Esc Esc runs with an empty editor,
	// "tree" or "branch"; "none" for nothing. Empty is "tree".
	DoubleEscape string
	Vi           bool // write prompts with vi's keys
	NoMouse      bool // leave the mouse to the terminal
	NoTitle      bool // leave the window's title alone
	NoProgress   bool // do not show in the terminal's own bar that something runs
	// Images is how pictures are drawn: "kitty", "sixel", "iterm", "blocks", "off";
	// "auto", or empty, as the terminal can.
	Images string
	// Notify is how the user is told that something is done while the window
	// has no focus: "bell", "osc9", "osc777", "osc99", or "auto" for what the
	// terminal is known to understand; else not at all.
	Notify string

	TreeFilter    string // that a tree opens with; empty for "default"
	SummaryPrompt string // whether a branch that is left is summarised: "ask" (or empty), "always", "never"
}

// prefer is the one place where preferences change. What is not applied here is
// read where it is needed.
func (m *Model) prefer(p Preferences) tea.Cmd {
	was := m.opts.Preferences
	m.opts.Preferences = p
	m.keys = keymap.New(bindings(), p.Keys)
	m.editor.SetKeys(p.Keys, p.Vi)
	if was.NoMouse != p.NoMouse {
		m.mouse = !p.NoMouse
	}
	if was.Images != p.Images {
		m.forgetPictures()
	}
	for _, err := range keymap.Check(p.Keys, KeyRows()) {
		m.say(engine.Warning, err.Error())
	}
	switch {
	case followsTerminal(p.Theme) && followsTerminal(was.Theme):
	case followsTerminal(p.Theme):
		return tea.RequestBackgroundColor
	default:
		m.setTheme(p.Theme)
	}
	return nil
}
