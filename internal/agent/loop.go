package agent

import (
	"context"

	"banyan/internal/llm"
	"banyan/internal/tool"
)

// Loop is one turn's equipment.
type Loop struct {
	Client llm.Client
	Tools  []tool.Tool
	// Gate says whether a call may run; it may take as long as a person does.
	// A nil error lets it run; the error's text is the model's result. An
	// error that wraps ErrStop ends the turn.
	Gate func(ctx context.Context, call llm.ToolCall) error
	// Request builds the next request from what has been emitted so far,
	// prompts that came meanwhile included.
	Request func() llm.Request
}

// Event is what happens in a turn: [Began], [Delta], [Answered], [Running],
// [Advanced] or [Returned].
type Event interface{ isEvent() }
