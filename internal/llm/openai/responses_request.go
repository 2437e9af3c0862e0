package openai

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"banyan/internal/llm"
)

// effortNone is the word for not reasoning.
const effortNone = "none"

// responsesBody translates a request. Nothing is stored at the server: reasoning
// comes encrypted and goes back as it came.
func (c *client) responsesBody(req llm.Request) responsesRequest {
	model, known := c.model(req.Model)
	messages := llm.Adapt(req.Messages, llm.Target{
		API: Responses, Provider: c.Provider, Model: req.Model,
		Images: model.Images || !known, MaxID: 64,
	})
	r := responsesRequest{
		Model:           req.Model,
		Instructions:    req.System,
		Input:           inputItems(messages),
		MaxOutputTokens: max(0, cmp.Or(req.MaxTokens, model.Output)),
		Stream:          true,
		PromptCacheKey:  req.SessionID,
	}
	for _, t := range req.Tools {
		r.Tools = append(r.Tools, responsesTool{Type: "function", Name: t.Name, Description: t.Description, Parameters: t.Schema})
	}
	if l := level(model, known, req.Thinking); l != llm.ThinkingOff {
		r.Reasoning = &responsesThinking{Effort: string(l), Summary: "auto"}
	} else if model.CanStop() {
		r.Reasoning = &responsesThinking{Effort: effortNone}
	}
	if len(model.Levels) > 0 || !known && !older(req.Model) {
		r.Include = []string{"reasoning.encrypted_content"}
	}
	return r
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

func inputItems(messages []llm.Message) []any {
	var items []any
	for _, m := range messages {
		switch m.Role {
		case llm.ToolResult:
			items = append(items, resultItem(m))
		case llm.Assistant:
			for _, b := range m.Content {
				if item := answerItem(b); item != nil {
					items = append(items, item)
				}
			}
		default:
			items = append(items, inputMessage{"user", inputParts(m.Content, "auto")})
		}
	}
	return items
}

// inputParts translates texts and pictures; detail is how closely the model is
// to look at those.
func inputParts(blocks []llm.Block, detail string) []inputPart {
	parts := []inputPart{}
	for _, b := range blocks {
		switch b := b.(type) {
		case llm.Text:
			parts = append(parts, inputPart{Type: "input_text", Text: b.Text})
		case llm.Image:
			parts = append(parts, inputPart{Type: "input_image", Detail: detail, ImageURL: dataURL(b)})
		}
	}
	return parts
}

func resultItem(m llm.Message) functionOutput {
	out := functionOutput{Type: "function_call_output", CallID: m.CallID, Output: resultText(m)}
	if slices.ContainsFunc(m.Content, func(b llm.Block) bool { _, ok := b.(llm.Image); return ok }) {
		out.Output = inputParts(m.Content, "")
	}
	return out
}

// resultText is a result's text, marked where it is that of a failure: the
// protocols have no field for that.
func resultText(m llm.Message) string {
	if m.IsError && !strings.HasPrefix(strings.ToLower(m.Text()), "error") {
		return "Error: " + m.Text()
	}
	return m.Text()
}

// answerItem translates a block of an answer; nil leaves it out.
func answerItem(b llm.Block) any {
	switch b := b.(type) {
	case llm.Text:
		if s, ok := readTextSignature(b.Signature); ok {
			return outputMessage{
				Type: "message", Role: "assistant", ID: s.ID, Status: "completed", Phase: s.Phase,
				Content: []outputPart{{"output_text", b.Text, []any{}}},
			}
		}
		return inputMessage{"assistant", b.Text}
	case llm.ToolCall:
		return functionCall{"function_call", b.ID, b.Name, string(b.Arguments)}
	case llm.Thinking:
		// Without its encrypted content the server, which stores nothing, would not find it.
		var head struct {
			Type      string `json:"type"`
			ID        string `json:"id"`
			Encrypted string `json:"encrypted_content"`
		}
		if json.Unmarshal([]byte(b.Signature), &head) == nil && head.Type == "reasoning" && head.ID != "" && head.Encrypted != "" {
			return json.RawMessage(b.Signature)
		}
	}
	return nil
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
