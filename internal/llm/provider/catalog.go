package provider

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"banyan/internal/llm"
	"banyan/internal/llm/anthropic"
	"banyan/internal/llm/gemini"
	"banyan/internal/llm/httpx"
	"banyan/internal/llm/models"
	"banyan/internal/llm/openai"
)

// Config says where a catalog looks. The zero value of a field is for the real world.
type Config struct {
	Env func(name string) string // nil means os.Getenv
	// Dir is the folder with models.json and credentials.json; empty means neither.
	Dir string
	// Builtin are clients that need no network, by provider name. They come
	// last in Detect, with the model of that name.
	Builtin map[string]llm.Client
	// Offline: no packet leaves. Only Builtin can be asked.
	Offline bool
	// HTTP does the requests of all providers; nil means a shared transport,
	// with proxies from the environment.
	HTTP      http.RoundTripper
	FirstByte time.Duration // zero means httpx.FirstByte
	Idle      time.Duration // zero means httpx.Idle
	Retry     llm.Policy
}

// Catalog knows whom one can ask, and makes clients. It is immutable but for
// the keys that its Credentials keep.
type Catalog struct {
	config      Config
	providers   []Provider
	table       *models.Table
	credentials *Credentials
	problems    []error
}

// Open reads models.json and the keys. What is wrong in them is told by
// Problems; the rest is used.
func Open(c Config) *Catalog {
	if c.Env == nil {
		c.Env = os.Getenv
	}
	cat := &Catalog{config: c, table: models.Embedded(), credentials: &Credentials{entries: map[string]credential{}}}
	for _, p := range providers {
		cat.providers = append(cat.providers, p.resolve(c.Env))
	}
	if c.Dir != "" {
		cat.read(c.Dir)
	}
	return cat
}

func (c *Catalog) read(dir string) {
	var err error
	if c.credentials, err = LoadCredentials(filepath.Join(dir, "credentials.json")); err != nil {
		c.problems = append(c.problems, err)
	}
	if text := c.credentials.Exposed(); text != "" {
		c.problems = append(c.problems, errors.New(text))
	}
	path := filepath.Join(dir, "models.json")
	data, err := os.ReadFile(path)
	if err != nil {
		if !errors.Is(err, os.ErrNotExist) {
			c.problems = append(c.problems, fmt.Errorf("reading your models: %w", err))
		}
		return
	}
	servers, problems := models.Parse(path, data)
	for _, p := range problems {
		c.problems = append(c.problems, p)
	}
	for _, s := range servers {
		c.add(path, s)
	}
}

// add takes a provider of models.json, or what is different about a known one.
func (c *Catalog) add(path string, s models.Server) {
	i := slices.IndexFunc(c.providers, func(p Provider) bool { return p.Name == s.Name })
	if i < 0 {
		if s.BaseURL == "" {
			c.problems = append(c.problems, fmt.Errorf("%s: providers.%s: has no baseURL, and no provider of this name is known", path, s.Name))
			return
		}
		i = len(c.providers)
		c.providers = append(c.providers, Provider{Name: s.Name, Title: s.Name, Protocol: Chat, Local: s.Local || s.Key == ""})
	}
	p := &c.providers[i]
	p.BaseURL = cmp.Or(s.BaseURL, p.BaseURL)
	p.Protocol = cmp.Or(Protocol(s.Protocol), p.Protocol)
	p.key, p.headers = s.Key, s.Headers
	if p.Default == "" && len(s.Models) > 0 && !p.Local {
		p.Default = s.Models[0].ID
	}
	c.table = c.table.With(s.Models)
}

// Problems are what was wrong in the files that were read.
func (c *Catalog) Problems() []error { return c.problems }

// Credentials are the keys that are kept.
func (c *Catalog) Credentials() *Credentials { return c.credentials }

// Providers are all that are known, in the order of [Catalog.Detect].
func (c *Catalog) Providers() []Provider { return slices.Clone(c.providers) }

// Table knows the models.
func (c *Catalog) Table() *models.Table { return c.table }

// Provider finds a provider. The error lists those that there are.
func (c *Catalog) Provider(name string) (Provider, error) {
	for _, p := range c.providers {
		if p.Name == name {
			return p, nil
		}
	}
	names := slices.Sorted(maps.Keys(c.config.Builtin))
	for _, p := range c.providers {
		names = append(names, p.Name)
	}
	return Provider{}, fmt.Errorf("no provider is called %q; there are %s", name, strings.Join(names, ", "))
}

// Configured says whether a provider can be asked: it has a key, or needs none.
// It runs no command and opens no keyring.
func (c *Catalog) Configured(name string) bool {
	if _, ok := c.config.Builtin[name]; ok {
		return true
	}
	p, err := c.Provider(name)
	return err == nil && !c.config.Offline && (p.Local && len(c.table.Of(name)) > 0 || c.hasKey(p))
}

func (c *Catalog) hasKey(p Provider) bool {
	return p.key != "" || c.credentials.Has(p.Name) || c.fromEnv(p.KeyEnv) != "" || c.fromEnv(p.TokenEnv) != ""
}

func (c *Catalog) fromEnv(names []string) string {
	for _, name := range names {
		if value := strings.TrimSpace(c.config.Env(name)); value != "" {
			return value
		}
	}
	return ""
}

