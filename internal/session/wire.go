package session

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"time"

	"banyan/internal/llm"
)

// The shapes of the file. They are apart from the types that the program works
// with, so that neither bends to the other. Reading is lenient where other
// writers differ (a string for blocks, floats for counts) and strict about what
// a value means; a line that does not decode becomes [Unknown], never an error.

type wireUser struct {
	Role      string      `json:"role"`
	Content   wireContent `json:"content"`
	Timestamp wireMillis  `json:"timestamp"`
}

type wireAssistant struct {
	Role         string      `json:"role"`
	Content      wireContent `json:"content"`
	API          string      `json:"api"`
	Provider     string      `json:"provider"`
	Model        string      `json:"model"`
	ResponseID   string      `json:"responseId,omitempty"`
	Usage        wireUsage   `json:"usage"`
	StopReason   string      `json:"stopReason,omitempty"`
	ErrorMessage string      `json:"errorMessage,omitempty"`
	Timestamp    wireMillis  `json:"timestamp"`
}

type wireToolResult struct {
	Role       string          `json:"role"`
	ToolCallID string          `json:"toolCallId"`
	ToolName   string          `json:"toolName"`
	Content    wireContent     `json:"content"`
	Details    json.RawMessage `json:"details,omitempty"`
	IsError    bool            `json:"isError"`
	Timestamp  wireMillis      `json:"timestamp"`
}

type wireCommand struct {
	Role       string     `json:"role"`
	Command    string     `json:"command"`
	Output     string     `json:"output"`
	ExitCode   *int       `json:"exitCode,omitempty"`
	Cancelled  bool       `json:"cancelled"`
	Truncated  bool       `json:"truncated"`
	FullOutput string     `json:"fullOutputPath,omitempty"`
	Excluded   bool       `json:"excludeFromContext,omitempty"`
	Timestamp  wireMillis `json:"timestamp"`
}

type wireCustomMessage struct {
	CustomType string          `json:"customType"`
	Content    wireContent     `json:"content"`
	Display    bool            `json:"display"`
	Details    json.RawMessage `json:"details,omitempty"`
}

type wireCompaction struct {
	Summary       string          `json:"summary"`
	FirstKept     string          `json:"firstKeptEntryId,omitempty"`
	TokensBefore  wireCount       `json:"tokensBefore"`
	Details       json.RawMessage `json:"details,omitempty"`
	Usage         *wireUsage      `json:"usage,omitempty"`
	FromHook      bool            `json:"fromHook,omitempty"`
	FromExtension bool            `json:"fromExtension,omitempty"` // oh-my-pi's word, read only
}

type wireBranchSummary struct {
	From          string          `json:"fromId"`
	Summary       string          `json:"summary"`
	Details       json.RawMessage `json:"details,omitempty"`
	Usage         *wireUsage      `json:"usage,omitempty"`
	FromHook      bool            `json:"fromHook,omitempty"`
	FromExtension bool            `json:"fromExtension,omitempty"`
}

type wireCustom struct {
	CustomType string          `json:"customType"`
	Data       json.RawMessage `json:"data,omitempty"`
}

type wireLabel struct {
	TargetID string  `json:"targetId"`
	Label    *string `json:"label,omitempty"`
}

type wireInfo struct {
	Name *string `json:"name,omitempty"`
}

type wireModelChange struct {
	Provider string `json:"provider,omitempty"`
	ModelID  string `json:"modelId,omitempty"`
	Model    string `json:"model,omitempty"` // oh-my-pi: provider/id, read only
	Role     string `json:"role,omitempty"`
}

type wireThinkingChange struct {
	Level *string `json:"thinkingLevel"`
}

type wireModeChange struct {
	Mode string          `json:"mode"`
	Data json.RawMessage `json:"data,omitempty"`
}

type wireRuleInjection struct {
	Rules []string `json:"injectedRules"`
}

// wireUsage counts in floats because some writers do.
type wireUsage struct {
	Input       wireCount `json:"input"`
	Output      wireCount `json:"output"`
	CacheRead   wireCount `json:"cacheRead"`
	CacheWrite  wireCount `json:"cacheWrite"`
	Total       wireCount `json:"totalTokens"`
	Cost        llm.Cost  `json:"cost"`
	CostUnknown bool      `json:"costUnknown,omitempty"`
}

func toWireUsage(u llm.Usage) wireUsage {
	return wireUsage{
		wireCount(u.Input), wireCount(u.Output), wireCount(u.CacheRead), wireCount(u.CacheWrite),
		wireCount(u.Total), u.Cost, u.CostUnknown,
	}
}

func (u wireUsage) usage() llm.Usage {
	return llm.Usage{
		Input: int(u.Input), Output: int(u.Output), CacheRead: int(u.CacheRead), CacheWrite: int(u.CacheWrite),
		Total: int(u.Total), Cost: u.Cost, CostUnknown: u.CostUnknown,
	}
}

// decodeUsage reads a usage; what is none is zero.
func decodeUsage(raw []byte) llm.Usage {
	var w wireUsage
	if len(raw) == 0 || json.Unmarshal(raw, &w) != nil {
		return llm.Usage{}
	}
	return w.usage()
}

// wireCount is a number of tokens. What cannot be one is read as 0.
type wireCount int

func (c *wireCount) UnmarshalJSON(b []byte) error {
	var f float64
	if json.Unmarshal(b, &f) != nil || f < 0 || f > math.MaxInt32*1024 {
		f = 0
	}
	*c = wireCount(f)
	return nil
}

// wireMillis is a time in Unix ms; an RFC 3339 string is read too. 0 is no time.
type wireMillis int64

