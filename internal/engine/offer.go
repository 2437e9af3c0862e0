package engine

import "banyan/internal/session"

// What an extension puts on the path, and what it shows. [Offer], [Panel],
// [Dialog], [DialogClosed] and [Notice] are commands of the extension's host and
// events for the front end, passed on as they are; [Invoke] and [DialogAnswer]
// are commands of the front end, and occasions for the host.

// Append puts entries on the path.
type Append struct {
	From    string // who wants it, for people
	Entries []session.Data
	// Turn begins a turn with them, unless something runs already.
	Turn bool
	// Done, if not nil, is called by the owner with what was appended, or why not.
	// It must return at once.
	Done func([]session.Entry, error)
}

// Offer is all that one source has for the user, in place of what it had before.
type Offer struct {
	From     string
	Commands []OfferedCommand
	Keys     []OfferedKey
}

// OfferedCommand is a slash command of a source.
type OfferedCommand struct {
	Name string // without the slash
	Args string // how its arguments are written; empty if it takes none
	Help string
}

// OfferedKey is a keystroke that runs a command of the same source.
type OfferedKey struct {
	Key     string // as "ctrl+x t"
	Command string
	Args    string
	Help    string
}

// Invoke runs a command that a source has offered.
type Invoke struct{ From, Command, Args string }

// Panel is what one source shows beside the conversation, in place of what it
// showed before; empty for nothing.
type Panel struct {
	From   string
	Status string   // a few words in the footer
	Widget []string // lines above the editor
}

// Dialog asks the user something; [DialogAnswer] answers. It is no part of the
// conversation and does not hold up a turn by itself.
type Dialog struct {
	ID      string // of the asker's choice, one of a kind
	From    string
	Kind    DialogKind
	Title   string
	Text    string   // what is asked; of an input or editor what stands there at first
	Options []string // of a selection
}

// DialogKind is how a dialog is answered.
type DialogKind string

const (
	DialogSelect  DialogKind = "select"
	DialogConfirm DialogKind = "confirm"
	DialogInput   DialogKind = "input"  // a line
	DialogEditor  DialogKind = "editor" // a text of lines
)

// DialogClosed: a dialog is not to be answered any more.
type DialogClosed struct{ ID string }

// DialogAnswer is what the user says.
type DialogAnswer struct {
	ID     string
	OK     bool // false: the user went away from it, or said no
	Choice int  // into the options of a selection
	Text   string
}

func (Append) isCommand()       {}
func (Offer) isCommand()        {}
func (Invoke) isCommand()       {}
func (Panel) isCommand()        {}
func (Dialog) isCommand()       {}
func (DialogClosed) isCommand() {}
func (DialogAnswer) isCommand() {}
func (Notice) isCommand()       {}

func (Offer) isEvent()        {}
func (Panel) isEvent()        {}
func (Dialog) isEvent()       {}
func (DialogClosed) isEvent() {}

// The names of what front ends say to a host.
func (*Invoke) Name() string       { return "invoke" }
func (*DialogAnswer) Name() string { return "dialog_answer" }

// appendFor does what an extension wants to have on the path.
func (e *Engine) appendFor(a Append) {
	made, err := e.session.AppendAll(a.Entries...)
	err = e.accept(made, err)
	if a.Done != nil {
		a.Done(made, err)
	} else if err != nil {
		e.notice(Failure, "Could not record what %s wants: %v", a.From, err)
	}
	if err == nil && a.Turn && e.job == nil {
		e.startTurn()
	}
}
