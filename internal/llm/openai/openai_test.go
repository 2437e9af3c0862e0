package openai_test

import (
	"net/http"
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

func TestChat(t *testing.T) {
	for name, compat := range map[string]openai.Compat{
		"openai":     {MaxCompletionTokens: true, CacheKey: true},
		"openrouter": {ReasoningObject: true, KeepReasoning: true},
		"mistral":    {ShortIDs: true, AnswerAfterTool: true, NoStreamOptions: true},
	} {
		t.Run(name, func(t *testing.T) {
			llmtest.Suite(t, llmtest.Provider{
				Dialect: llmtest.Chat{}, Provider: "openai", Model: "gpt-test", Secret: secret, Signs: true, EOFEnds: true,
				New: func(url string, rt http.RoundTripper, firstByte, idle time.Duration) llm.Client {
					return openai.NewChat(openai.Config{Key: secret, BaseURL: url, HTTP: rt, FirstByte: firstByte, Idle: idle, Model: model, Compat: compat})
				},
			})
		})
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
