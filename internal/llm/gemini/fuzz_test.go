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

func FuzzStream(f *testing.F) {
	llmtest.Fuzz(f, llmtest.Gemini{}, func(rt http.RoundTripper) llm.Client {
		return gemini.New(gemini.Config{Key: "k", HTTP: rt})
	})
}
