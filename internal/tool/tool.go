package tool

import (
	"context"
	"encoding/json"

	"banyan/internal/llm"
)

// Tool is one ability of the model.
type Tool struct {
	llm.ToolSpec
	// Access says what a call may do, for approval and for what may run side by side.
	Access Access
	// Subject is the one line that a person recognises a call by: a path, a
	// command, a pattern. Arguments may be incomplete or wrong.
	Subject func(args json.RawMessage) string
	// Run does it. The arguments are one JSON object that fits the schema. It
	// returns soon after ctx is done, having stopped what it began.
	Run func(ctx context.Context, in Input) Result
}

// Access is what a tool may do to the world.
type Access uint8

const (
	Read    Access = iota // looks only
	Edit                  // changes files, through the edit and write tools
	Execute               // runs programs
	Network               // talks to other machines
)

// Input is one call.
type Input struct {
	CallID string
	Args   json.RawMessage
	// Progress shows how far a long call is; it may be called often and from
	// the goroutine of Run only. Never nil.
	Progress func(View)
}

// Result is what a call gave.
type Result struct {
	Content []llm.Block // for the model; text says so when it was cut, and where the rest is
	View    View        // for people; nil draws Content as plain text
	Err     error       // the call failed; the model is told its text
}

// Failf is a failed result.
func Fail(err error) Result { return Result{Err: err} }

// Text is a result of plain text.
func TextResult(text string, v View) Result {
	return Result{Content: []llm.Block{llm.Text{Text: text}}, View: v}
}
