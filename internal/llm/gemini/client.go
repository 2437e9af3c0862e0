package gemini

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
const API = "google-generative-ai"

// Config says where and as whom.
type Config struct {
	Provider string // in messages and errors; empty means "google"
	Key      string // sent as x-goog-api-key
	BaseURL  string // empty means Google's; it ends before the version
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
		c.Provider = "google"
	}
	if c.BaseURL == "" {
		c.BaseURL = "https://generativelanguage.googleapis.com"
	}
	c.BaseURL = strings.TrimSuffix(strings.TrimRight(c.BaseURL, "/"), "/v1beta")
	return &client{Config: c, http: httpx.NewClient(httpx.Options{
		Provider: c.Provider, Secrets: httpx.Secrets(c.Headers, c.Key), Base: c.HTTP,
		Want: httpx.EventStream, FirstByte: c.FirstByte, Idle: c.Idle,
	})}
}

type client struct {
	Config
	http *http.Client
}

// Stream implements [llm.Client].
func (c *client) Stream(ctx context.Context, req llm.Request) iter.Seq2[llm.Event, error] {
	return httpx.Answer(ctx, httpx.Source{
		Provider: c.Provider,
		Secrets:  httpx.Secrets(c.Headers, c.Key),
		Decoder:  func() httpx.Decoder { return &decoder{provider: c.Provider} },
		Open:     func(ctx context.Context) (*http.Response, error) { return c.send(ctx, req) },
	})
}

func (c *client) send(ctx context.Context, req llm.Request) (*http.Response, error) {
	// Models are named "gemini-…" or, tuned, "tunedModels/…".
	model := req.Model
	if !strings.Contains(model, "/") {
		model = "models/" + model
	}
	return httpx.Post(ctx, c.http, c.BaseURL+"/v1beta/"+model+":streamGenerateContent?alt=sse", c.body(req),
		map[string]string{"X-Goog-Api-Key": c.Key}, c.Headers)
}