// Detect is the model to begin with when nobody chose one: the default of the
// first provider that has a key, else the first model of a local server that
// was found, else a builtin one. False means that there is none.
func (c *Catalog) Detect() (models.Ref, bool) {
	if !c.config.Offline {
		for _, p := range c.providers {
			if !p.Local && p.Default != "" && c.hasKey(p) {
				return models.Ref{Provider: p.Name, Model: p.Default}, true
			}
		}
		for _, p := range c.providers {
			if list := c.table.Of(p.Name); p.Local && len(list) > 0 {
				return models.Ref{Provider: p.Name, Model: list[0].ID}, true
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.config.Builtin)) {
		return models.Ref{Provider: name, Model: name}, true
	}
	return models.Ref{}, false
}

// Resolve finds the model that a person means: see [models.Table.Resolve].
func (c *Catalog) Resolve(text string) (models.Ref, error) {
	if name, _, _ := strings.Cut(text, "/"); c.config.Builtin[name] != nil {
		return models.Ref{Provider: name, Model: name}, nil
	}
	known := func(name string) bool { _, err := c.Provider(name); return err == nil }
	return c.table.Resolve(text, known, c.Configured)
}

// Model is what is known of a model.
func (c *Catalog) Model(provider, id string) llm.Model {
	m, _ := c.table.Find(provider, id)
	if p, err := c.Provider(provider); err != nil || p.Local {
		m.Local = true
	}
	return m
}

// API is the protocol of a provider, for messages (llm.Message.API).
func (c *Catalog) API(provider string) string {
	if p, err := c.Provider(provider); err == nil {
		return p.Protocol.API()
	}
	return provider
}

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
	stored, err := c.credentials.key(p.Name)
	if err != nil {
		return nil, err
	}
	secret := cmp.Or(c.fromEnv(p.KeyEnv), stored, p.key)
	client, err := c.keyed(p, secret)
	if err != nil {
		return nil, err
	}
	model := func(id string) llm.Model { return c.Model(p.Name, id) }
	return llm.WithRetry(models.Meter(client, model), c.config.Retry), nil
}

// keyed makes the client of a provider with a key, or what stands for one.
func (c *Catalog) keyed(p Provider, secret string) (llm.Client, error) {
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
		if v, err := reveal(context.Background(), strings.TrimPrefix(value, "!"), c.config.Env); err == nil {
			out[name] = v
		}
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

// List asks a provider which models it has.
func (c *Catalog) List(ctx context.Context, name string) ([]llm.Model, error) {
	p, err := c.Provider(name)
	if err != nil {
		return nil, err
	}
	stored, err := c.credentials.key(name)
	if err != nil {
		return nil, err
	}
	key, err := reveal(ctx, cmp.Or(c.fromEnv(p.KeyEnv), stored, p.key), c.config.Env)
	if err != nil {
		return nil, err
	}
	return c.list(ctx, p, key)
}

// Check asks a provider for its models with a key, to see whether it is good.
func (c *Catalog) Check(ctx context.Context, name, key string) error {
	p, err := c.Provider(name)
	if err != nil {
		return err
	}
	if key, err = reveal(ctx, key, c.config.Env); err != nil {
		return err
	}
	_, err = c.list(ctx, p, key)
	return err
}

func (c *Catalog) list(ctx context.Context, p Provider, key string) ([]llm.Model, error) {
	if c.config.Offline {
		return nil, fmt.Errorf("%s was not asked: --offline lets no packet leave", p.Title)
	}
	if p.Protocol == Anthropic && key == "" && c.fromEnv(p.TokenEnv) != "" {
		p.KeyHeader, key = "Authorization", "Bearer "+c.fromEnv(p.TokenEnv)
	}
	secret := key
	header := http.Header{}
	for name, value := range c.headers(p, &key) {
		header.Set(name, value)
	}
	l := models.Lister{Provider: p.Name, BaseURL: p.BaseURL, Header: header, Local: p.Local}
	switch p.Protocol {
	case Anthropic:
		l.BaseURL = strings.TrimSuffix(strings.TrimRight(p.BaseURL, "/"), "/v1") + "/v1"
		header.Set("Anthropic-Version", "2023-06-01")
		if key != "" {
			header.Set("X-Api-Key", key)
		}
	case Gemini:
		l.BaseURL = strings.TrimSuffix(strings.TrimRight(p.BaseURL, "/"), "/v1beta") + "/v1beta"
		header.Set("X-Goog-Api-Key", key)
	default:
		if key != "" {
			header.Set("Authorization", "Bearer "+key)
		}
	}
	l.HTTP = httpx.NewClient(httpx.Options{
		Provider: p.Name, Secrets: httpx.Secrets(p.headers, secret), Base: c.config.HTTP, Want: httpx.JSON,
		FirstByte: 20 * time.Second, Idle: 20 * time.Second,
	})
	if p.Name == "ollama" {
		return l.Ollama(ctx)
	}
	list, err := l.List(ctx)
	if p.Protocol != Chat {
		for i := range list {
			list[i].Images = true // all of these vendors' models see; their lists do not say
		}
	}
	return list, err
}
