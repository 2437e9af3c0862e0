package provider

import (
	"context"
	"slices"
	"time"

	"banyan/internal/llm"
)

// probeTime is how long a local server may take to answer. Probes run in the
// background, all at once.
const probeTime = 1500 * time.Millisecond

// Found is a local server that answers.
type Found struct {
	Provider string
	BaseURL  string
	Models   []llm.Model
}

// Probe looks for local servers: Ollama (or OLLAMA_HOST), LM Studio, llama.cpp
// and vLLM at their usual ports, and the local ones of models.json. It returns
// those that answer with a list of models, in the order of the table. It takes
// a moment, so run it in the background.
func (c *Catalog) Probe(ctx context.Context) []Found {
	if c.config.Offline {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	var local []Provider
	for _, p := range c.providers {
		if p.Local {
			local = append(local, p)
		}
	}
	found := make([]chan Found, len(local))
	for i, p := range local {
		found[i] = make(chan Found, 1)
		go func() {
			f := Found{Provider: p.Name, BaseURL: p.BaseURL}
			f.Models, _ = c.list(ctx, p, c.fromEnv(p.KeyEnv)) // nobody there is no error
			found[i] <- f
		}()
	}
	var out []Found
	for _, answer := range found {
		if f := <-answer; len(f.Models) > 0 {
			out = append(out, f)
		}
	}
	return out
}

// With is the catalog with servers that a probe found, or models that a
// provider listed.
func (c *Catalog) With(found ...Found) *Catalog {
	out := *c
	out.providers = slices.Clone(c.providers)
	for _, f := range found {
		out.table = out.table.With(f.Models)
	}
	return &out
}
