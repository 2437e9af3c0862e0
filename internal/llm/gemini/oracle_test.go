package gemini_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"testing"

	"google.golang.org/genai"

	"banyan/internal/llm"
	"banyan/internal/llm/gemini"
	"banyan/internal/llm/llmtest"
)

// TestRequestIsTheSDKs: what we send is what the vendor's own client sends when
// it is given the same conversation. It finds fields that are named or placed
// wrongly, which no test of ours could know.
func TestRequestIsTheSDKs(t *testing.T) {
	for _, reasoning := range []llm.Reasoning{llm.ReasoningBudget, llm.ReasoningEffort} {
		for _, level := range llm.ThinkingLevels {
			model := llm.Model{ID: "gemini-3-test", Images: true, Output: 32000, Reasoning: reasoning, Levels: llm.ThinkingLevels}
			req := llm.Request{
				Model: model.ID, System: "be brief", Tools: llmtest.Tools, Thinking: level,
				Messages: append(llmtest.Foreign("anthropic-messages", "anthropic", "x"), llmtest.Foreign(gemini.API, "google", model.ID)...),
			}
			ours, path := sent(t, func(url string) {
				c := gemini.New(gemini.Config{Key: secret, BaseURL: url, Model: func(string) llm.Model { return model }})
				for range c.Stream(t.Context(), req) {
				}
			})
			theirs, theirPath := sent(t, func(url string) { viaSDK(t, url, model.ID, ours) })
			if path != theirPath || !reflect.DeepEqual(ours, theirs) {
				a, _ := json.MarshalIndent(ours, "", " ")
				b, _ := json.MarshalIndent(theirs, "", " ")
				t.Fatalf("%s, %s:\nours   %s %s\ntheirs %s %s", reasoning, level, path, a, theirPath, b)
			}
		}
	}
}

// sent is the body and the address of the request that is made.
func sent(t *testing.T, ask func(url string)) (body map[string]any, path string) {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		if err := json.Unmarshal(raw, &body); err != nil {
			t.Error(err)
		}
		path = r.URL.String()
		w.WriteHeader(http.StatusTeapot)
	}))
	defer srv.Close()
	ask(srv.URL)
	return body, path
}

// viaSDK sends a request of ours with the vendor's client.
func viaSDK(t *testing.T, url, model string, body map[string]any) {
	t.Helper()
	var contents []*genai.Content
	var config genai.GenerateContentConfig
	convert(t, body["contents"], &contents)
	convert(t, body["systemInstruction"], &config.SystemInstruction)
	convert(t, body["tools"], &config.Tools)
	convert(t, body["generationConfig"], &config)
	c, err := genai.NewClient(t.Context(), &genai.ClientConfig{APIKey: secret, Backend: genai.BackendGeminiAPI, HTTPOptions: genai.HTTPOptions{BaseURL: url}})
	if err != nil {
		t.Fatal(err)
	}
	for range c.Models.GenerateContentStream(t.Context(), model, contents, &config) {
	}
}

func convert(t *testing.T, from, to any) {
	t.Helper()
	raw, err := json.Marshal(from)
	if err == nil {
		err = json.Unmarshal(raw, to)
	}
	if err != nil {
		t.Fatal(err)
	}
}
