package headless

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/google/uuid"

	"banyan/internal/engine"
	"banyan/internal/llm"
	"banyan/internal/result"
	"banyan/internal/session"
)

// The lines have the shapes of Claude Code's, as its SDK declares them, so that
// scripts run unchanged; what we do not have is left out. To each line we add
// where it is in the tree.

// line is what all lines begin and end with. Types that hold it are written
// with their own members after these.
type line struct {
	Type    string          `json:"type"`
	Subtype string          `json:"subtype,omitempty"`
	Session string          `json:"session_id,omitempty"` // missing if none was opened
	UUID    string          `json:"uuid"`
	Entry   string          `json:"entry_id,omitempty"`
	Parent  json.RawMessage `json:"parent_entry_id,omitempty"` // null for a root
	Leaf    string          `json:"leaf_id,omitempty"`
}

func newLine(kind, subtype string, r *record) line {
	l := line{Type: kind, Subtype: subtype, UUID: uuid.NewString()}
	if r.opened {
		l.Session, l.Leaf = r.session.Header().ID, string(r.session.Leaf())
	}
	return l
}

// at says which entry a line is about.
func (l line) at(e session.Entry) line {
	if e.ID == "" {
		return l
	}
	l.Entry, l.Parent = string(e.ID), json.RawMessage("null")
	if e.Parent != "" {
		if parent, err := json.Marshal(e.Parent); err == nil { // a string always encodes
			l.Parent = parent
		}
	}
	return l
}

type initMessage struct {
	line
	Cwd            string   `json:"cwd"`
	Model          string   `json:"model"`
	PermissionMode string   `json:"permissionMode"`
	Tools          []string `json:"tools,omitempty"`
}

// permissionModes are our modes in the other's words; the rest are the same.
var permissionModes = map[string]string{"ask": "default", "edits": "acceptEdits", "full": "bypassPermissions"}

func initLine(tools []string, r *record) initMessage {
	mode := r.state.Permission
	if word, ok := permissionModes[mode]; ok {
		mode = word
	}
	return initMessage{newLine("system", "init", r), r.session.Header().Cwd, r.state.Model.Model, mode, tools}
}

// exchange is an answer, or what the model is told in return.
type exchange struct {
	line
	Message any     `json:"message"`
	Above   *string `json:"parent_tool_use_id"` // null: it is not of a subagent
	Task    string  `json:"task_id,omitempty"`  // ours: of the task whose entry it is
}

type progress struct {
	line
	Event event   `json:"event"`
	Above *string `json:"parent_tool_use_id"`
}

func progressLine(ev event, r *record) progress {
	return progress{line: newLine("stream_event", "", r), Event: ev}
}

type answer struct {
	ID           string     `json:"id"`
	Type         string     `json:"type"`
	Role         string     `json:"role"`
	Model        string     `json:"model"`
	Content      []any      `json:"content"`
	StopReason   *string    `json:"stop_reason"`
	StopSequence *string    `json:"stop_sequence"`
	Usage        tokenUsage `json:"usage"`
}

// tokenUsage is in tokens.
type tokenUsage struct {
	Input      int `json:"input_tokens"`
	CacheWrite int `json:"cache_creation_input_tokens"`
	CacheRead  int `json:"cache_read_input_tokens"`
	Output     int `json:"output_tokens"`
}

func tokens(u llm.Usage) tokenUsage { return tokenUsage{u.Input, u.CacheWrite, u.CacheRead, u.Output} }

type textBlock struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

type thinkingBlock struct {
	Type      string `json:"type"`
	Thinking  string `json:"thinking"`
	Signature string `json:"signature"`
}

type redactedBlock struct {
	Type string `json:"type"`
	Data string `json:"data"`
}

type callBlock struct {
	Type  string          `json:"type"`
	ID    string          `json:"id"`
	Name  string          `json:"name"`
	Input json.RawMessage `json:"input"`
}

type imageBlock struct {
	Type   string      `json:"type"`
	Source imageSource `json:"source"`
}

type imageSource struct {
	Type string `json:"type"`
	MIME string `json:"media_type"`
	Data string `json:"data"`
}

type resultBlock struct {
	CallID  string `json:"tool_use_id"`
	Type    string `json:"type"`
	Content any    `json:"content"` // a text, or blocks
	IsError bool   `json:"is_error,omitempty"`
}

func blocks(content []llm.Block) []any {
	list := []any{}
	for _, b := range content {
		switch b := b.(type) {
		case llm.Text:
			list = append(list, textBlock{"text", b.Text})
		case llm.Thinking:
			if b.Redacted {
				list = append(list, redactedBlock{"redacted_thinking", b.Signature})
			} else {
				list = append(list, thinkingBlock{"thinking", b.Text, b.Signature})
			}
		case llm.ToolCall:
			list = append(list, callBlock{"tool_use", b.ID, b.Name, b.Arguments})
		case llm.Image:
			list = append(list, imageBlock{"image", imageSource{"base64", b.MIME, b.Data}})
		}
	}
	return list
}

