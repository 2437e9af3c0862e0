package models

import (
	"context"
	"iter"

	"banyan/internal/llm"
)

// Meter makes a client whose usage has its cost. Model describes the models
// of the client's provider.
func Meter(c llm.Client, model func(id string) llm.Model) llm.Client { return &meter{c, model} }

type meter struct {
	client llm.Client
	model  func(id string) llm.Model
}

// Stream implements [llm.Client].
func (m *meter) Stream(ctx context.Context, req llm.Request) iter.Seq2[llm.Event, error] {
	model := m.model(req.Model)
	return func(yield func(llm.Event, error) bool) {
		for ev, err := range m.client.Stream(ctx, req) {
			if u, ok := ev.(llm.UsageUpdate); ok {
				ev = llm.UsageUpdate{Usage: model.Cost(u.Usage)}
			}
			if !yield(ev, err) {
				return
			}
		}
	}
}
