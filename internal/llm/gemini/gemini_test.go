package gemini_test

import (
	"net/http"
	"testing"
	"time"

	"banyan/internal/llm"
	"banyan/internal/llm/gemini"
	"banyan/internal/llm/llmtest"
)

const secret = "AIzaSySecret"

func TestSuite(t *testing.T) {
	for _, reasoning := range []llm.Reasoning{llm.ReasoningBudget, llm.ReasoningEffort} {
		check := llmtest.Suite
		if reasoning != llm.ReasoningBudget {
			check = llmtest.Requests // the rest is the same
		}
		t.Run(string(reasoning), func(t *testing.T) {
			check(t, llmtest.Provider{
				Dialect: llmtest.Gemini{}, Provider: "google", Model: "gemini-3-test", Secret: secret, EOFEnds: true,
				New: func(url string, rt http.RoundTripper, firstByte, idle time.Duration) llm.Client {
					return gemini.New(gemini.Config{
						Key: secret, BaseURL: url, HTTP: rt, FirstByte: firstByte, Idle: idle,
						Model: func(id string) llm.Model {
							return llm.Model{ID: id, Images: true, Output: 32000, Reasoning: reasoning, Levels: llm.ThinkingLevels}
						},
					})
				},
			})
		})
	}
}