func answerLine(e session.Entry, m llm.Message, r *record) exchange {
	id := m.ResponseID
	if id == "" {
		id = string(e.ID)
	}
	return exchange{line: newLine("assistant", "", r).at(e), Message: answer{
		ID: id, Type: "message", Role: "assistant", Model: m.Model,
		Content: blocks(m.Content), StopReason: stopReason(m.StopReason), Usage: tokens(m.Usage),
	}}
}

// stopReason is null where an answer did not end by itself.
func stopReason(s llm.StopReason) *string {
	words := map[llm.StopReason]string{llm.StopEnd: "end_turn", llm.StopLength: "max_tokens", llm.StopToolUse: "tool_use"}
	if word, ok := words[s]; ok {
		return &word
	}
	return nil
}

func toolResultLine(e session.Entry, m llm.Message, r *record) exchange {
	block := resultBlock{CallID: m.CallID, Type: "tool_result", IsError: m.IsError, Content: blocks(m.Content)}
	if len(m.Content) == 1 {
		if t, ok := m.Content[0].(llm.Text); ok {
			block.Content = t.Text
		}
	}
	return exchange{line: newLine("user", "", r).at(e), Message: struct {
		Role    string `json:"role"`
		Content []any  `json:"content"`
	}{"user", []any{block}}}
}

type compactMessage struct {
	line
	About compactAbout `json:"compact_metadata"`
}

type compactAbout struct {
	Trigger string `json:"trigger"`
	Before  int    `json:"pre_tokens"`
	After   int    `json:"post_tokens"`
}

func compactLine(ev engine.CompactionEnded, r *record) compactMessage {
	trigger := "auto"
	if ev.Reason == engine.CompactManual {
		trigger = "manual"
	}
	return compactMessage{newLine("system", "compact_boundary", r).at(r.last), compactAbout{trigger, ev.Before, ev.After}}
}

type ending struct {
	line
	IsError     bool                  `json:"is_error"`
	Duration    int64                 `json:"duration_ms"`
	DurationAPI int64                 `json:"duration_api_ms"`
	First       *int64                `json:"ttft_ms,omitempty"`
	Turns       int                   `json:"num_turns"`
	Result      *string               `json:"result,omitempty"`            // of a success
	Structured  json.RawMessage       `json:"structured_output,omitempty"` // the same as data, where a schema was given
	Errors      []string              `json:"errors,omitempty"`            // of a failure
	StopReason  *string               `json:"stop_reason"`
	Cost        float64               `json:"total_cost_usd"`
	CostUnknown bool                  `json:"cost_unknown,omitempty"` // ours: the cost is more than that
	Usage       tokenUsage            `json:"usage"`
	Models      map[string]modelUsage `json:"modelUsage"`
	Denials     []denial              `json:"permission_denials"`
}

type modelUsage struct {
	Input      int     `json:"inputTokens"`
	Output     int     `json:"outputTokens"`
	CacheRead  int     `json:"cacheReadInputTokens"`
	CacheWrite int     `json:"cacheCreationInputTokens"`
	Cost       float64 `json:"costUSD"`
}

type denial struct {
	Tool   string          `json:"tool_name"`
	CallID string          `json:"tool_use_id"`
	Input  json.RawMessage `json:"tool_input"`
}

func resultLine(err error, r *record) ending {
	kind, failed := outcome(err)
	res := ending{
		line: newLine("result", kind, r).at(r.entry), IsError: failed,
		Duration: time.Since(r.began).Milliseconds(), DurationAPI: r.waited.Milliseconds(), Turns: r.turns,
		StopReason: stopReason(r.answer.StopReason),
		Cost:       r.usage.Cost.Total, CostUnknown: r.usage.CostUnknown, Usage: tokens(r.usage),
		Models: map[string]modelUsage{}, Denials: []denial{},
	}
	if r.isFirst {
		first := r.first.Milliseconds()
		res.First = &first
	}
	switch {
	case errors.Is(err, context.Canceled):
		res.Errors = []string{"interrupted"}
	case failed:
		res.Errors = []string{err.Error()}
	case r.result != nil:
		text := string(r.result.Value)
		res.Result, res.Structured = &text, r.result.Value
	default:
		answer := r.answer.Text()
		res.Result = &answer
	}
	for model, u := range r.models {
		res.Models[model] = modelUsage{u.Input, u.Output, u.CacheRead, u.CacheWrite, u.Cost.Total}
	}
	for _, d := range r.denials {
		res.Denials = append(res.Denials, denial{d.call.Name, d.call.ID, d.call.Arguments})
	}
	return res
}

// outcome is the word for how a run ended. Refused calls are no failure there:
// they are listed, and the exit code tells.
func outcome(err error) (subtype string, failed bool) {
	var l limit
	switch {
	case err == nil || errors.Is(err, ErrRefused):
		return "success", false
	case errors.As(err, &l) && l == ErrBudget:
		return "error_max_budget_usd", true
	case errors.Is(err, ErrLimit):
		return "error_max_turns", true
	case errors.Is(err, result.ErrNone):
		return "error_max_structured_output_retries", true
	}
	return "error_during_execution", true
}
