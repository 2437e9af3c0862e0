package llmtest

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"banyan/internal/llm"
)

// Pixel is a PNG of one pixel, in base64.
const Pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

// requests: what is asked of the provider is what the request says.
func (s suite) requests(t *testing.T) {
	req := s.request()
	req.Messages = append(Foreign("google-generative-ai", "google", "gemini"), req.Messages...)
	for _, level := range llm.ThinkingLevels {
		t.Run(string(level), func(t *testing.T) {
			srv := NewServer(t, s.p.Dialect, Stream(s.p.Dialect.Frames(Reply{Parts: []Part{{Text: "ok"}}})...))
			req.Thinking = level
			if _, _, err := Answer(t.Context(), s.p.New(srv.URL, nil, timeout, timeout), req); err != nil {
				t.Fatal(err)
			}
			body := string(srv.Received()[0].Body)
			for _, want := range []string{"be brief", "reads a file", `"additionalProperties":false`, Pixel, "second result", s.p.Model} {
				if !strings.Contains(body+srv.Received()[0].Path, want) {
					t.Errorf("%q is not in the request", want)
				}
			}
		})
	}
}

// Foreign is a conversation that another provider answered, with everything
// that the next one may trip over.
func Foreign(api, provider, model string) []llm.Message {
	at := time.Unix(1, 0)
	args := json.RawMessage(`{"path":"a"}`)
	answer := llm.Message{Role: llm.Assistant, API: api, Provider: provider, Model: model, Time: at, StopReason: llm.StopToolUse}
	result := func(id, text string, isError bool) llm.Message {
		return llm.Message{Role: llm.ToolResult, CallID: id, ToolName: "read", IsError: isError, Content: []llm.Block{llm.Text{Text: text}}, Time: at}
	}
	first, second, third := answer, answer, answer
	long := strings.Repeat("x", 500)
	first.Content = []llm.Block{
		llm.Thinking{Text: "hm", Signature: "sig-of-another"},
		llm.Thinking{Signature: "secret", Redacted: true},
		llm.Text{Text: "I look", Signature: "meta"},
		llm.ToolCall{ID: "call_1|fc_2", Name: "read", Arguments: args, Signature: "thought"},
		llm.ToolCall{ID: long, Name: "re\nad", Arguments: args},
	}
	second.Content = []llm.Block{llm.ToolCall{ID: "call_1|fc_2", Name: "read", Arguments: json.RawMessage(`{}`)}, llm.ToolCall{ID: "", Name: "", Arguments: args}}
	third.Content = []llm.Block{llm.Thinking{Text: "only thoughts"}}
	picture := llm.UserText("what is this?", at)
	picture.Content = append(picture.Content, llm.Image{Data: Pixel, MIME: "image/png"}, llm.Text{Text: "  "})
	withPicture := result("", "", false)
	withPicture.Content = []llm.Block{llm.Image{Data: Pixel, MIME: "image/png"}}
	return []llm.Message{
		picture, first, result("call_1|fc_2", "first result", false), result(long, "second result", true),
		second, result("call_1|fc_2", "", false), withPicture, third,
		llm.UserText("go on", at), llm.UserText("and on", at),
	}
}

// histories: whatever the conversation was, the request is accepted.
func (s suite) histories(t *testing.T) {
	srv := NewServer(t, s.p.Dialect, Stream(s.p.Dialect.Frames(Reply{Parts: []Part{{Text: "ok"}}})...))
	client := s.p.New(srv.URL, nil, timeout, timeout)
	names := []string{"anthropic-messages", "openai-completions", "openai-responses", "google-generative-ai"}
	for _, api := range names {
		for _, provider := range []string{s.p.Provider, "another"} {
			for _, model := range []string{s.p.Model, "another"} {
				req := s.request()
				req.Messages = append(Foreign(api, provider, model), req.Messages...)
				if _, _, err := Answer(t.Context(), client, req); err != nil {
					t.Errorf("after %s %s %s: %v", api, provider, model, err)
				}
			}
		}
	}
	rapid.Check(t, func(rt *rapid.T) {
		req := s.request()
		req.Messages = history(rt, names, []string{s.p.Provider, "another"}, []string{s.p.Model, "another"})
		req.Thinking = rapid.SampledFrom(llm.ThinkingLevels).Draw(rt, "level")
		if rapid.Bool().Draw(rt, "without tools") {
			req.Tools = nil
		}
		if _, _, err := Answer(t.Context(), client, req); err != nil {
			rt.Fatal(err)
		}
	})
}

// history draws a valid conversation: turns of the user, answers, results.
func history(rt *rapid.T, apis, providers, models []string) []llm.Message {
	text := rapid.SampledFrom([]string{"hi", "", " ", "\n", "世界", "a\x00b", "\xff", strings.Repeat("long ", 50)})
	id := rapid.SampledFrom([]string{"", "call_1", "call_2", "a|b", strings.Repeat("z", 65), "ü"})
	user := func() llm.Message {
		m := llm.UserText("q"+text.Draw(rt, "user"), time.Unix(0, 0))
		if rapid.Bool().Draw(rt, "image") {
			m.Content = append(m.Content, llm.Image{Data: Pixel, MIME: "image/png"})
		}
		return m
	}
	messages := []llm.Message{user()}
	for range rapid.IntRange(0, 6).Draw(rt, "turns") {
		answer := llm.Message{
			Role: llm.Assistant, API: rapid.SampledFrom(apis).Draw(rt, "api"),
			Provider: rapid.SampledFrom(providers).Draw(rt, "provider"), Model: rapid.SampledFrom(models).Draw(rt, "model"),
		}
		var results []llm.Message
		for range rapid.IntRange(0, 4).Draw(rt, "blocks") {
			switch rapid.IntRange(0, 2).Draw(rt, "kind") {
			case 0:
				answer.Content = append(answer.Content, llm.Text{Text: text.Draw(rt, "text")})
			case 1:
				answer.Content = append(answer.Content, llm.Thinking{Text: text.Draw(rt, "thinking"), Signature: text.Draw(rt, "signature"), Redacted: rapid.Bool().Draw(rt, "redacted")})
			case 2:
				call := llm.ToolCall{ID: id.Draw(rt, "id"), Name: "read", Arguments: json.RawMessage(`{"n":1}`)}
				answer.Content = append(answer.Content, call)
				results = append(results, llm.Message{
					Role: llm.ToolResult, CallID: call.ID, ToolName: call.Name, IsError: rapid.Bool().Draw(rt, "failed"),
					Content: []llm.Block{llm.Text{Text: text.Draw(rt, "result")}},
				})
			}
		}
		messages = append(append(messages, answer), results...)
		if len(results) == 0 || rapid.Bool().Draw(rt, "steered") {
			messages = append(messages, user())
		}
	}
	return messages
}
