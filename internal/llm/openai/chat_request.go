package openai

import (
	"cmp"
	"strings"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/shared"

	"banyan/internal/llm"
)

// chatParams translates a request.
func (c *client) chatParams(req llm.Request) sdk.ChatCompletionNewParams {
	model, known := c.model(req.Model)
	target := llm.Target{API: Chat, Provider: c.Provider, Model: req.Model, Images: model.Images || !known, MaxID: 40}
	if c.Compat.ShortIDs {
		target.MaxID, target.ExactID = 9, true
	}
	p := sdk.ChatCompletionNewParams{
		Model:    req.Model,
		Messages: c.chatMessages(req.System, llm.Adapt(req.Messages, target)),
	}
	if limit := cmp.Or(req.MaxTokens, model.Output); limit > 0 {
		if c.Compat.MaxCompletionTokens {
			p.MaxCompletionTokens = sdk.Int(int64(limit))
		} else {
			p.MaxTokens = sdk.Int(int64(limit))
		}
	}
	if !c.Compat.NoStreamOptions {
		p.StreamOptions.IncludeUsage = sdk.Bool(true)
	}
	if c.Compat.CacheKey && req.SessionID != "" {
		p.PromptCacheKey = sdk.String(req.SessionID)
	}
	for _, t := range req.Tools {
		p.Tools = append(p.Tools, sdk.ChatCompletionFunctionTool(shared.FunctionDefinitionParam{
			Name: t.Name, Description: sdk.String(t.Description), Parameters: schema(t.Schema),
		}))
	}
	c.chatThink(&p, model, known, req.Thinking)
	return p
}

// chatThink asks for reasoning. A model of which nothing is known is not asked:
// many servers refuse the field for models that do not reason.
func (c *client) chatThink(p *sdk.ChatCompletionNewParams, model llm.Model, known bool, asked llm.ThinkingLevel) {
	l := level(model, known, asked)
	switch {
	case !known || len(model.Levels) == 0:
	case c.Compat.ReasoningObject:
		effort := map[string]any{"effort": string(l)}
		switch {
		case l == llm.ThinkingOff && model.CanStop():
			effort = map[string]any{"enabled": false}
		case l == llm.ThinkingOff:
			return
		}
		p.SetExtraFields(map[string]any{"reasoning": effort})
	case model.Reasoning == llm.ReasoningSwitch:
		kind := "enabled"
		if l == llm.ThinkingOff {
			kind = "disabled"
		}
		p.SetExtraFields(map[string]any{"thinking": map[string]any{"type": kind}})
	case l != llm.ThinkingOff:
		p.ReasoningEffort = shared.ReasoningEffort(l)
	case model.CanStop():
		p.ReasoningEffort = shared.ReasoningEffortNone
	}
}

func (c *client) chatMessages(system string, messages []llm.Message) []sdk.ChatCompletionMessageParamUnion {
	var out []sdk.ChatCompletionMessageParamUnion
	if system != "" {
		out = append(out, sdk.SystemMessage(system))
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
			if a, ok := c.assistantMessage(m); ok {
				out = append(out, a)
			} else {
				continue
			}
		case llm.ToolResult:
			out = append(out, sdk.ToolMessage(cmp.Or(resultText(m), "(see the picture below)"), m.CallID))
			// Results cannot have pictures: they come after, as the user's.
			for _, b := range m.Content {
				if image, ok := b.(llm.Image); ok {
					user = append(user, llm.Text{Text: "The picture that " + m.ToolName + " returned:"}, image)
				}
			}
		default:
			if last == llm.ToolResult && c.Compat.AnswerAfterTool {
				out = append(out, sdk.AssistantMessage("I have the results."))
			}
			user = append(user, m.Content...)
		}
		last = m.Role
	}
	flush()
	return out
}

// userMessage is plain text where it can be: not every server takes parts.
func userMessage(blocks []llm.Block) sdk.ChatCompletionMessageParamUnion {
	var texts []string
	var parts []sdk.ChatCompletionContentPartUnionParam
	for _, b := range blocks {
		switch b := b.(type) {
		case llm.Text:
			texts = append(texts, b.Text)
			parts = append(parts, sdk.TextContentPart(b.Text))
		case llm.Image:
			parts = append(parts, sdk.ImageContentPart(sdk.ChatCompletionContentPartImageImageURLParam{URL: dataURL(b)}))
		}
	}
	if len(texts) == len(parts) {
		return sdk.UserMessage(strings.Join(texts, "\n\n"))
	}
	return sdk.UserMessage(parts)
}

// assistantMessage is false where nothing is left to say.
func (c *client) assistantMessage(m llm.Message) (sdk.ChatCompletionMessageParamUnion, bool) {
	var a sdk.ChatCompletionAssistantMessageParam
	if text := m.Text(); text != "" {
		a.Content.OfString = sdk.String(text)
	}
	reasoning := map[string]any{}
	for _, b := range m.Content {
		switch b := b.(type) {
		case llm.ToolCall:
			a.ToolCalls = append(a.ToolCalls, sdk.ChatCompletionMessageToolCallUnionParam{
				OfFunction: &sdk.ChatCompletionMessageFunctionToolCallParam{
					ID: b.ID,
					Function: sdk.ChatCompletionMessageFunctionToolCallFunctionParam{
						Name: b.Name, Arguments: string(b.Arguments),
					},
				},
			})
		case llm.Thinking:
			if c.Compat.KeepReasoning && reasoningField(b.Signature) {
				before, _ := reasoning[b.Signature].(string)
				reasoning[b.Signature] = before + b.Text
			}
		}
	}
	if len(reasoning) > 0 {
		a.SetExtraFields(reasoning)
	}
	return sdk.ChatCompletionMessageParamUnion{OfAssistant: &a}, m.Text() != "" || len(a.ToolCalls) > 0
}

// reasoningFields are the names that servers give to reasoning, which no
// standard has. A thinking block's signature is the name it came with.
var reasoningFields = []string{"reasoning_content", "reasoning"}

func reasoningField(name string) bool {
	for _, f := range reasoningFields {
		if f == name {
			return true
		}
	}
	return false
}
