package llm

import (
	"fmt"
	"strings"
	"time"
)

// Class says what can be done about an [Error].
type Class uint8

const (
	// Stop: trying again as it is cannot help (bad key, unknown model, no quota, refused content).
	Stop Class = iota
	// RetryNow: a passing fault of the network or the server.
	RetryNow
	// RetryAfter: the server asked to wait, see Error.RetryAfter.
	RetryAfter
	// Overflow: the request does not fit the model's context window.
	Overflow
	// Portal: something between us and the provider answered in its place.
	Portal
)

// Error is a failed request. Its text is one sentence for a person: what
// happened, at which host, what to do. It never contains a key.
type Error struct {
	Class      Class
	Provider   string
	Host       string // as dialled, without credentials
	Status     int    // of HTTP, 0 when there was no response
	Type       string // the provider's error type or code, if it named one
	Text       string // the provider's or the network's words
	Hint       string // what the user can do
	RequestID  string
	RetryAfter time.Duration // as the server said; 0 if it did not
	// Err is what failed below the provider: the network, or the stream that
	// was cut. It is nil where the provider itself said what is wrong.
	Err error
}

// Error implements error.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.Provider)
	if e.Host != "" {
		fmt.Fprintf(&b, " (%s)", e.Host)
	}
	b.WriteString(": ")
	b.WriteString(e.Text)
	if e.Status != 0 {
		fmt.Fprintf(&b, " [HTTP %d]", e.Status)
	}
	if e.RequestID != "" {
		fmt.Fprintf(&b, " (request %s)", e.RequestID)
	}
	if e.Hint != "" {
		b.WriteString(". ")
		b.WriteString(e.Hint)
	}
	return b.String()
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// String names the class, for logs and tests.
func (c Class) String() string {
	switch c {
	case Stop:
		return "stop"
	case RetryNow:
		return "retry now"
	case RetryAfter:
		return "retry after"
	case Overflow:
		return "overflow"
	case Portal:
		return "portal"
	}
	return "unknown"
}
