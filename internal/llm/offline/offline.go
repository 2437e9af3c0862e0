package offline

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"banyan/internal/llm"
)

// What answers of this model are recorded under.
const (
	API      = "offline"
	Provider = "offline"
	Model    = "offline"
)

// Description is what there is to know of this model.
var Description = llm.Model{Provider: Provider, ID: Model, Name: "offline", Context: 128_000, Local: true}

// Client implements llm.Client.
type Client struct {
	// Pace is the pause between two words, so that an answer can be read as it
	// comes. Zero gives everything at once.
	Pace time.Duration
}

// Stream implements llm.Client. Its only errors are ctx's.
func (c Client) Stream(ctx context.Context, req llm.Request) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		text, calls := reply(req)
		if len(calls) == 0 && offered(req.Tools, "give_up") {
			calls = []llm.ToolCall{call("give_up", map[string]any{"reason": noData})}
			calls[0].ID = fmt.Sprintf("call_%d_end", len(req.Messages))
		}
		if !yield(llm.Start{}, nil) {
			return
		}
		for _, word := range words(text) {
			if err := pause(ctx, c.Pace); err != nil {
				yield(nil, err)
				return
			}
			if !yield(llm.TextDelta{Text: word}, nil) {
				return
			}
		}
		for i, call := range calls {
			block := i + 1
			if !yield(llm.CallDelta{Block: block, ID: call.ID, Name: call.Name}, nil) ||
				!yield(llm.CallDelta{Block: block, Arguments: string(call.Arguments)}, nil) ||
				!yield(llm.CallDone{Block: block}, nil) {
				return
			}
		}
		reason := llm.StopEnd
		if len(calls) > 0 {
			reason = llm.StopToolUse
		}
		if !yield(llm.UsageUpdate{Usage: estimate(req, text, calls)}, nil) {
			return
		}
		yield(llm.Done{Reason: reason}, nil)
	}
}

func pause(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// words cuts a text after each blank, so that joining them gives it back.
func words(text string) []string { return strings.SplitAfter(text, " ") }

// reply is what the model says and asks for. It is a function of the request.
func reply(req llm.Request) (string, []llm.ToolCall) {
	asked, after := lastPrompt(req.Messages)
	if isSummary(asked) {
		return summarise(asked), nil
	}
	steps := parse(asked)
	if steps == nil {
		return answer(asked), nil
	}
	// Each answer with calls since the prompt was one step.
	done, results := progress(after)
	for _, r := range results {
		if r.IsError {
			return failed(r), nil
		}
	}
	if done < len(steps) {
		step := steps[done]
		text, calls := step.act(req)
		for i := range calls {
			calls[i].ID = fmt.Sprintf("call_%d_%d_%d", len(req.Messages), done, i)
		}
		return text, calls
	}
	return report(results), nil
}

// lastPrompt is what the user said last and what came after it. What stands
// before it in the same message, such as the summary of a branch, is not asked,
// nor is what others than the user add after it.
func lastPrompt(messages []llm.Message) (string, []llm.Message) {
	for i := len(messages) - 1; i >= 0; i-- {
		if messages[i].Role != llm.User {
			continue
		}
		aside := false
		for _, b := range slices.Backward(messages[i].Content) {
			t, ok := b.(llm.Text)
			if ok && !isAside(t.Text) {
				return t.Text, messages[i+1:]
			}
			aside = aside || ok
		}
		if !aside {
			return "", messages[i+1:]
		}
	}
	return "", nil
}

// asides are how texts begin that hooks and rules add to what the user says.
var asides = []string{"[A hook adds:]", "[A rule adds:]"}

func isAside(text string) bool {
	return slices.ContainsFunc(asides, func(begin string) bool { return strings.HasPrefix(text, begin) })
}

// progress counts the rounds of calls after a prompt and gives the results of the last one.
func progress(after []llm.Message) (rounds int, last []llm.Message) {
	for _, m := range after {
		switch {
		case m.Role == llm.Assistant && len(m.Calls()) > 0:
			rounds++
			last = nil
		case m.Role == llm.ToolResult:
			last = append(last, m)
		}
	}
	return rounds, last
}

// estimate counts 4 bytes a token, as nobody bills them.
func estimate(req llm.Request, text string, calls []llm.ToolCall) llm.Usage {
	in := len(req.System)
	for _, t := range req.Tools {
		in += len(t.Name) + len(t.Description) + len(t.Schema)
	}
	for _, m := range req.Messages {
		in += len(m.Text())
		for _, c := range m.Calls() {
			in += len(c.Name) + len(c.Arguments)
		}
	}
	out := len(text)
	for _, c := range calls {
		out += len(c.Name) + len(c.Arguments)
	}
	u := llm.Usage{Input: in / 4, Output: out/4 + 1}
	u.Total = u.Input + u.Output
	return u
}

// call makes a tool call; its id is given later.
func call(name string, args map[string]any) llm.ToolCall {
	raw, err := json.Marshal(args)
	if err != nil {
		panic(err) // strings and numbers always marshal
	}
	return llm.ToolCall{Name: name, Arguments: raw}
}
