package provider

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"strings"
	"sync"

	"banyan/internal/llm"
	"banyan/internal/llm/anthropic"
	"banyan/internal/llm/gemini"
	"banyan/internal/llm/models"
	"banyan/internal/llm/openai"
)

// New makes a client for a model. It retries what may pass, and its usage has
// its cost. With fallbacks, the next one is asked where one cannot answer.
//
// Errors say which key is missing and how to give it. A key that a command
// gives is asked for with the first request.
func (c *Catalog) New(ref models.Ref, fallbacks ...models.Ref) (llm.Client, error) {
	first, err := c.client(ref)
	if err != nil || len(fallbacks) == 0 {
		return first, err
	}
	choices := []llm.Choice{{Client: first, API: c.API(ref.Provider), Provider: ref.Provider, Model: ref.Model}}
	for _, f := range fallbacks {
		next, err := c.client(f)
		if err != nil {
			return nil, fmt.Errorf("fallback %s: %w", f, err)
		}
		choices = append(choices, llm.Choice{Client: next, API: c.API(f.Provider), Provider: f.Provider, Model: f.Model})
	}
	return llm.WithFallback(choices...), nil
}

func (c *Catalog) client(ref models.Ref) (llm.Client, error) {
	if client, ok := c.config.Builtin[ref.Provider]; ok {
		return client, nil
	}
	p, err := c.Provider(ref.Provider)
	if err != nil {
		return nil, err
	}
	if c.config.Offline {
		return nil, fmt.Errorf("%s was not asked: --offline lets no packet leave", p.Title)
	}
	if p.BaseURL == "" {
		return nil, fmt.Errorf("%s needs an address: set %s", p.Title, strings.Join(p.BaseEnv, " or "))
	}
	if !p.Local && !c.hasKey(p) {
		return nil, missing(p)
	}
	client, err := c.keyed(p)
	if err != nil {
		return nil, err
	}
	model := func(id string) llm.Model { return c.Model(p.Name, id) }
	return llm.WithRetry(models.Meter(client, model), c.config.Retry), nil
}

// keyed makes the client of a provider with its key: from the environment as it
// is, else from what is kept or stands in models.json, which may be a command
// or name a variable.
func (c *Catalog) keyed(p Provider) (llm.Client, error) {
	if key := c.fromEnv(p.KeyEnv); key != "" {
		return c.dial(p, key), nil
	}
	stored, err := c.credentials.key(p.Name)
	if err != nil {
		return nil, err
	}
	secret := cmp.Or(stored, p.key)
	if !strings.HasPrefix(secret, "!") {
		key, err := reveal(context.Background(), secret, c.config.Env)
		if err != nil {
			return nil, fmt.Errorf("the key of %s: %w", p.Title, err)
		}
		return c.dial(p, key), nil
	}
	return &revealed{open: func(ctx context.Context) (llm.Client, error) {
		key, err := reveal(ctx, secret, c.config.Env)
		if err != nil {
			return nil, &llm.Error{Class: llm.Stop, Provider: p.Name, Type: "key", Text: err.Error(), Err: err}
		}
		return c.dial(p, key), nil
	}}, nil
}

func missing(p Provider) error {
	return fmt.Errorf("%s needs a key: set %s, or run `agent login %s`", p.Title, cmp.Or(strings.Join(p.KeyEnv, " or "), "one"), p.Name)
}

// dial makes the client of a provider's protocol. It sends nothing.
func (c *Catalog) dial(p Provider, key string) llm.Client {
	headers := c.headers(p, &key)
	model := func(id string) llm.Model {
		m, known := c.table.Find(p.Name, id)
		if !known {
			return llm.Model{}
		}
		return m
	}
	switch p.Protocol {
	case Anthropic:
		token := ""
		if key == "" {
			token = c.fromEnv(p.TokenEnv)
		}
		return anthropic.New(anthropic.Config{
			Provider: p.Name, Key: key, Token: token, BaseURL: p.BaseURL, Headers: headers,
			Model: model, HTTP: c.config.HTTP, FirstByte: c.config.FirstByte, Idle: c.config.Idle,
		})
	case Gemini:
		return gemini.New(gemini.Config{
			Provider: p.Name, Key: key, BaseURL: p.BaseURL, Headers: headers,
			Model: model, HTTP: c.config.HTTP, FirstByte: c.config.FirstByte, Idle: c.config.Idle,
		})
	}
	config := openai.Config{
		Provider: p.Name, Key: key, BaseURL: p.BaseURL, Headers: headers, Compat: p.Compat,
		Model: model, HTTP: c.config.HTTP, FirstByte: c.config.FirstByte, Idle: c.config.Idle,
	}
	if p.Protocol == Responses {
		return openai.NewResponses(config)
	}
	return openai.NewChat(config)
}

// headers are those of models.json, with variables in place; and the key, where
// its header is not the protocol's.
func (c *Catalog) headers(p Provider, key *string) map[string]string {
	out := map[string]string{}
	for name, value := range p.headers {
		if variable, ok := strings.CutPrefix(value, "$"); ok {
			value = c.config.Env(strings.Trim(variable, "{}"))
		}
		out[name] = value
	}
	if p.KeyHeader != "" && *key != "" {
		out[p.KeyHeader], *key = *key, ""
	}
	return out
}

// revealed is a client whose key is asked for with its first request, and once
// more when it is refused: such keys expire.
type revealed struct {
	open   func(ctx context.Context) (llm.Client, error)
	mu     sync.Mutex // a command runs once, even for two requests at a time
	client llm.Client
}

// Stream implements [llm.Client].
func (r *revealed) Stream(ctx context.Context, req llm.Request) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		client, fresh, err := r.opened(ctx, nil)
		for err == nil {
			refused := false
			client.Stream(ctx, req)(func(ev llm.Event, err error) bool {
				var e *llm.Error
				refused = errors.As(err, &e) && e.Status == http.StatusUnauthorized && !fresh
				return !refused && yield(ev, err)
			})
			if !refused {
				return
			}
			client, fresh, err = r.opened(ctx, client)
		}
		yield(nil, cmp.Or(ctx.Err(), err))
	}
}

// opened is the client, and whether its key was asked for just now. The key of
// a client that was refused is asked for again.
func (r *revealed) opened(ctx context.Context, refused llm.Client) (client llm.Client, fresh bool, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.client != nil && r.client != refused {
		return r.client, false, nil
	}
	r.client = nil
	if client, err = r.open(ctx); err == nil {
		r.client = client
	}
	return client, true, err
}
