package gemini_test

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"

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

// TestAnswerIsTheSDKs: what the vendor's types say is what we read.
func TestAnswerIsTheSDKs(t *testing.T) {
	part := func(p ...*genai.Part) *genai.Content { return &genai.Content{Role: genai.RoleModel, Parts: p} }
	chunks := []*genai.GenerateContentResponse{
		{ResponseID: "r", Candidates: []*genai.Candidate{{Content: part(&genai.Part{Text: "hm", Thought: true})}}},
		{ResponseID: "r", Candidates: []*genai.Candidate{{Content: part(&genai.Part{Text: "hi", ThoughtSignature: []byte("sig")})}}},
		{ResponseID: "r", Candidates: []*genai.Candidate{{
			Content:      part(&genai.Part{FunctionCall: &genai.FunctionCall{ID: "c", Name: "read", Args: map[string]any{"path": "a"}}, ThoughtSignature: []byte("sig2")}),
			FinishReason: genai.FinishReasonStop,
		}}, UsageMetadata: &genai.GenerateContentResponseUsageMetadata{
			PromptTokenCount: 100, CachedContentTokenCount: 60, CandidatesTokenCount: 7, ThoughtsTokenCount: 3, ToolUsePromptTokenCount: 5,
		}},
	}
	got, err := answer(t, chunks...)
	want := []llm.Block{
		llm.Thinking{Text: "hm"},
		llm.Text{Text: "hi", Signature: "c2ln"},
		llm.ToolCall{ID: "c", Name: "read", Arguments: json.RawMessage(`{"path":"a"}`), Signature: "c2lnMg=="},
	}
	usage := llm.Usage{Input: 45, Output: 10, CacheRead: 60, Total: 115}
	if err != nil || !reflect.DeepEqual(got.Content, want) || got.Usage != usage || got.ResponseID != "r" || got.StopReason != llm.StopToolUse {
		t.Errorf("%+v, %v", got, err)
	}
	reasons := map[genai.FinishReason]string{
		genai.FinishReasonStop: "stop", genai.FinishReasonMaxTokens: "length", genai.FinishReasonOther: "stop",
		genai.FinishReasonSafety: "refusal", genai.FinishReasonRecitation: "refusal", genai.FinishReasonLanguage: "refusal",
		genai.FinishReasonBlocklist: "refusal", genai.FinishReasonProhibitedContent: "refusal", genai.FinishReasonSPII: "refusal",
		genai.FinishReasonImageSafety: "refusal", genai.FinishReasonImageProhibitedContent: "refusal", genai.FinishReasonImageRecitation: "refusal",
		genai.FinishReasonMalformedFunctionCall: "MALFORMED_CALL", genai.FinishReasonUnexpectedToolCall: "MALFORMED_CALL",
	}
	for reason, want := range reasons {
		m, err := answer(t, &genai.GenerateContentResponse{Candidates: []*genai.Candidate{{Content: part(&genai.Part{Text: "x"}), FinishReason: reason, FinishMessage: "because"}}})
		var e *llm.Error
		if errors.As(err, &e); e != nil && (e.Type != want || !strings.Contains(e.Text, "because")) || e == nil && string(m.StopReason) != want {
			t.Errorf("%s: %q, %v; want %s", reason, m.StopReason, err, want)
		}
	}
	_, err = answer(t, &genai.GenerateContentResponse{PromptFeedback: &genai.GenerateContentResponsePromptFeedback{BlockReason: genai.BlockedReasonSafety, BlockReasonMessage: "because"}})
	if err == nil || !strings.Contains(err.Error(), "SAFETY because") {
		t.Errorf("a blocked prompt: %v", err)
	}
}

// answer is what comes of chunks that the vendor's types made.
func answer(t *testing.T, chunks ...*genai.GenerateContentResponse) (llm.Message, error) {
	t.Helper()
	var frames []string
	for _, c := range chunks {
		data, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		frames = append(frames, "data: "+string(data)+"\n\n")
	}
	srv := llmtest.NewServer(t, llmtest.Gemini{}, llmtest.Stream(frames...))
	c := gemini.New(gemini.Config{Key: secret, BaseURL: srv.URL})
	m, _, err := llmtest.Answer(t.Context(), c, llm.Request{Model: "m", Messages: []llm.Message{llm.UserText("hi", time.Time{})}})
	return m, err
}
