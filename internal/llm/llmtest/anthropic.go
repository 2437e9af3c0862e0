package llmtest

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"banyan/internal/llm"
)

// Anthropic is the Messages protocol.
type Anthropic struct{}

// Name implements [Dialect].
func (Anthropic) Name() string { return "anthropic-messages" }

// Frames implements [Dialect].
func (Anthropic) Frames(a Reply) []string {
	out := []string{
		frame("message_start", m{"type": "message_start", "message": m{
			"id": "msg_01", "type": "message", "role": "assistant", "model": "claude-test", "content": []any{},
			"stop_reason": nil, "stop_sequence": nil, "usage": m{
				"input_tokens": a.Usage.Input, "output_tokens": 1,
				"cache_read_input_tokens": a.Usage.CacheRead, "cache_creation_input_tokens": a.Usage.CacheWrite,
			},
		}}),
		frame("ping", m{"type": "ping"}),
	}
	for i, p := range a.Parts {
		start, deltas := anthropicBlock(a, p)
		out = append(out, frame("content_block_start", m{"type": "content_block_start", "index": i, "content_block": start}))
		for _, d := range deltas {
			out = append(out, frame("content_block_delta", m{"type": "content_block_delta", "index": i, "delta": d}))
		}
		out = append(out, frame("content_block_stop", m{"type": "content_block_stop", "index": i}))
	}
	stop := a.Stop
	if stop == "" {
		stop = "end_turn"
		if a.calls() {
			stop = "tool_use"
		}
	}
	return append(out,
		frame("message_delta", m{
			"type": "message_delta", "delta": m{"stop_reason": stop, "stop_sequence": nil},
			"usage": m{"output_tokens": a.Usage.Output},
		}),
		frame("message_stop", m{"type": "message_stop"}))
}

func anthropicBlock(a Reply, p Part) (start m, deltas []m) {
	switch {
	case p.Call != nil:
		start = m{"type": "tool_use", "id": p.Call.ID, "name": p.Call.Name, "input": m{}}
		for _, s := range a.pieces(p.Call.Args) {
			deltas = append(deltas, m{"type": "input_json_delta", "partial_json": s})
		}
	case p.Redacted:
		start = m{"type": "redacted_thinking", "data": p.Signature}
	case p.Thinking != "" || p.Signature != "":
		start = m{"type": "thinking", "thinking": "", "signature": ""}
		for _, s := range a.pieces(p.Thinking) {
			deltas = append(deltas, m{"type": "thinking_delta", "thinking": s})
		}
		if p.Signature != "" {
			deltas = append(deltas, m{"type": "signature_delta", "signature": p.Signature})
		}
	default:
		start = m{"type": "text", "text": ""}
		for _, s := range a.pieces(p.Text) {
			deltas = append(deltas, m{"type": "text_delta", "text": s})
		}
	}
	return start, deltas
}

var anthropicErrors = map[string]string{
	Overloaded: "overloaded_error", RateLimited: "rate_limit_error", Internal: "api_error",
	BadRequest: "invalid_request_error", BadKey: "authentication_error",
}

// Error implements [Dialect].
func (d Anthropic) Error(kind, text string) string {
	return "event: error\ndata: " + d.ErrorBody(kind, text) + "\n\n"
}

// ErrorBody implements [Dialect].
func (Anthropic) ErrorBody(kind, text string) string {
	body, _ := json.Marshal(m{"type": "error", "error": m{"type": anthropicErrors[kind], "message": text}})
	return string(body)
}

