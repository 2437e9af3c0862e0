package provider

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"banyan/internal/llm"
	"banyan/internal/llm/httpx"
	"banyan/internal/llm/models"
)

// List asks a provider which models it has.
func (c *Catalog) List(ctx context.Context, name string) ([]llm.Model, error) {
	p, err := c.Provider(name)
	if err != nil {
		return nil, err
	}
	key := c.fromEnv(p.KeyEnv)
	if key == "" {
		stored, err := c.credentials.key(name)
		if err != nil {
			return nil, err
		}
		if key, err = reveal(ctx, cmp.Or(stored, p.key), c.config.Env); err != nil {
			return nil, err
		}
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
