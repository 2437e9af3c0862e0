package llm_test

import (
	"reflect"
	"strings"
	"testing"

	"banyan/internal/llm"
	"banyan/internal/llm/llmtest"
)

func TestAdapt(t *testing.T) {
	target := llm.Target{API: "api", Provider: "p", Model: "m", Images: true, MaxID: 40}
	blocks := []llm.Block{
		llm.Thinking{Text: "t", Signature: "s"},
		llm.Thinking{Text: "unsigned"},
		llm.Thinking{Signature: "r", Redacted: true},
		llm.Text{Text: "x", Signature: "ts"},
		llm.Text{Text: " \n"},
		llm.ToolCall{ID: "c", Name: "read", Signature: "cs"},
	}
	unsigned := []llm.Block{llm.Text{Text: "x"}, llm.ToolCall{ID: "c", Name: "read"}}
	tests := []struct {
		name                 string
		api, provider, model string
		want                 []llm.Block
	}{
		{"same model", "api", "p", "m", []llm.Block{blocks[0], blocks[2], blocks[3], blocks[5]}},
		{"same provider", "api", "p", "other", append([]llm.Block{blocks[0]}, unsigned...)},
		{"other provider", "api", "other", "m", unsigned},
		{"other protocol", "other", "p", "m", unsigned},
	}
	cut := llm.Message{Role: llm.Assistant, API: "api", Provider: "p", Model: "m", Content: []llm.Block{blocks[3], blocks[0], blocks[2]}}
	if got := llm.Adapt([]llm.Message{cut}, target); len(got) != 1 || !reflect.DeepEqual(got[0].Content, []llm.Block{blocks[3]}) {
		t.Errorf("thinking at the end: %+v", got)
	}
	for _, tt := range tests {
		m := llm.Message{Role: llm.Assistant, API: tt.api, Provider: tt.provider, Model: tt.model, Content: blocks}
		got := llm.Adapt([]llm.Message{m}, target)
		if len(got) != 1 || !reflect.DeepEqual(got[0].Content, tt.want) {
			t.Errorf("%s:\ngot  %+v\nwant %+v", tt.name, got, tt.want)
		}
	}
}

// TestAdaptPairs: results find their calls, whatever the ids were, and the
// conversation that was adapted is as it was.
func TestAdaptPairs(t *testing.T) {
	for _, target := range []llm.Target{{MaxID: 40}, {MaxID: 64, Images: true}, {MaxID: 9, ExactID: true}} {
		messages := append(llmtest.Foreign("a", "p", "m"), llmtest.Foreign("a", "p", "m")...)
		before := append([]llm.Message(nil), messages...)
		adapted := llm.Adapt(messages, target)
		if !reflect.DeepEqual(messages, before) {
			t.Error("the conversation was changed")
		}
		if !reflect.DeepEqual(adapted, llm.Adapt(messages, target)) {
			t.Error("adapted twice is not the same")
		}
		seen := map[string]bool{}
		var open []string
		for _, m := range adapted {
			switch m.Role {
			case llm.Assistant:
				open = nil
				for _, c := range m.Calls() {
					if seen[c.ID] || len(c.ID) > target.MaxID || target.ExactID && len(c.ID) != 9 {
						t.Errorf("id %q", c.ID)
					}
					seen[c.ID] = true
					open = append(open, c.ID)
				}
			case llm.ToolResult:
				if len(open) == 0 || m.CallID != open[0] {
					t.Fatalf("result of %q, calls %q", m.CallID, open)
				}
				open = open[1:]
			}
			for _, b := range m.Content {
				if _, ok := b.(llm.Image); ok && !target.Images {
					t.Error("a picture for a model that sees none")
				}
				if text, ok := b.(llm.Text); ok && strings.TrimSpace(text.Text) == "" {
					t.Error("empty text")
				}
			}
		}
	}
}

