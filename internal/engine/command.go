package engine

import (
	"encoding/json"

	"banyan/internal/llm"
	"banyan/internal/permission"
	"banyan/internal/rule"
	"banyan/internal/session"
	"banyan/internal/tool"
)

// Command is what a front end wants. Send never blocks; what comes of it is told by events.
type Command interface{ isCommand() }

// Submit sends a prompt. While a turn runs it steers: the model is told at the
// next boundary, between tool calls.
type Submit struct {
	Text   string
	Images []llm.Image
	From   string // the extension that sends it; empty for the user
	// FollowUp waits until the turn has ended instead of steering.
	FollowUp bool
	// Stands is what Text, then a command, stands for; nil if it is a plain
	// prompt. It is recorded below the prompt, so that going back to this gives
	// the command back.
	Stands *Expansion
}

// Expansion is what models are told after a prompt.
type Expansion struct {
	session.CustomMessage
	// Once: it is left out where the path says the same already.
	Once bool
}

// Unqueue takes all waiting prompts back; they come with [Queue].
type Unqueue struct{}

// SetQueue puts the follow-ups that wait into another order, or leaves some out:
// they are the ones that follow. A prompt that did not wait is added.
type SetQueue struct{ FollowUps []string }

// Interrupt ends what runs. What was received stays.
type Interrupt struct{}

// Answer answers an [Asked] event.
type Answer struct {
	Ask      int // Asked.Ask
	Decision Decision
	Comment  string // for the model, with Deny
}

// Decision is what a user says to a call that needs approval.
type Decision uint8

const (
	Deny   Decision = iota // the model is told, the turn goes on
	Allow                  // this once
	Always                 // and all like it while this session is open
	Stop                   // deny and end the turn
)

// SetModel chooses the model for what follows; it is recorded in the session.
type SetModel struct{ Model session.ModelRef }

// PreferModel names a model that was found while the program runs. It answers
// from here on if the embedded one would, and nothing has been asked yet.
type PreferModel struct{ Model session.ModelRef }

// Reconfigure changes what models are told and adds permission rules, from the
// next request on: a folder was trusted.
type Reconfigure struct {
	System       string
	Instructions int                      // as in [Config]
	Below        func(path string) string // as in [Config]
	Rules        []permission.Rule
	StreamRules  []*rule.Rule // as in [Config]
}

// SetTools are the tools of one source beside the engine's own, from the next
// request on, in place of those that the source gave before; none takes them
// away. A tool whose name is taken is left out.
type SetTools struct {
	From  string // who gives them, for people
	Tools []tool.Tool
}

// SetThinking chooses the thinking level for what follows; it is recorded.
type SetThinking struct{ Level llm.ThinkingLevel }

// SetMode takes what follows on this path into a mode; it is recorded, and holds
// again wherever the path is gone back to. "plan" has nothing changed; what
// other names mean is their owners' business.
type SetMode struct {
	Mode string // empty or "none" for none
	// Data is what the owner keeps with it, a JSON value, or nil. Where it is an
	// object, models are told the text "instructions" in it while the mode holds.
	Data json.RawMessage
}

// SetPermission chooses the permission mode of the running program. "plan" is a
// mode of the path, too.
type SetPermission struct{ Mode string }

// SetLabel names an entry; empty Text takes the name away. The zero Target is the leaf.
type SetLabel struct {
	Target session.ID
	Text   string
}

// SetName names the session.
type SetName struct{ Name string }

// Navigate moves the leaf: to the parent of a user's message, whose content
// comes back as a draft, or to any other entry itself, or, with the zero Target,
// before the first entry. It is answered by one [Moved] or one [Stayed].
type Navigate struct {
	Target session.ID
	At     bool // to the entry itself, whatever it is
	// Summarize what is left behind, with more instructions or instead of the usual ones.
	Summarize    bool
	Instructions string
	Replace      bool
	// Label names the summary, or the target where there is none; empty for no label.
	Label string
	// Interrupt ends what runs first.
	Interrupt bool
}

// CherryPick appends copies of entries below the leaf; of an answer that calls
// tools with its results. It is answered by one [Moved] or one [Stayed].
type CherryPick struct{ Entries []session.ID } // at least one

// Merge takes over what the path to an entry has and the active path has not:
// as copies, or as a summary. It is answered by one [Moved] or one [Stayed].
type Merge struct {
	Target       session.ID
	Summarize    bool
	Instructions string
	Replace      bool // Instructions go instead of the usual ones
}

// RunCommand runs a shell command of the user's and records it. It asks nobody.
type RunCommand struct {
	Command string
	Exclude bool // models never see it
}

// Inspect asks for a [ContextReport].
type Inspect struct{}

// Compact makes a summary stand for the older part of the path.
type Compact struct {
	Focus string // what the summary should look at above all
}

// Fork writes the path before a user's message (or, with At, up to an entry)
// into a new session file and goes on there.
type Fork struct {
	Target session.ID
	At     bool
}

// NewSession leaves the session for a new one.
type NewSession struct {
	// Discard moves the session that was left, with those of its tasks, to the trash.
	Discard bool
}

// Open leaves the session for another file.
type Open struct{ Path string }

// Save writes the session elsewhere and goes on there: for full disks.
type Save struct{ Path string }

// Close ends the engine: interrupts, saves, and closes Events.
type Close struct{}

func (Submit) isCommand()        {}
func (Unqueue) isCommand()       {}
func (SetQueue) isCommand()      {}
func (Interrupt) isCommand()     {}
func (Answer) isCommand()        {}
func (SetModel) isCommand()      {}
func (PreferModel) isCommand()   {}
func (Reconfigure) isCommand()   {}
func (SetTools) isCommand()      {}
func (SetThinking) isCommand()   {}
func (SetMode) isCommand()       {}
func (SetPermission) isCommand() {}
func (SetLabel) isCommand()      {}
func (SetName) isCommand()       {}
func (Navigate) isCommand()      {}
func (CherryPick) isCommand()    {}
func (Merge) isCommand()         {}
func (RunCommand) isCommand()    {}
func (Inspect) isCommand()       {}
func (Compact) isCommand()       {}
func (Fork) isCommand()          {}
func (NewSession) isCommand()    {}
func (Open) isCommand()          {}
func (Save) isCommand()          {}
func (Close) isCommand()         {}
