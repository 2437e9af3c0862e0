package gemini_test

import (
	"net/http"
	"testing"

	"banyan/internal/llm"
	"banyan/internal/llm/gemini"
	"banyan/internal/llm/llmtest"
)

func BenchmarkStream(b *testing.B) {
	llmtest.Benchmark(b, llmtest.Gemini{}, func(rt http.RoundTripper) llm.Client {
		return gemini.New(gemini.Config{Key: "k", HTTP: rt})
	})
}
