package models

import (
	"context"
	"iter"

	"banyan/internal/llm"
)

// Meter makes a client whose usage has its cost. Model describes the models
// of the client's provider. Where a server says nothing of usage, and somebody
// has to pay, the cost is marked as unknown.
func Meter(c llm.Client, model func(id string) llm.Model) llm.Client { return &meter{c, model} }

type meter struct {
	client llm.Client
	model  func(id string) llm.Model
}

// Stream implements [llm.Client].
func (m *meter) Stream(ctx context.Context, req llm.Request) iter.Seq2[llm.Event, error] {
	model := m.model(req.Model)
	unknown := llm.UsageUpdate{Usage: llm.Usage{CostUnknown: !model.Local}}
	return func(yield func(llm.Event, error) bool) {
		begun, told := false, false
		for ev, err := range m.client.Stream(ctx, req) {
			_, done := ev.(llm.Done)
			if u, ok := ev.(llm.UsageUpdate); ok {
				told = true
				ev = llm.UsageUpdate{Usage: model.Cost(u.Usage)}
			}
			if begun && !told && (done || err != nil) && !yield(unknown, nil) {
				return
			}
			begun = true
			if !yield(ev, err) {
				return
			}
		}
	}
}
