package llm

import (
	"bytes"
	"encoding/json"
	"io"
	"slices"
	"strings"
	"time"
)

// Fold makes the message of a streamed answer out of its events. The zero
// value is empty. It costs O(delta) an event, whatever the message's length.
// One goroutine owns it; the messages it gives out may be kept.
type Fold struct {
	// Meta is the message without content: role, API, provider, model, time.
	Meta   Message
	blocks []*partial // rising by number
}

// partial is a block that is being written. Builders only grow, so strings
// taken from them stay valid.
type partial struct {
	number    int
	kind      partialKind
	text      strings.Builder // text, thinking, or a call's arguments
	signature strings.Builder
	id, name  string
	redacted  bool
	closed    bool // calls only
}

type partialKind uint8

const (
	textPart partialKind = iota
	thinkingPart
	callPart
)

// NewFold begins an answer of a provider's model.
func NewFold(api, provider, model string, at time.Time) *Fold {
	return &Fold{Meta: Message{Role: Assistant, API: api, Provider: provider, Model: model, Time: at}}
}

// Apply takes the next event into account.
func (f *Fold) Apply(ev Event) {
	switch ev := ev.(type) {
	case Start:
		f.Meta.ResponseID = ev.ResponseID
		if ev.Model != "" {
			f.Meta.API, f.Meta.Provider, f.Meta.Model = ev.API, ev.Provider, ev.Model
		}
	case TextDelta:
		p := f.part(ev.Block, textPart)
		p.text.WriteString(ev.Text)
		if ev.Signature != "" {
			p.signature.Reset()
			p.signature.WriteString(ev.Signature)
		}
	case ThinkingDelta:
		p := f.part(ev.Block, thinkingPart)
		p.text.WriteString(ev.Text)
		p.signature.WriteString(ev.Signature)
		p.redacted = p.redacted || ev.Redacted
	case CallDelta:
		p := f.part(ev.Block, callPart)
		p.text.WriteString(ev.Arguments)
		p.signature.WriteString(ev.Signature)
		if ev.ID != "" {
			p.id = ev.ID
		}
		if ev.Name != "" {
			p.name = ev.Name
		}
	case CallDone:
		f.part(ev.Block, callPart).closed = true
	case UsageUpdate:
		f.Meta.Usage = ev.Usage
	case Retry:
		f.blocks = nil
		f.Meta.Usage = Usage{}
		f.Meta.ResponseID = ""
	case Done:
		f.Meta.StopReason = ev.Reason
	}
}

// part finds or makes the block of a number and kind. A number that comes
// again with another kind is a new block after all others: nothing is spliced.
func (f *Fold) part(number int, kind partialKind) *partial {
	for i := len(f.blocks) - 1; i >= 0; i-- {
		if p := f.blocks[i]; p.number == number && p.kind == kind {
			return p
		}
	}
	p := &partial{number: number, kind: kind}
	i := len(f.blocks)
	for i > 0 && f.blocks[i-1].number > number {
		i--
	}
	f.blocks = slices.Insert(f.blocks, i, p)
	return p
}

// Message is the answer so far. Calls that cannot be run are left out: see
// [Fold.Cut].
func (f *Fold) Message() Message {
	m := f.Meta
	for _, p := range f.blocks {
		switch p.kind {
		case textPart:
			if p.text.Len() > 0 {
				m.Content = append(m.Content, Text{Text: p.text.String(), Signature: p.signature.String()})
			}
		case thinkingPart:
			if p.text.Len() > 0 || p.signature.Len() > 0 {
				m.Content = append(m.Content, Thinking{Text: p.text.String(), Signature: p.signature.String(), Redacted: p.redacted})
			}
		case callPart:
			if args, ok := f.arguments(p); ok {
				m.Content = append(m.Content, ToolCall{ID: p.id, Name: p.name, Arguments: args, Signature: p.signature.String()})
			}
		}
	}
	return m
}

// Writing are the calls that are still being written, with their arguments so
// far, for a screen that shows them as they come.
func (f *Fold) Writing() []PartialCall {
	var calls []PartialCall
	for _, p := range f.blocks {
		if p.kind == callPart && !p.closed {
			calls = append(calls, PartialCall{ID: p.id, Name: p.name, Arguments: p.text.String()})
		}
	}
	return calls
}

// Cut are the names of the calls that cannot be run: they were never closed,
// have no name, their arguments are not one JSON object, or the answer ran into
// its length limit, which may have closed what it cut.
func (f *Fold) Cut() []string {
	var names []string
	for _, p := range f.blocks {
		if p.kind == callPart {
			if _, ok := f.arguments(p); !ok {
				names = append(names, p.name)
			}
		}
	}
	return names
}

// PartialCall is a tool call in the middle of being written.
type PartialCall struct{ ID, Name, Arguments string }

// arguments are a call's, if it is whole. No arguments at all mean an empty
// object: models send that for tools without parameters.
func (f *Fold) arguments(p *partial) (json.RawMessage, bool) {
	if !p.closed || p.name == "" || f.Meta.StopReason == StopLength {
		return nil, false
	}
	raw := bytes.TrimSpace([]byte(p.text.String()))
	if len(raw) == 0 {
		return json.RawMessage("{}"), true
	}
	if raw[0] != '{' || !json.Valid(raw) || repeatsKey(raw) {
		return nil, false
	}
	return raw, true
}

// repeatsKey says whether an object of valid JSON has a key twice: readers
// would not agree on what the call asks for.
func repeatsKey(raw []byte) bool {
	type level struct {
		keys  map[string]bool // nil in an array
		value bool            // the next token is a value
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	var stack []level
	for {
		token, err := d.Token()
		if err != nil {
			return err != io.EOF
		}
		delim, _ := token.(json.Delim)
		if delim == '}' || delim == ']' {
			stack = stack[:len(stack)-1]
			continue
		}
		if n := len(stack); n > 0 && stack[n-1].keys != nil {
			top := &stack[n-1]
			if key, ok := token.(string); ok && !top.value {
				if top.keys[key] {
					return true
				}
				top.keys[key], top.value = true, true
				continue
			}
			top.value = false
		}
		switch delim {
		case '{':
			stack = append(stack, level{keys: map[string]bool{}})
		case '[':
			stack = append(stack, level{})
		}
	}
}
