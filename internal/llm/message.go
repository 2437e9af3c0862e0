package llm

import (
	"encoding/json"
	"strings"
	"time"
)

// Role says who a [Message] is from.
type Role string

// The roles that a provider is sent.
const (
	User       Role = "user"
	Assistant  Role = "assistant"
	ToolResult Role = "toolResult"
)

// Message is one message of a conversation, in the form that every provider
// package translates from and to. It is a value: whoever is given one may keep
// it, and nobody changes its Content in place.
type Message struct {
	Role    Role
	Time    time.Time
	Content []Block

	// The following belong to Role Assistant.

	API          string // wire protocol, e.g. "anthropic-messages"
	Provider     string // e.g. "anthropic"
	Model        string // the provider's model id
	ResponseID   string // the provider's id of the response, if it gave one
	Usage        Usage
	StopReason   StopReason
	ErrorMessage string // why StopReason is StopError or StopAborted

	// The following belong to Role ToolResult.

	CallID   string // the ToolCall.ID that this answers
	ToolName string
	IsError  bool
	// Details is what the screen needs to draw the result again, a JSON
	// object; models never see it.
	Details json.RawMessage
}

// Text is all text blocks of the message, joined by a line feed.
func (m Message) Text() string {
	var parts []string
	for _, b := range m.Content {
		if t, ok := b.(Text); ok {
			parts = append(parts, t.Text)
		}
	}
	return strings.Join(parts, "\n")
}

// Calls are the message's tool calls, in order.
func (m Message) Calls() []ToolCall {
	var calls []ToolCall
	for _, b := range m.Content {
		if c, ok := b.(ToolCall); ok {
			calls = append(calls, c)
		}
	}
	return calls
}

// UserText makes a user message of one text block.
func UserText(text string, at time.Time) Message {
	return Message{Role: User, Time: at, Content: []Block{Text{Text: text}}}
}

// Block is one part of a message: [Text], [Thinking], [Image] or [ToolCall].
type Block interface{ isBlock() }

// Text is plain or Markdown text.
type Text struct {
	Text      string
	Signature string // OpenAI Responses: metadata of the output item, kept verbatim
}

// Thinking is a model's reasoning, as far as its provider shows it.
type Thinking struct {
	Text string
	// Signature is what the provider wants back verbatim: Anthropic's
	// signature, OpenAI's reasoning item as JSON, or the payload of a redacted
	// block.
	Signature string
	Redacted  bool // Text is empty, Signature is the opaque payload
}

// Image is a picture.
type Image struct {
	Data string // base64, standard encoding
	MIME string // e.g. "image/png"
}

// ToolCall asks for a tool to be run. A ToolCall in a Message is complete: its
// block was closed and Arguments is one valid JSON object. What was cut off never becomes one.
type ToolCall struct {
	ID        string
	Name      string
	Arguments json.RawMessage
	Signature string // Google's thought signature
}

func (Text) isBlock()     {}
func (Thinking) isBlock() {}
func (Image) isBlock()    {}
func (ToolCall) isBlock() {}

// StopReason says why an answer ended. The zero value means that it has not.
type StopReason string

// The stop reasons, in the words of the session file.
const (
	StopEnd     StopReason = "stop"
	StopLength  StopReason = "length"  // the output limit was reached
	StopToolUse StopReason = "toolUse" // the model waits for tool results
	StopError   StopReason = "error"   // see Message.ErrorMessage
	StopAborted StopReason = "aborted" // the user interrupted
)

// ThinkingLevel is how much a model is asked to reason.
type ThinkingLevel string

// The thinking levels, in rising order.
const (
	ThinkingOff     ThinkingLevel = "off"
	ThinkingMinimal ThinkingLevel = "minimal"
	ThinkingLow     ThinkingLevel = "low"
	ThinkingMedium  ThinkingLevel = "medium"
	ThinkingHigh    ThinkingLevel = "high"
	ThinkingXHigh   ThinkingLevel = "xhigh"
)

// ThinkingLevels are all levels in rising order.
var ThinkingLevels = []ThinkingLevel{ThinkingOff, ThinkingMinimal, ThinkingLow, ThinkingMedium, ThinkingHigh, ThinkingXHigh}

// Usage counts the tokens of one answer.
type Usage struct {
	Input      int `json:"input"` // not served from a cache
	Output     int `json:"output"`
	CacheRead  int `json:"cacheRead"`
	CacheWrite int `json:"cacheWrite"`
	Total      int `json:"totalTokens"`
	// Cost is zero where the model is local or its price is unknown;
	// CostUnknown tells the two apart.
	Cost        Cost `json:"cost"`
	CostUnknown bool `json:"costUnknown,omitempty"`
}

// Cost is what an answer cost, in USD.
type Cost struct {
	Input      float64 `json:"input"`
	Output     float64 `json:"output"`
	CacheRead  float64 `json:"cacheRead"`
	CacheWrite float64 `json:"cacheWrite"`
	Total      float64 `json:"total"`
}

// Context is how many tokens the request and its answer took of the context window.
func (u Usage) Context() int {
	if u.Total > 0 {
		return u.Total
	}
	return u.Input + u.Output + u.CacheRead + u.CacheWrite
}

// Add returns the sum of two usages.
func (u Usage) Add(v Usage) Usage {
	u.Input += v.Input
	u.Output += v.Output
	u.CacheRead += v.CacheRead
	u.CacheWrite += v.CacheWrite
	u.Total += v.Total
	u.Cost.Input += v.Cost.Input
	u.Cost.Output += v.Cost.Output
	u.Cost.CacheRead += v.Cost.CacheRead
	u.Cost.CacheWrite += v.Cost.CacheWrite
	u.Cost.Total += v.Cost.Total
	u.CostUnknown = u.CostUnknown || v.CostUnknown
	return u
}
