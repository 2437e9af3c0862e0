package tui

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"banyan/internal/tui/inert"
	"banyan/internal/tui/termcap"
	"banyan/internal/tui/theme"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
)

// terminal is what the terminal has said of itself.
type terminal struct {
	profile theme.Profile
	focused bool // its window has the focus
	// wrap puts a sequence through what stands between us and the terminal:
	// tmux or screen, which keep to themselves what they do not know.
	wrap func(sequence string) string
	// notify is the way of notifying that it is known to understand.
	notify string
	caps   termcap.Caps
}

// unknown is a terminal that has not said anything yet.
func unknown() terminal {
	return terminal{profile: theme.TrueColor, focused: true, wrap: func(s string) string { return s }, notify: "bell"}
}

// heard takes a message of the terminal into account.
func (m *Model) heard(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.EnvMsg:
		m.terminal.caps = termcap.FromEnv(msg.Getenv)
		m.terminal.wrap = wrapFor(msg.Getenv("TMUX") != "", msg.Getenv("STY") != "")
		m.terminal.notify = notifies(msg.Getenv("TERM_PROGRAM"), msg.Getenv("TERM"))
		return tea.Raw(m.terminal.caps.Query())
	case tea.ColorProfileMsg:
		m.terminal.profile = profileOf(msg.Profile)
		m.setTheme(m.theme.Name)
	case tea.BackgroundColorMsg:
		m.setTheme(themeFor(m.opts.Theme, msg.IsDark()))
	case tea.ResumeMsg:
		m.forgetPictures()
	case tea.FocusMsg:
		m.terminal.focused = true
	case tea.BlurMsg:
		m.terminal.focused = false
	default:
		m.terminal.caps.Heard(msg)
	}
	return nil
}

// profileOf is what the terminal can show, in the words of themes.
func profileOf(p colorprofile.Profile) theme.Profile {
	switch p {
	case colorprofile.TrueColor:
		return theme.TrueColor
	case colorprofile.ANSI256:
		return theme.ANSI256
	case colorprofile.ANSI:
		return theme.ANSI16
	}
	return theme.NoColor
}

// notifies is the way of notifying that a terminal understands: what it says of
// itself goes before its type, which may be another's.
func notifies(program, term string) string {
	switch program {
	case "iTerm.app", "WezTerm", "ghostty":
		return "osc9"
	}
	switch {
	case strings.Contains(term, "kitty"):
		return "osc99"
	case strings.HasPrefix(term, "foot"), strings.HasPrefix(term, "rxvt-unicode"):
		return "osc777"
	}
	return "bell"
}

// screenLimit is how many bytes screen passes on at once.
const screenLimit = 768

func wrapFor(tmux, screen bool) func(string) string {
	switch {
	case tmux:
		return ansi.TmuxPassthrough
	case screen:
		return func(s string) string { return ansi.ScreenPassthrough(s, screenLimit) }
	}
	return func(s string) string { return s }
}

// notify tells the user who is looking elsewhere, the way that the settings say.
func (m *Model) notify(what string) tea.Cmd {
	if m.terminal.focused {
		return nil
	}
	text := inert.Title("agent " + what)
	how := m.opts.Notify
	if how == "auto" {
		how = m.terminal.notify
	}
	switch how {
	case "bell":
		return tea.Raw("\a")
	case "osc9":
		return tea.Raw(m.terminal.wrap(ansi.Notify(text)))
	case "osc777":
		return tea.Raw(m.terminal.wrap("\x1b]777;notify;agent;" + text + "\a"))
	case "osc99":
		return tea.Raw(m.terminal.wrap(ansi.DesktopNotification(text)))
	}
	return nil
}

// copy puts a text on the clipboard: through the terminal, which does not say
// whether it did, and with the system's own means where there are some.
func (m *Model) copy(text string) tea.Cmd {
	size := fmt.Sprintf("Copied %d characters", utf8.RuneCountInString(text))
	cmds := []tea.Cmd{tea.SetClipboard(text)}
	if plain := ansi.SetSystemClipboard(text); m.terminal.wrap(plain) != plain {
		cmds = append(cmds, tea.Raw(m.terminal.wrap(plain)))
	}
	if native := m.opts.Copy; native != nil {
		cmds = append(cmds, work(size, func(ctx context.Context) error {
			if err := native(ctx, text); err != nil {
				return fmt.Errorf("copied through the terminal (OSC 52) only: %w", err)
			}
			return nil
		}))
	} else {
		m.hint(size + " through the terminal (OSC 52)")
	}
	return tea.Batch(cmds...)
}
