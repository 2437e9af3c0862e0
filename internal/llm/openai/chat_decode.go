package openai

import (
	"encoding/json"
	"errors"
	"strings"

	sdk "github.com/openai/openai-go/v3"

	"banyan/internal/llm"
	"banyan/internal/llm/httpx"
)

// chatDecoder makes events of one answer.
//
// The protocol does not number texts, only calls: a new block begins where the
// kind of what comes changes. Calls are closed by the reason to stop.
type chatDecoder struct {
	provider string
	calls    map[int64]*call // by the server's index, the newest of each
	open     []*call         // in order
	number   int             // of the current block of text or thinking
	kind     string          // of it: "text", a name of reasoning, or "" for none
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
	var chunk sdk.ChatCompletionChunk
	err = json.Unmarshal(raw.Data, &chunk)
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
	if u, ok := chatUsage(chunk); ok {
		emit(llm.UsageUpdate{Usage: u})
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
func (d *chatDecoder) fault(chunk sdk.ChatCompletionChunk) error {
	field, ok := chunk.JSON.ExtraFields["error"]
	if !ok || field.Raw() == "null" {
		return nil
	}
	var body struct {
		Type, Message string
		Code          any
	}
	if json.Unmarshal([]byte(field.Raw()), &body) != nil {
		_ = json.Unmarshal([]byte(field.Raw()), &body.Message)
	}
	code, _ := body.Code.(string)
	return fault(d.provider, code, body.Type, body.Message)
}

func (d *chatDecoder) delta(delta sdk.ChatCompletionChunkChoiceDelta, emit func(llm.Event)) {
	for _, name := range reasoningFields {
		var text string
		field, ok := delta.JSON.ExtraFields[name]
		if ok && json.Unmarshal([]byte(field.Raw()), &text) == nil && text != "" {
			d.think(name, text, emit)
			break // servers that send both names send the same text
		}
	}
	if raw := delta.JSON.Content.Raw(); strings.HasPrefix(raw, "[") {
		d.parts(raw, emit)
	} else {
		d.text(delta.Content+delta.Refusal, emit)
	}
	for _, c := range delta.ToolCalls {
		d.call(c, emit)
	}
}

// parts is content as a list, in which Mistral's models think.
func (d *chatDecoder) parts(raw string, emit func(llm.Event)) {
	var parts []struct {
		Type, Text string
		Thinking   []struct{ Text string }
	}
	_ = json.Unmarshal([]byte(raw), &parts)
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
func (d *chatDecoder) call(piece sdk.ChatCompletionChunkChoiceDeltaToolCall, emit func(llm.Event)) {
	d.kind = ""
	c := d.calls[piece.Index]
	if c == nil || piece.ID != "" && c.id != "" && piece.ID != c.id {
		c = &call{number: d.next}
		d.next++
		d.calls[piece.Index] = c
		d.open = append(d.open, c)
	}
	ev := llm.CallDelta{Block: c.number, Name: piece.Function.Name, Arguments: piece.Function.Arguments}
	if c.id == "" {
		c.id, ev.ID = piece.ID, piece.ID
	}
	emit(ev)
}

// chatUsage reads the usage, wherever it is.
func chatUsage(chunk sdk.ChatCompletionChunk) (llm.Usage, bool) {
	raw := chunk.Usage
	if !chunk.JSON.Usage.Valid() {
		var groq struct{ Usage *sdk.CompletionUsage }
		field, ok := chunk.JSON.ExtraFields["x_groq"]
		if !ok || json.Unmarshal([]byte(field.Raw()), &groq) != nil || groq.Usage == nil {
			return llm.Usage{}, false
		}
		raw = *groq.Usage
	}
	u := llm.Usage{
		Output:     tokens(raw.CompletionTokens),
		CacheRead:  tokens(raw.PromptTokensDetails.CachedTokens),
		CacheWrite: tokens(raw.PromptTokensDetails.CacheWriteTokens),
	}
	if hit, ok := raw.JSON.ExtraFields["prompt_cache_hit_tokens"]; ok && u.CacheRead == 0 { // DeepSeek
		var n int64
		_ = json.Unmarshal([]byte(hit.Raw()), &n)
		u.CacheRead = tokens(n)
	}
	u.Input = max(0, tokens(raw.PromptTokens)-u.CacheRead-u.CacheWrite)
	// xAI leaves reasoning out of the completion and counts it in the total.
	if r := raw.CompletionTokensDetails.ReasoningTokens; r > 0 && raw.TotalTokens == raw.PromptTokens+raw.CompletionTokens+r {
		u.Output += tokens(r)
	}
	u.Total = u.Input + u.Output + u.CacheRead + u.CacheWrite
	return u, true
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
