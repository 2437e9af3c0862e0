package llmtest

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"banyan/internal/llm"
)

// Chat is the Chat Completions protocol, as OpenAI and the compatible world
// speak it.
type Chat struct{}

// Name implements [Dialect].
func (Chat) Name() string { return "openai-completions" }

func chatChunk(delta m, reason any) string {
	return frame("", m{
		"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "gpt-test",
		"choices": []any{m{"index": 0, "delta": delta, "logprobs": nil, "finish_reason": reason}}, "usage": nil,
	})
}

// Frames implements [Dialect].
func (Chat) Frames(a Reply) []string {
	out := []string{chatChunk(m{"role": "assistant", "content": ""}, nil)}
	calls := 0
	for _, p := range a.Parts {
		switch {
		case p.Call != nil:
			out = append(out, chatChunk(m{"tool_calls": []any{m{
				"index": calls, "id": p.Call.ID, "type": "function", "function": m{"name": p.Call.Name, "arguments": ""},
			}}}, nil))
			for _, s := range a.pieces(p.Call.Args) {
				out = append(out, chatChunk(m{"tool_calls": []any{m{"index": calls, "function": m{"arguments": s}}}}, nil))
			}
			calls++
		case p.Thinking != "":
			for _, s := range a.pieces(p.Thinking) {
				out = append(out, chatChunk(m{"reasoning_content": s, "content": nil}, nil))
			}
		default:
			for _, s := range a.pieces(p.Text) {
				out = append(out, chatChunk(m{"content": s}, nil))
			}
		}
	}
	stop := a.Stop
	if stop == "" {
		stop = "stop"
		if a.calls() {
			stop = "tool_calls"
		}
	}
	out = append(out, chatChunk(m{}, stop))
	if a.Usage != (llm.Usage{}) {
		out = append(out, frame("", m{"id": "chatcmpl-1", "object": "chat.completion.chunk", "choices": []any{}, "usage": m{
			"prompt_tokens": a.Usage.Input + a.Usage.CacheRead, "completion_tokens": a.Usage.Output,
			"total_tokens":          a.Usage.Input + a.Usage.CacheRead + a.Usage.Output,
			"prompt_tokens_details": m{"cached_tokens": a.Usage.CacheRead},
		}}))
	}
	return append(out, "data: [DONE]\n\n")
}

var openAIErrors = map[string][2]string{ // type, code
	Overloaded: {"server_error", "server_is_overloaded"}, RateLimited: {"requests", "rate_limit_exceeded"},
	Internal: {"server_error", ""}, BadRequest: {"invalid_request_error", ""}, BadKey: {"invalid_request_error", "invalid_api_key"},
}

// Error implements [Dialect].
func (d Chat) Error(kind, text string) string {
	return "data: " + d.ErrorBody(kind, text) + "\n\n"
}

// ErrorBody implements [Dialect].
func (Chat) ErrorBody(kind, text string) string {
	e := m{"message": text, "type": openAIErrors[kind][0], "param": nil, "code": nil}
	if code := openAIErrors[kind][1]; code != "" {
		e["code"] = code
	}
	body, _ := json.Marshal(m{"error": e})
	return string(body)
}

// Bad implements [Dialect].
func (d Chat) Bad() []Bad {
	text := d.Frames(Reply{Parts: []Part{{Text: "hello world"}}})
	call := d.Frames(Reply{Parts: []Part{{Call: &WireCall{"call_1", "read", `{"path":"a"}`}}}})
	two := d.Frames(Reply{Parts: []Part{{Call: &WireCall{"call_1", "read", `{"path":"a"}`}}, {Call: &WireCall{"call_2", "read", `{"path":"b"}`}}}})
	const done, reason = "[DONE]", `"finish_reason":"`
	for i := range two {
		two[i] = strings.Replace(two[i], `"index":1`, `"index":0`, 1)
	}
	noID := slices.Clone(call)
	for i := range noID {
		noID[i] = strings.Replace(noID[i], `"id":"call_1",`, "", 1)
	}
	return []Bad{
		{Name: "18 reason, but no [DONE]", Frames: without(text, done), Want: Whole, Text: "hello world"},
		{Name: "18 reason, then RST is not seen", Frames: without(call, done), Want: Whole, Calls: []string{`{"path":"a"}`}},
		{Name: "[DONE] without a reason", Frames: without(text, reason), Want: Whole, Text: "hello world"},
		{Name: "[DONE] without a reason, with a call", Frames: without(call, reason), Class: llm.RetryNow},
		{Name: "[DONE] and nothing else", Frames: []string{"data: [DONE]\n\n"}, Class: llm.RetryNow},
		{Name: "36 unknown fields", Frames: with(text, done, frame("", m{"x": 1, "choices": []any{}})), Want: Whole, Text: "hello world"},
		{Name: "55 all calls have the index 0", Frames: two, Want: Whole, Calls: []string{`{"path":"a"}`, `{"path":"b"}`}},
		{Name: "55 index gap", Frames: strings.Split(strings.ReplaceAll(strings.Join(call, "\x00"), `"tool_calls":[{"`, `"tool_calls":[{"index":7,"`), "\x00"), Want: Whole, Calls: []string{`{"path":"a"}`}},
		{Name: "61 no id at all", Frames: noID, Want: Whole, Calls: []string{`{"path":"a"}`}},
		{Name: "63 content_filter", Frames: d.Frames(Reply{Parts: []Part{{Text: "I"}}, Stop: "content_filter"}), Class: llm.Stop, Type: "refusal"},
		{Name: "63 content_filter, no [DONE]", Frames: without(d.Frames(Reply{Parts: []Part{{Text: "I"}}, Stop: "content_filter"}), done), Class: llm.Stop, Type: "refusal"},
		{Name: "63 error as a reason", Frames: d.Frames(Reply{Parts: []Part{{Text: "I"}}, Stop: "error"}), Class: llm.RetryNow},
		{Name: "63 unknown reason", Frames: d.Frames(Reply{Parts: []Part{{Text: "I"}}, Stop: "bored"}), Want: Whole, Text: "I"},
		{Name: "63 stop with a call", Frames: d.Frames(Reply{Parts: []Part{{Call: &WireCall{"c", "read", `{}`}}}, Stop: "stop"}), Want: Whole, Calls: []string{"{}"}},
		{Name: "63 reason twice", Frames: with(text, done, chatChunk(m{}, "stop")), Want: Whole, Text: "hello world"},
		{Name: "delta after the reason", Frames: with(text, done, chatChunk(m{"content": "more"}, nil)), Want: Whole, Text: "hello world"},
		{Name: "second choice", Frames: with(text, done, strings.Replace(chatChunk(m{"content": "more"}, nil), `"index":0`, `"index":1`, 1)), Want: Whole, Text: "hello world"},
		{Name: "error as a string", Frames: []string{`data: {"error":"model crashed"}` + "\n\n"}, Class: llm.RetryNow},
		{Name: "content in parts", Frames: with(text, reason,
			chatChunk(m{"content": []any{m{"type": "thinking", "thinking": []any{m{"type": "text", "text": "hm"}}}, m{"type": "text", "text": "!"}}}, nil)), Want: Whole, Text: "hello world\n!"},
		{Name: "usage of Groq", Frames: with(text, done, frame("", m{"choices": []any{}, "x_groq": m{"usage": m{"prompt_tokens": 1, "completion_tokens": 2}}})), Want: Whole, Text: "hello world"},
	}
}

