package openai

import (
	"encoding/json"

	"banyan/internal/llm/httpx"
)

// The fields that we use of the vendor's types. Compiling the SDK for them would
// take longer than all else in this program, so it is linked into the tests only,
// which hold these types to it.

// responsesRequest is the body of /responses.
type responsesRequest struct {
	Model           string             `json:"model"`
	Instructions    string             `json:"instructions,omitempty"`
	Tools           []responsesTool    `json:"tools,omitempty"`
	Input           []any              `json:"input"` // inputMessage, outputMessage, functionCall, functionOutput, or reasoning as it came
	MaxOutputTokens int                `json:"max_output_tokens,omitempty"`
	Store           bool               `json:"store"`
	Stream          bool               `json:"stream"`
	Include         []string           `json:"include,omitempty"`
	PromptCacheKey  string             `json:"prompt_cache_key,omitempty"`
	Reasoning       *responsesThinking `json:"reasoning,omitempty"`
}

type responsesThinking struct {
	Effort  string `json:"effort,omitempty"`
	Summary string `json:"summary,omitempty"`
}

type responsesTool struct {
	Type        string          `json:"type"` // "function"
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
	Strict      bool            `json:"strict"`
}

// inputMessage is what one side said. Content is a text, or parts.
type inputMessage struct {
	Role    string `json:"role"`
	Content any    `json:"content"`
}

type inputPart struct {
	Type     string `json:"type"` // "input_text" or "input_image"
	Text     string `json:"text,omitempty"`
	Detail   string `json:"detail,omitempty"`
	ImageURL string `json:"image_url,omitempty"`
}

// outputMessage is an answer that the server numbered.
type outputMessage struct {
	Type    string       `json:"type"` // "message"
	Role    string       `json:"role"`
	ID      string       `json:"id"`
	Status  string       `json:"status"`
	Phase   string       `json:"phase,omitempty"`
	Content []outputPart `json:"content"`
}

type outputPart struct {
	Type        string `json:"type"` // "output_text"
	Text        string `json:"text"`
	Annotations []any  `json:"annotations"` // none, but demanded
}

type functionCall struct {
	Type      string `json:"type"` // "function_call"
	CallID    string `json:"call_id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// functionOutput is a result. Output is a text, or parts.
type functionOutput struct {
	Type   string `json:"type"` // "function_call_output"
	CallID string `json:"call_id"`
	Output any    `json:"output"`
}

// streamEvent is a piece of an answer: the members of all kinds of events.
type streamEvent struct {
	Type         string          `json:"type"`
	OutputIndex  int             `json:"output_index"`
	ContentIndex int             `json:"content_index"`
	SummaryIndex int             `json:"summary_index"`
	Delta        string          `json:"delta"`
	Item         json.RawMessage `json:"item"` // goes back as it came
	Response     streamResponse  `json:"response"`
	Code         string          `json:"code"`
	Message      string          `json:"message"`
}

// streamItem is an item of an answer.
type streamItem struct {
	Type      string       `json:"type"`
	ID        string       `json:"id"`
	Phase     string       `json:"phase"`
	Status    string       `json:"status"`
	CallID    string       `json:"call_id"`
	Name      string       `json:"name"`
	Arguments httpx.Text   `json:"arguments"`
	Summary   []streamPart `json:"summary"`
	Content   []streamPart `json:"content"`
}

type streamPart struct {
	Text    string `json:"text"`
	Refusal string `json:"refusal"`
}

type streamResponse struct {
	ID    string          `json:"id"`
	Usage *responsesUsage `json:"usage"`
	Error struct {
		Code    string `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
	IncompleteDetails struct {
		Reason string `json:"reason"`
	} `json:"incomplete_details"`
}

// responsesUsage counts tokens. Floats take whatever a server says is a number.
type responsesUsage struct {
	Input        float64 `json:"input_tokens"`
	Output       float64 `json:"output_tokens"`
	InputDetails struct {
		Cached     float64 `json:"cached_tokens"`
		CacheWrite float64 `json:"cache_write_tokens"`
	} `json:"input_tokens_details"`
}
