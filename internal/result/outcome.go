package result

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"banyan/internal/agent"
	"banyan/internal/llm"
	"banyan/internal/tool"
)

// Errors of a run that should have ended with a result.
var (
	// ErrNone: the model ended without one.
	ErrNone = errors.New("the model gave no result that fits the schema")
	// ErrGaveUp: the model said that there is none, and why.
	ErrGaveUp = errors.New("the model gave up")
)

// Outcome is what a run's messages say of its result.
type Outcome struct {
	Value  json.RawMessage // what fits the schema, compact; nil for none
	Reason string          // why the model gave up; untrusted, empty if it did not

	wrapped bool
	tried   int                     // calls of finish that failed
	fault   string                  // why the last of them did
	calls   map[string]llm.ToolCall // of the last answer without their results, by id
}

// Outcome is that of a run which begins.
func (w *Want) Outcome() *Outcome { return &Outcome{wrapped: w.wrapped} }

// Ending says whether the run has its end, a result or that there is none, or
// the last answer calls for it.
func (o *Outcome) Ending() bool {
	for _, call := range o.calls {
		if call.Name == tool.Finish || call.Name == tool.GiveUp {
			return true
		}
	}
	return o.Value != nil || o.Reason != ""
}

// Add takes the next message into account. The last result counts: a turn that
// was ended by one may be sent on.
func (o *Outcome) Add(m llm.Message) {
	switch {
	case m.Role == llm.Assistant:
		o.calls = map[string]llm.ToolCall{}
		for _, call := range m.Calls() {
			o.calls[call.ID] = call
		}
	case m.Role == llm.ToolResult:
		o.returned(o.calls[m.CallID], m)
		delete(o.calls, m.CallID)
	}
}

func (o *Outcome) returned(call llm.ToolCall, m llm.Message) {
	switch {
	case call.Name == tool.Finish && m.IsError:
		o.tried++
		o.fault, _, _ = strings.Cut(m.Text(), tool.SchemaFollows)
	case call.Name == tool.Finish:
		o.Value, o.Reason = o.value(call.Arguments), ""
	case call.Name == tool.GiveUp && !m.IsError:
		o.Value, o.Reason = nil, reason(call.Arguments)
	}
}

// value is the result that arguments hold.
func (o *Outcome) value(args json.RawMessage) json.RawMessage {
	if o.wrapped {
		var wrapped struct {
			Result json.RawMessage `json:"result"`
		}
		if json.Unmarshal(args, &wrapped) != nil {
			return nil
		}
		args = wrapped.Result
	}
	var compact bytes.Buffer
	if json.Compact(&compact, args) != nil {
		return nil
	}
	return compact.Bytes()
}

// reason is the one that give_up was given.
func reason(args json.RawMessage) string {
	var given struct {
		Reason string `json:"reason"`
	}
	if json.Unmarshal(args, &given) != nil {
		return ""
	}
	return given.Reason
}

// Err is the run's error, from that which its turn ended with: nil for a result,
// [ErrGaveUp] or [ErrNone] with what was tried, and any other as it is.
func (o *Outcome) Err(ended error) error {
	switch {
	case ended != nil && !errors.Is(ended, agent.ErrCannotEnd):
		return ended
	case o.Value != nil:
		return nil
	case o.Reason != "":
		return fmt.Errorf("%w: %s", ErrGaveUp, o.Reason)
	case o.tried > 0:
		return fmt.Errorf("%w: calls of finish failed %d times, the last because: %s", ErrNone, o.tried, o.fault)
	}
	return fmt.Errorf("%w: it was reminded %d times and did not call finish", ErrNone, maxReminders)
}