var openAIName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

// Validate implements [Dialect].
func (Chat) Validate(r Received) error {
	if !strings.HasSuffix(r.Path, "/chat/completions") {
		return fmt.Errorf("404: no such path %s", r.Path)
	}
	v := &check{}
	body := v.object(r.Body, "model", "messages", "max_tokens", "max_completion_tokens", "stream", "stream_options", "tools",
		"reasoning_effort", "reasoning", "thinking", "prompt_cache_key")
	v.that(body["stream"] == true, "stream: must be true")
	v.that(text(body["model"]) != "", "model: is required")
	v.that(body["max_tokens"] == nil || body["max_completion_tokens"] == nil, "max_tokens: given twice")
	for i, t := range list(body["tools"]) {
		f := object(t["function"])
		v.that(t["type"] == "function" && openAIName.MatchString(text(f["name"])) && object(f["parameters"])["type"] == "object", "tools.%d: bad", i)
	}
	var open []string
	ids := map[string]bool{}
	messages := list(body["messages"])
	for i, msg := range messages {
		role := text(msg["role"])
		v.that(role == "tool" || len(open) == 0, "messages.%d: calls %q are not answered", i, open)
		switch role {
		case "system":
			v.that(i == 0 && text(msg["content"]) != "", "messages.%d: system", i)
		case "user":
			v.chatUser(i, msg)
		case "assistant":
			open = v.chatCalls(i, msg, ids)
		case "tool":
			at := slices.Index(open, text(msg["tool_call_id"]))
			v.that(at >= 0, "messages.%d: result of no call %q", i, msg["tool_call_id"])
			if at >= 0 {
				open = slices.Delete(open, at, at+1)
			}
			v.that(text(msg["content"]) != "", "messages.%d: empty result", i)
		default:
			v.that(false, "messages.%d: role %q", i, role)
		}
	}
	v.that(len(messages) > 0 && messages[len(messages)-1]["role"] != "assistant" && len(open) == 0, "messages: bad end")
	return v.err
}

func (v *check) chatUser(i int, msg m) {
	if s, ok := msg["content"].(string); ok {
		v.that(strings.TrimSpace(s) != "", "messages.%d: empty", i)
		return
	}
	parts := list(msg["content"])
	v.that(len(parts) > 0, "messages.%d: empty", i)
	for j, p := range parts {
		url := text(object(p["image_url"])["url"])
		v.that(p["type"] == "text" && strings.TrimSpace(text(p["text"])) != "" ||
			p["type"] == "image_url" && strings.HasPrefix(url, "data:image/"), "messages.%d.content.%d: bad", i, j)
	}
}

func (v *check) chatCalls(i int, msg m, ids map[string]bool) (open []string) {
	calls := list(msg["tool_calls"])
	v.that(len(calls) > 0 || strings.TrimSpace(text(msg["content"])) != "", "messages.%d: empty answer", i)
	for _, c := range calls {
		id, f := text(c["id"]), object(c["function"])
		v.that(id != "" && len(id) <= 40 && !ids[id], "messages.%d: bad id %q", i, id)
		v.that(openAIName.MatchString(text(f["name"])), "messages.%d: bad name", i)
		var args m
		v.that(json.Unmarshal([]byte(text(f["arguments"])), &args) == nil, "messages.%d: arguments are not JSON", i)
		ids[id] = true
		open = append(open, id)
	}
	return open
}
