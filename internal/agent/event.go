package agent

import (
	"time"

	"banyan/internal/llm"
	"banyan/internal/tool"
)

// Event is what happens in a turn, in this order for each round: [Began],
// any number of [Delta], [Answered], then for the answer's calls [Running],
// [Advanced] and one [Returned] each. [Told] may come between rounds.
type Event interface{ isEvent() }

// Began: a request is about to be sent.
type Began struct{ At time.Time }

// Delta: the answer goes on.
type Delta struct{ Event llm.Event }

// Answered: the answer is over. It may be partial; StopReason says so.
type Answered struct{ Message llm.Message }

// Running: a call was approved and is being run.
type Running struct {
	Call llm.ToolCall
	At   time.Time
}

// Advanced: how far a call is.
type Advanced struct {
	CallID string
	View   tool.View
}

// Returned: the result of a call, whether it ran or not. Results come in the
// order in which calls end.
type Returned struct{ Message llm.Message }

// Told: something the model must be told before it goes on, that is neither a
// result nor the user's.
type Told struct{ Text string }

func (Began) isEvent()    {}
func (Delta) isEvent()    {}
func (Answered) isEvent() {}
func (Running) isEvent()  {}
func (Advanced) isEvent() {}
func (Returned) isEvent() {}
func (Told) isEvent()     {}
