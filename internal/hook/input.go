package hook

import "encoding/json"

// Input is what a hook is told on its standard input, as one JSON object. Which
// fields are set depends on the event; names and meanings are Claude Code's, but
// those of the tree.
type Input struct {
	SessionID      string `json:"session_id"`
	TranscriptPath string `json:"transcript_path"` // of the session file; empty in memory
	Cwd            string `json:"cwd"`
	PermissionMode string `json:"permission_mode,omitempty"` // as [Mode] gives it
	Event          string `json:"hook_event_name"`

	// PreToolUse, PermissionRequest (without the id), PostToolUse and
	// PostToolUseFailure: set them by Call.
	ToolName  string          `json:"tool_name,omitempty"`
	ToolInput json.RawMessage `json:"tool_input,omitempty"`
	ToolUseID string          `json:"tool_use_id,omitempty"`
	// PostToolUse.
	ToolResponse json.RawMessage `json:"tool_response,omitempty"`
	// PostToolUseFailure.
	Error     string `json:"error,omitempty"`
	Interrupt *bool  `json:"is_interrupt,omitempty"`

	Prompt string `json:"prompt,omitempty"` // UserPromptSubmit
	Source string `json:"source,omitempty"` // SessionStart
	Model  string `json:"model,omitempty"`  // SessionStart
	Reason string `json:"reason,omitempty"` // SessionEnd

	// Stop and SubagentStop.
	StopHookActive *bool  `json:"stop_hook_active,omitempty"`
	LastAnswer     string `json:"last_assistant_message,omitempty"`
	AgentID        string `json:"agent_id,omitempty"`
	AgentType      string `json:"agent_type,omitempty"`
	AgentPath      string `json:"agent_transcript_path,omitempty"`

	// PreCompact.
	Trigger            string  `json:"trigger,omitempty"` // "manual" or "auto"
	CustomInstructions *string `json:"custom_instructions,omitempty"`

	// Notification.
	Message          string `json:"message,omitempty"`
	Title            string `json:"title,omitempty"`
	NotificationType string `json:"notification_type,omitempty"`

	// PreTree and PostTree: ids of entries; an empty one is before the first.
	Tree *Tree `json:"tree,omitempty"`
	// PreBranch and PostBranch.
	Branch *Branch `json:"branch,omitempty"`

	tool string          // as we call it
	args json.RawMessage // as our tool takes them
}

// Tree is a move of the leaf.
type Tree struct {
	Target  string `json:"target"` // what the user chose
	OldLeaf string `json:"old_leaf"`
	NewLeaf string `json:"new_leaf"`
	Common  string `json:"common,omitempty"` // the deepest entry on both paths
	Left    int    `json:"left,omitempty"`   // how many entries are left behind
	// Summarize: what is left behind is to be summarised, or was.
	Summarize bool   `json:"summarize"`
	Summary   string `json:"summary,omitempty"` // PostTree: its entry
}

// Branch is a fork into a session of its own.
type Branch struct {
	Entry  string `json:"entry,omitempty"`  // what the user chose
	Leaf   string `json:"leaf,omitempty"`   // up to which the path is taken
	Parent string `json:"parent,omitempty"` // PostBranch: file of the session before
	Path   string `json:"path,omitempty"`   // PostBranch: file of the new one
}
