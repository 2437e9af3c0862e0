package agent

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"banyan/internal/llm"
	"banyan/internal/tool"
)

// Errors that end a turn.
var (
	// ErrStop is wrapped by a Gate's error when the user wants the turn to end.
	ErrStop = errors.New("stopped by the user")
	// ErrCut is wrapped by an error of emit that ends an answer while it is being
	// written: what came of it is emitted as Answered, and Run returns the error.
	ErrCut = errors.New("the answer was cut off")
	// ErrMaxRounds: the turn took as many requests as it was allowed.
	ErrMaxRounds = errors.New("the turn reached its limit of requests")
	// ErrRepeats: the model went on making the same calls.
	ErrRepeats = errors.New("the model kept making the same call; the turn was ended")
	// ErrCannotEnd: too many calls of tools that end a turn failed.
	ErrCannotEnd = errors.New("the model made no call that could end the turn")
)

const (
	maxParallel = 8 // calls at once
	repeatsTold = 3 // identical rounds in a row until the model is told
	repeatsMax  = 5 // and until the turn is ended
	endsMax     = 5 // calls that should have ended the turn and failed
)

// Loop is one turn's equipment. It holds no state: Run may be called again.
type Loop struct {
	Client llm.Client
	// Gate says whether a call may run; it may take as long as a person does.
	// The text of its error is the model's result. An error that wraps ErrStop
	// ends the turn. The approval is recorded with the result. It may change the
	// call's arguments to others that fit the tool's schema.
	Gate func(ctx context.Context, call *llm.ToolCall, t tool.Tool) (Approval, error)
	// Request builds the next request from what was emitted so far and from
	// prompts that came meanwhile, but for its Tools: the model is told of those
	// that come beside it, and its calls are run by them.
	Request func() (llm.Request, []tool.Tool, error)
	// Meta is what answers are recorded under: API, provider and model.
	Meta llm.Message
	// Ending is asked when the model has nothing more to ask for. A text keeps the
	// turn going: the model is told it. Nil lets turns end.
	Ending func(context.Context, Ending) (string, error)
	// MaxRounds limits the requests of a turn; zero means no limit.
	MaxRounds int
	Now       func() time.Time

	// Of the request whose answer's calls are run.
	sent  []llm.Message
	tools []tool.Tool
}

// Ending is a turn that is about to end.
type Ending struct {
	Answer llm.Message // the last one
	Kept   int         // how often this turn was kept going already
}

// Approval says who let a call run, or did not. It is stored in the details of
// the call's result, as "approval".
type Approval struct {
	Action  string `json:"action"`            // "allow" or "deny"
	By      string `json:"by"`                // "user", or where the rule is from
	Rule    string `json:"rule,omitempty"`    // the rule that decided, if it was one
	Comment string `json:"comment,omitempty"` // of the user's
	Changed string `json:"changed,omitempty"` // the arguments that ran, where they are not the model's
}

// Run runs one turn. emit is called from this goroutine only and returns when
// the event has been taken care of: after emit(Answered) the answer is on disk.
// Its error ends the turn. A nil result means that the model has nothing more
// to ask for; an answer that failed or was interrupted was emitted all the same.
func (l Loop) Run(ctx context.Context, emit func(Event) error) error {
	var seen repeats
	kept, failedEnds := 0, 0
	for round := 0; l.MaxRounds == 0 || round < l.MaxRounds; round++ {
		req, tools, err := l.Request()
		if err != nil {
			return err
		}
		for _, t := range tools {
			req.Tools = append(req.Tools, t.ToolSpec)
		}
		l.sent, l.tools = req.Messages, tools
		answer, cut, err := l.answer(ctx, req, emit)
		if err != nil {
			return err
		}
		calls := answer.Calls()
		if len(calls) == 0 && len(cut) == 0 {
			if more, err := l.keep(ctx, Ending{answer, kept}, emit); !more {
				return err
			}
			kept++
			continue
		}
		ended, failed, err := l.runCalls(ctx, calls, emit)
		if failedEnds += failed; err != nil || ended {
			return err
		}
		if failedEnds >= endsMax {
			return ErrCannotEnd
		}
		if len(cut) > 0 {
			if err := emit(Told{cutText(cut, answer.StopReason)}); err != nil {
				return err
			}
		}
		switch n := seen.count(calls); {
		case n >= repeatsMax:
			return ErrRepeats
		case n >= repeatsTold:
			if err := emit(Told{fmt.Sprintf("You have made the same call %d times in a row and the result does not change. Do something else, or say what stands in the way.", n)}); err != nil {
				return err
			}
		}
	}
	return ErrMaxRounds
}

