package anthropic

import (
	"encoding/json"
	"reflect"
	"testing"

	sdk "github.com/anthropics/anthropic-sdk-go"

	"banyan/internal/llm"
	"banyan/internal/llm/llmtest"
)

func TestRequestsAreTheSDKs(t *testing.T) {
	for _, reasoning := range []llm.Reasoning{llm.ReasoningBudget, llm.ReasoningAdaptive, llm.ReasoningBetween} {
		for _, level := range llm.ThinkingLevels {
			model := llm.Model{ID: "claude-test", Images: true, Output: 32000, Reasoning: reasoning, Levels: llm.ThinkingLevels}
			c := client{Config: Config{Provider: "anthropic", Model: func(string) llm.Model { return model }}}
			req := llm.Request{
				Model: model.ID, System: "be brief", Thinking: level,
				Tools: []llm.ToolSpec{
					{Name: "read", Description: "reads a file", Schema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}`)},
					{Name: "list", Description: "lists files", Schema: json.RawMessage(`{"type":"object","properties":{}}`)},
				},
				Messages: append(llmtest.Foreign("openai-responses", "openai", "x"), llmtest.Foreign(API, "anthropic", model.ID)...),
			}
			req.Messages = append(req.Messages, signed(model.ID)...)
			llmtest.Through[sdk.MessageNewParams](t, c.body(req), "stream") // which the SDK adds by itself
		}
	}
}

// signed is an answer with all that goes back to whom it came from, and its
// result.
func signed(model string) []llm.Message {
	return []llm.Message{
		{Role: llm.Assistant, API: API, Provider: "anthropic", Model: model, Content: []llm.Block{
			llm.Thinking{Text: "hm", Signature: "c2ln"},
			llm.Thinking{Signature: "c2ln"},
			llm.Thinking{Signature: "ZGF0YQ==", Redacted: true},
			llm.Text{Text: "I look"},
			llm.ToolCall{ID: "c9", Name: "read", Arguments: json.RawMessage(`{"path":"a"}`)},
		}},
		{Role: llm.ToolResult, CallID: "c9", ToolName: "read", IsError: true, Content: []llm.Block{llm.Text{Text: "this"}, llm.Image{MIME: "image/png", Data: llmtest.Pixel}}},
	}
}

func TestAnswersAreNamedAsInTheSDK(t *testing.T) {
	llmtest.Named(t, event{}, sdk.MessageStreamEventUnion{})
	llmtest.Named(t, fault{}, sdk.ErrorResponse{})
}

// A word that the vendor renames is noticed, too.
func TestWordsAreTheSDKs(t *testing.T) {
	for ours, theirs := range map[string]any{
		stopRefusal:                 sdk.StopReasonRefusal,
		stopLength:                  sdk.StopReasonMaxTokens,
		stopWindow:                  sdk.StopReasonModelContextWindowExceeded,
		effort(llm.ThinkingMinimal): sdk.OutputConfigEffortLow,
		effort(llm.ThinkingMedium):  sdk.OutputConfigEffortMedium,
		effort(llm.ThinkingHigh):    sdk.OutputConfigEffortHigh,
		effort(llm.ThinkingXHigh):   sdk.OutputConfigEffortXhigh,
		"message_start":             sdk.MessageStartEvent{}.Type.Default(),
		"content_block_start":       sdk.ContentBlockStartEvent{}.Type.Default(),
		"content_block_delta":       sdk.ContentBlockDeltaEvent{}.Type.Default(),
		"content_block_stop":        sdk.ContentBlockStopEvent{}.Type.Default(),
		"message_delta":             sdk.MessageDeltaEvent{}.Type.Default(),
		"message_stop":              sdk.MessageStopEvent{}.Type.Default(),
		"text_delta":                sdk.TextDelta{}.Type.Default(),
		"thinking_delta":            sdk.ThinkingDelta{}.Type.Default(),
		"signature_delta":           sdk.SignatureDelta{}.Type.Default(),
		"input_json_delta":          sdk.InputJSONDelta{}.Type.Default(),
	} {
		if word := reflect.ValueOf(theirs).String(); ours != word {
			t.Errorf("%q is %q", ours, word)
		}
	}
}
