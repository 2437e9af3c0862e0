package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"banyan/internal/llm/llmtest"
)

// A conversation with thinking and tool calls that is begun with one provider
// and goes on with two others, in one file. The servers refuse what the real
// ones would refuse.
func TestConversationAcrossProviders(t *testing.T) {
	h := newHome(t)
	if err := os.WriteFile(filepath.Join(h.work, "notes.txt"), []byte("the oak is old\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for i, p := range []struct {
		dialect  llmtest.Dialect
		key, url string // variables
		path     string // of the base URL
		model    string
	}{
		{llmtest.Anthropic{}, "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "", "anthropic/claude-sonnet-5"},
		{llmtest.Chat{}, "OPENAI_API_KEY", "OPENAI_BASE_URL", "/v1", "openai/gpt-5.2"},
		{llmtest.Gemini{}, "GEMINI_API_KEY", "GOOGLE_GEMINI_BASE_URL", "", "google/gemini-3.8-flash"},
		{llmtest.Chat{}, "DEEPSEEK_API_KEY", "DEEPSEEK_BASE_URL", "", "deepseek/deepseek-v4-pro"},
	} {
		server := llmtest.NewServer(t, p.dialect,
			llmtest.Stream(p.dialect.Frames(llmtest.Reply{Parts: []llmtest.Part{
				{Thinking: "I should read them.", Signature: "c2lnbmF0dXJl"},
				{Call: &llmtest.WireCall{ID: "call_1", Name: "read", Args: `{"path":"notes.txt"}`}},
			}})...),
			llmtest.Stream(p.dialect.Frames(llmtest.Reply{Parts: []llmtest.Part{{Text: "Answer of " + p.model}}})...),
		)
		env := []string{p.key + "=test-key", p.url + "=" + server.URL + p.path}
		out, errs, err := h.agent(t, env, "-c", "-p", "-m", p.model, "read the notes")
		if err != nil || !strings.Contains(out, "Answer of "+p.model) {
			t.Fatalf("%s: %v\n%s\n%s", p.model, err, out, errs)
		}
		got := server.Received()
		if len(got) != 2 {
			t.Fatalf("%s: %d requests", p.model, len(got))
		}
		if n := bytes.Count(got[1].Body, []byte("the oak is old")); n != i+1 {
			t.Errorf("%s was shown the notes %d times, want all %d of the conversation", p.model, n, i+1)
		}
	}
	files, _ := filepath.Glob(filepath.Join(h.dir, ".local/share/banyan/sessions/*/*.jsonl"))
	if len(files) != 1 {
		t.Errorf("sessions: %v", files)
	}
}
