package llmtest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"banyan/internal/llm"
)

// Responses is OpenAI's Responses protocol.
type Responses struct{}

// Name implements [Dialect].
func (Responses) Name() string { return "openai-responses" }

func event(name string, fields m) string {
	fields["type"] = name
	return frame(name, fields)
}

// Frames implements [Dialect].
func (d Responses) Frames(a Reply) []string {
	out := []string{
		event("response.created", m{"response": m{"id": "resp_1", "object": "response", "status": "in_progress", "output": []any{}, "usage": nil}}),
		event("response.in_progress", m{"response": m{"id": "resp_1", "status": "in_progress"}}),
	}
	for i, p := range a.Parts {
		out = append(out, d.item(a, i, p)...)
	}
	name, response := "response.completed", m{"id": "resp_1", "object": "response", "status": "completed", "error": nil, "incomplete_details": nil}
	if a.Stop != "" {
		name = "response.incomplete"
		response["status"], response["incomplete_details"] = "incomplete", m{"reason": a.Stop}
	}
	if a.Usage != (llm.Usage{}) {
		response["usage"] = m{
			"input_tokens": a.Usage.Input + a.Usage.CacheRead, "input_tokens_details": m{"cached_tokens": a.Usage.CacheRead},
			"output_tokens": a.Usage.Output, "output_tokens_details": m{"reasoning_tokens": 3},
			"total_tokens": a.Usage.Input + a.Usage.CacheRead + a.Usage.Output,
		}
	}
	return append(out, event(name, m{"response": response}))
}

func (Responses) item(a Reply, i int, p Part) []string {
	at := func(fields m) m { fields["output_index"] = i; return fields }
	switch {
	case p.Call != nil:
		item := m{"id": fmt.Sprintf("fc_%d", i), "type": "function_call", "status": "in_progress", "call_id": p.Call.ID, "name": p.Call.Name, "arguments": ""}
		out := []string{event("response.output_item.added", at(m{"item": item}))}
		for _, s := range a.pieces(p.Call.Args) {
			out = append(out, event("response.function_call_arguments.delta", at(m{"item_id": item["id"], "delta": s})))
		}
		out = append(out, event("response.function_call_arguments.done", at(m{"item_id": item["id"], "arguments": p.Call.Args})))
		item["arguments"], item["status"] = p.Call.Args, "completed"
		return append(out, event("response.output_item.done", at(m{"item": item})))
	case p.Thinking != "" || p.Signature != "":
		item := m{"id": fmt.Sprintf("rs_%d", i), "type": "reasoning", "summary": []any{}}
		out := []string{event("response.output_item.added", at(m{"item": item}))}
		for _, s := range a.pieces(p.Thinking) {
			out = append(out, event("response.reasoning_summary_text.delta", at(m{"item_id": item["id"], "summary_index": 0, "delta": s})))
		}
		item["summary"] = []any{m{"type": "summary_text", "text": p.Thinking}}
		item["encrypted_content"] = p.Signature
		return append(out, event("response.output_item.done", at(m{"item": item})))
	}
	item := m{"id": fmt.Sprintf("msg_%d", i), "type": "message", "status": "in_progress", "role": "assistant", "content": []any{}}
	out := []string{
		event("response.output_item.added", at(m{"item": item})),
		event("response.content_part.added", at(m{"item_id": item["id"], "content_index": 0, "part": m{"type": "output_text", "text": "", "annotations": []any{}}})),
	}
	for _, s := range a.pieces(p.Text) {
		out = append(out, event("response.output_text.delta", at(m{"item_id": item["id"], "content_index": 0, "delta": s})))
	}
	item["content"], item["status"] = []any{m{"type": "output_text", "text": p.Text, "annotations": []any{}}}, "completed"
	return append(out,
		event("response.output_text.done", at(m{"item_id": item["id"], "content_index": 0, "text": p.Text})),
		event("response.output_item.done", at(m{"item": item})))
}

// Error implements [Dialect].
func (Responses) Error(kind, text string) string {
	code := openAIErrors[kind][1]
	if code == "" {
		code = openAIErrors[kind][0]
	}
	return event("error", m{"code": code, "message": text, "param": nil})
}

// ErrorBody implements [Dialect].
func (Responses) ErrorBody(kind, text string) string { return Chat{}.ErrorBody(kind, text) }