// keep says whether a turn goes on that could end, having told the model why.
func (l Loop) keep(ctx context.Context, e Ending, emit func(Event) error) (bool, error) {
	if l.Ending == nil {
		return false, nil
	}
	text, err := l.Ending(ctx, e)
	if err == nil && text != "" {
		err = emit(Told{text})
	}
	return err == nil && text != "", err
}

// answer sends one request and folds what comes back. Whatever was received is
// emitted as Answered, also when it failed.
func (l Loop) answer(ctx context.Context, req llm.Request, emit func(Event) error) (llm.Message, []string, error) {
	if err := emit(Began{l.Now()}); err != nil {
		return llm.Message{}, nil, err
	}
	fold := llm.NewFold(l.Meta.API, l.Meta.Provider, l.Meta.Model, l.Now())
	var failed error
	for ev, err := range l.Client.Stream(ctx, req) {
		if err != nil {
			failed = err
			break
		}
		fold.Apply(ev)
		if err := emit(Delta{ev}); errors.Is(err, ErrCut) {
			failed = err
			break
		} else if err != nil {
			return llm.Message{}, nil, err
		}
	}
	if failed == nil && fold.Meta.StopReason == "" {
		failed = errors.New("the answer ended before the model said that it was complete")
	}
	m := fold.Message()
	m.Content = identified(m.Content)
	switch {
	case failed != nil && ctx.Err() != nil:
		m.StopReason, m.ErrorMessage = llm.StopAborted, "interrupted"
		failed = ctx.Err()
	case errors.Is(failed, ErrCut):
		m.StopReason, m.ErrorMessage = llm.StopAborted, failed.Error()
	case failed != nil:
		m.StopReason, m.ErrorMessage = llm.StopError, failed.Error()
	}
	if failed != nil {
		// Calls of an answer that did not end are not to be run, nor to be answered.
		m.Content = withoutCalls(m.Content)
	}
	if err := emit(Answered{m}); err != nil {
		return m, nil, err
	}
	return m, fold.Cut(), failed
}

// identified gives calls an id where the model gave none, or the same one
// twice: results find their calls by it.
func identified(blocks []llm.Block) []llm.Block {
	seen := map[string]bool{}
	for i, b := range blocks {
		call, ok := b.(llm.ToolCall)
		if !ok {
			continue
		}
		if call.ID == "" || seen[call.ID] {
			call.ID = "call_" + uuid.NewString()
			blocks[i] = call
		}
		seen[call.ID] = true
	}
	return blocks
}

func withoutCalls(blocks []llm.Block) []llm.Block {
	var kept []llm.Block
	for _, b := range blocks {
		if _, call := b.(llm.ToolCall); !call {
			kept = append(kept, b)
		}
	}
	return kept
}

func cutText(names []string, why llm.StopReason) string {
	reason := "its arguments were not one complete JSON object"
	if why == llm.StopLength {
		reason = "the answer reached its output limit"
	}
	return fmt.Sprintf("Not run: your call of %s was cut off, because %s. Make it again, in smaller pieces if it is long.", strings.Join(names, ", "), reason)
}

// repeats counts rounds that made exactly the calls of the round before.
type repeats struct {
	last string
	n    int
}

func (r *repeats) count(calls []llm.ToolCall) int {
	var b strings.Builder
	for _, c := range calls {
		fmt.Fprintf(&b, "%s\x00%s\x00", c.Name, c.Arguments)
	}
	if b.String() != r.last {
		r.last, r.n = b.String(), 0
	}
	r.n++
	return r.n
}
