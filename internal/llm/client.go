package llm

import (
	"context"
	"encoding/json"
	"iter"
	"time"
)

// Client talks to one provider. Implementations are safe for concurrent use.
type Client interface {
	// Stream sends the request and yields the answer's events as they arrive.
	// The last pair has either a Done event or a non-nil error, never neither:
	// a stream that ends without the provider's own terminal event is an
	// error. Errors are [*Error] or, when ctx is done, ctx's. Breaking out of
	// the loop releases the connection. A client does not retry; see [Retry].
	Stream(ctx context.Context, req Request) iter.Seq2[Event, error]
}

// Request is what a model is asked. It is built anew for every answer.
type Request struct {
	Model    string // the provider's model id
	System   string
	Messages []Message // valid and paired, see session.Context.Request
	Tools    []ToolSpec
	Thinking ThinkingLevel // zero means off
	// MaxTokens limits the answer; zero means the model's own limit.
	MaxTokens int
	// SessionID is stable within a conversation: a provider may use it to
	// route requests to the same cache.
	SessionID string
}

// ToolSpec is what a model is told of a tool.
type ToolSpec struct {
	Name        string
	Description string
	Schema      json.RawMessage // JSON Schema of the arguments, an object
}

// Event is one step of a streamed answer: [Start], [TextDelta],
// [ThinkingDelta], [CallDelta], [CallDone], [UsageUpdate], [Retry] or [Done].
//
// Deltas carry the number of the content block that they belong to. Numbers
// rise in the order of the blocks, need not be contiguous, and blocks may
// interleave.
type Event interface{ isEvent() }

// Start says that the provider has begun to answer.
type Start struct {
	ResponseID string
	// Who answers, where it is not who was asked: see [WithFallback].
	API, Provider, Model string
}

// TextDelta adds to a text block.
type TextDelta struct {
	Block     int
	Text      string
	Signature string // replaces the block's signature if not empty
}

// ThinkingDelta adds to a thinking block.
type ThinkingDelta struct {
	Block     int
	Text      string
	Signature string // is appended to the block's signature
	Redacted  bool
}

// CallDelta adds to a tool call that is still being written.
type CallDelta struct {
	Block     int
	ID, Name  string // each given once, in the first delta that knows it
	Arguments string // a piece of JSON
	Signature string
}

// CallDone closes a tool call: only a call that was closed, in an answer that
// was Done, may be run.
type CallDone struct{ Block int }

// UsageUpdate replaces what is known of the answer's usage.
type UsageUpdate struct{ Usage Usage }

// Retry says that what came before it in this answer no longer counts: the
// request failed and is tried again. The fold starts over.
type Retry struct {
	Attempt int // of the try that follows, 2 for the first retry
	Wait    time.Duration
	Err     error // why
}

// Done ends an answer.
type Done struct{ Reason StopReason }

func (Start) isEvent()         {}
func (TextDelta) isEvent()     {}
func (ThinkingDelta) isEvent() {}
func (CallDelta) isEvent()     {}
func (CallDone) isEvent()      {}
func (UsageUpdate) isEvent()   {}
func (Retry) isEvent()         {}
func (Done) isEvent()          {}
