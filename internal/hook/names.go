package hook

import (
	"encoding/json"
	"maps"
	"path/filepath"

	"banyan/internal/permission"
)

// claudeTool is how Claude Code calls a tool of ours, and those of its arguments
// that are called otherwise there.
type claudeTool struct {
	name   string
	args   map[string]string // ours to theirs
	millis string            // an argument of theirs in ms that is in seconds with us
	path   string            // an argument of theirs that is an absolute path
}

var claudeTools = map[string]claudeTool{
	"bash":        {name: "Bash", args: map[string]string{"background": "run_in_background"}, millis: "timeout"},
	"read":        {name: "Read", args: filePath, path: "file_path"},
	"write":       {name: "Write", args: filePath, path: "file_path"},
	"edit":        {name: "Edit", args: filePath, path: "file_path"},
	"glob":        {name: "Glob"},
	"grep":        {name: "Grep", args: map[string]string{"ignore_case": "-i"}},
	"ls":          {name: "LS", path: "path"},
	"fetch":       {name: "WebFetch"},
	"task":        {name: "Task", args: map[string]string{"agent": "subagent_type"}},
	"bash_output": {name: "BashOutput"},
	"bash_kill":   {name: "KillShell"},
	// These have no counterpart, but what they change is a file all the same.
	"stat":   {name: "stat", args: filePath, path: "file_path"},
	"exists": {name: "exists", args: filePath, path: "file_path"},
	"mkdir":  {name: "mkdir", args: filePath, path: "file_path"},
	"rm":     {name: "rm", args: filePath, path: "file_path"},
}

var filePath = map[string]string{"path": "file_path"}

// toolNames are what a matcher may call the tool: our name, and every name by
// which permission rules mean it.
func toolNames(in Input) []string {
	return append([]string{in.tool, in.ToolName}, permission.Names(in.tool)...)
}

// Call puts a tool call into an input, as Claude Code would name it. Relative
// paths are those of dir.
func (in *Input) Call(id, tool string, args json.RawMessage, dir string) {
	in.tool, in.args = tool, args
	in.ToolName, in.ToolUseID, in.ToolInput = tool, id, args
	row, ok := claudeTools[tool]
	if !ok {
		return
	}
	in.ToolName = row.name
	var fields map[string]any
	if json.Unmarshal(args, &fields) != nil {
		return
	}
	if _, several := fields["edits"]; several && tool == "edit" {
		in.ToolName = "MultiEdit"
	}
	for ours, theirs := range row.args {
		if v, ok := fields[ours]; ok {
			delete(fields, ours)
			fields[theirs] = v
		}
	}
	if s, ok := fields[row.millis].(float64); ok {
		fields[row.millis] = s * 1000
	}
	if p, ok := fields[row.path].(string); ok && !filepath.IsAbs(p) {
		fields[row.path] = filepath.Join(dir, p)
	}
	if text, err := json.Marshal(fields); err == nil {
		in.ToolInput = text
	}
}

// ours gives arguments that a hook has changed as our tool takes them. What a
// hook added that we do not have is left to the tool's schema to refuse.
func ours(tool string, changed json.RawMessage) json.RawMessage {
	row, ok := claudeTools[tool]
	var fields map[string]any
	if !ok || json.Unmarshal(changed, &fields) != nil {
		return changed
	}
	back := maps.Clone(fields)
	for ours, theirs := range row.args {
		if v, ok := fields[theirs]; ok {
			delete(back, theirs)
			back[ours] = v
		}
	}
	if ms, ok := back[row.millis].(float64); ok {
		back[row.millis] = ms / 1000
	}
	text, err := json.Marshal(back)
	if err != nil {
		return changed
	}
	return text
}

// modes are Claude Code's names of our permission modes.
var modes = map[string]string{"ask": "default", "edits": "acceptEdits", "plan": "plan", "auto": "auto", "full": "bypassPermissions"}

// Mode is what Claude Code calls a permission mode of ours.
func Mode(ours string) string {
	if theirs, ok := modes[ours]; ok {
		return theirs
	}
	return "default"
}
