package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"banyan/internal/llm"
	"banyan/internal/tool"
)

// runCalls runs calls: neighbours that only look, or give work to others, run
// together, all others one at a time and in order. Every call gets exactly one
// Returned. It says whether one of them ended the turn, and how many failed to.
func (l Loop) runCalls(ctx context.Context, calls []llm.ToolCall, emit func(Event) error) (ended bool, failed int, err error) {
	for len(calls) > 0 {
		if ctx.Err() != nil {
			if err := l.refuse(calls, "Not run: the user interrupted.", emit); err != nil {
				return false, failed, err
			}
			return false, failed, ctx.Err()
		}
		group := calls[:l.group(calls)]
		calls = calls[len(group):]
		good := false
		err := l.runGroup(ctx, group, func(ev Event) error {
			if r, ok := ev.(Returned); ok {
				good = !r.Message.IsError
			}
			return emit(ev)
		})
		switch {
		case err != nil:
			why := "Not run: the user stopped the turn."
			if errors.Is(err, context.Canceled) {
				why = "Not run: the user interrupted."
			}
			return false, failed, errors.Join(err, l.refuse(calls, why, emit))
		case l.ends(group[0]) && good:
			return true, failed, l.refuse(calls, "Not run: "+group[0].Name+" had ended the turn.", emit)
		case l.ends(group[0]):
			failed++
		}
	}
	return false, failed, ctx.Err()
}

// group is how many of the first calls may run side by side. Who gives work away
// sees to it how many work at once.
func (l Loop) group(calls []llm.ToolCall) int {
	looks := 0
	for n, call := range calls {
		t, _ := l.tool(call.Name)
		switch {
		case t.Name == "", t.Ends:
			return max(n, 1)
		case t.Access == tool.Delegate:
			continue
		case t.Access != tool.Read && t.Access != tool.Network, looks == maxParallel:
			return max(n, 1)
		}
		looks++
	}
	return len(calls)
}

func (l Loop) ends(call llm.ToolCall) bool {
	t, ok := l.tool(call.Name)
	return ok && t.Ends
}

func (l Loop) tool(name string) (tool.Tool, bool) {
	i := slices.IndexFunc(l.tools, func(t tool.Tool) bool { return t.Name == name })
	if i < 0 {
		return tool.Tool{}, false
	}
	return l.tools[i], true
}

// runGroup runs calls side by side. The goroutines hand everything to this one,
// which alone emits; it returns when all have ended.
func (l Loop) runGroup(ctx context.Context, calls []llm.ToolCall, emit func(Event) error) error {
	events := make(chan Event)
	ended := make(chan error)
	asking := make(chan struct{}, 1) // one question at a time
	for _, call := range calls {
		go func() {
			ended <- l.runCall(ctx, call, asking, func(ev Event) { events <- ev })
		}()
	}
	var failed error
	for running := len(calls); running > 0; {
		select {
		case ev := <-events:
			// The first failure to take care of an event ends the turn, but
			// what still runs must be able to end.
			if err := emit(ev); err != nil && failed == nil {
				failed = err
			}
		case err := <-ended:
			running--
			if err != nil && failed == nil {
				failed = err
			}
		}
	}
	return failed
}

// runCall takes one call from question to result. Its error is not nil only
// when the turn must end.
func (l Loop) runCall(ctx context.Context, call llm.ToolCall, asking chan struct{}, emit func(Event)) error {
	t, ok := l.tool(call.Name)
	if !ok {
		emit(l.returned(call, tool.Fail(fmt.Errorf("there is no tool %q; there are %s", call.Name, l.names()))))
		return nil
	}
	if err := tool.Validate(t, call.Arguments); err != nil {
		emit(l.returned(call, tool.Fail(err)))
		return nil
	}
	asking <- struct{}{}
	approval, err := l.Gate(ctx, &call, t)
	<-asking
	if err != nil {
		emit(l.returned(call, tool.Fail(err), approval))
		if errors.Is(err, ErrStop) || ctx.Err() != nil {
			return err
		}
		return nil
	}
	emit(Running{call, l.Now()})
	emit(l.returned(call, l.run(ctx, t, call, emit), approval))
	return nil
}

// run calls the tool. A tool that panics has failed; it takes nothing with it.
func (l Loop) run(ctx context.Context, t tool.Tool, call llm.ToolCall, emit func(Event)) (r tool.Result) {
	defer func() {
		if p := recover(); p != nil {
			r = tool.Fail(fmt.Errorf("the tool %s failed inside, which is a fault of this program: %v", call.Name, p))
		}
	}()
	return t.Run(ctx, tool.Input{
		CallID:   call.ID,
		Args:     call.Arguments,
		Progress: func(v tool.View) { emit(Advanced{call.ID, v}) },
		Given:    func(text string) bool { return llm.Given(l.sent, text) },
	})
}

// refuse answers calls that are not run.
func (l Loop) refuse(calls []llm.ToolCall, why string, emit func(Event) error) error {
	for _, call := range calls {
		if err := emit(l.returned(call, tool.Fail(errors.New(why)))); err != nil {
			return err
		}
	}
	return nil
}

// returned makes the message of a result.
func (l Loop) returned(call llm.ToolCall, r tool.Result, by ...Approval) Returned {
	m := llm.Message{
		Role: llm.ToolResult, Time: l.Now(),
		CallID: call.ID, ToolName: call.Name,
		Content: r.Content, Details: details(r.View, by),
	}
	if r.Err != nil {
		m.IsError = true
		m.Content = append([]llm.Block{llm.Text{Text: r.Err.Error()}}, m.Content...)
	}
	return Returned{m}
}

// details are what is stored with a result beside what the model sees: how it is
// drawn, and who approved.
func details(v tool.View, by []Approval) json.RawMessage {
	raw := tool.EncodeView(v)
	if len(by) == 0 || by[0] == (Approval{}) {
		return raw
	}
	approval, err := json.Marshal(by[0])
	if err != nil {
		return raw
	}
	if raw == nil {
		return fmt.Appendf(nil, `{"approval":%s}`, approval)
	}
	return fmt.Appendf(raw[:len(raw)-1], `,"approval":%s}`, approval)
}

func (l Loop) names() string {
	var names []string
	for _, t := range l.tools {
		names = append(names, t.Name)
	}
	return strings.Join(names, ", ")
}
