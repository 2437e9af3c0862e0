package anthropic

import (
	"context"
	"iter"
	"net/http"
	"strings"
	"sync"
	"time"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

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
	cl := &client{Config: c}
	cl.sdk = sync.OnceValue(cl.connect)
	return cl
}

type client struct {
	Config
	sdk func() sdk.Client
}

// connect makes the SDK's client, when it is first needed.
func (c *client) connect() sdk.Client {
	o := []option.RequestOption{
		option.WithoutEnvironmentDefaults(), // provider.Catalog reads the environment, for all alike
		option.WithoutOpenTelemetry(),
		option.WithMaxRetries(0),
		option.WithBaseURL(strings.TrimSuffix(strings.TrimRight(c.BaseURL, "/"), "/v1")),
		option.WithHTTPClient(httpx.NewClient(httpx.Options{
			Provider: c.Provider, Secrets: httpx.Secrets(c.Headers, c.Key, c.Token), Base: c.HTTP,
			Want: httpx.EventStream, FirstByte: c.FirstByte, Idle: c.Idle,
		})),
	}
	switch {
	case c.Key != "":
		o = append(o, option.WithAPIKey(c.Key))
	case c.Token != "":
		o = append(o, option.WithAuthToken(c.Token))
	}
	for name, value := range c.Headers {
		o = append(o, option.WithHeader(name, value))
	}
	return sdk.NewClient(o...)
}

// Stream implements [llm.Client].
func (c *client) Stream(ctx context.Context, req llm.Request) iter.Seq2[llm.Event, error] {
	return httpx.Answer(ctx, httpx.Source{
		Provider: c.Provider,
		Secrets:  httpx.Secrets(c.Headers, c.Key, c.Token),
		Decoder:  func() httpx.Decoder { return &decoder{provider: c.Provider, blocks: map[int64]*block{}} },
		Open: func(ctx context.Context) (*http.Response, error) {
			var res *http.Response
			cl := c.sdk()
			err := cl.Post(ctx, "v1/messages", c.params(req), &res,
				option.WithJSONSet("stream", true), option.WithHeader("Accept", httpx.EventStream))
			return res, err
		},
	})
}
