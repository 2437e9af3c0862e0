package anthropic

import (
	"cmp"
	"encoding/json"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/packages/param"

	"banyan/internal/llm"
)

// These limit answers of models that we know nothing about: Anthropic's own, of
// which every one in service takes the first, and those of others that speak
// its protocol.
const (
	outputUnknown = 32000
	outputOthers  = 8192
)

// leastBudget is the smallest thinking budget that the API takes.
const leastBudget = 1024

// params translates a request.
func (c *client) params(req llm.Request) sdk.MessageNewParams {
	var model llm.Model
	if c.Model != nil {
		model = c.Model(req.Model)
	}
	output := outputOthers
	if model.ID == "" && c.Provider == "anthropic" {
		// It is newer than our table, and new ones refuse budgets.
		model.Reasoning, output = llm.ReasoningAdaptive, outputUnknown
	}
	messages := llm.Adapt(req.Messages, llm.Target{
		API: API, Provider: c.Provider, Model: req.Model,
		Images: model.Images || model.ID == "", MaxID: 64,
	})
	p := sdk.MessageNewParams{
		Model:     req.Model,
		MaxTokens: int64(cmp.Or(req.MaxTokens, model.Output, output)),
		Messages:  turns(messages),
		Tools:     tools(req.Tools),
	}
	if req.System != "" {
		p.System = []sdk.TextBlockParam{{Text: req.System, CacheControl: sdk.NewCacheControlEphemeralParam()}}
	}
	cacheTurns(p.Messages)
	think(&p, model, req.Thinking, messages)
	return p
}

// turns puts consecutive messages of one side into one: all results of a
// message's calls stand in one user message, before any text.
func turns(messages []llm.Message) []sdk.MessageParam {
	var out []sdk.MessageParam
	for _, m := range messages {
		role := sdk.MessageParamRoleUser
		if m.Role == llm.Assistant {
			role = sdk.MessageParamRoleAssistant
		}
		if len(out) == 0 || out[len(out)-1].Role != role {
			out = append(out, sdk.MessageParam{Role: role})
		}
		last := &out[len(out)-1]
		if m.Role == llm.ToolResult {
			last.Content = append(last.Content, result(m))
			continue
		}
		for _, b := range m.Content {
			last.Content = append(last.Content, content(b))
		}
	}
	return out
}

func content(b llm.Block) sdk.ContentBlockParamUnion {
	switch b := b.(type) {
	case llm.Text:
		return sdk.NewTextBlock(b.Text)
	case llm.Image:
		return sdk.NewImageBlockBase64(b.MIME, b.Data)
	case llm.ToolCall:
		return sdk.NewToolUseBlock(b.ID, b.Arguments, b.Name)
	case llm.Thinking:
		if b.Redacted {
			return sdk.NewRedactedThinkingBlock(b.Signature)
		}
		return sdk.NewThinkingBlock(b.Signature, b.Text)
	}
	return sdk.NewTextBlock("[unknown content]")
}

func result(m llm.Message) sdk.ContentBlockParamUnion {
	r := sdk.ToolResultBlockParam{ToolUseID: m.CallID}
	if m.IsError {
		r.IsError = sdk.Bool(true)
	}
	for _, b := range m.Content {
		var part sdk.ToolResultBlockParamContentUnion
		switch c := content(b); {
		case c.OfText != nil:
			part.OfText = c.OfText
		case c.OfImage != nil:
			part.OfImage = c.OfImage
		default:
			continue
		}
		r.Content = append(r.Content, part)
	}
	return sdk.ContentBlockParamUnion{OfToolResult: &r}
}

// tools are the tools with their schemas as they are, the last one marked for
// the cache.
func tools(specs []llm.ToolSpec) []sdk.ToolUnionParam {
	var out []sdk.ToolUnionParam
	for i, s := range specs {
		t := sdk.ToolParam{
			Name:        s.Name,
			Description: sdk.String(s.Description),
			InputSchema: param.Override[sdk.ToolInputSchemaParam](json.RawMessage(s.Schema)),
		}
		if i == len(specs)-1 {
			t.CacheControl = sdk.NewCacheControlEphemeralParam()
		}
		out = append(out, sdk.ToolUnionParam{OfTool: &t})
	}
	return out
}

// cacheTurns marks the ends of the last two turns of the user: the newest is
// written to the cache, the one before is where this request reads from. With
// system and tools these are the four marks that the API takes.
func cacheTurns(messages []sdk.MessageParam) {
	left := 2
	for i := len(messages) - 1; i >= 0 && left > 0; i-- {
		m := messages[i]
		if m.Role != sdk.MessageParamRoleUser || len(m.Content) == 0 {
			continue
		}
		if mark := m.Content[len(m.Content)-1].GetCacheControl(); mark != nil {
			*mark = sdk.NewCacheControlEphemeralParam()
			left--
		}
	}
}

// think asks for reasoning in the way that the model knows.
func think(p *sdk.MessageNewParams, model llm.Model, asked llm.ThinkingLevel, messages []llm.Message) {
	level := model.Level(asked)
	if model.ID == "" {
		level = asked // unknown: the user should know
	}
	switch {
	case level == llm.ThinkingOff || level == "":
		switch {
		case !model.CanStop():
		case model.Reasoning == llm.ReasoningBetween:
			p.Thinking.OfBetweenTools = &sdk.ThinkingConfigBetweenToolsParam{}
		default:
			p.Thinking.OfDisabled = &sdk.ThinkingConfigDisabledParam{}
		}
	case model.Reasoning == llm.ReasoningAdaptive || model.Reasoning == llm.ReasoningBetween:
		p.Thinking.OfAdaptive = &sdk.ThinkingConfigAdaptiveParam{Display: sdk.ThinkingConfigAdaptiveDisplaySummarized}
		p.OutputConfig.Effort = effort(level)
	case midTurn(messages):
		// A turn that was begun without thinking cannot go on with a budget:
		// the API wants the calls' message to begin with a thinking block.
	default:
		budget := min(int64(level.Budget()), p.MaxTokens-leastBudget)
		if budget >= leastBudget {
			p.Thinking = sdk.ThinkingConfigParamOfEnabled(budget)
		}
	}
}

func effort(level llm.ThinkingLevel) sdk.OutputConfigEffort {
	switch level {
	case llm.ThinkingMinimal, llm.ThinkingLow:
		return sdk.OutputConfigEffortLow
	case llm.ThinkingMedium:
		return sdk.OutputConfigEffortMedium
	case llm.ThinkingXHigh:
		return sdk.OutputConfigEffortXhigh
	}
	return sdk.OutputConfigEffortHigh
}

// midTurn says whether the conversation stands at tool results whose calls
// came without thinking that can be sent back.
func midTurn(messages []llm.Message) bool {
	for i := len(messages) - 1; i >= 0; i-- {
		switch m := messages[i]; m.Role {
		case llm.User:
			return false
		case llm.Assistant:
			_, thought := m.Content[0].(llm.Thinking)
			return !thought
		}
	}
	return false
}
