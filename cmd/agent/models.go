package main

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"banyan/internal/engine"
	"banyan/internal/llm"
	"banyan/internal/llm/models"
	"banyan/internal/llm/offline"
	"banyan/internal/llm/provider"
	"banyan/internal/session"
	"banyan/internal/tui"
)

// wordPause is the offline model's pace in a chat: fast, but it can be seen to come.
const wordPause = 12 * time.Millisecond

// roster gives clients by name, from what the environment, the credentials and
// models.json configure. It may learn of local servers while the program runs,
// which is why the catalog is an atomic pointer.
type roster struct {
	catalog   atomic.Pointer[provider.Catalog]
	fallbacks []models.Ref
}

// newRoster reads what is configured. Fallbacks answer, in their order, where a
// model cannot; names that mean nothing are left out.
func newRoster(configDir string, offlineOnly bool, pace time.Duration, fallbacks []string) *roster {
	r := &roster{}
	r.catalog.Store(provider.Open(provider.Config{
		Dir: configDir, Offline: offlineOnly,
		Builtin: map[string]llm.Client{offline.Provider: offline.Client{Pace: pace}},
	}))
	for _, name := range fallbacks {
		if ref, err := r.catalog.Load().Resolve(name); err == nil {
			r.fallbacks = append(r.fallbacks, ref)
		}
	}
	return r
}

// choose finds the model that a new session begins with: the one asked for, else
// the first that is configured, else the offline one.
func (r *roster) choose(name string) (ref models.Ref, chosen bool, err error) {
	if name != "" {
		ref, err = r.catalog.Load().Resolve(name)
		return ref, true, err
	}
	ref, ok := r.catalog.Load().Detect()
	if !ok {
		return ref, false, fmt.Errorf("no model is configured")
	}
	return ref, false, nil
}

// Client implements engine.Models.
func (r *roster) Client(ref session.ModelRef) (llm.Client, engine.ModelInfo, error) {
	c := r.catalog.Load()
	client, err := c.New(models.Ref{Provider: ref.Provider, Model: ref.Model}, r.fallbacks...)
	if err != nil {
		return nil, engine.ModelInfo{}, err
	}
	info := engine.ModelInfo{API: c.API(ref.Provider), Model: c.Model(ref.Provider, ref.Model)}
	if ref.Provider == offline.Provider {
		info.Model, info.Offline = offline.Description, true
	}
	if info.Name == "" {
		info.Name = ref.Model
	}
	return client, info, nil
}

// probe looks for local servers and takes them in. True says that there are any.
func (r *roster) probe(ctx context.Context) (models.Ref, bool) {
	c := r.catalog.Load()
	found := c.Probe(ctx)
	if len(found) == 0 {
		return models.Ref{}, false
	}
	c = c.With(found...)
	r.catalog.Store(c)
	return c.Detect()
}

// choices are what /model shows: the models of the providers that can be asked.
func (r *roster) choices() []tui.Choice {
	c := r.catalog.Load()
	var list []tui.Choice
	for m := range c.Table().All() {
		if c.Configured(m.Provider) {
			list = append(list, tui.Choice{
				Model: session.ModelRef{Provider: m.Provider, Model: m.ID}, Name: m.Name, Detail: detail(m),
			})
		}
	}
	return append(list, tui.Choice{
		Model: session.ModelRef{Provider: offline.Provider, Model: offline.Model},
		Name:  offline.Description.Name, Detail: "built in: rules, no network",
	})
}

// providers are the names that login and logout know.
func (r *roster) providers() []string {
	var names []string
	for _, p := range r.catalog.Load().Providers() {
		if !p.Local {
			names = append(names, p.Name)
		}
	}
	return names
}

// login checks a key with one call and keeps it.
func (r *roster) login(ctx context.Context, name, key string) error {
	ctx, cancel := context.WithTimeout(ctx, checkTime)
	defer cancel()
	c := r.catalog.Load()
	if err := c.Check(ctx, name, key); err != nil {
		return err
	}
	return c.Credentials().Set(name, key, false)
}

func (r *roster) logout(_ context.Context, name string) error {
	return r.catalog.Load().Credentials().Remove(name)
}

// detail is a model's context window and price, as far as they are known.
func detail(m llm.Model) string {
	var parts []string
	if m.Context > 0 {
		parts = append(parts, tokens(m.Context)+" tokens")
	}
	switch {
	case m.Local:
		parts = append(parts, "local")
	case m.Price != nil:
		parts = append(parts, fmt.Sprintf("$%g in, $%g out", m.Price.Input, m.Price.Output))
	}
	return strings.Join(parts, " · ")
}

// tokens is a number of tokens for people.
func tokens(n int) string {
	switch {
	case n >= 1_000_000:
		return fmt.Sprintf("%gM", float64(n/100_000)/10)
	case n >= 1000:
		return fmt.Sprintf("%dk", n/1000)
	}
	return fmt.Sprint(n)
}
