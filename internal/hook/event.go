package hook

import "slices"

// The events. All but the last four are Claude Code's.
const (
	PreToolUse         = "PreToolUse"
	PermissionRequest  = "PermissionRequest"
	PostToolUse        = "PostToolUse"
	PostToolUseFailure = "PostToolUseFailure"
	UserPromptSubmit   = "UserPromptSubmit"
	SessionStart       = "SessionStart"
	SessionEnd         = "SessionEnd"
	Stop               = "Stop"
	SubagentStop       = "SubagentStop"
	PreCompact         = "PreCompact"
	Notification       = "Notification"
	PreTree            = "PreTree"
	PostTree           = "PostTree"
	PreBranch          = "PreBranch"
	PostBranch         = "PostBranch"
)

// says is what the last word of a hook is good for: exit code 2, or a decision
// to block.
type says uint8

const (
	nothing  says = iota // it is told to the user, and no more
	feedback             // the model is told
	blocks               // what was to happen does not, or goes on where it was to end
)

// event is a row of the table of events.
type event struct {
	name string
	help string // when it happens
	// on gives what a matcher is held against; nil where matchers mean nothing.
	on     func(Input) []string
	block  says
	spoken bool // plain output is told to the model
}

var events = []event{
	{name: PreToolUse, help: "before a tool call, whatever the permission rules say of it", on: toolNames, block: blocks},
	{name: PermissionRequest, help: "before you are asked about a call", on: toolNames, block: blocks},
	{name: PostToolUse, help: "after a call that did what it should", on: toolNames, block: feedback},
	{name: PostToolUseFailure, help: "after a call that failed", on: toolNames, block: feedback},
	{name: UserPromptSubmit, help: "when you send a prompt", block: blocks, spoken: true},
	{name: SessionStart, help: "when a session is there: startup, resume, clear, fork, compact", on: func(i Input) []string { return []string{i.Source} }, spoken: true},
	{name: SessionEnd, help: "when a session is left: clear, resume, fork, prompt_input_exit, other", on: func(i Input) []string { return []string{i.Reason} }},
	{name: Stop, help: "when the model has nothing more to do", block: blocks},
	{name: SubagentStop, help: "when a task's agent has nothing more to do", on: func(i Input) []string { return []string{i.AgentType} }, block: blocks},
	{name: PreCompact, help: "before the context is compacted: manual, auto", on: func(i Input) []string { return []string{i.Trigger} }, block: blocks},
	{name: Notification, help: "when you are called: permission_prompt, idle_prompt", on: func(i Input) []string { return []string{i.NotificationType} }},
	{name: PreTree, help: "before the leaf moves in the tree", block: blocks},
	{name: PostTree, help: "after the leaf has moved in the tree"},
	{name: PreBranch, help: "before a branch is made into a session of its own", block: blocks},
	{name: PostBranch, help: "after a branch was made into a session of its own"},
}

// known finds an event.
func known(name string) (event, bool) {
	i := slices.IndexFunc(events, func(e event) bool { return e.name == name })
	if i < 0 {
		return event{}, false
	}
	return events[i], true
}

// ofTool says whether an event is about a tool call.
func (e event) ofTool() bool {
	switch e.name {
	case PreToolUse, PermissionRequest, PostToolUse, PostToolUseFailure:
		return true
	}
	return false
}
