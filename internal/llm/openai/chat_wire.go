package openai

import (
	"encoding/json"

	"banyan/internal/llm/httpx"
)

// chatRequest is the body of /chat/completions.
type chatRequest struct {
	Model               string         `json:"model"`
	Tools               []chatTool     `json:"tools,omitempty"`
	Messages            []chatMessage  `json:"messages"`
	MaxTokens           int            `json:"max_tokens,omitempty"`
	MaxCompletionTokens int            `json:"max_completion_tokens,omitempty"`
	Stream              bool           `json:"stream"`
	StreamOptions       *streamOptions `json:"stream_options,omitempty"`
	PromptCacheKey      string         `json:"prompt_cache_key,omitempty"`
	ReasoningEffort     string         `json:"reasoning_effort,omitempty"`
	// Other servers' ways to ask for reasoning.
	Reasoning *reasoningObject `json:"reasoning,omitempty"`
	Thinking  *thinkingSwitch  `json:"thinking,omitempty"`
}

type streamOptions struct {
	IncludeUsage bool `json:"include_usage"`
}

// reasoningObject is OpenRouter's.
type reasoningObject struct {
	Effort  string `json:"effort,omitempty"`
	Enabled *bool  `json:"enabled,omitempty"`
}

// thinkingSwitch says "enabled" or "disabled".
type thinkingSwitch struct {
	Type string `json:"type"`
}

type chatTool struct {
	Type     string       `json:"type"` // "function"
	Function chatFunction `json:"function"`
}

type chatFunction struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters,omitempty"`
}

// chatMessage is what one side said. Content is a text, or parts.
type chatMessage struct {
	Role      string     `json:"role"`
	Content   any        `json:"content,omitempty"`
	CallID    string     `json:"tool_call_id,omitempty"` // of a result
	ToolCalls []chatCall `json:"tool_calls,omitempty"`
	// Reasoning by the names that servers give it: see reasoningFields.
	ReasoningContent string `json:"reasoning_content,omitempty"`
	Reasoning        string `json:"reasoning,omitempty"`
}

type chatPart struct {
	Type  string    `json:"type"`
	Text  string    `json:"text,omitempty"`
	Image *chatLink `json:"image_url,omitempty"`
}

type chatLink struct {
	URL string `json:"url"`
}

type chatCall struct {
	ID       string           `json:"id"`
	Type     string           `json:"type"` // "function"
	Function chatCallFunction `json:"function"`
}

type chatCallFunction struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// chatChunk is a piece of an answer.
type chatChunk struct {
	ID      string       `json:"id"`
	Choices []chatChoice `json:"choices"`
	Usage   *chatUsage   `json:"usage"`
	// Other servers'.
	Groq struct {
		Usage *chatUsage `json:"usage"`
	} `json:"x_groq"`
	Error json.RawMessage `json:"error"`
}

type chatChoice struct {
	Index        int       `json:"index"`
	FinishReason string    `json:"finish_reason"`
	Delta        chatDelta `json:"delta"`
}

type chatDelta struct {
	Content   json.RawMessage `json:"content"` // a text; Mistral's also a list
	Refusal   string          `json:"refusal"`
	ToolCalls []chatCallDelta `json:"tool_calls"`
	// Reasoning by the names that servers give it.
	ReasoningContent string `json:"reasoning_content"`
	Reasoning        string `json:"reasoning"`
}

type chatCallDelta struct {
	Index    int        `json:"index"`
	ID       httpx.Text `json:"id"`
	Function struct {
		Name      string     `json:"name"`
		Arguments httpx.Text `json:"arguments"`
	} `json:"function"`
}

// chatUsage counts tokens. Floats take whatever a server says is a number.
type chatUsage struct {
	Prompt        float64 `json:"prompt_tokens"`
	Completion    float64 `json:"completion_tokens"`
	Total         float64 `json:"total_tokens"`
	PromptDetails struct {
		Cached     float64 `json:"cached_tokens"`
		CacheWrite float64 `json:"cache_write_tokens"`
	} `json:"prompt_tokens_details"`
	CompletionDetails struct {
		Reasoning float64 `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
	CacheHit float64 `json:"prompt_cache_hit_tokens"` // DeepSeek's
}
