package provider

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"banyan/internal/llm"
	"banyan/internal/llm/models"
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
	cat := &Catalog{config: c, table: models.Embedded()}
	cat.credentials, _ = LoadCredentials("") // none
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
	if c.credentials, err = LoadCredentials(CredentialsFile(dir)); err != nil {
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
		c.providers = append(c.providers, Provider{
			Name: s.Name, Title: s.Name, Protocol: Chat, keyless: s.Key == "",
			Local: s.Local || s.Key == "" && private(s.BaseURL),
		})
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
	return p.key != "" || p.keyless || c.credentials.Has(p.Name) || c.fromEnv(p.KeyEnv) != "" || c.fromEnv(p.TokenEnv) != ""
}

// KeyFrom says where the key of a provider is from: an environment variable, a
// file, or that none is needed. It is empty where there is none. The key itself
// is not looked at.
func (c *Catalog) KeyFrom(name string) string {
	p, err := c.Provider(name)
	if err != nil {
		return ""
	}
	for _, variable := range slices.Concat(p.KeyEnv, p.TokenEnv) {
		if c.fromEnv([]string{variable}) != "" {
			return variable
		}
	}
	switch {
	case c.credentials.Has(name):
		return "agent login"
	case p.key != "":
		return "models.json"
	case p.keyless:
		return "no key is needed"
	}
	return ""
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
