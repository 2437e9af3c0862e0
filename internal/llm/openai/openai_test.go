package openai_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"banyan/internal/llm"
	"banyan/internal/llm/llmtest"
	"banyan/internal/llm/openai"
)

const secret = "sk-proj-secret"

func model(id string) llm.Model {
	return llm.Model{ID: id, Images: true, Output: 32000, Reasoning: llm.ReasoningEffort, Levels: llm.ThinkingLevels}
}

func TestResponses(t *testing.T) {
	llmtest.Suite(t, llmtest.Provider{
		Dialect: llmtest.Responses{}, Provider: "openai", Model: "gpt-test", Secret: secret, Signs: true,
		New: func(url string, rt http.RoundTripper, firstByte, idle time.Duration) llm.Client {
			return openai.NewResponses(openai.Config{Key: secret, BaseURL: url, HTTP: rt, FirstByte: firstByte, Idle: idle, Model: model})
		},
	})
}

// chat is a provider of Chat Completions with its differences.
func chat(compat openai.Compat) llmtest.Provider {
	return llmtest.Provider{
		Dialect: llmtest.Chat{}, Provider: "openai", Model: "gpt-test", Secret: secret, Signs: true, EOFEnds: true,
		New: func(url string, rt http.RoundTripper, firstByte, idle time.Duration) llm.Client {
			return openai.NewChat(openai.Config{Key: secret, BaseURL: url, HTTP: rt, FirstByte: firstByte, Idle: idle, Model: model, Compat: compat})
		},
	}
}

func TestChat(t *testing.T) {
	llmtest.Suite(t, chat(openai.Compat{MaxCompletionTokens: true, CacheKey: true}))
}

func TestCompat(t *testing.T) {
	for name, compat := range map[string]openai.Compat{
		"openrouter": {ReasoningObject: true, KeepReasoning: true},
		"mistral":    {ShortIDs: true, AnswerAfterTool: true, NoStreamOptions: true},
	} {
		t.Run(name, func(t *testing.T) { llmtest.Requests(t, chat(compat)) })
	}
}

// TestReasoning is how each kind of model is asked to reason.
func TestReasoning(t *testing.T) {
	all := llm.Model{ID: "m", Reasoning: llm.ReasoningEffort, Levels: llm.ThinkingLevels}
	always, sw := all, all
	always.Levels = llm.ThinkingLevels[2:]
	sw.Reasoning, sw.Levels = llm.ReasoningSwitch, []llm.ThinkingLevel{llm.ThinkingOff, llm.ThinkingHigh}
	tests := []struct {
		name   string
		model  llm.Model
		id     string
		compat openai.Compat
		level  llm.ThinkingLevel
		chat   string // in the body; a leading "-" means not in it
		resp   string
	}{
		{"high", all, "m", openai.Compat{}, llm.ThinkingHigh, `"reasoning_effort":"high"`, `"reasoning":{"effort":"high","summary":"auto"}`},
		{"off", all, "m", openai.Compat{}, llm.ThinkingOff, `"reasoning_effort":"none"`, `"reasoning":{"effort":"none"}`},
		{"always on", always, "m", openai.Compat{}, llm.ThinkingOff, `-"reasoning`, `-"reasoning":`},
		{"nearest", always, "m", openai.Compat{}, llm.ThinkingMinimal, `"reasoning_effort":"low"`, `"effort":"low"`},
		{"none", llm.Model{ID: "m"}, "m", openai.Compat{}, llm.ThinkingHigh, `-"reasoning`, `-"reasoning`},
		{"unknown", llm.Model{}, "gpt-9", openai.Compat{}, llm.ThinkingHigh, `-"reasoning`, `"include":["reasoning.encrypted_content"]`},
		{"unknown and old", llm.Model{}, "gpt-4.1", openai.Compat{}, llm.ThinkingOff, `-"reasoning`, `-"reasoning`},
		{"switch on", sw, "m", openai.Compat{}, llm.ThinkingLow, `"thinking":{"type":"enabled"}`, `"effort":"high"`},
		{"switch off", sw, "m", openai.Compat{}, llm.ThinkingOff, `"thinking":{"type":"disabled"}`, `"effort":"none"`},
		{"object", all, "m", openai.Compat{ReasoningObject: true}, llm.ThinkingLow, `"reasoning":{"effort":"low"}`, `"effort":"low"`},
		{"object off", all, "m", openai.Compat{ReasoningObject: true}, llm.ThinkingOff, `"reasoning":{"enabled":false}`, `"effort":"none"`},
		{"object always on", always, "m", openai.Compat{ReasoningObject: true}, llm.ThinkingOff, `-"reasoning`, `-"reasoning":`},
	}
	for _, tt := range tests {
		req := llm.Request{Model: tt.id, Thinking: tt.level, Messages: []llm.Message{llm.UserText("hi", time.Time{})}}
		config := openai.Config{Key: "k", Compat: tt.compat, Model: func(string) llm.Model { return tt.model }}
		for want, ask := range map[string]struct {
			dialect llmtest.Dialect
			open    func(openai.Config) llm.Client
		}{tt.chat: {llmtest.Chat{}, openai.NewChat}, tt.resp + " ": {llmtest.Responses{}, openai.NewResponses}} {
			srv := llmtest.NewServer(t, ask.dialect, llmtest.Stream(ask.dialect.Frames(llmtest.Reply{Parts: []llmtest.Part{{Text: "ok"}}})...))
			config.BaseURL = srv.URL
			if _, _, err := llmtest.Answer(t.Context(), ask.open(config), req); err != nil {
				t.Fatal(err)
			}
			body := string(srv.Received()[0].Body)
			if text, not := strings.CutPrefix(strings.TrimSpace(want), "-"); strings.Contains(body, text) == not {
				t.Errorf("%s, %s: %s\nwant %s", tt.name, ask.dialect.Name(), body, want)
			}
		}
	}
}

// TestNoKey: servers on this computer want none.
func TestNoKey(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "sk-from-the-environment")
	t.Setenv("OPENAI_BASE_URL", "http://127.0.0.1:1")
	t.Setenv("OPENAI_ORG_ID", "org")
	dialect := llmtest.Chat{}
	srv := llmtest.NewServer(t, dialect, llmtest.Stream(dialect.Frames(llmtest.Reply{Parts: []llmtest.Part{{Text: "ok"}}})...))
	c := openai.NewChat(openai.Config{Provider: "ollama", BaseURL: srv.URL + "/v1/"})
	_, _, err := llmtest.Answer(t.Context(), c, llm.Request{Model: "m", Messages: []llm.Message{llm.UserText("hi", time.Time{})}})
	if err != nil {
		t.Fatal(err)
	}
	if got := srv.Received()[0]; got.Header.Get("Authorization") != "" || got.Header.Get("OpenAI-Organization") != "" || got.Path != "/v1/chat/completions" {
		t.Errorf("%s %v", got.Path, got.Header)
	}
}
