package anthropic_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"banyan/internal/llm"
	"banyan/internal/llm/anthropic"
	"banyan/internal/llm/llmtest"
)

func TestSuite(t *testing.T) {
	for _, reasoning := range []llm.Reasoning{llm.ReasoningBudget, llm.ReasoningAdaptive} {
		check := llmtest.Suite
		if reasoning != llm.ReasoningBudget {
			check = llmtest.Requests // the rest is the same
		}
		t.Run(string(reasoning), func(t *testing.T) {
			check(t, llmtest.Provider{
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

// TestToken: a token goes as a bearer, and nothing comes from the environment
// but through the catalog.
func TestToken(t *testing.T) {
	t.Setenv("ANTHROPIC_API_KEY", "sk-from-the-environment")
	t.Setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:1")
	t.Setenv("ANTHROPIC_CUSTOM_HEADERS", "X-From: environment")
	dialect := llmtest.Anthropic{}
	srv := llmtest.NewServer(t, dialect, llmtest.Stream(dialect.Frames(llmtest.Reply{Parts: []llmtest.Part{{Text: "ok"}}})...))
	c := anthropic.New(anthropic.Config{Token: "tok", BaseURL: srv.URL + "/v1/", Headers: map[string]string{"X-Mine": "yes"}})
	_, _, err := llmtest.Answer(t.Context(), c, llm.Request{Model: "m", Messages: []llm.Message{llm.UserText("hi", time.Time{})}})
	if err != nil {
		t.Fatal(err)
	}
	got := srv.Received()[0]
	if h := got.Header; h.Get("Authorization") != "Bearer tok" || h.Get("X-Api-Key") != "" || h.Get("X-Mine") != "yes" || h.Get("X-From") != "" || got.Path != "/v1/messages" {
		t.Errorf("%s %v", got.Path, h)
	}
}

// TestThinking is how each kind of model is asked to reason.
func TestThinking(t *testing.T) {
	budget := llm.Model{ID: "m", Output: 32000, Reasoning: llm.ReasoningBudget, Levels: llm.ThinkingLevels}
	adaptive := llm.Model{ID: "m", Output: 32000, Reasoning: llm.ReasoningAdaptive, Levels: llm.ThinkingLevels}
	always, small, between := adaptive, budget, adaptive
	between.Reasoning = llm.ReasoningBetween
	always.Levels = llm.ThinkingLevels[2:]
	small.Output = 4096
	tests := []struct {
		name  string
		model llm.Model
		level llm.ThinkingLevel
		want  string // in the body; a leading "-" means not in it
	}{
		{"budget", budget, llm.ThinkingMedium, `"thinking":{"budget_tokens":10240,"type":"enabled"}`},
		{"budget off", budget, llm.ThinkingOff, `"thinking":{"type":"disabled"}`},
		{"small answers", small, llm.ThinkingHigh, `"budget_tokens":3072`},
		{"adaptive", adaptive, llm.ThinkingHigh, `"output_config":{"effort":"high"}`},
		{"adaptive shows", adaptive, llm.ThinkingHigh, `"thinking":{"display":"summarized","type":"adaptive"}`},
		{"adaptive off", adaptive, llm.ThinkingOff, `"thinking":{"type":"disabled"}`},
		{"between", between, llm.ThinkingHigh, `"thinking":{"display":"summarized","type":"adaptive"}`},
		{"between, off", between, llm.ThinkingOff, `"thinking":{"type":"between_tools"}`},
		{"always on", always, llm.ThinkingOff, `-"thinking"`},
		{"unknown, off", llm.Model{}, llm.ThinkingOff, `-"thinking"`},
		{"unknown", llm.Model{}, llm.ThinkingLow, `"output_config":{"effort":"low"}`},
		{"none", llm.Model{ID: "m"}, llm.ThinkingHigh, `-"thinking"`},
	}
	dialect := llmtest.Anthropic{}
	for _, tt := range tests {
		srv := llmtest.NewServer(t, dialect, llmtest.Stream(dialect.Frames(llmtest.Reply{Parts: []llmtest.Part{{Text: "ok"}}})...))
		c := anthropic.New(anthropic.Config{Key: "k", BaseURL: srv.URL, Model: func(string) llm.Model { return tt.model }})
		req := llm.Request{Model: "m", Thinking: tt.level, Messages: []llm.Message{llm.UserText("hi", time.Time{})}}
		if _, _, err := llmtest.Answer(t.Context(), c, req); err != nil {
			t.Fatal(err)
		}
		body := string(srv.Received()[0].Body)
		if want, not := strings.CutPrefix(tt.want, "-"); strings.Contains(body, want) == not {
			t.Errorf("%s: %s\nwant %s", tt.name, body, tt.want)
		}
	}
}

// TestOthers: who speaks Anthropic's protocol is asked in its older way.
func TestOthers(t *testing.T) {
	dialect := llmtest.Anthropic{}
	srv := llmtest.NewServer(t, dialect, llmtest.Stream(dialect.Frames(llmtest.Reply{Parts: []llmtest.Part{{Text: "ok"}}})...))
	c := anthropic.New(anthropic.Config{Provider: "another", Key: "k", BaseURL: srv.URL})
	req := llm.Request{Model: "m", Thinking: llm.ThinkingLow, Messages: []llm.Message{llm.UserText("hi", time.Time{})}}
	if _, _, err := llmtest.Answer(t.Context(), c, req); err != nil {
		t.Fatal(err)
	}
	if body := string(srv.Received()[0].Body); !strings.Contains(body, `"budget_tokens":4096`) || !strings.Contains(body, `"max_tokens":8192`) {
		t.Error(body)
	}
}

// TestCacheMarks: system, the last tool and the last two turns are marked, and
// what was sent before stays the same, byte for byte.
func TestCacheMarks(t *testing.T) {
	dialect := llmtest.Anthropic{}
	srv := llmtest.NewServer(t, dialect, llmtest.Stream(dialect.Frames(llmtest.Reply{Parts: []llmtest.Part{{Text: "ok"}}})...))
	c := anthropic.New(anthropic.Config{Key: "k", BaseURL: srv.URL})
	req := llm.Request{Model: "m", System: "s", Tools: llmtest.Tools}
	var before string
	for turn := range 4 {
		req.Messages = append(req.Messages, llm.UserText(strings.Repeat("q", turn+1), time.Time{}))
		if _, _, err := llmtest.Answer(t.Context(), c, req); err != nil {
			t.Fatal(err)
		}
		req.Messages = append(req.Messages, llm.Message{Role: llm.Assistant, Content: []llm.Block{llm.Text{Text: "a"}}})
		body := string(srv.Received()[turn].Body)
		if marks := strings.Count(body, `"cache_control":{"type":"ephemeral"}`); marks != min(turn+1, 2)+2 {
			t.Errorf("turn %d: %d marks in %s", turn, marks, body)
		}
		plain := strings.ReplaceAll(body, `"cache_control":{"type":"ephemeral"},`, "")
		prefix, _, _ := strings.Cut(plain, `],"model"`)
		if !strings.HasPrefix(prefix, before) {
			t.Errorf("turn %d: the request does not begin as the one before:\n%s\n%s", turn, prefix, before)
		}
		before = prefix
	}
}
