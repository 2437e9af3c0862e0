package openai_test

import (
	"net/http"
	"testing"

	"banyan/internal/llm"
	"banyan/internal/llm/llmtest"
	"banyan/internal/llm/openai"
)

func BenchmarkResponses(b *testing.B) {
	llmtest.Benchmark(b, llmtest.Responses{}, func(rt http.RoundTripper) llm.Client {
		return openai.NewResponses(openai.Config{Key: "k", HTTP: rt})
	})
}

func BenchmarkChat(b *testing.B) {
	llmtest.Benchmark(b, llmtest.Chat{}, func(rt http.RoundTripper) llm.Client {
		return openai.NewChat(openai.Config{Key: "k", HTTP: rt})
	})
}

func FuzzResponses(f *testing.F) {
	llmtest.Fuzz(f, llmtest.Responses{}, func(rt http.RoundTripper) llm.Client {
		return openai.NewResponses(openai.Config{Key: "k", HTTP: rt})
	})
}

func FuzzChat(f *testing.F) {
	llmtest.Fuzz(f, llmtest.Chat{}, func(rt http.RoundTripper) llm.Client {
		return openai.NewChat(openai.Config{Key: "k", HTTP: rt})
	})
}
