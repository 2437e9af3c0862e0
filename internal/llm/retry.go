package llm

import (
	"context"
	"errors"
	"iter"
	"math/rand/v2"
	"time"
)

// Policy says how often, and how long, a failed request is tried again. The
// zero value of a field means what [DefaultPolicy] has.
type Policy struct {
	// Tries of a request, the first one included.
	Tries int
	// Breaks is the number of tries where the network failed and not the
	// provider: there patience does not help.
	Breaks int
	// Total limits the waiting and retrying after the first failure. A stream
	// that has run for an hour may still be tried again.
	Total time.Duration
	// Longest is the longest wait that a provider may ask for; what asks for
	// more is an error at once, which says so.
	Longest time.Duration
	// Backoff are the waits before the second, third … try, where the provider
	// asks for none; the last one holds for all that follow.
	Backoff []time.Duration
	// Jitter draws from [0, 1).
	Jitter func() float64
}

// DefaultPolicy is what [WithRetry] does where its policy says nothing.
var DefaultPolicy = Policy{
	Tries:   6,
	Breaks:  3,
	Total:   2 * time.Minute,
	Longest: time.Minute,
	Backoff: []time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second, 16 * time.Second, 30 * time.Second},
	Jitter:  rand.Float64,
}

func (p Policy) orDefault() Policy {
	d := DefaultPolicy
	if p.Tries > 0 {
		d.Tries = p.Tries
	}
	if p.Breaks > 0 {
		d.Breaks = p.Breaks
	}
	if p.Total > 0 {
		d.Total = p.Total
	}
	if p.Longest > 0 {
		d.Longest = p.Longest
	}
	if len(p.Backoff) > 0 {
		d.Backoff = p.Backoff
	}
	if p.Jitter != nil {
		d.Jitter = p.Jitter
	}
	return d
}

// WithRetry makes a client that tries again what may pass. Before each wait it
// yields a [Retry] event, which tells the fold to start over. It does not try
// again once a tool call of the answer was closed: somebody may act on it. An
// answer that is Done and empty is tried once more, then taken as it is.
//
// When ctx is done a wait ends at once.
func WithRetry(c Client, p Policy) Client { return &retrying{c, p.orDefault()} }

type retrying struct {
	client Client
	policy Policy
}

// Stream implements [Client].
func (r *retrying) Stream(ctx context.Context, req Request) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		var first time.Time // of failure
		breaks, empty := 0, 0
		for try := 1; ; try++ {
			a := attempt{client: r.client, first: empty == 0}
			if !a.run(ctx, req, yield) {
				return
			}
			if first.IsZero() {
				first = time.Now()
			}
			var e *Error
			if !errors.As(a.err, &e) || a.called {
				yield(nil, a.err)
				return
			}
			if e.Type == emptyAnswer {
				empty++
			}
			if e.Err != nil {
				breaks++
			}
			wait, ok := r.policy.wait(e, try, breaks, time.Since(first))
			if !ok {
				yield(nil, e)
				return
			}
			if !yield(Retry{Attempt: try + 1, Wait: wait, Err: e}, nil) {
				return
			}
			if !sleep(ctx, wait) {
				yield(nil, ctx.Err())
				return
			}
		}
	}
}

// wait is how long to wait before the next try; false if there is none.
func (p Policy) wait(e *Error, try, breaks int, since time.Duration) (time.Duration, bool) {
	if e.Class != RetryNow && e.Class != RetryAfter || try >= p.Tries || breaks >= p.Breaks || e.RetryAfter > p.Longest {
		return 0, false
	}
	wait := p.Backoff[min(try, len(p.Backoff))-1]
	if e.RetryAfter > 0 {
		// The server knows best; a little more, so that not all come at once.
		wait = e.RetryAfter + time.Duration(p.Jitter()*float64(e.RetryAfter)/10)
	} else {
		wait = wait/2 + time.Duration(p.Jitter()*float64(wait)/2)
	}
	return wait, since+wait <= p.Total
}

func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}

// emptyAnswer is the Type of an error that only the retry sees.
const emptyAnswer = "empty"

// attempt is one try of a request.
type attempt struct {
	client Client
	first  bool // an empty answer is worth another try
	called bool // a call was closed
	some   bool // something was said
	err    error
}

// run passes the events on and keeps the error. It is false when all is over:
// the answer is Done, or the caller has left.
func (a *attempt) run(ctx context.Context, req Request, yield func(Event, error) bool) bool {
	for ev, err := range a.client.Stream(ctx, req) {
		if err != nil {
			a.err = err
			return true
		}
		switch ev := ev.(type) {
		case TextDelta:
			a.some = a.some || ev.Text != ""
		case CallDelta:
			a.some = true
		case CallDone:
			a.called = true
		case Done:
			if !a.some && a.first && ev.Reason == StopEnd {
				a.err = &Error{Class: RetryNow, Provider: req.Model, Type: emptyAnswer, Text: "the answer is empty"}
				return true
			}
		}
		if !yield(ev, nil) {
			return false
		}
	}
	if a.err == nil && ctx.Err() != nil {
		a.err = ctx.Err()
	}
	return a.err != nil
}
