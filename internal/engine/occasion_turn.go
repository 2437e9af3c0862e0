package engine

import (
	"encoding/json"
	"slices"
	"time"

	"banyan/internal/agent"
	"banyan/internal/llm"
	"banyan/internal/permission"
	"banyan/internal/session"
	"banyan/internal/tool"
)

// The occasions of a turn. Asked are Input, BeforeAgentStart, AgentEnd (where the
// turn would end well), Context, ToolCall, ToolResult, PermissionRequest and
// UserBash; the others are told.

// Input: a prompt is about to be recorded. A veto gives it back to the editor.
type Input struct {
	Source  string // who sent it, as [Submit].From: empty for the user
	Steers  bool   // a turn is running
	Session session.Snapshot

	// Out:

	Text    string
	Images  []llm.Image
	Handled bool                    // it is done with: nothing is recorded, no model is asked
	Add     []session.CustomMessage // that models are told after it
}

// BeforeAgentStart: a turn is about to begin; its prompts are recorded.
type BeforeAgentStart struct {
	Prompt  string // text of the newest prompt
	System  string // as it is without hooks
	Session session.Snapshot

	// Out:

	Append string                  // to System, in this turn
	Add    []session.CustomMessage // that models are told after the prompt
}

// AgentStart: a turn has begun.
type AgentStart struct{ At time.Time }

// AgentEnd: a turn is about to end, or, where Err is not nil, has ended: then
// nobody is asked.
type AgentEnd struct {
	Err  error
	Last llm.Message // the newest answer; zero for none
	// Again counts how often this turn was kept going already.
	Again   int
	Session session.Snapshot

	// Out:

	Continue string // what the model is told so that the turn goes on; empty lets it end
}

// Context: a request is about to be sent.
type Context struct {
	// Out:

	Messages []llm.Message // repaired afterwards so that any provider takes them
}

// TurnStart: a round of a turn has begun: one request and the calls of its answer.
type TurnStart struct {
	Index int // of the round in its turn, from 0
	At    time.Time
}

// TurnEnd: a round of a turn has ended.
type TurnEnd struct {
	Index   int
	Message llm.Message   // the answer
	Results []llm.Message // of its calls
}

// MessageStart: a message begins; of an answer only role and model are known.
type MessageStart struct{ Message llm.Message }

// MessageUpdate: an answer goes on.
type MessageUpdate struct{ Event llm.Event }

// MessageEnd: a message is on the path.
type MessageEnd struct {
	Entry   session.ID
	Message llm.Message
}

// ToolCall: a call is about to be judged and run.
type ToolCall struct {
	ID      string
	Tool    string
	Access  tool.Access
	Session session.Snapshot

	// Out:

	Arguments json.RawMessage // one JSON object that fits the tool's schema
	Opinion
}

// PermissionRequest: the user is about to be asked whether a call may run.
type PermissionRequest struct {
	Call    llm.ToolCall
	Subject string
	Why     string // they would be asked

	// Out:

	Opinion // permission.Ask leaves it to the user
}

// Opinion is what hooks say to a call. Use Decide, so that the strictest counts.
type Opinion struct {
	Said   bool
	Action permission.Action
	Reason string // for the model where it is denied, else for the user
	By     string // who said it
}

// Decide adds what somebody says: a deny goes before an ask, and that before an allow.
func (o *Opinion) Decide(action permission.Action, reason, by string) {
	if !o.Said || strictness(action) > strictness(o.Action) {
		*o = Opinion{true, action, reason, by}
	}
}

// approval is what is recorded where an opinion decided.
func (o Opinion) approval() agent.Approval {
	return agent.Approval{Action: o.Action.String(), By: o.By}
}

func strictness(a permission.Action) int {
	return slices.Index([]permission.Action{permission.Allow, permission.Ask, permission.Deny}, a)
}

// ToolResult: a call has ended, and its result is about to be recorded.
type ToolResult struct {
	CallID    string
	Tool      string
	Arguments json.RawMessage // as it ran
	Details   json.RawMessage // what the screen draws; a JSON object or nil

	// Out:

	Content []llm.Block
	IsError bool
}

// UserBash: a command of the user's is about to run.
type UserBash struct {
	Exclude bool // models never see it

	// Out:

	Command string
	// Output, if not nil, is taken for what it prints, and nothing is run.
	Output   *string
	ExitCode int // with Output
}

// TaskStart: a child task has begun.
type TaskStart struct {
	ID     string // of the task
	Agent  string // which agent does it; empty for the usual one
	Prompt string
	Path   string // of the child's session; empty in memory
}

// TaskStop: the agent of a task is about to end. It is the task's own AgentEnd,
// which is told apart because its session is not the one that the user sees;
// [Occasions] leaves it out.
type TaskStop struct {
	ID    string // of the task
	Agent string // which agent does it; empty for the usual one
	*AgentEnd
}

// TaskEnd: a child task has ended.
type TaskEnd struct {
	ID     string
	Agent  string
	Path   string
	Result string // the child's last words
	Err    error  // nil when it ended well
}

// Notification: the user is waited for.
type Notification struct {
	Kind string // "permission" where a question stands
	Text string
}

func (*Input) Name() string             { return "input" }
func (*BeforeAgentStart) Name() string  { return "before_agent_start" }
func (*AgentStart) Name() string        { return "agent_start" }
func (*AgentEnd) Name() string          { return "agent_end" }
func (*Context) Name() string           { return "context" }
func (*TurnStart) Name() string         { return "turn_start" }
func (*TurnEnd) Name() string           { return "turn_end" }
func (*MessageStart) Name() string      { return "message_start" }
func (*MessageUpdate) Name() string     { return "message_update" }
func (*MessageEnd) Name() string        { return "message_end" }
func (*ToolCall) Name() string          { return "tool_call" }
func (*ToolResult) Name() string        { return "tool_result" }
func (*PermissionRequest) Name() string { return "permission_request" }
func (*UserBash) Name() string          { return "user_bash" }
func (*TaskStart) Name() string         { return "task_start" }
func (*TaskStop) Name() string          { return "task_stop" }
func (*TaskEnd) Name() string           { return "task_end" }
func (*Notification) Name() string      { return "notification" }
