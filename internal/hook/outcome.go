package hook

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// Decision is what hooks say to what is about to happen.
type Decision uint8

// The decisions, the strictest last.
const (
	Silent Decision = iota
	Allow
	Ask  // the user
	Deny // or block: what was to happen does not, or goes on where it was to end
)

// Outcome is what hooks said, together. Texts come from outside: they are not
// fit for a terminal as they are.
type Outcome struct {
	Decision Decision
	Reason   string // of the decision
	By       string // the hook that decided, for people
	// Feedback is what the model is told of what has happened already.
	Feedback []string
	// Input are changed arguments of a tool call, as our tool takes them; nil for none.
	Input json.RawMessage
	// Context is what the model is told besides.
	Context []string
	// Output, if not nil, goes instead of a tool's output.
	Output *string
	// Halt: the turn is to end, for StopReason.
	Halt       bool
	StopReason string
	Tree       TreeWish
	Messages   []string // for the user
	Faults     []Fault  // that were not told yet
}

// TreeWish is what hooks of PreTree want otherwise. The zero value is nothing.
type TreeWish struct {
	Summary      string `json:"summary"`      // taken instead of the model's
	Instructions string `json:"instructions"` // go instead of the user's
	Replace      bool   `json:"replace"`      // and of the usual ones
	Label        string `json:"label"`        // of the summary, or else of the target
}

// Fault is what went wrong with a hook.
type Fault struct {
	Hook Hook
	Err  error
}

// String is for people. It quotes the hook: it is not fit for a terminal as it is.
func (f Fault) String() string {
	return fmt.Sprintf("The %s hook %q of %s: %v", f.Hook.Event, cut(f.Hook.Command, 80), f.Hook.Source.File, f.Err)
}

// wireOutput is what a hook may print.
type wireOutput struct {
	Continue      *bool  `json:"continue"`
	StopReason    string `json:"stopReason"`
	SystemMessage string `json:"systemMessage"`
	Decision      string `json:"decision"`
	Reason        string `json:"reason"`
	Specific      *struct {
		Event         string          `json:"hookEventName"`
		Permission    string          `json:"permissionDecision"`
		Why           string          `json:"permissionDecisionReason"`
		UpdatedInput  json.RawMessage `json:"updatedInput"`
		Context       string          `json:"additionalContext"`
		UpdatedOutput *string         `json:"updatedToolOutput"`
		OfMCP         *string         `json:"updatedMCPToolOutput"` // its older name
		Decision      *struct {
			Behavior     string          `json:"behavior"`
			Message      string          `json:"message"`
			Interrupt    bool            `json:"interrupt"`
			UpdatedInput json.RawMessage `json:"updatedInput"`
		} `json:"decision"`
		TreeWish
	} `json:"hookSpecificOutput"`
}

// outcome reads what one hook said.
func (h Hook) outcome(ev event, in Input, r ran) (o Outcome, err error) {
	if r.fault != nil {
		return o, r.fault
	}
	if h.Async {
		if r.code != 0 {
			err = fmt.Errorf("it ended with exit code %d%s", r.code, colon(r.errors))
		}
		return o, err
	}
	w, structured, err := parseOutput(ev, r.output)
	switch {
	case r.code == 2:
		why := strings.TrimSpace(r.errors)
		if err == nil && structured && reasonOf(w) != "" {
			why = reasonOf(w)
		}
		o.block(ev, cut(why, maxText))
		return o, nil
	case err != nil:
		return o, err
	case structured:
		if err := o.take(ev, in, w); err != nil {
			return Outcome{}, err
		}
		if r.code != 0 && o.Decision == Allow {
			o.Decision, o.Input = Silent, nil // a program that failed allows nothing
		}
		return o, nil
	case r.code != 0:
		return o, fmt.Errorf("it ended with exit code %d%s", r.code, colon(r.errors))
	}
	if text := strings.TrimSpace(r.output); ev.spoken && text != "" {
		o.Context = []string{cut(text, maxText)}
	}
	return o, nil
}

// parseOutput reads output that is one JSON object. Anything else is plain text.
func parseOutput(ev event, output string) (w wireOutput, structured bool, err error) {
	text := bytes.TrimSpace([]byte(output))
	if len(text) == 0 || text[0] != '{' || text[len(text)-1] != '}' {
		return w, false, nil
	}
	if err := json.Unmarshal(text, &w); err != nil {
		return wireOutput{}, false, fmt.Errorf("what it printed is no JSON that says what it should: %w", err)
	}
	if w.Specific != nil && w.Specific.Event != ev.name {
		return wireOutput{}, false, fmt.Errorf("it answered for the event %q, not for %s", w.Specific.Event, ev.name)
	}
	return w, true, nil
}

func reasonOf(w wireOutput) string {
	if s := w.Specific; s != nil && s.Why != "" {
		return s.Why
	}
	return w.Reason
}

