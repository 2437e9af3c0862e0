package openai

import (
	"encoding/json"
	"errors"
	"fmt"

	"banyan/internal/llm"
	"banyan/internal/llm/httpx"
)

// responsesDecoder makes events of one answer.
//
// An answer is a list of items; a message has parts. Our blocks are numbered in
// the order in which items and parts begin.
type responsesDecoder struct {
	provider string
	blocks   map[place]*item // open ones
	next     int
	started  bool
	called   bool
	refused  bool
}

// place is where a block stands in the server's numbering.
type place struct{ output, content int }

type item struct {
	number int
	kind   string
	some   bool // text or arguments came
	part   int
}

// Event implements [httpx.Decoder].
func (d *responsesDecoder) Event(raw httpx.Event, emit func(llm.Event)) (terminal bool, err error) {
	if string(raw.Data) == "[DONE]" {
		return false, nil // some compatible servers end with it, after the terminal event
	}
	var ev streamEvent
	if err := httpx.Decode(raw.Data, &ev); err != nil {
		return false, err
	}
	switch ev.Type {
	case "response.created":
		if d.started {
			return false, errors.New("it starts twice")
		}
		d.started = true
		emit(llm.Start{ResponseID: ev.Response.ID})
	case "response.output_item.added":
		return false, d.open(ev, emit)
	case "response.output_text.delta", "response.refusal.delta":
		d.refused = d.refused || ev.Type == "response.refusal.delta"
		return false, d.text(ev, emit)
	case "response.reasoning_summary_text.delta", "response.reasoning_text.delta":
		return false, d.reasoning(ev, emit)
	case "response.function_call_arguments.delta":
		return false, d.arguments(ev, emit)
	case "response.output_item.done":
		return false, d.close(ev, emit)
	case "response.completed", "response.incomplete", "response.failed":
		return true, d.end(ev, emit)
	case "error":
		return false, d.fault(ev, raw.Data)
	}
	return false, nil // what repeats what was said, and what is yet to be invented
}

// End implements [httpx.Decoder]: without its last event an answer is never whole.
func (d *responsesDecoder) End(func(llm.Event)) (bool, error) { return false, nil }

func (d *responsesDecoder) open(ev streamEvent, emit func(llm.Event)) error {
	at := place{ev.OutputIndex, 0}
	if d.blocks[at] != nil {
		return fmt.Errorf("item %d starts twice", ev.OutputIndex)
	}
	begun := ev.item()
	it := &item{number: d.next, kind: begun.Type}
	d.next++
	d.blocks[at] = it
	if it.kind == "function_call" {
		emit(llm.CallDelta{Block: it.number, ID: begun.CallID, Name: begun.Name})
	}
	return nil
}

// item is the event's item, as far as it can be read.
func (ev streamEvent) item() (it streamItem) {
	_ = httpx.Decode(ev.Item, &it) // an item of no kind that we know says nothing
	return it
}

// item finds the open item of an event.
func (d *responsesDecoder) item(ev streamEvent, kind string) (*item, error) {
	it := d.blocks[place{ev.OutputIndex, 0}]
	if it == nil || it.kind != kind {
		return nil, fmt.Errorf("a piece belongs to item %d, which is not an open %s", ev.OutputIndex, kind)
	}
	return it, nil
}

func (d *responsesDecoder) text(ev streamEvent, emit func(llm.Event)) error {
	it, err := d.item(ev, "message")
	if err != nil {
		return err
	}
	if ev.ContentIndex > 0 {
		at := place{ev.OutputIndex, ev.ContentIndex}
		if d.blocks[at] == nil {
			d.blocks[at] = &item{number: d.next, kind: "part"}
			d.next++
		}
		it = d.blocks[at]
	}
	it.some = true
	emit(llm.TextDelta{Block: it.number, Text: ev.Delta})
	return nil
}

