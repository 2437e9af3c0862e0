package anthropic_test

import (
	"net/http"
	"testing"

	"banyan/internal/llm"
	"banyan/internal/llm/anthropic"
	"banyan/internal/llm/llmtest"
)

func BenchmarkStream(b *testing.B) {
	llmtest.Benchmark(b, llmtest.Anthropic{}, func(rt http.RoundTripper) llm.Client {
		return anthropic.New(anthropic.Config{Key: "k", HTTP: rt})
	})
}

func FuzzStream(f *testing.F) {
	llmtest.Fuzz(f, llmtest.Anthropic{}, func(rt http.RoundTripper) llm.Client {
		return anthropic.New(anthropic.Config{Key: "k", HTTP: rt})
	})
}