// block is exit code 2, or a decision to block.
func (o *Outcome) block(ev event, why string) {
	if why == "" {
		why = "a hook said no, and not why"
	}
	switch ev.block {
	case blocks:
		o.Decision, o.Reason = Deny, why
	case feedback:
		o.Feedback = append(o.Feedback, why)
	case nothing:
		o.Messages = append(o.Messages, why)
	}
}

// take takes over what a hook printed.
func (o *Outcome) take(ev event, in Input, w wireOutput) error {
	if w.Continue != nil && !*w.Continue {
		o.Halt, o.StopReason = true, cut(w.StopReason, maxText)
	}
	if w.SystemMessage != "" {
		o.Messages = append(o.Messages, cut(w.SystemMessage, maxText))
	}
	switch {
	case ev.name == PreToolUse:
		return o.takePermission(in, w)
	case ev.name == PermissionRequest:
		return o.takeRequest(w)
	case w.Decision == "block":
		o.block(ev, cut(w.Reason, maxText))
	case w.Decision != "" && w.Decision != "approve":
		return fmt.Errorf("the decision %q is not known; \"block\" is", w.Decision)
	}
	if s := w.Specific; s != nil {
		if s.Context != "" {
			o.Context = []string{cut(s.Context, maxText)}
		}
		if o.Output, o.Tree = s.UpdatedOutput, s.TreeWish; o.Output == nil {
			o.Output = s.OfMCP
		}
	}
	return nil
}

// permissions are the words of PreToolUse, those of old with them. A call that
// cannot be put off is asked about.
var permissions = map[string]Decision{"": Silent, "allow": Allow, "approve": Allow, "ask": Ask, "defer": Ask, "deny": Deny, "block": Deny}

func (o *Outcome) takePermission(in Input, w wireOutput) error {
	word, why := w.Decision, w.Reason
	if s := w.Specific; s != nil {
		if s.Permission != "" {
			word, why = s.Permission, s.Why
		}
		if s.Context != "" {
			o.Context = []string{cut(s.Context, maxText)}
		}
		if len(s.UpdatedInput) > 0 && string(s.UpdatedInput) != "null" {
			changed := object(s.UpdatedInput)
			if changed == nil {
				return errors.New("its updatedInput is no object")
			}
			o.Input = ours(in.tool, changed)
		}
	}
	d, ok := permissions[word]
	if !ok {
		return fmt.Errorf("the decision %q is not known; \"allow\", \"ask\" and \"deny\" are", word)
	}
	if d == Deny && why == "" {
		why = "a hook said no, and not why"
	}
	o.Decision, o.Reason = d, cut(why, maxText)
	return nil
}

func (o *Outcome) takeRequest(w wireOutput) error {
	if w.Specific == nil || w.Specific.Decision == nil {
		return nil
	}
	switch d := w.Specific.Decision; d.Behavior {
	case "allow":
		if len(d.UpdatedInput) > 0 && string(d.UpdatedInput) != "null" {
			return errors.New("it allows other arguments than were asked about; a PreToolUse hook may change them, before they are judged")
		}
		o.Decision = Allow
	case "deny":
		o.Decision, o.Reason = Deny, cut(d.Message, maxText)
		if o.Reason == "" {
			o.Reason = "a hook said no, and not why"
		}
		o.Halt = o.Halt || d.Interrupt
	default:
		return fmt.Errorf("the behavior %q is not known; \"allow\" and \"deny\" are", d.Behavior)
	}
	return nil
}

// merge adds what another hook said. The strictest decision counts, with the
// reasons of all who made it; of changed arguments the last.
func (o *Outcome) merge(other Outcome, by string) {
	switch {
	case other.Decision > o.Decision:
		o.Decision, o.Reason, o.By = other.Decision, other.Reason, by
	case other.Decision == o.Decision && other.Reason != "" && other.Reason != o.Reason:
		o.Reason = strings.TrimSpace(o.Reason + "\n" + other.Reason)
	}
	if other.Input != nil {
		o.Input = other.Input
	}
	if other.Output != nil {
		o.Output = other.Output
	}
	if other.Halt {
		o.Halt, o.StopReason = true, other.StopReason
	}
	o.Feedback = append(o.Feedback, other.Feedback...)
	o.Context = append(o.Context, other.Context...)
	o.Messages = append(o.Messages, other.Messages...)
	o.Tree.merge(other.Tree)
}

func (t *TreeWish) merge(other TreeWish) {
	if other.Summary != "" {
		t.Summary = other.Summary
	}
	if other.Instructions != "" {
		t.Instructions, t.Replace = other.Instructions, other.Replace
	}
	if other.Label != "" {
		t.Label = other.Label
	}
}

// colon is what a program complained about, for after what happened to it.
func colon(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	if line == "" {
		return ""
	}
	return ": " + cut(line, 200)
}

// cut shortens a text to at most n characters.
func cut(text string, n int) string {
	text = strings.ToValidUTF8(text, "�")
	if len(text) <= n {
		return text
	}
	if r := []rune(text); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return text
}