func (t *wireMillis) UnmarshalJSON(b []byte) error {
	var f float64
	if json.Unmarshal(b, &f) == nil && math.Abs(f) < 1e15 {
		*t = wireMillis(f)
	} else if ms, ok := parseTime(b); ok {
		*t = wireMillis(ms)
	}
	return nil
}

func toMillis(t time.Time) wireMillis {
	if t.IsZero() {
		return 0
	}
	return wireMillis(t.UnixMilli())
}

// or is the time, or another where there is none.
func (t wireMillis) or(other time.Time) time.Time {
	if t == 0 {
		return other
	}
	return time.UnixMilli(int64(t)).UTC()
}

// wireContent is the content of a message: blocks, or a string that stands for
// one block of text. Blocks that we do not know are passed over.
type wireContent []wireBlock

type wireBlock struct {
	Type              string          `json:"type"`
	Text              *string         `json:"text,omitempty"`
	TextSignature     json.RawMessage `json:"textSignature,omitempty"`
	Thinking          *string         `json:"thinking,omitempty"`
	ThinkingSignature string          `json:"thinkingSignature,omitempty"`
	Redacted          bool            `json:"redacted,omitempty"`
	Data              string          `json:"data,omitempty"`
	MIMEType          string          `json:"mimeType,omitempty"`
	ID                string          `json:"id,omitempty"`
	Name              string          `json:"name,omitempty"`
	Arguments         json.RawMessage `json:"arguments,omitempty"`
	ThoughtSignature  string          `json:"thoughtSignature,omitempty"`
}

func (c *wireContent) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '"' {
		var s string
		if err := json.Unmarshal(b, &s); err != nil {
			return err
		}
		*c = wireContent{{Type: "text", Text: &s}}
		return nil
	}
	var blocks []wireBlock
	if err := json.Unmarshal(b, &blocks); err != nil {
		return err
	}
	*c = blocks
	return nil
}

func (c wireContent) blocks() []llm.Block {
	var blocks []llm.Block
	for _, w := range c {
		if b := w.block(); b != nil {
			blocks = append(blocks, b)
		}
	}
	return blocks
}

func (w wireBlock) block() llm.Block {
	switch w.Type {
	case "text":
		return llm.Text{Text: deref(w.Text), Signature: signature(w.TextSignature)}
	case "thinking":
		return llm.Thinking{Text: deref(w.Thinking), Signature: w.ThinkingSignature, Redacted: w.Redacted}
	case "redactedThinking": // oh-my-pi
		return llm.Thinking{Signature: w.Data, Redacted: true}
	case "image":
		return llm.Image{Data: w.Data, MIME: w.MIMEType}
	case "toolCall":
		return llm.ToolCall{ID: w.ID, Name: w.Name, Arguments: arguments(w.Arguments), Signature: w.ThoughtSignature}
	}
	return nil
}

// signature of a text is a string, or, from some writers, an object.
func signature(raw json.RawMessage) string {
	if s, ok := unquote(raw); ok {
		return s
	}
	if string(raw) == "null" {
		return ""
	}
	return string(raw)
}

// arguments are one object, as llm.ToolCall promises; anything else is none.
func arguments(raw json.RawMessage) json.RawMessage {
	if raw = bytes.TrimSpace(raw); len(raw) == 0 || raw[0] != '{' {
		return json.RawMessage("{}")
	}
	return raw
}

func toWireContent(blocks []llm.Block) (wireContent, error) {
	content := make(wireContent, 0, len(blocks))
	for _, b := range blocks {
		switch b := b.(type) {
		case llm.Text:
			w := wireBlock{Type: "text", Text: &b.Text}
			if b.Signature != "" {
				w.TextSignature, _ = json.Marshal(b.Signature)
			}
			content = append(content, w)
		case llm.Thinking:
			content = append(content, wireBlock{Type: "thinking", Thinking: &b.Text, ThinkingSignature: b.Signature, Redacted: b.Redacted})
		case llm.Image:
			content = append(content, wireBlock{Type: "image", Data: b.Data, MIMEType: b.MIME})
		case llm.ToolCall:
			content = append(content, wireBlock{
				Type: "toolCall", ID: b.ID, Name: b.Name,
				Arguments: arguments(b.Arguments), ThoughtSignature: b.Signature,
			})
		default:
			return nil, fmt.Errorf("a message cannot hold a block of type %T", b)
		}
	}
	return content, nil
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// optional is nil for absent and null members.
func optional(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 || string(raw) == "null" {
		return nil
	}
	return raw
}

// fileLists reads details; what is not lists of files (extensions put other
// things there) is no details.
func fileLists(raw json.RawMessage) *FileLists {
	var lists *FileLists
	if len(raw) == 0 || json.Unmarshal(raw, &lists) != nil {
		return nil
	}
	return lists
}

func toFileLists(lists *FileLists) (json.RawMessage, error) {
	if lists == nil {
		return nil, nil
	}
	full := *lists
	if full.Read == nil {
		full.Read = []string{}
	}
	if full.Modified == nil {
		full.Modified = []string{}
	}
	return marshal(full)
}

func toWireUsagePointer(u *llm.Usage) *wireUsage {
	if u == nil {
		return nil
	}
	w := toWireUsage(*u)
	return &w
}

func (u *wireUsage) pointer() *llm.Usage {
	if u == nil {
		return nil
	}
	v := u.usage()
	return &v
}

// splitModel splits oh-my-pi's "provider/id"; ids contain slashes, providers do not.
func splitModel(model string) (provider, id string) {
	provider, id, ok := strings.Cut(model, "/")
	if !ok {
		return "", model
	}
	return provider, id
}

// marshal encodes as JavaScript does: without escaping <, > and &.
func marshal(v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), nil
}
