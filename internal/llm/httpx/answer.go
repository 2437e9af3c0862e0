package httpx

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"

	"banyan/internal/llm"
)

// Decoder makes events of one answer, in one protocol. It is used once.
type Decoder interface {
	// Event takes the next server-sent event and reports whether it is the
	// protocol's terminal one. An *[llm.Error] is the provider's; any other
	// error means that the stream cannot be understood.
	Event(ev Event, emit func(llm.Event)) (terminal bool, err error)
	// End is asked when the stream ends without a terminal event: is the
	// answer whole all the same? If so it emits [llm.Done], or returns the
	// provider's error.
	End(emit func(llm.Event)) (whole bool, err error)
}

// Source opens the stream of an answer.
type Source struct {
	Provider string
	Secrets  []string // never to appear in an error
	Open     func(ctx context.Context) (*http.Response, error)
	Decoder  func() Decoder // makes one for each answer
}

// Answer is the loop that every provider's Stream is: it opens the stream,
// decodes its events and keeps the promise of [llm.Client]: Done, or an error,
// comes last.
func Answer(ctx context.Context, s Source) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		res, err := s.Open(ctx)
		if err != nil {
			yield(nil, s.failed(ctx, "", err))
			return
		}
		defer res.Body.Close()
		host := ""
		if res.Request != nil {
			host = res.Request.URL.Host
		}
		var batch []llm.Event
		ids := callIDs{map[string]int{}, map[int]bool{}}
		emit := func(ev llm.Event) { batch = ids.add(batch, ev) }
		events, decoder := NewReader(res.Body), s.Decoder()
		for {
			batch = batch[:0]
			terminal, err := step(events, decoder, emit)
			if ctx.Err() != nil {
				yield(nil, ctx.Err())
				return
			}
			for _, ev := range batch {
				if !yield(ev, nil) {
					return
				}
			}
			if err != nil {
				yield(nil, s.failed(ctx, host, err))
				return
			}
			if terminal {
				return
			}
		}
	}
}

// errIncomplete says that a stream ended before its answer did.
var errIncomplete = errors.New("the answer was cut off before its end")

// step takes one event from the stream. An event that the stream's end cut
// counts only if it is the terminal one.
func step(events *Reader, d Decoder, emit func(llm.Event)) (terminal bool, err error) {
	ev, err := events.Next()
	switch {
	case err == io.EOF:
		whole, err := d.End(emit)
		if !whole && err == nil {
			err = errIncomplete
		}
		return whole, err
	case err != nil:
		// Once the reason to stop is known, how the connection ends says nothing.
		whole, failure := d.End(emit)
		if whole || failure != nil {
			err = failure
		}
		return whole, err
	case !ev.Cut:
		return d.Event(ev, emit)
	}
	var held []llm.Event
	hold := func(ev llm.Event) { held = append(held, ev) }
	terminal, err = d.Event(ev, hold)
	if err == nil && !terminal {
		terminal, err = d.End(hold)
	}
	if err != nil || !terminal {
		return false, errIncomplete
	}
	for _, ev := range held {
		emit(ev)
	}
	return true, nil
}

// failed makes the error that callers see.
func (s Source) failed(ctx context.Context, host string, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var known *llm.Error
	if errors.As(err, &known) {
		if known.Host == "" {
			known.Host = host
		}
		known.Text = redact(known.Text, s.Secrets)
		return known
	}
	e := &llm.Error{Class: llm.RetryNow, Provider: s.Provider, Host: host, Type: "garbage", Err: err}
	switch {
	case errors.Is(err, errIncomplete):
		e.Type, e.Text = "incomplete", err.Error()
	case errors.Is(err, errTooLong):
		e.Class, e.Text = llm.Stop, err.Error()
	default:
		e.Text = "the answer could not be understood: " + oneLine(inWords(err))
	}
	return e
}

// inWords is an error without the names of our types.
func inWords(err error) string {
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) {
		return fmt.Sprintf("a field (%s) is of the wrong kind (%s)", cmp.Or(wrong.Field, "the event"), wrong.Value)
	}
	return err.Error()
}

// callIDs gives an id to calls that come without one, or with one that another
// call of the answer has: results must find their calls.
type callIDs struct {
	owner map[string]int // the block that came first with an id
	named map[int]bool   // blocks that own an id
}

func (c callIDs) add(batch []llm.Event, ev llm.Event) []llm.Event {
	switch ev := ev.(type) {
	case llm.CallDelta:
		if _, taken := c.owner[ev.ID]; ev.ID != "" && !taken {
			c.owner[ev.ID], c.named[ev.Block] = ev.Block, true
		}
	case llm.CallDone:
		if !c.named[ev.Block] {
			batch = append(batch, llm.CallDelta{Block: ev.Block, ID: "call_" + rand.Text()})
		}
	}
	return append(batch, ev)
}
