package engine

import (
	"time"

	"banyan/internal/llm"
	"banyan/internal/session"
	"banyan/internal/tool"
)

// Event is what a front end is told. Events are values; snapshots in them may be kept and read anywhere.
type Event interface{ isEvent() }

// Opened: the session is another one now (at start, after /new, /resume, /branch).
type Opened struct {
	Session session.Snapshot
	Draft   *Draft // for the editor, if it is empty
}

// Draft is what goes back to the editor.
type Draft struct {
	Text   string
	Images []llm.Image
}

// Appended: an entry was added below the old leaf and is the new one.
type Appended struct {
	Entry   session.Entry
	Session session.Snapshot
}

// Moved: the leaf was moved.
type Moved struct {
	Session session.Snapshot
	From    session.ID // where the leaf was; zero before the first entry
	Draft   *Draft
}

// Stayed: a [Navigate], [CherryPick] or [Merge] was not done and nothing has changed.
type Stayed struct {
	Target session.ID
	Err    error // why; nil where the leaf is there already, context.Canceled when interrupted
}

// State is what the footer shows. It comes whenever any of it changes.
type State struct {
	Model         session.ModelRef
	ModelName     string // for people
	Offline       bool   // the embedded model answers
	Thinking      llm.ThinkingLevel
	Permission    string // mode
	Mode          string // of the path; empty for none
	ContextTokens int    // of the path at the leaf; 0 where it is not known
	// ContextEstimated: ContextTokens was not all counted by the provider.
	ContextEstimated bool
	ContextWindow    int // tokens; 0 where it is not known
	Usage            llm.Usage
	Tasks            TaskSum
	Unsaved          int // entries that the disk refused
}

// Started: something runs that Interrupt ends.
type Started struct {
	What string // "turn", "summary", "compaction", "command"
	At   time.Time
}

// Progress: the answer goes on. The first one after Started or after an
// Appended answer begins a new answer; an Appended answer ends it.
type Progress struct{ Event llm.Event }

// ToolStarted: a call is being run.
type ToolStarted struct {
	Call llm.ToolCall
	At   time.Time
}

// ToolProgress: how far a call is.
type ToolProgress struct {
	CallID string
	View   tool.View
}

// Asked: a call needs approval. [Answer] answers.
type Asked struct {
	Ask int
	// Tasks are the descriptions of the tasks that it comes from, the outermost
	// first; none where it is of the session itself. Untrusted.
	Tasks   []string
	Call    llm.ToolCall
	Subject string
	Reason  string // why it is asked
	Always  string // what "always" will allow, exactly: rules as they stand in settings; empty if it is not offered
	Preview tool.View
}

// Withdrawn: a question no longer stands (the turn was interrupted).
type Withdrawn struct{ Ask int }

// Queue: prompts that wait, oldest first.
type Queue struct {
	Steering, FollowUps []string
	// TakenBack answers Unqueue: for the editor.
	TakenBack []string
}

// Finished: what Started said is over.
type Finished struct {
	What string
	Err  error // nil when it ended well; context.Canceled when interrupted
}

// CommandRunning: how far a command of the user's is. The entry comes with Appended.
type CommandRunning struct{ Command session.Command }

// CompactionStarted: the path is being compacted; its summary comes as Progress.
type CompactionStarted struct{ Reason CompactionReason }

// CompactionEnded comes exactly once for each CompactionStarted.
type CompactionEnded struct {
	Reason CompactionReason
	// Before and After are the context's size in tokens, estimated.
	Before, After int
	Err           error // nothing was changed; context.Canceled when interrupted
}

// CompactionReason says why a path is compacted.
type CompactionReason string

const (
	CompactManual    CompactionReason = "manual"
	CompactThreshold CompactionReason = "threshold" // the context window is nearly full
	CompactOverflow  CompactionReason = "overflow"  // the provider refused the request for its size
)

// Closed is the last event: the engine has ended. Err says why, if it was not asked to.
type Closed struct{ Err error }

// Notice is something the user should know.
type Notice struct {
	Level Level
	Text  string // what happened and what can be done
}

// Level is how much a notice matters.
type Level uint8

const (
	Note Level = iota
	Warning
	Failure
)

func (Opened) isEvent()            {}
func (Appended) isEvent()          {}
func (Moved) isEvent()             {}
func (Stayed) isEvent()            {}
func (State) isEvent()             {}
func (Started) isEvent()           {}
func (Progress) isEvent()          {}
func (ToolStarted) isEvent()       {}
func (ToolProgress) isEvent()      {}
func (Asked) isEvent()             {}
func (Withdrawn) isEvent()         {}
func (Queue) isEvent()             {}
func (Finished) isEvent()          {}
func (CommandRunning) isEvent()    {}
func (ContextReport) isEvent()     {}
func (CompactionStarted) isEvent() {}
func (CompactionEnded) isEvent()   {}
func (Closed) isEvent()            {}
func (Notice) isEvent()            {}
