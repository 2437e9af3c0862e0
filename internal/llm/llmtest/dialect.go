package llmtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"banyan/internal/llm"
)

// Dialect is a provider's protocol as its server speaks it.
type Dialect interface {
	// Name is the protocol's name in messages (llm.Message.API).
	Name() string
	// Frames are the server-sent events of an answer, each with its blank line.
	Frames(a Reply) []string
	// Error is the event of an error in the middle of a stream, and ErrorBody
	// the body of an answer with an error's status. Kind is one of the words
	// below, in no provider's language.
	Error(kind, text string) string
	ErrorBody(kind, text string) string
	// Validate refuses what the provider would refuse, and more: what it would
	// silently change.
	Validate(r Received) error
	// Bad are streams that only this protocol can have.
	Bad() []Bad
}

// The kinds of errors that every provider has a word for.
const (
	Overloaded  = "overloaded"
	RateLimited = "rate limited"
	Internal    = "internal"
	BadRequest  = "bad request"
	BadKey      = "bad key"
)

// Reply is what a server is to say, in no provider's language.
type Reply struct {
	Parts []Part
	Stop  string    // in the provider's own word; empty for the one that fits
	Usage llm.Usage // Input, Output, CacheRead, CacheWrite
	Piece int       // runes a delta; zero means 5
}

// Part is one block of a Reply: Call, else Thinking (or Redacted), else Text.
type Part struct {
	Text      string
	Thinking  string
	Signature string
	Redacted  bool
	Call      *WireCall
}

// WireCall is a tool call as a server writes it, right or wrong.
type WireCall struct{ ID, Name, Args string }

// Received is a request as it reached the server.
type Received struct {
	Path   string
	Header http.Header
	Body   []byte
}

// Bad is a stream that something is wrong with.
type Bad struct {
	Name   string
	Frames []string
	Want   Want
	// Text is what the message's text must be when Want is Whole.
	Text string
	// Calls are the arguments of the calls in the message when Want is Whole.
	Calls []string
	// Class is the error's, when Want is Failure and AnyClass is not set.
	Class    llm.Class
	AnyClass bool
	// Type, if not empty, is the error's.
	Type string
}

// Want is what must come of a stream.
type Want uint8

const (
	// Failure: an error, and no call.
	Failure Want = iota
	// Whole: no error, the text and the calls as given.
	Whole
)

// pieces cuts a text into deltas.
func (a Reply) pieces(text string) []string {
	n := a.Piece
	if n == 0 {
		n = 5
	}
	var out []string
	runes := []rune(text)
	for len(runes) > n {
		out, runes = append(out, string(runes[:n])), runes[n:]
	}
	return append(out, string(runes))
}

// calls says whether the answer calls tools.
func (a Reply) calls() bool {
	for _, p := range a.Parts {
		if p.Call != nil {
			return true
		}
	}
	return false
}

// frame makes a server-sent event of a value.
func frame(name string, v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	if name == "" {
		return fmt.Sprintf("data: %s\n\n", data)
	}
	return fmt.Sprintf("event: %s\ndata: %s\n\n", name, data)
}

// without is frames less those that contain a text.
func without(frames []string, text string) []string {
	var out []string
	for _, f := range frames {
		if !strings.Contains(f, text) {
			out = append(out, f)
		}
	}
	return out
}

// before is the frames before the first that contains a text; it panics if there is none.
func before(frames []string, text string) []string {
	return slices.Clip(frames[:index(frames, text)])
}

// with is frames with others put in before the first that contains a text.
func with(frames []string, text string, more ...string) []string {
	i := index(frames, text)
	out := append([]string(nil), frames[:i]...)
	return append(append(out, more...), frames[i:]...)
}

// index is the number of the first frame that contains a text.
func index(frames []string, text string) int {
	for i, f := range frames {
		if strings.Contains(f, text) {
			return i
		}
	}
	panic("llmtest: no frame contains " + text)
}

// m is a JSON object.
type m = map[string]any
