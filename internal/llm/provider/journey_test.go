package provider_test

import (
	"fmt"
	"testing"
	"time"

	"banyan/internal/llm"
	"banyan/internal/llm/llmtest"
	"banyan/internal/llm/models"
	"banyan/internal/llm/provider"
)

// TestJourney is one conversation that goes from provider to provider in every
// order, with thinking, calls, results and pictures: each takes what the others
// left. The servers refuse what the real ones would.
func TestJourney(t *testing.T) {
	dialects := map[string]llmtest.Dialect{
		"anthropic": llmtest.Anthropic{}, "openai": llmtest.Responses{}, "xai": llmtest.Chat{}, "mistral": llmtest.Chat{}, "google": llmtest.Gemini{},
	}
	address := map[string]string{
		"anthropic": "ANTHROPIC_BASE_URL", "openai": "", "xai": "XAI_BASE_URL", "mistral": "MISTRAL_BASE_URL", "google": "GOOGLE_GEMINI_BASE_URL",
	}
	var vars []string
	settings := ""
	for name, d := range dialects {
		srv := llmtest.NewServer(t, d, llmtest.Stream(d.Frames(llmtest.Reply{Parts: []llmtest.Part{
			{Thinking: "hm", Signature: "c2lnbmF0dXJl"},
			{Text: "I look"},
			{Call: &llmtest.WireCall{ID: "call_1", Name: "read", Args: `{"path":"a"}`}},
			{Call: &llmtest.WireCall{ID: "call_1", Name: "list", Args: `{}`}},
		}})...))
		if address[name] == "" { // an address of another host would mean the older protocol
			settings = fmt.Sprintf(`{"providers":{%q:{"baseURL":%q}}}`, name, srv.URL)
			continue
		}
		vars = append(vars, address[name], srv.URL)
	}
	for _, key := range provider.KeyVariables() {
		vars = append(vars, key, "k")
	}
	cat := provider.Open(provider.Config{Env: env(vars...), Dir: folder(t, "models.json", settings)})
	names := []string{"anthropic", "openai", "xai", "mistral", "google"}
	for start := range names {
		for step := 1; step < len(names); step++ {
			journey(t, cat, names, start, step)
		}
	}
}

// journeyModel has a name that makes Google's rules for signatures hold.
const journeyModel = "gemini-3-like"

func journey(t *testing.T, cat *provider.Catalog, names []string, start, step int) {
	t.Helper()
	picture := llm.UserText("look at this", time.Time{})
	picture.Content = append(picture.Content, llm.Image{Data: llmtest.Pixel, MIME: "image/png"})
	messages := []llm.Message{picture}
	for turn := range 2 * len(names) {
		name := names[(start+turn*step)%len(names)]
		client, err := cat.New(models.Ref{Provider: name, Model: journeyModel})
		if err != nil {
			t.Fatal(err)
		}
		level := llm.ThinkingLevels[turn%len(llm.ThinkingLevels)]
		m, cut, err := llmtest.Answer(t.Context(), client, llm.Request{Model: journeyModel, Messages: messages, Tools: llmtest.Tools, Thinking: level})
		if err != nil || len(cut) > 0 || len(m.Calls()) != 2 {
			t.Fatalf("turn %d, %s: %+v, %q, %v", turn, name, m, cut, err)
		}
		m.API, m.Provider, m.Model = cat.API(name), name, journeyModel
		messages = append(messages, m)
		for _, call := range m.Calls() {
			messages = append(messages, llm.Message{
				Role: llm.ToolResult, CallID: call.ID, ToolName: call.Name, IsError: turn%2 == 0,
				Content: []llm.Block{llm.Text{Text: "result"}, llm.Image{Data: llmtest.Pixel, MIME: "image/png"}},
			})
		}
	}
}