// Bad implements [Dialect].
func (d Responses) Bad() []Bad {
	text := d.Frames(Reply{Parts: []Part{{Text: "hello world"}}})
	call := d.Frames(Reply{Parts: []Part{{Call: &WireCall{"call_1", "read", `{"path":"a"}`}}}})
	failed := event("response.failed", m{"response": m{"id": "resp_1", "status": "failed", "error": m{"code": "server_error", "message": "oops"}}})
	const last = "response.completed"
	incomplete := slices.Clone(call)
	i := index(incomplete, "response.output_item.done")
	incomplete[i] = strings.Replace(incomplete[i], `"status":"completed"`, `"status":"incomplete"`, 1)
	return []Bad{
		{Name: "18 EOF before the terminal event", Frames: before(text, last), Class: llm.RetryNow, Type: "incomplete"},
		{Name: "36 unknown event", Frames: with(text, last, event("response.news", m{"output_index": 9})), Want: Whole, Text: "hello world"},
		{Name: "38 unknown item", Frames: with(text, last, event("response.output_item.added", m{"output_index": 1, "item": m{"type": "hologram", "id": "h"}}), event("response.output_item.done", m{"output_index": 1, "item": m{"type": "hologram", "id": "h"}})), Want: Whole, Text: "hello world"},
		{Name: "53 delta before its item", Frames: with(text, "response.output_item.added", text[index(text, "output_text.delta")]), Class: llm.RetryNow},
		{Name: "54 delta for unknown item", Frames: with(text, last, event("response.output_text.delta", m{"output_index": 7, "content_index": 0, "delta": "x"})), Class: llm.RetryNow},
		{Name: "55 item starts twice", Frames: with(text, "output_text.delta", text[index(text, "output_item.added")]), Class: llm.RetryNow},
		{Name: "56 call never closed", Frames: without(call, "output_item.done"), Want: Whole},
		{Name: "56 call closed as incomplete", Frames: incomplete, Want: Whole},
		{Name: "57 two starts", Frames: append([]string{text[0]}, text...), Class: llm.RetryNow},
		{Name: "58 only the closed item has the arguments", Frames: without(call, "arguments.d"), Want: Whole, Calls: []string{`{"path":"a"}`}},
		{Name: "only the closed item has the text", Frames: without(text, "output_text.d"), Want: Whole, Text: "hello world"},
		{Name: "63 content_filter", Frames: d.Frames(Reply{Parts: []Part{{Text: "I"}}, Stop: "content_filter"}), Class: llm.Stop, Type: "refusal"},
		{Name: "63 refusal", Frames: strings.Split(strings.ReplaceAll(strings.Join(text, "\x00"), "response.output_text.delta", "response.refusal.delta"), "\x00"), Class: llm.Stop, Type: "refusal"},
		{Name: "51 response.failed", Frames: append(before(text, last), failed), Class: llm.RetryNow, Type: "server_error"},
		{Name: "51 error in an object", Frames: []string{event("error", m{"error": m{"type": "rate_limit_error", "code": "rate_limit_exceeded", "message": "slow"}})}, Class: llm.RetryAfter},
		{Name: "40 [DONE] after the end", Frames: append(slices.Clip(text), "data: [DONE]\n\n"), Want: Whole, Text: "hello world"},
		{Name: "65 reasoning without a summary", Frames: d.Frames(Reply{Parts: []Part{{Signature: "c2ln"}, {Text: "I"}}}), Want: Whole, Text: "I"},
	}
}

// Validate implements [Dialect].
func (Responses) Validate(r Received) error {
	if !strings.HasSuffix(r.Path, "/responses") {
		return fmt.Errorf("404: no such path %s", r.Path)
	}
	v := &check{}
	body := v.object(r.Body, "model", "input", "instructions", "max_output_tokens", "stream", "store", "include", "tools", "reasoning", "prompt_cache_key")
	v.that(body["stream"] == true && body["store"] == false, "stream: must be true, store: must be false")
	v.that(text(body["model"]) != "", "model: is required")
	for i, t := range list(body["tools"]) {
		v.that(t["type"] == "function" && openAIName.MatchString(text(t["name"])) && object(t["parameters"])["type"] == "object" && t["strict"] != nil, "tools.%d: bad", i)
	}
	items := list(body["input"])
	v.that(len(items) > 0, "input: must not be empty")
	open, ids := map[string]bool{}, map[string]bool{}
	for i, it := range items {
		switch kind := text(it["type"]); kind {
		case "function_call":
			id := text(it["call_id"])
			v.that(id != "" && len(id) <= 64 && !ids[id] && openAIName.MatchString(text(it["name"])), "input.%d: bad call %q", i, id)
			var args m
			v.that(json.Unmarshal([]byte(text(it["arguments"])), &args) == nil, "input.%d: arguments are not JSON", i)
			ids[id], open[id] = true, true
		case "function_call_output":
			id := text(it["call_id"])
			v.that(open[id], "input.%d: output of no call %q", i, id)
			v.that(text(it["output"]) != "" || len(list(it["output"])) > 0, "input.%d: empty output", i)
			delete(open, id)
		case "reasoning":
			next := m{}
			if i+1 < len(items) {
				next = items[i+1]
			}
			v.that(next["type"] == "function_call" || next["type"] == "reasoning" || next["role"] == "assistant", "input.%d: reasoning without what follows it", i)
			v.that(strings.HasPrefix(text(it["id"]), "rs_") && it["summary"] != nil && text(it["encrypted_content"]) != "", "input.%d: bad reasoning", i)
		case "", "message":
			v.responsesMessage(i, it, len(open))
		default:
			v.that(false, "input.%d: type %q", i, kind)
		}
	}
	v.that(len(open) == 0, "input: %d calls without output", len(open))
	return v.err
}

func (v *check) responsesMessage(i int, it m, open int) {
	role := text(it["role"])
	v.that(role == "assistant" || role == "user" && open == 0, "input.%d: %s while %d calls are open", i, role, open)
	if s, ok := it["content"].(string); ok {
		v.that(strings.TrimSpace(s) != "", "input.%d: empty", i)
		return
	}
	parts := list(it["content"])
	v.that(len(parts) > 0, "input.%d: empty", i)
	for j, p := range parts {
		kind := text(p["type"])
		v.that(kind == "input_text" && role == "user" && strings.TrimSpace(text(p["text"])) != "" ||
			kind == "input_image" && role == "user" && strings.HasPrefix(text(p["image_url"]), "data:image/") ||
			kind == "output_text" && role == "assistant" && p["annotations"] != nil && it["id"] != nil, "input.%d.content.%d: bad", i, j)
	}
}
