package tool

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"banyan/internal/llm"
)

// Tool is one ability of the model.
type Tool struct {
	llm.ToolSpec
	// Access says what a call may do, for approval and for what may run side by side.
	Access Access
	// Ends: a call that succeeds ends the turn, and what was called after it is
	// not run. Such calls run alone.
	Ends bool
	// Subject is the one line that a person recognises a call by: a path, a
	// command, a pattern. Arguments may be incomplete or wrong.
	Subject func(args json.RawMessage) string
	// Preview is what the call would change, for approval: nil where the tool
	// changes no file, and a nil View where the call would fail. It changes
	// nothing.
	Preview func(in Input) View
	// Run does it. The arguments are one JSON object that fits the schema. It
	// returns soon after ctx is done, having stopped what it began.
	Run func(ctx context.Context, in Input) Result
}

// Access is what a tool may do to the world.
type Access uint8

const (
	Read     Access = iota // looks only
	Edit                   // changes files, through the edit and write tools
	Execute                // runs programs
	Network                // talks to other machines
	Delegate               // gives work to another agent, whose own calls are judged one by one
)

// Input is one call.
type Input struct {
	CallID string
	Args   json.RawMessage
	// Progress shows how far a long call is; it may be called often and from
	// the goroutine of Run only. Never nil.
	Progress func(View)
	// Given says whether a text stands in what the model was sent, so that it
	// need not be told again; nil where that is not known.
	Given func(text string) bool
}

// Result is what a call gave.
type Result struct {
	Content []llm.Block // for the model; text says so when it was cut, and where the rest is
	View    View        // for people; nil draws Content as plain text
	Err     error       // the call failed; the model is told its text
}

// Fail is a failed result.
func Fail(err error) Result { return Result{Err: err} }

// TextResult is a result of plain text.
func TextResult(text string, v View) Result {
	return Result{Content: []llm.Block{llm.Text{Text: text}}, View: v}
}

// All are the tools that work on env, in the order in which models are told of
// them.
func All(env *Env) []Tool {
	return []Tool{
		env.read(),
		env.write(),
		env.edit(),
		env.bash(),
		env.bashOutput(),
		env.bashKill(),
		env.grep(),
		env.glob(),
		env.ls(),
		env.stat(),
		env.exists(),
		env.mkdir(),
		env.rm(),
		env.todo(),
		env.fetch(),
	}
}

// Reserved says whether a name is that of a tool which a model has only at
// times: no tool from elsewhere may have it at others.
func Reserved(name string) bool { return name == Finish || name == GiveUp }

// Names of the tools by which a model ends a run that a result is wanted of.
const (
	Finish = "finish"
	GiveUp = "give_up"
)

// Find is the tool of that name.
func Find(tools []Tool, name string) (Tool, bool) {
	for _, t := range tools {
		if t.Name == name {
			return t, true
		}
	}
	return Tool{}, false
}

// spec is a tool of the package in the making; A is the struct of its
// arguments.
type spec[A any] struct {
	name    string
	access  Access
	prompt  string
	schema  string
	preview func(A) View
	run     func(context.Context, A, func(View)) Result
}

func (s spec[A]) tool() Tool {
	t := Tool{
		ToolSpec: llm.ToolSpec{Name: s.name, Description: s.prompt, Schema: json.RawMessage(s.schema)},
		Access:   s.access,
		Subject:  func(args json.RawMessage) string { return Describe(s.name, args) },
		Run: func(ctx context.Context, in Input) Result {
			args, err := decodeArgs[A](in.Args)
			if err != nil {
				return Fail(fmt.Errorf("%s: reading the arguments: %w", s.name, err))
			}
			return s.run(ctx, args, in.Progress)
		},
	}
	if s.preview != nil {
		t.Preview = func(in Input) View {
			args, err := decodeArgs[A](in.Args)
			if err != nil {
				return nil
			}
			return s.preview(args)
		}
	}
	return t
}

func decodeArgs[A any](raw json.RawMessage) (A, error) {
	var args A
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	err := dec.Decode(&args)
	return args, err
}
