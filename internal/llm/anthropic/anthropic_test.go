package anthropic_test

import (
	"net/http"
	"testing"
	"time"

	"banyan/internal/llm"
	"banyan/internal/llm/anthropic"
	"banyan/internal/llm/llmtest"
)

func TestSuite(t *testing.T) {
	for _, reasoning := range []llm.Reasoning{llm.ReasoningBudget, llm.ReasoningAdaptive} {
		t.Run(string(reasoning), func(t *testing.T) {
			llmtest.Suite(t, llmtest.Provider{
				Dialect: llmtest.Anthropic{}, Provider: "anthropic", Model: "claude-test",
				Secret: "sk-ant-api03-secret", Signs: true,
				New: func(url string, rt http.RoundTripper, firstByte, idle time.Duration) llm.Client {
					return anthropic.New(anthropic.Config{
						Key: "sk-ant-api03-secret", BaseURL: url, HTTP: rt, FirstByte: firstByte, Idle: idle,
						Model: func(id string) llm.Model {
							return llm.Model{ID: id, Images: true, Output: 32000, Reasoning: reasoning, Levels: llm.ThinkingLevels}
						},
					})
				},
			})
		})
	}
}
