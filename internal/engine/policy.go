package engine

import (
	"fmt"
	"slices"
	"strings"

	"banyan/internal/llm"
	"banyan/internal/tool"
)

// AskPolicy is the plain policy: looking is free, everything else is asked,
// unless the mode says otherwise.
type AskPolicy struct {
	mode   string
	always map[string]bool // tool and exact subject
}

// NewAskPolicy begins in mode "ask".
func NewAskPolicy() *AskPolicy { return &AskPolicy{mode: "ask", always: map[string]bool{}} }

// Mode implements [Policy].
func (p *AskPolicy) Mode() string { return p.mode }

// SetMode implements [Policy].
func (p *AskPolicy) SetMode(mode string) error {
	if !slices.Contains(Modes, mode) && mode != "full" {
		return fmt.Errorf("there is no permission mode %q; there are %s", mode, strings.Join(Modes, ", "))
	}
	p.mode = mode
	return nil
}

// Decide implements [Policy].
func (p *AskPolicy) Decide(call llm.ToolCall, t tool.Tool) Verdict {
	switch {
	case t.Access == tool.Read, p.mode == "full", p.mode == "edits" && t.Access == tool.Edit, p.always[likeness(call, t)]:
		return Verdict{Action: Permit}
	case p.mode == "plan":
		return Verdict{Action: Refuse, Reason: "this session is in plan mode, in which nothing is changed; describe what you would do"}
	}
	return Verdict{Action: Ask, Reason: reasons[t.Access], Always: likeness(call, t)}
}

var reasons = map[tool.Access]string{
	tool.Edit:    "It changes a file.",
	tool.Execute: "It runs a command.",
	tool.Network: "It talks to another machine.",
}

// Remember implements [Policy].
func (p *AskPolicy) Remember(call llm.ToolCall, t tool.Tool) { p.always[likeness(call, t)] = true }

// likeness is what "always" allows: this tool on exactly this subject.
func likeness(call llm.ToolCall, t tool.Tool) string {
	subject := string(call.Arguments)
	if t.Subject != nil {
		subject = t.Subject(call.Arguments)
	}
	return fmt.Sprintf("%s %s", call.Name, subject)
}
