package headless

import (
	"slices"

	"banyan/internal/llm"
)

// partial tells an answer while it comes, in the events of Anthropic's stream,
// whoever answers: message_start, then for each block content_block_start,
// content_block_delta and content_block_stop, then message_delta and
// message_stop. A request that is tried again begins with message_start anew.
type partial struct {
	began  bool
	blocks []partialBlock // in the order in which they began; the place is the index
	usage  llm.Usage
}

type partialBlock struct {
	number int    // the event's
	kind   string // "text", "thinking" or "tool_use"
	closed bool
}

// event is one event of the stream. Members that an event does not have are left out.
type event struct {
	Type    string      `json:"type"`
	Message *answer     `json:"message,omitempty"`
	Index   *int        `json:"index,omitempty"`
	Block   any         `json:"content_block,omitempty"`
	Delta   any         `json:"delta,omitempty"`
	Usage   *tokenUsage `json:"usage,omitempty"`
}

type textDelta struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

type thinkingDelta struct {
	Type     string `json:"type"`
	Thinking string `json:"thinking"`
}

type signatureDelta struct {
	Type      string `json:"type"`
	Signature string `json:"signature"`
}

type inputDelta struct {
	Type string `json:"type"`
	JSON string `json:"partial_json"`
}

type stopDelta struct {
	StopReason   *string `json:"stop_reason"`
	StopSequence *string `json:"stop_sequence"`
}

// events are what one step of an answer is in the stream.
func (p *partial) events(ev llm.Event, model string) []event {
	var out []event
	if start, ok := ev.(llm.Start); ok || !p.began {
		if start.Model != "" {
			model = start.Model
		}
		*p = partial{began: true}
		out = append(out, event{Type: "message_start", Message: &answer{
			ID: start.ResponseID, Type: "message", Role: "assistant", Model: model, Content: []any{},
		}})
	}
	switch ev := ev.(type) {
	case llm.TextDelta:
		i := p.block(&out, ev.Block, "text", textBlock{"text", ""})
		out = append(out, delta(i, textDelta{"text_delta", ev.Text}))
	case llm.ThinkingDelta:
		out = p.thinking(out, ev)
	case llm.CallDelta:
		i := p.block(&out, ev.Block, "tool_use", callBlock{"tool_use", ev.ID, ev.Name, []byte("{}")})
		if ev.Arguments != "" {
			out = append(out, delta(i, inputDelta{"input_json_delta", ev.Arguments}))
		}
	case llm.CallDone:
		out = p.stop(out, p.block(&out, ev.Block, "tool_use", callBlock{Type: "tool_use", Input: []byte("{}")}))
	case llm.UsageUpdate:
		p.usage = ev.Usage
	case llm.Retry:
		*p = partial{}
		return nil
	case llm.Done:
		for i := range p.blocks {
			out = p.stop(out, i)
		}
		usage := tokens(p.usage)
		out = append(out,
			event{Type: "message_delta", Delta: stopDelta{StopReason: stopReason(ev.Reason)}, Usage: &usage},
			event{Type: "message_stop"})
		*p = partial{}
	}
	return out
}

func (p *partial) thinking(out []event, ev llm.ThinkingDelta) []event {
	if ev.Redacted {
		i := p.block(&out, ev.Block, "thinking", redactedBlock{"redacted_thinking", ev.Signature})
		return p.stop(out, i)
	}
	i := p.block(&out, ev.Block, "thinking", thinkingBlock{Type: "thinking"})
	if ev.Text != "" {
		out = append(out, delta(i, thinkingDelta{"thinking_delta", ev.Text}))
	}
	if ev.Signature != "" {
		out = append(out, delta(i, signatureDelta{"signature_delta", ev.Signature}))
	}
	return out
}

// block is the index of a block; it begins with what it is empty.
func (p *partial) block(out *[]event, number int, kind string, empty any) int {
	i := slices.IndexFunc(p.blocks, func(b partialBlock) bool { return b.number == number && b.kind == kind })
	if i >= 0 {
		return i
	}
	i = len(p.blocks)
	p.blocks = append(p.blocks, partialBlock{number: number, kind: kind})
	*out = append(*out, event{Type: "content_block_start", Index: &i, Block: empty})
	return i
}

func (p *partial) stop(out []event, i int) []event {
	if p.blocks[i].closed {
		return out
	}
	p.blocks[i].closed = true
	return append(out, event{Type: "content_block_stop", Index: &i})
}

func delta(i int, d any) event { return event{Type: "content_block_delta", Index: &i, Delta: d} }
