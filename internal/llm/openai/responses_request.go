package openai

import (
	"cmp"
	"encoding/json"
	"strings"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/responses"
	"github.com/openai/openai-go/v3/shared"

	"banyan/internal/llm"
)

// responsesParams translates a request. Nothing is stored at the server:
// reasoning comes encrypted and goes back as it came.
func (c *client) responsesParams(req llm.Request) responses.ResponseNewParams {
	model, known := c.model(req.Model)
	messages := llm.Adapt(req.Messages, llm.Target{
		API: Responses, Provider: c.Provider, Model: req.Model,
		Images: model.Images || !known, MaxID: 64,
	})
	p := responses.ResponseNewParams{
		Model: req.Model,
		Store: sdk.Bool(false),
		Input: responses.ResponseNewParamsInputUnion{OfInputItemList: inputItems(messages)},
	}
	if req.System != "" {
		p.Instructions = sdk.String(req.System)
	}
	if limit := cmp.Or(req.MaxTokens, model.Output); limit > 0 {
		p.MaxOutputTokens = sdk.Int(int64(limit))
	}
	if req.SessionID != "" {
		p.PromptCacheKey = sdk.String(req.SessionID)
	}
	for _, t := range req.Tools {
		tool := responses.ToolParamOfFunction(t.Name, schema(t.Schema), false)
		tool.OfFunction.Description = sdk.String(t.Description)
		p.Tools = append(p.Tools, tool)
	}
	if l := level(model, known, req.Thinking); l != llm.ThinkingOff {
		p.Reasoning = shared.ReasoningParam{Effort: shared.ReasoningEffort(l), Summary: shared.ReasoningSummaryAuto}
	} else if model.CanStop() {
		p.Reasoning.Effort = shared.ReasoningEffortNone
	}
	if len(model.Levels) > 0 || !known && !older(req.Model) {
		p.Include = []responses.ResponseIncludable{responses.ResponseIncludableReasoningEncryptedContent}
	}
	return p
}

// older says whether a model is of those before reasoning, which refuse to be
// asked for it.
func older(model string) bool {
	for _, prefix := range []string{"gpt-3", "gpt-4", "chatgpt-4"} {
		if strings.HasPrefix(model, prefix) {
			return true
		}
	}
	return false
}

func inputItems(messages []llm.Message) []responses.ResponseInputItemUnionParam {
	var items []responses.ResponseInputItemUnionParam
	for _, m := range messages {
		switch m.Role {
		case llm.ToolResult:
			items = append(items, resultItem(m))
		case llm.Assistant:
			for _, b := range m.Content {
				if item, ok := answerItem(b); ok {
					items = append(items, item)
				}
			}
		default:
			items = append(items, responses.ResponseInputItemParamOfMessage(inputContent(m.Content), responses.EasyInputMessageRoleUser))
		}
	}
	return items
}

func inputContent(blocks []llm.Block) responses.ResponseInputMessageContentListParam {
	var out responses.ResponseInputMessageContentListParam
	for _, b := range blocks {
		switch b := b.(type) {
		case llm.Text:
			out = append(out, responses.ResponseInputContentParamOfInputText(b.Text))
		case llm.Image:
			image := responses.ResponseInputContentParamOfInputImage(responses.ResponseInputImageDetailAuto)
			image.OfInputImage.ImageURL = sdk.String(dataURL(b))
			out = append(out, image)
		}
	}
	return out
}

func resultItem(m llm.Message) responses.ResponseInputItemUnionParam {
	var list responses.ResponseFunctionCallOutputItemListParam
	pictures := false
	for _, b := range m.Content {
		switch b := b.(type) {
		case llm.Text:
			list = append(list, responses.ResponseFunctionCallOutputItemUnionParam{
				OfInputText: &responses.ResponseInputTextContentParam{Text: b.Text},
			})
		case llm.Image:
			pictures = true
			list = append(list, responses.ResponseFunctionCallOutputItemUnionParam{
				OfInputImage: &responses.ResponseInputImageContentParam{ImageURL: sdk.String(dataURL(b))},
			})
		}
	}
	out := responses.ResponseInputItemFunctionCallOutputParam{CallID: sdk.String(m.CallID)}
	if pictures {
		out.Output.OfResponseFunctionCallOutputItemArray = list
	} else {
		out.Output.OfString = sdk.String(resultText(m))
	}
	return responses.ResponseInputItemUnionParam{OfFunctionCallOutput: &out}
}

// resultText is a result's text, marked where it is that of a failure: the
// protocols have no field for that.
func resultText(m llm.Message) string {
	if m.IsError && !strings.HasPrefix(strings.ToLower(m.Text()), "error") {
		return "Error: " + m.Text()
	}
	return m.Text()
}

// answerItem translates a block of an answer; false leaves it out.
func answerItem(b llm.Block) (responses.ResponseInputItemUnionParam, bool) {
	switch b := b.(type) {
	case llm.Text:
		if s, ok := readTextSignature(b.Signature); ok {
			item := responses.ResponseInputItemParamOfOutputMessage([]responses.ResponseOutputMessageContentUnionParam{{
				OfOutputText: &responses.ResponseOutputTextParam{
					Text: b.Text, Annotations: []responses.ResponseOutputTextAnnotationUnionParam{},
				},
			}}, s.ID, responses.ResponseOutputMessageStatusCompleted)
			item.OfOutputMessage.Phase = responses.ResponseOutputMessagePhase(s.Phase)
			return item, true
		}
		return responses.ResponseInputItemParamOfMessage(b.Text, responses.EasyInputMessageRoleAssistant), true
	case llm.ToolCall:
		return responses.ResponseInputItemParamOfFunctionCall(string(b.Arguments), b.ID, b.Name), true
	case llm.Thinking:
		// Without its encrypted content the server, which stores nothing, would not find it.
		var head struct {
			Type      string `json:"type"`
			ID        string `json:"id"`
			Encrypted string `json:"encrypted_content"`
		}
		if json.Unmarshal([]byte(b.Signature), &head) != nil || head.Type != "reasoning" || head.ID == "" || head.Encrypted == "" {
			return responses.ResponseInputItemUnionParam{}, false
		}
		item := param.Override[responses.ResponseReasoningItemParam](json.RawMessage(b.Signature))
		return responses.ResponseInputItemUnionParam{OfReasoning: &item}, true
	}
	return responses.ResponseInputItemUnionParam{}, false
}

// textSignature is what goes back with a text: the item's id and phase. It is
// written as pi writes it.
type textSignature struct {
	V     int    `json:"v"`
	ID    string `json:"id"`
	Phase string `json:"phase,omitempty"`
}

// readTextSignature also takes the bare id of older files.
func readTextSignature(signature string) (textSignature, bool) {
	if strings.HasPrefix(signature, "msg_") && len(signature) <= 64 {
		return textSignature{ID: signature}, true
	}
	var s textSignature
	err := json.Unmarshal([]byte(signature), &s)
	return s, err == nil && strings.HasPrefix(s.ID, "msg_") && len(s.ID) <= 64
}

func dataURL(b llm.Image) string { return "data:" + b.MIME + ";base64," + b.Data }