// Bad implements [Dialect].
func (d Anthropic) Bad() []Bad {
	text := d.Frames(Reply{Parts: []Part{{Text: "hello world"}}})
	call := d.Frames(Reply{Parts: []Part{{Call: &WireCall{"toolu_1", "read", `{"path":"a"}`}}}})
	delta := frame("content_block_delta", m{"type": "content_block_delta", "index": 0, "delta": m{"type": "text_delta", "text": "x"}})
	block := func(i int, kind string) string {
		return frame("content_block_start", m{"type": "content_block_start", "index": i, "content_block": m{"type": kind, "id": "toolu_2", "name": "read", "input": m{}}})
	}
	stop := func(i int) string {
		return frame("content_block_stop", m{"type": "content_block_stop", "index": i})
	}
	return []Bad{
		{Name: "18 EOF after stop before terminal", Frames: before(text, "message_stop"), Class: llm.RetryNow, Type: "incomplete"},
		{Name: "36 unknown event", Frames: with(text, "message_delta", frame("news", m{"type": "news", "index": 0})), Want: Whole, Text: "hello world"},
		{Name: "37 unknown delta", Frames: with(text, "content_block_stop", frame("content_block_delta", m{"type": "content_block_delta", "index": 0, "delta": m{"type": "smell_delta", "smell": "x"}})), Want: Whole, Text: "hello world"},
		{Name: "38 unknown block", Frames: with(text, "message_delta", block(1, "hologram"), stop(1)), Want: Whole, Text: "hello world"},
		{Name: "53 delta before start", Frames: append([]string{delta}, text...), Class: llm.RetryNow},
		{Name: "54 delta for unknown index", Frames: with(text, "message_delta", strings.Replace(delta, `"index":0`, `"index":7`, 1)), Class: llm.RetryNow},
		{Name: "55 index gap", Frames: with(text, "message_delta", block(9, "tool_use"), stop(9)), Want: Whole, Text: "hello world", Calls: []string{"{}"}},
		{Name: "55 index used again after its end", Frames: with(text, "message_delta", block(0, "tool_use"), stop(0)), Want: Whole, Text: "hello world", Calls: []string{"{}"}},
		{Name: "55 index used again while open", Frames: with(text, "content_block_stop", block(0, "tool_use")), Class: llm.RetryNow},
		{Name: "56 call never closed", Frames: without(call, "content_block_stop"), Want: Whole},
		{Name: "57 two starts", Frames: append([]string{text[0]}, text...), Class: llm.RetryNow},
		{Name: "63 refusal", Frames: d.Frames(Reply{Parts: []Part{{Text: "I"}}, Stop: "refusal"}), Class: llm.Stop, Type: "refusal"},
		{Name: "63 pause_turn", Frames: d.Frames(Reply{Parts: []Part{{Text: "I"}}, Stop: "pause_turn"}), Want: Whole, Text: "I"},
		{Name: "63 unknown reason", Frames: d.Frames(Reply{Parts: []Part{{Text: "I"}}, Stop: "bored"}), Want: Whole, Text: "I"},
		{Name: "63 no reason", Frames: without(text, "message_delta"), Class: llm.RetryNow},
		{Name: "63 reason twice", Frames: with(text, "message_stop", text[len(text)-2]), Want: Whole, Text: "hello world"},
		{Name: "65 signature without thinking", Frames: d.Frames(Reply{Parts: []Part{{Signature: "c2ln"}, {Text: "I"}}}), Want: Whole, Text: "I"},
		{Name: "call with its arguments in the start", Frames: with(before(text, "content_block_start"), "ping",
			frame("content_block_start", m{"type": "content_block_start", "index": 0, "content_block": m{"type": "tool_use", "id": "toolu_2", "name": "read", "input": m{"path": "a"}}}),
			stop(0), text[len(text)-2], text[len(text)-1]), Want: Whole, Calls: []string{`{"path":"a"}`}},
	}
}

var (
	anthropicID    = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)
	anthropicTypes = []string{"image/jpeg", "image/png", "image/gif", "image/webp"}
)

