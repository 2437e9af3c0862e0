package anthropic

import (
	"cmp"
	"errors"
	"fmt"

	"banyan/internal/llm"
	"banyan/internal/llm/httpx"
)

// decoder makes events of one answer.
//
// The server numbers blocks; ours are numbered in the order in which they begin,
// so that a number that is used again is another block.
type decoder struct {
	provider string
	blocks   map[int]*openBlock // by the server's number, open ones
	next     int                // our next number
	started  bool
	usage    llm.Usage
	reason   string
	refusal  string
	called   bool // a call was closed
}

type openBlock struct {
	number int
	kind   string
	input  string // a call's arguments that came with its start
	some   bool   // more arguments came
}

// Event implements [httpx.Decoder].
func (d *decoder) Event(raw httpx.Event, emit func(llm.Event)) (terminal bool, err error) {
	var ev event
	if err := httpx.Decode(raw.Data, &ev); err != nil {
		return false, err
	}
	if !d.started && ev.Type != "message_start" && ev.Type != "error" && ev.Type != "ping" {
		return false, fmt.Errorf("%q came before the start", ev.Type)
	}
	switch ev.Type {
	case "message_start":
		return false, d.start(ev.Message.ID, ev.Message.Usage, emit)
	case "content_block_start":
		return false, d.begin(ev, emit)
	case "content_block_delta":
		return false, d.delta(ev, emit)
	case "content_block_stop":
		d.close(ev.Index, emit)
	case "message_delta":
		d.messageDelta(ev, emit)
	case "message_stop":
		return true, d.stop(emit)
	case "error":
		return false, d.fault(raw.Data)
	}
	return false, nil // pings, and what is yet to be invented
}

// End implements [httpx.Decoder]: without message_stop an answer is never whole.
func (d *decoder) End(func(llm.Event)) (bool, error) { return false, nil }

func (d *decoder) start(id string, u usage, emit func(llm.Event)) error {
	if d.started {
		return errors.New("it starts twice")
	}
	d.started = true
	emit(llm.Start{ResponseID: id})
	d.usage = llm.Usage{
		Input: tokens(u.Input), Output: tokens(u.Output), CacheRead: tokens(u.CacheRead), CacheWrite: tokens(u.CacheWrite),
	}
	d.report(emit)
	return nil
}

func (d *decoder) begin(ev event, emit func(llm.Event)) error {
	if d.blocks[ev.Index] != nil {
		return fmt.Errorf("block %d starts twice", ev.Index)
	}
	start := ev.ContentBlock
	b := &openBlock{number: d.next, kind: start.Type}
	d.next++
	d.blocks[ev.Index] = b
	switch start.Type {
	case "text":
		if start.Text != "" {
			emit(llm.TextDelta{Block: b.number, Text: start.Text})
		}
	case "thinking":
		if start.Thinking != "" || start.Signature != "" {
			emit(llm.ThinkingDelta{Block: b.number, Text: start.Thinking, Signature: start.Signature})
		}
	case "redacted_thinking":
		emit(llm.ThinkingDelta{Block: b.number, Signature: start.Data, Redacted: true})
	case "tool_use":
		b.input = string(start.Input)
		emit(llm.CallDelta{Block: b.number, ID: start.ID, Name: start.Name})
	}
	return nil
}

func (d *decoder) delta(ev event, emit func(llm.Event)) error {
	b := d.blocks[ev.Index]
	if b == nil {
		return fmt.Errorf("a piece belongs to block %d, which is not open", ev.Index)
	}
	delta := ev.Delta
	switch kind := b.kind + "/" + delta.Type; kind {
	case "text/text_delta":
		emit(llm.TextDelta{Block: b.number, Text: delta.Text})
	case "thinking/thinking_delta":
		emit(llm.ThinkingDelta{Block: b.number, Text: delta.Thinking})
	case "thinking/signature_delta":
		emit(llm.ThinkingDelta{Block: b.number, Signature: delta.Signature})
	case "tool_use/input_json_delta":
		b.some = b.some || delta.PartialJSON != ""
		emit(llm.CallDelta{Block: b.number, Arguments: delta.PartialJSON})
	case "tool_use/text_delta", "text/input_json_delta", "thinking/text_delta", "thinking/input_json_delta", "tool_use/thinking_delta", "text/thinking_delta":
		return fmt.Errorf("a %s cannot be in a %s block", delta.Type, b.kind)
	}
	return nil // citations, and what is yet to be invented
}

func (d *decoder) close(index int, emit func(llm.Event)) {
	b := d.blocks[index]
	delete(d.blocks, index)
	if b == nil || b.kind != "tool_use" {
		return
	}
	if !b.some && b.input != "" && b.input != "{}" {
		emit(llm.CallDelta{Block: b.number, Arguments: b.input})
	}
	d.called = true
	emit(llm.CallDone{Block: b.number})
}

func (d *decoder) messageDelta(ev event, emit func(llm.Event)) {
	if ev.Delta.StopReason != "" {
		d.reason, d.refusal = ev.Delta.StopReason, ev.Delta.StopDetails.Explanation
	}
	// The numbers are cumulative; those that are missing stay as they were.
	if ev.Usage.Output != nil {
		d.usage.Output = tokens(ev.Usage.Output)
	}
	d.usage.Input = cmp.Or(tokens(ev.Usage.Input), d.usage.Input)
	d.usage.CacheRead = cmp.Or(tokens(ev.Usage.CacheRead), d.usage.CacheRead)
	d.usage.CacheWrite = cmp.Or(tokens(ev.Usage.CacheWrite), d.usage.CacheWrite)
	d.report(emit)
}

func (d *decoder) report(emit func(llm.Event)) {
	u := d.usage
	u.Total = u.Input + u.Output + u.CacheRead + u.CacheWrite
	emit(llm.UsageUpdate{Usage: u})
}

// stop ends the answer with the reason that came before.
func (d *decoder) stop(emit func(llm.Event)) error {
	done := llm.Done{Reason: llm.StopEnd}
	switch d.reason {
	case "":
		return errors.New("it gives no reason for its end")
	case stopRefusal:
		return httpx.Refusal(d.provider, d.refusal)
	case stopLength, stopWindow:
		done.Reason = llm.StopLength
	default:
		if d.called {
			done.Reason = llm.StopToolUse
		}
	}
	emit(done)
	return nil
}

// fault is an error that came after the answer had begun.
func (d *decoder) fault(data []byte) error {
	var body fault
	if err := httpx.Decode(data, &body); err != nil {
		return err
	}
	return httpx.Fault(d.provider, "", 200, body.Error.Type, body.Error.Message)
}

func tokens(n *float64) int {
	if n == nil {
		return 0
	}
	return httpx.Tokens(*n)
}