func TestModelLevel(t *testing.T) {
	three := llm.Model{Levels: []llm.ThinkingLevel{llm.ThinkingLow, llm.ThinkingMedium, llm.ThinkingHigh}}
	tests := []struct {
		model       llm.Model
		asked, want llm.ThinkingLevel
	}{
		{three, llm.ThinkingOff, llm.ThinkingOff},
		{three, "", llm.ThinkingOff},
		{three, llm.ThinkingMinimal, llm.ThinkingLow},
		{three, llm.ThinkingMedium, llm.ThinkingMedium},
		{three, llm.ThinkingXHigh, llm.ThinkingHigh},
		{three, "nonsense", llm.ThinkingLow},
		{llm.Model{}, llm.ThinkingHigh, llm.ThinkingOff},
	}
	for _, tt := range tests {
		if got := tt.model.Level(tt.asked); got != tt.want {
			t.Errorf("%q of %q is %q, want %q", tt.asked, tt.model.Levels, got, tt.want)
		}
	}
}

func TestCost(t *testing.T) {
	usage := llm.Usage{Input: 100_000, Output: 10_000, CacheRead: 50_000, CacheWrite: 20_000}
	price := &llm.Price{Input: 3, Output: 15, CacheRead: 0.3, CacheWrite: 3.75, Above: &llm.PriceAbove{Tokens: 200_000, Input: 6, Output: 22.5, CacheRead: 0.6, CacheWrite: 7.5}}
	near := func(a, b float64) bool { return a-b < 1e-9 && b-a < 1e-9 }
	u := llm.Model{Price: price}.Cost(usage)
	if u.CostUnknown || !near(u.Cost.Total, 0.3+0.15+0.015+0.075) || !near(u.Cost.CacheRead, 0.015) {
		t.Errorf("cost %+v", u)
	}
	usage.Input = 200_000
	if u := (llm.Model{Price: price}).Cost(usage); !near(u.Cost.Input, 1.2) || !near(u.Cost.Output, 0.225) {
		t.Errorf("cost above the step %+v", u.Cost)
	}
	if u := (llm.Model{}).Cost(usage); !u.CostUnknown || u.Cost.Total != 0 {
		t.Errorf("unknown price: %+v", u)
	}
	if u := (llm.Model{Price: &llm.Price{Input: 3, Output: 15}}).Cost(usage); !u.CostUnknown {
		t.Errorf("unknown price of the cache: %+v", u)
	}
	if u := (llm.Model{Price: &llm.Price{}}).Cost(usage); u.CostUnknown || u.Cost.Total != 0 {
		t.Errorf("free: %+v", u)
	}
	if u := (llm.Model{Local: true}).Cost(usage); u.CostUnknown || u.Cost.Total != 0 {
		t.Errorf("local: %+v", u)
	}
	if sum := (llm.Model{}).Cost(usage).Add(llm.Model{Price: price}.Cost(usage)); !sum.CostUnknown {
		t.Error("a sum with something unknown is known")
	}
}

func TestOverflowed(t *testing.T) {
	m := llm.Model{Context: 1000}
	tests := []struct {
		name  string
		usage llm.Usage
		stop  llm.StopReason
		want  bool
	}{
		{"fits", llm.Usage{Input: 900, Output: 50}, llm.StopEnd, false},
		{"was cut silently", llm.Usage{Input: 900, CacheRead: 101, Output: 5}, llm.StopEnd, true},
		{"no room to answer", llm.Usage{Input: 995}, llm.StopLength, true},
		{"long answer", llm.Usage{Input: 500, Output: 500}, llm.StopLength, false},
		{"nothing known", llm.Usage{}, llm.StopLength, false},
	}
	for _, tt := range tests {
		if got := m.Overflowed(llm.Message{Usage: tt.usage, StopReason: tt.stop}); got != tt.want {
			t.Errorf("%s: %v", tt.name, got)
		}
	}
	if (llm.Model{}).Overflowed(llm.Message{Usage: llm.Usage{Input: 1e9}}) {
		t.Error("a window that is not known")
	}
}
