package llm

import (
	"context"
	"errors"
	"fmt"
	"iter"
)

// Choice is a model and who talks to it.
type Choice struct {
	Client               Client
	API, Provider, Model string
}

// WithFallback makes a client that asks the next of several models where one
// fails before it has said anything, and nothing more can be tried there
// (clients that retry do so first). Its [Start] events say who answers.
//
// A request that does not fit goes to no other model: its history is what is
// wrong. Nor does one that was refused.
func WithFallback(choices ...Choice) Client { return &fallback{choices} }

type fallback struct{ choices []Choice }

// Stream implements [Client].
func (f *fallback) Stream(ctx context.Context, req Request) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		for i, choice := range f.choices {
			req.Model = choice.Model
			a := attempt{client: choice.Client}
			if !a.run(ctx, req, choice.named(yield)) {
				return
			}
			if e, ok := f.passes(a, i); ok {
				why := fmt.Errorf("%w; %s answers instead", e, f.choices[i+1].Model)
				if !yield(Retry{Attempt: 2, Err: why}, nil) {
					return
				}
				continue
			}
			yield(nil, a.err)
			return
		}
	}
}

// passes says whether the next choice is asked after this failure.
func (f *fallback) passes(a attempt, i int) (*Error, bool) {
	var e *Error
	if !errors.As(a.err, &e) || i == len(f.choices)-1 || a.some || e.Class == Overflow || e.Type == "refusal" {
		return nil, false
	}
	return e, true
}

// named puts who answers into the events that begin an answer.
func (c Choice) named(yield func(Event, error) bool) func(Event, error) bool {
	return func(ev Event, err error) bool {
		if start, ok := ev.(Start); ok {
			start.API, start.Provider, start.Model = c.API, c.Provider, c.Model
			ev = start
		}
		return yield(ev, err)
	}
}
