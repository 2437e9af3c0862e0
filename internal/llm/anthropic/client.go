package anthropic

import (
	"context"
	"iter"
	"net/http"
	"strings"
	"time"

	"banyan/internal/llm"
	"banyan/internal/llm/httpx"
)

// API is the protocol's name in messages.
const API = "anthropic-messages"

// Config says where and as whom. The zero value is for tests only: it has no key.
type Config struct {
	Provider string // in messages and errors; empty means "anthropic"
	Key      string // sent as x-api-key
	Token    string // sent as a bearer token, if there is no key
	BaseURL  string // empty means Anthropic's
	Headers  map[string]string
	// Model describes a model; nil, or a zero answer, means that nothing is known.
	Model     func(id string) llm.Model
	HTTP      http.RoundTripper // nil means the shared transport
	FirstByte time.Duration     // zero means [httpx.FirstByte]
	Idle      time.Duration     // zero means [httpx.Idle]
}

// New makes a client. It sends nothing.
func New(c Config) llm.Client {
	if c.Provider == "" {
		c.Provider = "anthropic"
	}
	if c.BaseURL == "" {
		c.BaseURL = "https://api.anthropic.com"
	}
	c.BaseURL = strings.TrimSuffix(strings.TrimRight(c.BaseURL, "/"), "/v1")
	return &client{c, httpx.NewClient(httpx.Options{
		Provider: c.Provider, Secrets: httpx.Secrets(c.Headers, c.Key, c.Token), Base: c.HTTP,
		Want: httpx.EventStream, FirstByte: c.FirstByte, Idle: c.Idle,
	})}
}

type client struct {
	Config
	http *http.Client
}

// Stream implements [llm.Client].
func (c *client) Stream(ctx context.Context, req llm.Request) iter.Seq2[llm.Event, error] {
	headers := map[string]string{"Anthropic-Version": version}
	switch {
	case c.Key != "":
		headers["X-Api-Key"] = c.Key
	case c.Token != "":
		headers["Authorization"] = "Bearer " + c.Token
	}
	return httpx.Answer(ctx, httpx.Source{
		Provider: c.Provider,
		Secrets:  httpx.Secrets(c.Headers, c.Key, c.Token),
		Decoder:  func() httpx.Decoder { return &decoder{provider: c.Provider, blocks: map[int]*openBlock{}} },
		Open: func(ctx context.Context) (*http.Response, error) {
			return httpx.Post(ctx, c.http, c.BaseURL+"/v1/messages", c.body(req), headers, c.Headers)
		},
	})
}
