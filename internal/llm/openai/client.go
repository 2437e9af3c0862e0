package openai

import (
	"context"
	"iter"
	"net/http"
	"strings"
	"time"

	"banyan/internal/llm"
	"banyan/internal/llm/httpx"
)

// The protocols' names in messages.
const (
	Responses = "openai-responses"
	Chat      = "openai-completions"
)

// Config says where and as whom. A server on this computer needs no key.
type Config struct {
	Provider string // in messages and errors; empty means "openai"
	Key      string // sent as a bearer token, if not empty
	BaseURL  string // empty means OpenAI's; it ends before /responses or /chat/completions
	Headers  map[string]string
	Compat   Compat // for Chat Completions
	// Model describes a model; nil, or a zero answer, means that nothing is known.
	Model     func(id string) llm.Model
	HTTP      http.RoundTripper // nil means the shared transport
	FirstByte time.Duration     // zero means [httpx.FirstByte]
	Idle      time.Duration     // zero means [httpx.Idle]
}

// Compat is how a server's Chat Completions differ from the common ground,
// which the zero value is.
type Compat struct {
	// MaxCompletionTokens: the limit of an answer has OpenAI's newer name.
	MaxCompletionTokens bool
	// ReasoningObject: reasoning is asked for as an object, in OpenRouter's way.
	ReasoningObject bool
	// KeepReasoning: reasoning is sent back under the name it came with.
	// Servers that do not know the name refuse the request.
	KeepReasoning bool
	// ShortIDs: ids of calls are nine letters and digits.
	ShortIDs bool
	// AnswerAfterTool: a user's message cannot follow a result directly.
	AnswerAfterTool bool
	// NoStreamOptions: asking for usage is refused.
	NoStreamOptions bool
	// CacheKey: the session's id helps to find the cache.
	CacheKey bool
}

// NewResponses makes a client of the Responses protocol. It sends nothing.
func NewResponses(c Config) llm.Client { return &responsesClient{newClient(c)} }

// NewChat makes a client of the Chat Completions protocol. It sends nothing.
func NewChat(c Config) llm.Client { return &chatClient{newClient(c)} }

type responsesClient struct{ *client }

// Stream implements [llm.Client].
func (c *responsesClient) Stream(ctx context.Context, req llm.Request) iter.Seq2[llm.Event, error] {
	return c.answer(ctx, "responses", c.responsesBody(req), func() httpx.Decoder {
		return &responsesDecoder{provider: c.Provider, blocks: map[place]*item{}}
	})
}

type chatClient struct{ *client }

// Stream implements [llm.Client].
func (c *chatClient) Stream(ctx context.Context, req llm.Request) iter.Seq2[llm.Event, error] {
	return c.answer(ctx, "chat/completions", c.chatBody(req), func() httpx.Decoder {
		return &chatDecoder{provider: c.Provider, calls: map[int]*call{}}
	})
}

type client struct {
	Config
	http *http.Client
}

func newClient(c Config) *client {
	if c.Provider == "" {
		c.Provider = "openai"
	}
	if c.BaseURL == "" {
		c.BaseURL = "https://api.openai.com/v1"
	}
	return &client{c, httpx.NewClient(httpx.Options{
		Provider: c.Provider, Secrets: httpx.Secrets(c.Headers, c.Key), Base: c.HTTP,
		Want: httpx.EventStream, FirstByte: c.FirstByte, Idle: c.Idle,
	})}
}

func (c *client) answer(ctx context.Context, path string, body any, decoder func() httpx.Decoder) iter.Seq2[llm.Event, error] {
	key := map[string]string{}
	if c.Key != "" {
		key["Authorization"] = "Bearer " + c.Key
	}
	return httpx.Answer(ctx, httpx.Source{
		Provider: c.Provider,
		Secrets:  httpx.Secrets(c.Headers, c.Key),
		Decoder:  decoder,
		Open: func(ctx context.Context) (*http.Response, error) {
			return httpx.Post(ctx, c.http, strings.TrimRight(c.BaseURL, "/")+"/"+path, body, key, c.Headers)
		},
	})
}

// model is what is known of a model, and whether anything is.
func (c *client) model(id string) (llm.Model, bool) {
	if c.Model == nil {
		return llm.Model{}, false
	}
	m := c.Model(id)
	return m, m.ID != ""
}

// level is the thinking level to ask for; off asks for nothing.
func level(m llm.Model, known bool, asked llm.ThinkingLevel) llm.ThinkingLevel {
	if known {
		return m.Level(asked)
	}
	if asked == "" {
		return llm.ThinkingOff
	}
	return asked
}