func (d *responsesDecoder) reasoning(ev streamEvent, emit func(llm.Event)) error {
	it, err := d.item(ev, "reasoning")
	if err != nil {
		return err
	}
	text := ev.Delta
	if part := ev.SummaryIndex + ev.ContentIndex; part != it.part {
		it.part = part
		text = "\n\n" + text
	}
	it.some = true
	emit(llm.ThinkingDelta{Block: it.number, Text: text})
	return nil
}

func (d *responsesDecoder) arguments(ev streamEvent, emit func(llm.Event)) error {
	it, err := d.item(ev, "function_call")
	if err != nil {
		return err
	}
	it.some = it.some || ev.Delta != ""
	emit(llm.CallDelta{Block: it.number, Arguments: ev.Delta})
	return nil
}

// close takes an item's end, which has all of it once more.
func (d *responsesDecoder) close(ev streamEvent, emit func(llm.Event)) error {
	it := d.blocks[place{ev.OutputIndex, 0}]
	if it == nil {
		return fmt.Errorf("item %d ends and did not start", ev.OutputIndex)
	}
	delete(d.blocks, place{ev.OutputIndex, 0})
	ended := ev.item()
	switch it.kind {
	case "reasoning":
		if !it.some {
			for i, s := range ended.Summary {
				if i > 0 {
					s.Text = "\n\n" + s.Text
				}
				emit(llm.ThinkingDelta{Block: it.number, Text: s.Text})
			}
		}
		emit(llm.ThinkingDelta{Block: it.number, Signature: string(ev.Item)})
	case "message":
		if !it.some {
			for _, c := range ended.Content {
				emit(llm.TextDelta{Block: it.number, Text: c.Text + c.Refusal})
			}
		}
		signature, err := json.Marshal(textSignature{V: 1, ID: ended.ID, Phase: ended.Phase})
		if err == nil && ended.ID != "" {
			emit(llm.TextDelta{Block: it.number, Signature: string(signature)})
		}
	case "function_call":
		if !it.some {
			emit(llm.CallDelta{Block: it.number, Arguments: string(ended.Arguments)})
		}
		if ended.Status == "" || ended.Status == "completed" {
			d.called = true
			emit(llm.CallDone{Block: it.number})
		}
	}
	return nil
}

// end takes the terminal event.
func (d *responsesDecoder) end(ev streamEvent, emit func(llm.Event)) error {
	r := ev.Response
	if r.Usage != nil {
		u := llm.Usage{
			Output:     httpx.Tokens(r.Usage.Output),
			CacheRead:  httpx.Tokens(r.Usage.InputDetails.Cached),
			CacheWrite: httpx.Tokens(r.Usage.InputDetails.CacheWrite),
		}
		u.Input = max(0, httpx.Tokens(r.Usage.Input)-u.CacheRead-u.CacheWrite)
		u.Total = u.Input + u.Output + u.CacheRead + u.CacheWrite
		emit(llm.UsageUpdate{Usage: u})
	}
	done := llm.Done{Reason: llm.StopEnd}
	switch {
	case ev.Type == "response.failed":
		return httpx.Fault(d.provider, "", 200, r.Error.Code, r.Error.Message)
	case ev.Type == "response.incomplete" && r.IncompleteDetails.Reason == "content_filter", d.refused:
		return httpx.Refusal(d.provider, "")
	case ev.Type == "response.incomplete":
		done.Reason = llm.StopLength
	case d.called:
		done.Reason = llm.StopToolUse
	}
	emit(done)
	return nil
}

// fault is an error event. Some servers put its fields into an object.
func (d *responsesDecoder) fault(ev streamEvent, data []byte) error {
	var body struct {
		Error struct{ Type, Code, Message string }
	}
	if ev.Message == "" && json.Unmarshal(data, &body) == nil {
		return fault(d.provider, body.Error.Code, body.Error.Type, body.Error.Message)
	}
	return fault(d.provider, ev.Code, "", ev.Message)
}

// fault makes an error of what came in a stream.
func fault(provider, code, kind, text string) error {
	if code == "" {
		code = kind
	}
	return httpx.Fault(provider, "", 200, code, text)
}
