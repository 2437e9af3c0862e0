package openai

import (
	"encoding/json"
	"reflect"
	"testing"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/responses"
	"github.com/openai/openai-go/v3/shared"
	"github.com/openai/openai-go/v3/shared/constant"

	"banyan/internal/llm"
	"banyan/internal/llm/llmtest"
)

func TestRequestsAreTheSDKs(t *testing.T) {
	for _, level := range llm.ThinkingLevels {
		model := llm.Model{ID: "gpt-test", Images: true, Output: 32000, Reasoning: llm.ReasoningEffort, Levels: llm.ThinkingLevels}
		c := newClient(Config{Model: func(string) llm.Model { return model }, Compat: Compat{MaxCompletionTokens: true, CacheKey: true}})
		for _, api := range []string{Responses, Chat} {
			req := llm.Request{
				Model: model.ID, System: "be brief", Tools: llmtest.Tools, Thinking: level, SessionID: "s1",
				Messages: append(llmtest.Foreign("anthropic-messages", "anthropic", "x"), llmtest.Foreign(api, "openai", model.ID)...),
			}
			req.Messages = append(req.Messages, signed(api, model.ID)...)
			if api == Chat {
				llmtest.Through[sdk.ChatCompletionNewParams](t, c.chatBody(req), "stream") // which the SDK adds by itself
				continue
			}
			body := c.responsesBody(req)
			for _, item := range body.Input {
				throughItem(t, item)
			}
			body.Input = []any{} // the SDK cannot read all that it writes here
			llmtest.Through[responses.ResponseNewParams](t, body, "stream")
		}
	}
}

// signed is an answer with all that goes back to whom it came from, and its
// results.
func signed(api, model string) []llm.Message {
	return []llm.Message{
		{Role: llm.Assistant, API: api, Provider: "openai", Model: model, Content: []llm.Block{
			llm.Thinking{Text: "hm", Signature: `{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"hm"}],"encrypted_content":"zz"}`},
			llm.Text{Text: "I look", Signature: `{"v":1,"id":"msg_1","phase":"commentary"}`},
			llm.ToolCall{ID: "c9", Name: "read", Arguments: json.RawMessage(`{"path":"a"}`)},
		}},
		{Role: llm.ToolResult, CallID: "c9", ToolName: "read", Content: []llm.Block{llm.Text{Text: "this"}, llm.Image{MIME: "image/png", Data: llmtest.Pixel}}},
	}
}

// throughItem is [llmtest.Through] for an item of an input.
func throughItem(t *testing.T, item any) {
	t.Helper()
	switch item.(type) {
	case inputMessage:
		llmtest.Through[responses.EasyInputMessageParam](t, item)
	case outputMessage:
		llmtest.Through[responses.ResponseOutputMessageParam](t, item)
	case functionCall:
		llmtest.Through[responses.ResponseFunctionToolCallParam](t, item)
	case functionOutput:
		llmtest.Through[responses.ResponseInputItemFunctionCallOutputParam](t, item)
	case json.RawMessage:
		llmtest.Through[responses.ResponseReasoningItemParam](t, item)
	default:
		t.Errorf("an input has a %T", item)
	}
}

func TestAnswersAreNamedAsInTheSDK(t *testing.T) {
	llmtest.Named(t, chatChunk{}, sdk.ChatCompletionChunk{},
		"x_groq", "error", "choices.delta.reasoning_content", "choices.delta.reasoning", "usage.prompt_cache_hit_tokens")
	llmtest.Named(t, streamEvent{}, responses.ResponseStreamEventUnion{})
	llmtest.Named(t, streamItem{}, responses.ResponseOutputItemUnion{}, "summary.refusal") // of messages only
	llmtest.Named(t, streamPart{}, responses.ResponseOutputMessageContentUnion{})
}

// A word that the vendor renames is noticed, too.
func TestWordsAreTheSDKs(t *testing.T) {
	for ours, theirs := range map[string]any{
		effortNone:                               shared.ReasoningEffortNone,
		"reasoning.encrypted_content":            responses.ResponseIncludableReasoningEncryptedContent,
		"response.created":                       constant.ResponseCreated("").Default(),
		"response.output_item.added":             constant.ResponseOutputItemAdded("").Default(),
		"response.output_item.done":              constant.ResponseOutputItemDone("").Default(),
		"response.output_text.delta":             constant.ResponseOutputTextDelta("").Default(),
		"response.refusal.delta":                 constant.ResponseRefusalDelta("").Default(),
		"response.reasoning_summary_text.delta":  constant.ResponseReasoningSummaryTextDelta("").Default(),
		"response.reasoning_text.delta":          constant.ResponseReasoningTextDelta("").Default(),
		"response.function_call_arguments.delta": constant.ResponseFunctionCallArgumentsDelta("").Default(),
		"response.completed":                     constant.ResponseCompleted("").Default(),
		"response.incomplete":                    constant.ResponseIncomplete("").Default(),
		"response.failed":                        constant.ResponseFailed("").Default(),
		"error":                                  constant.Error("").Default(),
	} {
		if word := reflect.ValueOf(theirs).String(); ours != word {
			t.Errorf("%q is %q", ours, word)
		}
	}
}
