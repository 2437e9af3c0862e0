package anthropic

import "encoding/json"

// The fields that we use of the vendor's types. Compiling the SDK for them takes
// a quarter of the time that this program does, so it is linked into the tests
// only, which hold these types to it.

// version is that of the API, sent as anthropic-version.
const version = "2023-06-01"

// request is the body of /v1/messages. What stays the same from one request of a
// conversation to the next comes first.
type request struct {
	Tools        []tool        `json:"tools,omitempty"`
	System       []block       `json:"system,omitempty"`
	Messages     []message     `json:"messages"`
	Model        string        `json:"model"`
	MaxTokens    int           `json:"max_tokens"`
	Stream       bool          `json:"stream"`
	Thinking     *thinking     `json:"thinking,omitempty"`
	OutputConfig *outputConfig `json:"output_config,omitempty"`
}

type message struct {
	Content []block `json:"content"`
	Role    string  `json:"role"`
}

const (
	roleUser      = "user"
	roleAssistant = "assistant"
)

// block is one of content: the members of all kinds of blocks.
type block struct {
	CacheControl *cacheControl `json:"cache_control,omitempty"`
	Type         string        `json:"type"`
	Text         string        `json:"text,omitempty"`
	// Of an image.
	Source *source `json:"source,omitempty"`
	// Of a call.
	ID    string          `json:"id,omitempty"`
	Name  string          `json:"name,omitempty"`
	Input json.RawMessage `json:"input,omitempty"`
	// Of a result.
	ToolUseID string  `json:"tool_use_id,omitempty"`
	Content   []block `json:"content,omitempty"`
	IsError   bool    `json:"is_error,omitempty"`
	// Of thinking, whose text may be empty, and of redacted thinking.
	Thinking  *string `json:"thinking,omitempty"`
	Signature string  `json:"signature,omitempty"`
	Data      string  `json:"data,omitempty"`
}

type source struct {
	Data      string `json:"data"` // base64
	MediaType string `json:"media_type"`
	Type      string `json:"type"` // "base64"
}

type cacheControl struct {
	Type string `json:"type"` // "ephemeral"
}

func marked() *cacheControl { return &cacheControl{"ephemeral"} }

type tool struct {
	Name         string          `json:"name"`
	Description  string          `json:"description"`
	InputSchema  json.RawMessage `json:"input_schema"`
	CacheControl *cacheControl   `json:"cache_control,omitempty"`
}

type thinking struct {
	BudgetTokens int    `json:"budget_tokens,omitempty"`
	Display      string `json:"display,omitempty"`
	Type         string `json:"type"` // "enabled", "adaptive", "between_tools" or "disabled"
}

type outputConfig struct {
	Effort string `json:"effort,omitempty"`
}

// event is a piece of an answer: the members of all kinds of events.
type event struct {
	Type    string `json:"type"`
	Index   int    `json:"index"`
	Message struct {
		ID    string `json:"id"`
		Usage usage  `json:"usage"`
	} `json:"message"`
	ContentBlock struct {
		Type      string          `json:"type"`
		Text      string          `json:"text"`
		Thinking  string          `json:"thinking"`
		Signature string          `json:"signature"`
		Data      string          `json:"data"`
		ID        string          `json:"id"`
		Name      string          `json:"name"`
		Input     json.RawMessage `json:"input"`
	} `json:"content_block"`
	Delta struct {
		Type        string `json:"type"`
		Text        string `json:"text"`
		Thinking    string `json:"thinking"`
		Signature   string `json:"signature"`
		PartialJSON string `json:"partial_json"`
		StopReason  string `json:"stop_reason"`
		StopDetails struct {
			Explanation string `json:"explanation"`
		} `json:"stop_details"`
	} `json:"delta"`
	Usage usage `json:"usage"`
}

// usage counts tokens; what a server does not say is nil. Floats take whatever it
// says is a number.
type usage struct {
	Input      *float64 `json:"input_tokens"`
	Output     *float64 `json:"output_tokens"`
	CacheRead  *float64 `json:"cache_read_input_tokens"`
	CacheWrite *float64 `json:"cache_creation_input_tokens"`
}

// fault is an error that comes after the answer has begun.
type fault struct {
	Error struct {
		Type    string `json:"type"`
		Message string `json:"message"`
	} `json:"error"`
}

// The reasons to stop that mean something else than an end.
const (
	stopRefusal = "refusal"
	stopLength  = "max_tokens"
	stopWindow  = "model_context_window_exceeded"
)
