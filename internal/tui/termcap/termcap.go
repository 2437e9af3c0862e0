// Package termcap is what a terminal can do, as far as its environment says and
// as it answers itself.
//
// The data: [Caps], a plain value. [FromEnv] fills in what is known before
// anything was asked, [Caps.Query] is what to write to the terminal, and
// [Caps.Heard] takes its answers in, in whatever order they come. A chat asks
// beside its first frame and never waits; [Ask] is for programs that have
// nothing else to do.
//
// It draws nothing and decides nothing.
package termcap

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"
)

// Caps is what is known of a terminal. What is false or empty is not known to be.
type Caps struct {
	Term    string // its type, TERM
	Program string // what it says of itself: TERM_PROGRAM, or its own answer
	Mux     string // what stands between us and it: "tmux", "screen" or empty
	Remote  bool   // it is at the other end of a SSH connection

	// Ways to draw pictures.
	Kitty bool // kitty's graphics
	Sixel bool
	ITerm bool // iTerm2's inline pictures

	Keyboard bool // kitty's keyboard: Shift+Enter can be told from Enter
	Answered bool // it has answered, so what it can do it has said

	// CellWidth and CellHeight are a cell's size in pixels; 0 where it is not known.
	CellWidth, CellHeight int
}

// FromEnv is what the environment says.
func FromEnv(env func(string) string) Caps {
	c := Caps{Term: env("TERM"), Program: env("TERM_PROGRAM"), Remote: env("SSH_CONNECTION") != "" || env("SSH_TTY") != ""}
	switch {
	case env("TMUX") != "":
		c.Mux = "tmux"
	case env("STY") != "":
		c.Mux = "screen"
	}
	if c.Mux == "" { // what is between us says nothing of what it cannot pass on
		c.ITerm = slices.Contains([]string{"iTerm.app", "WezTerm", "vscode", "mintty"}, c.Program) && c.Program != "vscode"
	}
	return c
}

// imageID is the number of a picture that is asked about and never shown.
const imageID = "31"

// Query is what asks the terminal: for kitty's graphics, the size of its cells,
// its name and, last, its attributes, which every terminal answers. Kitty's
// question does not go through what stands between, which would take the answer
// for keys.
func (c Caps) Query() string {
	if c.Term == "dumb" || c.Term == "" {
		return ""
	}
	text := "\x1b[16t" + ansi.RequestNameVersion
	if c.Mux == "" && c.Term != "linux" && c.Program != "Apple_Terminal" { // these would show the question
		text += ansi.KittyGraphics([]byte("AAAA"), "i="+imageID, "s=1", "v=1", "a=q", "t=d", "f=24")
	}
	return text + ansi.RequestPrimaryDeviceAttributes
}

// sixelAttribute is what a terminal that draws sixels lists among its attributes.
const sixelAttribute = 4

// Heard takes an answer in, as Bubble Tea gives it or as it was decoded. It says
// whether the message was one.
func (c *Caps) Heard(msg any) bool {
	switch msg := msg.(type) {
	case uv.KittyGraphicsEvent:
		c.Kitty = c.Kitty || string(msg.Payload) == "OK"
	case uv.CellSizeEvent:
		c.CellWidth, c.CellHeight = msg.Width, msg.Height
	case uv.PrimaryDeviceAttributesEvent:
		c.Answered = true
		c.Sixel = slices.Contains(msg, sixelAttribute)
	case uv.TerminalVersionEvent:
		c.named(msg.Name)
	case tea.TerminalVersionMsg:
		c.named(msg.Name)
	case uv.KeyboardEnhancementsEvent:
		c.Keyboard = c.Keyboard || msg.Flags > 0
	case tea.KeyboardEnhancementsMsg:
		c.Keyboard = c.Keyboard || msg.Flags > 0
	default:
		return false
	}
	return true
}

// named takes the terminal's own name, which says more than the environment.
func (c *Caps) named(name string) {
	if name == "" {
		return
	}
	c.Program = name
	if strings.HasPrefix(name, "iTerm2") || strings.HasPrefix(name, "WezTerm") {
		c.ITerm = c.Mux == ""
	}
}

// Colours says how many colours the environment promises.
func Colours(environ []string) string {
	switch colorprofile.Env(environ) {
	case colorprofile.TrueColor:
		return "16 million colours"
	case colorprofile.ANSI256:
		return "256 colours"
	case colorprofile.ANSI:
		return "16 colours"
	}
	return "no colours"
}
