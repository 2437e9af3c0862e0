package llmtest

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"banyan/internal/llm"
)

// Gemini is Google's protocol.
type Gemini struct{}

// Name implements [Dialect].
func (Gemini) Name() string { return "google-generative-ai" }

// NativeArguments says that a call's arguments are JSON of the stream itself,
// not text in it: they cannot be cut by themselves.
func (Gemini) NativeArguments() {}

func geminiChunk(reason string, parts ...m) string {
	c := m{"index": 0, "content": m{"role": "model", "parts": parts}}
	if reason != "" {
		c["finishReason"] = reason
	}
	return frame("", m{"candidates": []any{c}, "modelVersion": "gemini-test", "responseId": "r1"})
}

// Frames implements [Dialect].
func (Gemini) Frames(a Reply) []string {
	var out []string
	for _, p := range a.Parts {
		switch {
		case p.Call != nil:
			if p.Call.Args != "" && !json.Valid([]byte(p.Call.Args)) {
				continue // a call comes whole or not at all
			}
			call := m{"name": p.Call.Name}
			if p.Call.Args != "" {
				call["args"] = json.RawMessage(p.Call.Args)
			}
			if p.Call.ID != "" {
				call["id"] = p.Call.ID
			}
			out = append(out, geminiChunk("", m{"functionCall": call, "thoughtSignature": "c2ln"}))
		case p.Thinking != "":
			for _, s := range a.pieces(p.Thinking) {
				out = append(out, geminiChunk("", m{"text": s, "thought": true}))
			}
		default:
			for _, s := range a.pieces(p.Text) {
				out = append(out, geminiChunk("", m{"text": s}))
			}
		}
	}
	stop := a.Stop
	if stop == "" {
		stop = "STOP"
	}
	last := m{"candidates": []any{m{"index": 0, "content": m{"role": "model", "parts": []any{m{"text": ""}}}, "finishReason": stop}}, "responseId": "r1"}
	if a.Usage != (llm.Usage{}) {
		last["usageMetadata"] = m{
			"promptTokenCount": a.Usage.Input + a.Usage.CacheRead, "cachedContentTokenCount": a.Usage.CacheRead,
			"candidatesTokenCount": a.Usage.Output - 3, "thoughtsTokenCount": 3,
			"totalTokenCount": a.Usage.Input + a.Usage.CacheRead + a.Usage.Output,
		}
	}
	return append(out, frame("", last))
}

var geminiErrors = map[string]struct {
	code   int
	status string
}{
	Overloaded: {503, "UNAVAILABLE"}, RateLimited: {429, "RESOURCE_EXHAUSTED"}, Internal: {500, "INTERNAL"},
	BadRequest: {400, "INVALID_ARGUMENT"}, BadKey: {401, "UNAUTHENTICATED"},
}

// Error implements [Dialect].
func (d Gemini) Error(kind, text string) string {
	return "data: " + d.ErrorBody(kind, text) + "\n\n"
}

// ErrorBody implements [Dialect].
func (Gemini) ErrorBody(kind, text string) string {
	e := geminiErrors[kind]
	body, _ := json.Marshal(m{"error": m{"code": e.code, "message": text, "status": e.status}})
	return string(body)
}

