package openai

import (
	"cmp"
	"strings"

	"banyan/internal/llm"
)

// chatBody translates a request.
func (c *client) chatBody(req llm.Request) chatRequest {
	model, known := c.model(req.Model)
	target := llm.Target{API: Chat, Provider: c.Provider, Model: req.Model, Images: model.Images || !known, MaxID: 40}
	if c.Compat.ShortIDs {
		target.MaxID, target.ExactID = 9, true
	}
	r := chatRequest{
		Model:    req.Model,
		Messages: c.chatMessages(req.System, llm.Adapt(req.Messages, target)),
		Stream:   true,
	}
	limit := max(0, cmp.Or(req.MaxTokens, model.Output))
	if c.Compat.MaxCompletionTokens {
		r.MaxCompletionTokens = limit
	} else {
		r.MaxTokens = limit
	}
	if !c.Compat.NoStreamOptions {
		r.StreamOptions = &streamOptions{IncludeUsage: true}
	}
	if c.Compat.CacheKey {
		r.PromptCacheKey = req.SessionID
	}
	for _, t := range req.Tools {
		r.Tools = append(r.Tools, chatTool{"function", chatFunction{t.Name, t.Description, t.Schema}})
	}
	c.chatThink(&r, model, known, req.Thinking)
	return r
}

// chatThink asks for reasoning. A model of which nothing is known is not asked:
// many servers refuse the field for models that do not reason.
func (c *client) chatThink(r *chatRequest, model llm.Model, known bool, asked llm.ThinkingLevel) {
	l := level(model, known, asked)
	switch {
	case !known || len(model.Levels) == 0:
	case c.Compat.ReasoningObject && l != llm.ThinkingOff:
		r.Reasoning = &reasoningObject{Effort: string(l)}
	case c.Compat.ReasoningObject:
		if model.CanStop() {
			r.Reasoning = &reasoningObject{Enabled: new(bool)}
		}
	case model.Reasoning == llm.ReasoningSwitch && l != llm.ThinkingOff:
		r.Thinking = &thinkingSwitch{"enabled"}
	case model.Reasoning == llm.ReasoningSwitch:
		r.Thinking = &thinkingSwitch{"disabled"}
	case l != llm.ThinkingOff:
		r.ReasoningEffort = string(l)
	case model.CanStop():
		r.ReasoningEffort = effortNone
	}
}

func (c *client) chatMessages(system string, messages []llm.Message) []chatMessage {
	var out []chatMessage
	if system != "" {
		out = append(out, chatMessage{Role: "system", Content: system})
	}
	var user []llm.Block // waits for the end of the user's turn
	flush := func() {
		if len(user) > 0 {
			out = append(out, userMessage(user))
			user = nil
		}
	}
	last := llm.User
	for _, m := range messages {
		switch m.Role {
		case llm.Assistant:
			flush()
			a := c.assistantMessage(m)
			if a.Content == nil && a.ToolCalls == nil {
				continue // nothing is left to say
			}
			out = append(out, a)
		case llm.ToolResult:
			out = append(out, chatMessage{Role: "tool", CallID: m.CallID, Content: cmp.Or(resultText(m), "(see the picture below)")})
			// Results cannot have pictures: they come after, as the user's.
			for _, b := range m.Content {
				if image, ok := b.(llm.Image); ok {
					user = append(user, llm.Text{Text: "The picture that " + m.ToolName + " returned:"}, image)
				}
			}
		default:
			if last == llm.ToolResult && c.Compat.AnswerAfterTool {
				out = append(out, chatMessage{Role: "assistant", Content: "I have the results."})
			}
			user = append(user, m.Content...)
		}
		last = m.Role
	}
	flush()
	return out
}

// userMessage is plain text where it can be: not every server takes parts.
func userMessage(blocks []llm.Block) chatMessage {
	var texts []string
	var parts []chatPart
	for _, b := range blocks {
		switch b := b.(type) {
		case llm.Text:
			texts = append(texts, b.Text)
			parts = append(parts, chatPart{Type: "text", Text: b.Text})
		case llm.Image:
			parts = append(parts, chatPart{Type: "image_url", Image: &chatLink{dataURL(b)}})
		}
	}
	if len(texts) == len(parts) {
		return chatMessage{Role: "user", Content: strings.Join(texts, "\n\n")}
	}
	return chatMessage{Role: "user", Content: parts}
}

func (c *client) assistantMessage(m llm.Message) chatMessage {
	a := chatMessage{Role: "assistant"}
	if text := m.Text(); text != "" {
		a.Content = text
	}
	for _, b := range m.Content {
		switch b := b.(type) {
		case llm.ToolCall:
			a.ToolCalls = append(a.ToolCalls, chatCall{b.ID, "function", chatCallFunction{b.Name, string(b.Arguments)}})
		case llm.Thinking:
			if !c.Compat.KeepReasoning {
				continue
			}
			switch b.Signature { // the name that it came with
			case reasoningContent:
				a.ReasoningContent += b.Text
			case reasoning:
				a.Reasoning += b.Text
			}
		}
	}
	return a
}

// The names that servers give to reasoning, which no standard has. A thinking
// block's signature is the name it came with.
const (
	reasoningContent = "reasoning_content"
	reasoning        = "reasoning"
)
