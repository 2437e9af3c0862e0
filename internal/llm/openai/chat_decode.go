package openai

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"

	"banyan/internal/llm"
	"banyan/internal/llm/httpx"
)

// chatDecoder makes events of one answer.
//
// The protocol does not number texts, only calls: a new block begins where the
// kind of what comes changes. Calls are closed by the reason to stop.
type chatDecoder struct {
	provider string
	calls    map[int]*call // by the server's index, the newest of each
	open     []*call       // in order
	number   int           // of the current block of text or thinking
	kind     string        // of it: "text", a name of reasoning, or "" for none
	next     int
	started  bool
	reason   string
}

var errNoReason = errors.New("it gives no reason for its end")

type call struct {
	number int
	id     string
}

// Event implements [httpx.Decoder].
func (d *chatDecoder) Event(raw httpx.Event, emit func(llm.Event)) (terminal bool, err error) {
	if string(raw.Data) == "[DONE]" {
		return true, d.end(emit)
	}
	var chunk chatChunk
	err = httpx.Decode(raw.Data, &chunk)
	switch {
	case err != nil && d.reason != "":
		return d.End(emit) // what follows the end says nothing
	case err != nil:
		return false, err
	}
	if err := d.fault(chunk); err != nil {
		return false, err
	}
	if !d.started {
		d.started = true
		emit(llm.Start{ResponseID: chunk.ID})
	}
	if u := cmp.Or(chunk.Usage, chunk.Groq.Usage); u != nil {
		emit(llm.UsageUpdate{Usage: u.usage()})
	}
	for _, choice := range chunk.Choices {
		if choice.Index != 0 || d.reason != "" {
			continue
		}
		d.delta(choice.Delta, emit)
		if d.reason = choice.FinishReason; d.reason != "" && d.reason != "length" {
			for _, c := range d.open {
				emit(llm.CallDone{Block: c.number})
			}
		}
	}
	return false, nil
}

// End implements [httpx.Decoder]: many servers end without [DONE], which the
// reason to stop makes up for.
func (d *chatDecoder) End(emit func(llm.Event)) (bool, error) {
	if d.reason == "" {
		return false, nil
	}
	err := d.end(emit)
	return err == nil, err
}

// fault finds an error in a chunk, which has no form that all agree on.
func (d *chatDecoder) fault(chunk chatChunk) error {
	if len(chunk.Error) == 0 || string(chunk.Error) == "null" {
		return nil
	}
	var body struct {
		Type, Message string
		Code          any
	}
	if json.Unmarshal(chunk.Error, &body) != nil {
		_ = json.Unmarshal(chunk.Error, &body.Message)
	}
	code, _ := body.Code.(string)
	return fault(d.provider, code, body.Type, body.Message)
}

func (d *chatDecoder) delta(delta chatDelta, emit func(llm.Event)) {
	switch { // servers that send both names send the same text
	case delta.ReasoningContent != "":
		d.think(reasoningContent, delta.ReasoningContent, emit)
	case delta.Reasoning != "":
		d.think(reasoning, delta.Reasoning, emit)
	}
	if bytes.HasPrefix(delta.Content, []byte("[")) {
		d.parts(delta.Content, emit)
	} else {
		var text string
		_ = json.Unmarshal(delta.Content, &text) // null, or nothing
		d.text(text+delta.Refusal, emit)
	}
	for _, c := range delta.ToolCalls {
		d.call(c, emit)
	}
}

// parts is content as a list, in which Mistral's models think.
func (d *chatDecoder) parts(raw json.RawMessage, emit func(llm.Event)) {
	var parts []struct {
		Type, Text string
		Thinking   []struct{ Text string }
	}
	_ = json.Unmarshal(raw, &parts)
	for _, p := range parts {
		for _, t := range p.Thinking {
			d.think("thinking", t.Text, emit)
		}
		d.text(p.Text, emit)
	}
}

func (d *chatDecoder) think(name, text string, emit func(llm.Event)) {
	if d.kind != name {
		d.begin(name)
		emit(llm.ThinkingDelta{Block: d.number, Signature: name})
	}
	emit(llm.ThinkingDelta{Block: d.number, Text: text})
}

func (d *chatDecoder) text(text string, emit func(llm.Event)) {
	if text == "" {
		return
	}
	if d.kind != "text" {
		d.begin("text")
	}
	emit(llm.TextDelta{Block: d.number, Text: text})
}

func (d *chatDecoder) begin(kind string) {
	d.kind, d.number = kind, d.next
	d.next++
}

// call takes a piece of a call. Some servers give every call the index 0 and
// a new id.
func (d *chatDecoder) call(piece chatCallDelta, emit func(llm.Event)) {
	d.kind = ""
	c, id := d.calls[piece.Index], string(piece.ID)
	if c == nil || id != "" && c.id != "" && id != c.id {
		c = &call{number: d.next}
		d.next++
		d.calls[piece.Index] = c
		d.open = append(d.open, c)
	}
	ev := llm.CallDelta{Block: c.number, Name: piece.Function.Name, Arguments: string(piece.Function.Arguments)}
	if c.id == "" {
		c.id, ev.ID = id, id
	}
	emit(ev)
}

func (u chatUsage) usage() llm.Usage {
	out := llm.Usage{
		Output:     httpx.Tokens(u.Completion),
		CacheRead:  cmp.Or(httpx.Tokens(u.PromptDetails.Cached), httpx.Tokens(u.CacheHit)),
		CacheWrite: httpx.Tokens(u.PromptDetails.CacheWrite),
	}
	out.Input = max(0, httpx.Tokens(u.Prompt)-out.CacheRead-out.CacheWrite)
	// xAI leaves reasoning out of the completion and counts it in the total.
	if r := u.CompletionDetails.Reasoning; r > 0 && u.Total == u.Prompt+u.Completion+r {
		out.Output += httpx.Tokens(r)
	}
	out.Total = out.Input + out.Output + out.CacheRead + out.CacheWrite
	return out
}

// end takes the end of the stream.
func (d *chatDecoder) end(emit func(llm.Event)) error {
	done := llm.Done{Reason: llm.StopEnd}
	switch {
	case d.reason == "content_filter":
		return httpx.Refusal(d.provider, "")
	case d.reason == "error": // OpenRouter, when the provider behind it fails
		return httpx.Fault(d.provider, "", 200, "server_error", "the provider failed in the middle of the answer")
	case d.reason == "length":
		done.Reason = llm.StopLength
	case d.reason == "" && (len(d.open) > 0 || d.next == 0):
		return errNoReason
	case len(d.open) > 0:
		done.Reason = llm.StopToolUse
	}
	emit(done)
	return nil
}
