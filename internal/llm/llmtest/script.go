package llmtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"sync"
	"time"

	"banyan/internal/llm"
)

// Turn is one answer of a scripted client.
type Turn struct {
	Events []llm.Event
	// Err ends the answer instead of a Done event.
	Err error
	// Hold, if not nil, is waited for before Event number HoldAt (or the end).
	Hold   <-chan struct{}
	HoldAt int
	// Check, if not nil, looks at the request; its error ends the answer.
	Check func(llm.Request) error
}

// Text is an answer of text, in pieces.
func Text(pieces ...string) Turn {
	t := Turn{Events: []llm.Event{llm.Start{ResponseID: "resp_1"}}}
	for _, p := range pieces {
		t.Events = append(t.Events, llm.TextDelta{Text: p})
	}
	return t.done(llm.StopEnd)
}

// Calls is an answer that calls tools. Calls without an ID get one.
func Calls(calls ...llm.ToolCall) Turn {
	t := Turn{Events: []llm.Event{llm.Start{ResponseID: "resp_1"}}}
	for i, c := range calls {
		if c.ID == "" {
			c.ID = fmt.Sprintf("call_%d", i+1)
		}
		t.Events = append(t.Events,
			llm.CallDelta{Block: i, ID: c.ID, Name: c.Name},
			llm.CallDelta{Block: i, Arguments: string(c.Arguments)},
			llm.CallDone{Block: i})
	}
	return t.done(llm.StopToolUse)
}

// Call is an answer that calls one tool with arguments that are JSON.
func Call(id, name, args string) Turn {
	return Calls(llm.ToolCall{ID: id, Name: name, Arguments: json.RawMessage(args)})
}

// Fail is an answer that breaks off after some events.
func Fail(err error, events ...llm.Event) Turn { return Turn{Events: events, Err: err} }

// Events is an answer of just these events.
func Events(events ...llm.Event) Turn { return Turn{Events: events} }

func (t Turn) done(reason llm.StopReason) Turn {
	t.Events = append(t.Events,
		llm.UsageUpdate{Usage: llm.Usage{Input: 100, Output: 10, Total: 110}},
		llm.Done{Reason: reason})
	return t
}

// Scripted is a client that plays one turn a request. It may be used by several
// goroutines; the lock is here because tests look at it from outside.
type Scripted struct {
	mu       sync.Mutex
	turns    []Turn
	requests []llm.Request
}

// Script makes a client that answers with these turns, in order.
func Script(turns ...Turn) *Scripted { return &Scripted{turns: turns} }

// Add appends turns to the script.
func (s *Scripted) Add(turns ...Turn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.turns = append(s.turns, turns...)
}

// Requests are the requests so far.
func (s *Scripted) Requests() []llm.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]llm.Request(nil), s.requests...)
}

// Left is the number of turns that were not asked for yet.
func (s *Scripted) Left() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.turns)
}

// ErrScriptOver is what a scripted client answers when it has nothing left.
var ErrScriptOver = errors.New("llmtest: the script has no more turns")

func (s *Scripted) take(req llm.Request) (Turn, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, req)
	if len(s.turns) == 0 {
		return Turn{}, false
	}
	t := s.turns[0]
	s.turns = s.turns[1:]
	return t, true
}

// Stream implements [llm.Client].
func (s *Scripted) Stream(ctx context.Context, req llm.Request) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		if err := ctx.Err(); err != nil {
			yield(nil, err)
			return
		}
		t, ok := s.take(req)
		if !ok {
			yield(nil, ErrScriptOver)
			return
		}
		if t.Check != nil {
			if err := t.Check(req); err != nil {
				yield(nil, err)
				return
			}
		}
		for i, ev := range t.Events {
			if !t.held(ctx, i) {
				yield(nil, ctx.Err())
				return
			}
			if !yield(ev, nil) {
				return
			}
		}
		if !t.held(ctx, len(t.Events)) {
			yield(nil, ctx.Err())
			return
		}
		if t.Err != nil {
			yield(nil, t.Err)
		}
	}
}

// held waits where the turn says so; false means that ctx is done.
func (t Turn) held(ctx context.Context, at int) bool {
	if t.Hold != nil && (at == t.HoldAt || at == len(t.Events) && t.HoldAt > at) {
		select {
		case <-t.Hold:
		case <-ctx.Done():
		}
	}
	return ctx.Err() == nil
}

// Answer runs a request to its end and folds it: the message, the names of
// calls that were cut, and the error that ended it. It fails the contract of
// [llm.Client] loudly: an answer must end in Done or an error, never in both
// or neither.
func Answer(ctx context.Context, c llm.Client, req llm.Request) (m llm.Message, cut []string, err error) {
	fold := llm.NewFold("", "", req.Model, time.Time{})
	done := false
	for ev, failure := range c.Stream(ctx, req) {
		if done || err != nil {
			panic("llmtest: something follows the end of an answer")
		}
		if failure != nil {
			err = failure
			continue
		}
		fold.Apply(ev)
		_, done = ev.(llm.Done)
	}
	if !done && err == nil {
		panic("llmtest: an answer ended in neither Done nor an error")
	}
	return fold.Message(), fold.Cut(), err
}
