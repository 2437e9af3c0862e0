package session

import (
	"encoding/json"
	"time"

	"banyan/internal/llm"
)

// ID names an entry within its session: 8 hex digits when we made it, any
// non-empty string when others did. The zero ID is no entry: the parent of a
// root, the leaf of an empty path.
type ID string

// Root is how a null leaf is written where a person or a file names one.
const Root = "root"

// Entry is one line of a session. It is immutable.
type Entry struct {
	ID     ID
	Parent ID // zero for a root
	Time   time.Time
	Data   Data
}

// Data is what an entry says: [Message], [Command], [Compaction],
// [BranchSummary], [Custom], [CustomMessage], [Label], [Info], [ModelChange],
// [ThinkingChange], [ModeChange], [RuleInjection] or [Unknown].
type Data interface {
	// kind is the entry's type in the file.
	kind() string
}

// Message is a message of the user, the model, or a tool.
type Message struct{ llm.Message }

// Command is what a user ran with `!` (role bashExecution in the file).
type Command struct {
	Command    string
	Output     string
	ExitCode   *int // nil when it did not exit by itself
	Cancelled  bool
	Truncated  bool
	FullOutput string // path of the whole output where Output is cut
	Excluded   bool   // ran with `!!`: models never see it
	Time       time.Time
}

// Compaction stands for everything on its path before FirstKept.
type Compaction struct {
	Summary      string
	FirstKept    ID
	TokensBefore int
	Details      *FileLists
	Usage        *llm.Usage // what making the summary took
	FromHook     bool
}

// BranchSummary says what happened on a branch that was left.
type BranchSummary struct {
	From     ID // the entry it hangs below; zero is written as "root"
	Summary  string
	Details  *FileLists
	Usage    *llm.Usage
	FromHook bool
}

// FileLists are the files that summarised work touched.
type FileLists struct {
	Read     []string `json:"readFiles"`
	Modified []string `json:"modifiedFiles"`
	LeftLeaf ID       `json:"leftLeafId,omitempty"` // branch summaries: where the user was
}

// Custom is an extension's own data; models never see it.
type Custom struct {
	Type string
	Data json.RawMessage // nil if absent
}

// CustomMessage is an extension's message to the model, sent as the user's.
type CustomMessage struct {
	Type    string
	Content []llm.Block
	Display bool // shown to people
	Details json.RawMessage
}

// Label names an entry; an empty Text takes the name away.
type Label struct {
	Target ID
	Text   string
}

// Info names the session; an empty Name takes the name away.
type Info struct{ Name string }

// ModelChange says which model answers from here on.
type ModelChange struct {
	Provider, Model string
	Role            string // oh-my-pi
}

// ThinkingChange says how much the model is asked to reason from here on.
type ThinkingChange struct{ Level llm.ThinkingLevel }

// ModeChange says which mode holds from here on.
type ModeChange struct {
	Mode string
	Data json.RawMessage
}

// RuleInjection says which stream rules were added on this path.
type RuleInjection struct{ Rules []string }

// Unknown is an entry of a kind that we do not know, or one that does not decode.
type Unknown struct {
	Type string
	Raw  json.RawMessage // the whole line
	Err  error           // why a known kind did not decode
}

func (Message) kind() string        { return "message" }
func (Command) kind() string        { return "message" }
func (Compaction) kind() string     { return "compaction" }
func (BranchSummary) kind() string  { return "branch_summary" }
func (Custom) kind() string         { return "custom" }
func (CustomMessage) kind() string  { return "custom_message" }
func (Label) kind() string          { return "label" }
func (Info) kind() string           { return "session_info" }
func (ModelChange) kind() string    { return "model_change" }
func (ThinkingChange) kind() string { return "thinking_level_change" }
func (ModeChange) kind() string     { return "mode_change" }
func (RuleInjection) kind() string  { return "ttsr_injection" }
func (u Unknown) kind() string      { return u.Type }
