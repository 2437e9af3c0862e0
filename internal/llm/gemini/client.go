package gemini

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"net/http"
	"net/url"
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
	body, err := json.Marshal(c.body(req))
	if err != nil {
		return nil, err
	}
	// Models are named "gemini-…" or, tuned, "tunedModels/…".
	model := req.Model
	if !strings.Contains(model, "/") {
		model = "models/" + model
	}
	address, err := url.Parse(c.BaseURL + "/v1beta/" + model + ":streamGenerateContent?alt=sse")
	if err != nil {
		return nil, fmt.Errorf("the base URL %q is not one: %w", c.BaseURL, err)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, address.String(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", httpx.EventStream)
	r.Header.Set("X-Goog-Api-Key", c.Key)
	for name, value := range c.Headers {
		r.Header.Set(name, value)
	}
	return c.http.Do(r)
}
