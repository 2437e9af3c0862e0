package engine

import (
	"encoding/json"

	"banyan/internal/llm"
	"banyan/internal/session"
)

// The occasions of a session. Those whose name says "before", and compacting,
// are asked; the others are told.

// SessionStart: a session is open.
type SessionStart struct {
	Reason   string // "startup", "resume", "new" or "fork"
	Previous string // file of the session before; empty for none, and in memory
	Session  session.Snapshot
	// Permission is the permission mode that it begins with.
	Permission string
}

// SessionShutdown: a session is left. It is the last of its session.
type SessionShutdown struct {
	Reason  string // "quit", "resume", "new" or "fork"
	Session session.Snapshot
}

// SessionBeforeSwitch: another session is about to be opened.
type SessionBeforeSwitch struct {
	Reason string // "new", "resume" or "fork"
	Path   string // of the session to come; empty for a new one
}

// SessionSwitch: another session was opened.
type SessionSwitch struct {
	Reason   string
	Previous string // file of the session before; empty in memory
	Session  session.Snapshot
}

// SessionBeforeTree: the leaf is about to be moved.
type SessionBeforeTree struct {
	Target   session.ID
	OldLeaf  session.ID
	NewLeaf  session.ID      // where the leaf will be, or the summary will hang
	Common   session.ID      // the deepest entry on both paths; zero if there is none
	Left     []session.Entry // what is left behind, oldest first
	Navigate Navigate        // as the user asked for it
	Session  session.Snapshot

	// Out:

	// Summary, if not nil, is taken instead of the model's, where the user asked for one.
	Summary *session.BranchSummary
	// Instructions, if not nil, go instead of the user's, and Replace with them.
	Instructions *string
	Replace      bool
	Label        string // of the summary, or else of the target; empty for the user's
}

// SessionTree: the leaf was moved.
type SessionTree struct {
	OldLeaf, NewLeaf session.ID
	Summary          *session.Entry // that was made for it; nil if there is none
	FromHook         bool           // the summary is a hook's
	Session          session.Snapshot
}

// SessionBeforeBranch: a path is about to be taken into a new session.
type SessionBeforeBranch struct {
	Entry session.ID // the one that was chosen
	Leaf  session.ID // up to which the path is taken; zero: an empty session
}

// SessionBranch: a path was taken into a new session.
type SessionBranch struct {
	Parent  string // file of the session that it came from; empty in memory
	Session session.Snapshot
}

// SessionBeforeCompact: a path is about to be compacted.
type SessionBeforeCompact struct {
	Reason       CompactionReason
	FirstKept    session.ID
	TokensBefore int
	Instructions string
	Path         []session.Entry // root first
	Session      session.Snapshot

	// Out:

	// Summary, if not nil, is taken instead of the model's; its FirstKept may be
	// zero for the planned one.
	Summary *session.Compaction
}

// SessionCompacting: a model is about to write the summary of a compaction.
type SessionCompacting struct {
	Reason       CompactionReason
	Instructions string

	// Out:

	Context []string // what the summary should know or look at, besides
}

// SessionCompact: a path was compacted.
type SessionCompact struct {
	Entry    session.Entry
	FromHook bool
	Session  session.Snapshot
}

// ModelSelect: another model answers from here on.
type ModelSelect struct {
	Model, Previous session.ModelRef
	Source          string // "set", or "restore" where a path says it
}

// ThinkingLevelSelect: another thinking level holds from here on.
type ThinkingLevelSelect struct{ Level, Previous llm.ThinkingLevel }

// ModeSelect: another mode holds from here on, or another permission mode.
type ModeSelect struct {
	Mode       string          // of the path; empty for none
	Data       json.RawMessage // that is kept with it; nil for none
	Previous   string
	Permission string // the permission mode
}

func (*SessionStart) Name() string         { return "session_start" }
func (*SessionShutdown) Name() string      { return "session_shutdown" }
func (*SessionBeforeSwitch) Name() string  { return "session_before_switch" }
func (*SessionSwitch) Name() string        { return "session_switch" }
func (*SessionBeforeTree) Name() string    { return "session_before_tree" }
func (*SessionTree) Name() string          { return "session_tree" }
func (*SessionBeforeBranch) Name() string  { return "session_before_branch" }
func (*SessionBranch) Name() string        { return "session_branch" }
func (*SessionBeforeCompact) Name() string { return "session_before_compact" }
func (*SessionCompacting) Name() string    { return "session.compacting" }
func (*SessionCompact) Name() string       { return "session_compact" }
func (*ModelSelect) Name() string          { return "model_select" }
func (*ModeSelect) Name() string           { return "mode_select" }
func (*ThinkingLevelSelect) Name() string  { return "thinking_level_select" }

// Occasions are the zero values of all occasions, in the order in which
// documents list them.
func Occasions() []Occasion {
	return []Occasion{
		&SessionStart{}, &SessionShutdown{}, &SessionBeforeSwitch{}, &SessionSwitch{},
		&SessionBeforeTree{}, &SessionTree{}, &SessionBeforeBranch{}, &SessionBranch{},
		&SessionBeforeCompact{}, &SessionCompacting{}, &SessionCompact{},
		&Input{}, &BeforeAgentStart{}, &AgentStart{}, &AgentEnd{}, &Context{}, &TurnStart{}, &TurnEnd{},
		&MessageStart{}, &MessageUpdate{}, &MessageEnd{},
		&ToolCall{}, &ToolResult{}, &PermissionRequest{}, &UserBash{},
		&ModelSelect{}, &ThinkingLevelSelect{}, &ModeSelect{}, &TaskStart{}, &TaskStop{AgentEnd: &AgentEnd{}}, &TaskEnd{}, &Notification{},
	}
}