// Bad implements [Dialect].
func (d Gemini) Bad() []Bad {
	text := d.Frames(Reply{Parts: []Part{{Text: "hello world"}}})
	call := d.Frames(Reply{Parts: []Part{{Call: &WireCall{"", "read", `{"path":"a"}`}}}})
	stopped := func(reason string) []string {
		return d.Frames(Reply{Parts: []Part{{Text: "I"}}, Stop: reason})
	}
	const last = "finishReason"
	return []Bad{
		{Name: "18 EOF before the reason", Frames: before(text, last), Class: llm.RetryNow, Type: "incomplete"},
		{Name: "18 EOF after a call, before the reason", Frames: before(call, last), Class: llm.RetryNow, Type: "incomplete"},
		{Name: "36 no candidates", Frames: with(text, last, frame("", m{"modelVersion": "x"})), Want: Whole, Text: "hello world"},
		{Name: "38 unknown part", Frames: with(text, last, geminiChunk("", m{"hologram": m{}})), Want: Whole, Text: "hello world"},
		{Name: "61 no id", Frames: call, Want: Whole, Calls: []string{`{"path":"a"}`}},
		{Name: "60 big numbers", Frames: d.Frames(Reply{Parts: []Part{{Call: &WireCall{"", "read", `{"n":12345678901234567890}`}}}}), Want: Whole, Calls: []string{`{"n":12345678901234567890}`}},
		{Name: "60 arguments are an array", Frames: d.Frames(Reply{Parts: []Part{{Call: &WireCall{"", "read", `[1]`}}}}), Class: llm.RetryNow},
		{Name: "60 key twice", Frames: []string{`data: {"candidates":[{"content":{"parts":[{"functionCall":{"name":"read","args":{"a":1,"a":2}}}]},"finishReason":"STOP"}]}` + "\n\n"}, Want: Whole},
		{Name: "63 SAFETY", Frames: stopped("SAFETY"), Class: llm.Stop, Type: "refusal"},
		{Name: "63 RECITATION", Frames: stopped("RECITATION"), Class: llm.Stop, Type: "refusal"},
		{Name: "63 blocked prompt", Frames: []string{frame("", m{"promptFeedback": m{"blockReason": "SAFETY"}})}, Class: llm.Stop, Type: "refusal"},
		{Name: "63 malformed call", Frames: stopped("MALFORMED_FUNCTION_CALL"), Class: llm.RetryNow},
		{Name: "63 unknown reason", Frames: stopped("BORED"), Want: Whole, Text: "I"},
		{Name: "63 reason twice", Frames: append(slices.Clip(text), geminiChunk("STOP", m{"text": "more"})), Want: Whole, Text: "hello world"},
		{Name: "65 signature without text", Frames: with(text, last, geminiChunk("", m{"text": "", "thoughtSignature": "c2ln"})), Want: Whole, Text: "hello world"},
		{Name: "error in a list", Frames: []string{"data: [" + d.ErrorBody(Internal, "x") + "]\n\n"}, Class: llm.RetryNow},
	}
}

// Validate implements [Dialect].
func (Gemini) Validate(r Received) error {
	if !strings.HasPrefix(r.Path, "/v1beta/models/") || !strings.HasSuffix(r.Path, ":streamGenerateContent") {
		return fmt.Errorf("404: no such path %s", r.Path)
	}
	v := &check{}
	v.that(r.Header.Get("X-Goog-Api-Key") != "", "403: no key")
	body := v.object(r.Body, "contents", "systemInstruction", "tools", "generationConfig")
	for i, t := range list(body["tools"]) {
		for j, f := range list(t["functionDeclarations"]) {
			v.that(openAIName.MatchString(text(f["name"])) && object(f["parametersJsonSchema"])["type"] == "object", "tools.%d.%d: bad", i, j)
		}
	}
	contents := list(body["contents"])
	v.that(len(contents) > 0 && contents[len(contents)-1]["role"] == "user", "contents: bad end")
	var open []string
	for i, c := range contents {
		role := text(c["role"])
		v.that(role == []string{"user", "model"}[i%2], "contents.%d: roles must alternate and begin with user", i)
		parts := list(c["parts"])
		v.that(len(parts) > 0, "contents.%d: empty", i)
		var calls, results []string
		for j, p := range parts {
			call, result := object(p["functionCall"]), object(p["functionResponse"])
			switch {
			case call != nil:
				id := text(call["id"])
				v.that(role == "model" && openAIName.MatchString(text(call["name"])) && !slices.Contains(calls, id), "contents.%d.%d: bad call", i, j)
				v.that(len(calls) > 0 || text(p["thoughtSignature"]) != "", "contents.%d.%d: the first call has no thought signature", i, j)
				calls = append(calls, id)
			case result != nil:
				v.that(role == "user" && object(result["response"]) != nil && openAIName.MatchString(text(result["name"])), "contents.%d.%d: bad response", i, j)
				v.that(len(results) == j, "contents.%d.%d: responses must stand together, first", i, j)
				results = append(results, text(result["id"]))
			default:
				v.geminiPart(fmt.Sprintf("contents.%d.%d", i, j), p)
			}
			_, err := base64.StdEncoding.DecodeString(text(p["thoughtSignature"]))
			v.that(err == nil, "contents.%d.%d: signature is not base64", i, j)
		}
		slices.Sort(open)
		slices.Sort(results)
		v.that(slices.Equal(open, results), "contents.%d: calls %q, responses %q", i, open, results)
		open = calls
	}
	return v.err
}

func (v *check) geminiPart(at string, p m) {
	blob := object(p["inlineData"])
	v.that(strings.TrimSpace(text(p["text"])) != "" || text(blob["mimeType"]) != "" && text(blob["data"]) != "", "%s: empty part", at)
	v.that(p["thought"] == nil, "%s: thoughts are not sent back", at)
}