// Validate implements [Dialect].
func (Anthropic) Validate(r Received) error {
	if !strings.HasSuffix(r.Path, "/v1/messages") {
		return fmt.Errorf("404: no such path %s", r.Path)
	}
	if r.Header.Get("Anthropic-Version") == "" {
		return fmt.Errorf("anthropic-version: header is required")
	}
	if r.Header.Get("X-Api-Key") == "" && r.Header.Get("Authorization") == "" {
		return fmt.Errorf("401: x-api-key header is required")
	}
	v := check{}
	body := v.object(r.Body, "model", "max_tokens", "messages", "system", "tools", "thinking", "output_config", "stream")
	v.that(body["stream"] == true, "stream: must be true")
	v.that(text(body["model"]) != "", "model: is required")
	limit, _ := body["max_tokens"].(float64)
	v.that(limit >= 1, "max_tokens: must be positive")
	if thinking, ok := body["thinking"].(m); ok {
		budget, _ := thinking["budget_tokens"].(float64)
		v.that(thinking["type"] != "enabled" || budget >= 1024 && budget < limit, "thinking: budget_tokens must be ≥ 1024 and < max_tokens")
	}
	v.that(strings.Count(string(r.Body), `"cache_control"`) <= 4, "cache_control: at most four marks")
	names := map[string]bool{}
	for i, t := range list(body["tools"]) {
		name, schema := text(t["name"]), object(t["input_schema"])
		v.that(anthropicID.MatchString(name) && !names[name], "tools.%d.name: bad or used twice", i)
		v.that(schema["type"] == "object", "tools.%d.input_schema.type: must be object", i)
		names[name] = true
	}
	v.anthropicMessages(list(body["messages"]))
	return v.err
}

func (v *check) anthropicMessages(messages []m) {
	v.that(len(messages) > 0, "messages: must not be empty")
	ids := map[string]bool{}
	var open []string // calls of the message before
	for i, msg := range messages {
		role, blocks := text(msg["role"]), list(msg["content"])
		v.that(role == []string{"user", "assistant"}[i%2], "messages.%d: roles must alternate and begin with user", i)
		v.that(len(blocks) > 0, "messages.%d: must not be empty", i)
		var calls, results []string
		for j, b := range blocks {
			at := fmt.Sprintf("messages.%d.content.%d", i, j)
			switch kind := text(b["type"]); kind {
			case "text", "image":
				v.anthropicContent(at, b)
			case "thinking":
				v.that(role == "assistant" && text(b["signature"]) != "" && b["cache_control"] == nil, "%s: thinking", at)
			case "redacted_thinking":
				v.that(role == "assistant" && text(b["data"]) != "", "%s: redacted thinking", at)
			case "tool_use":
				id := text(b["id"])
				v.that(role == "assistant" && anthropicID.MatchString(id) && anthropicID.MatchString(text(b["name"])), "%s: bad tool_use", at)
				v.that(!ids[id], "%s: tool_use ids must be unique", at)
				v.that(object(b["input"]) != nil, "%s: input must be an object", at)
				ids[id] = true
				calls = append(calls, id)
			case "tool_result":
				v.that(role == "user" && len(results) == j, "%s: results must come first", at)
				results = append(results, text(b["tool_use_id"]))
				for k, c := range list(b["content"]) {
					v.anthropicContent(fmt.Sprintf("%s.content.%d", at, k), c)
				}
			default:
				v.that(false, "%s: unknown type %q", at, kind)
			}
		}
		if len(blocks) > 0 && role == "assistant" {
			last := text(blocks[len(blocks)-1]["type"])
			v.that(!strings.Contains(last, "thinking"), "messages.%d: the final block cannot be thinking", i)
		}
		slices.Sort(open)
		slices.Sort(results)
		v.that(slices.Equal(open, results), "messages.%d: calls %q are answered by results %q", i, open, results)
		open = calls
	}
	v.that(len(messages)%2 == 1, "messages: the last must be the user's")
}

func (v *check) anthropicContent(at string, b m) {
	if b["type"] == "text" {
		v.that(strings.TrimSpace(text(b["text"])) != "", "%s: text must not be empty", at)
		return
	}
	source := object(b["source"])
	_, err := base64.StdEncoding.DecodeString(text(source["data"]))
	v.that(b["type"] == "image" && err == nil && text(source["data"]) != "" &&
		slices.Contains(anthropicTypes, text(source["media_type"])), "%s: bad image", at)
}
