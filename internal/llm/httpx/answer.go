package httpx

import (
	"context"
	"errors"
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
	// answer whole all the same? If so it emits [llm.Done].
	End(emit func(llm.Event)) bool
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
		emit := func(ev llm.Event) { batch = append(batch, ev) }
		events, decoder := NewReader(res.Body), s.Decoder()
		for {
			batch = batch[:0]
			terminal, err := step(events, decoder, emit)
			if err != nil && ctx.Err() != nil {
				err = ctx.Err()
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
		if !d.End(emit) {
			return false, errIncomplete
		}
		return true, nil
	case err != nil:
		return false, err
	case !ev.Cut:
		return d.Event(ev, emit)
	}
	var held []llm.Event
	terminal, err = d.Event(ev, func(ev llm.Event) { held = append(held, ev) })
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
		e.Text = "the answer could not be understood: " + oneLine(err.Error())
	}
	return e
}
