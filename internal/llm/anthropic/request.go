package anthropic

import (
	"cmp"

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

// body translates a request.
func (c *client) body(req llm.Request) request {
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
	r := request{
		Model:     req.Model,
		MaxTokens: cmp.Or(req.MaxTokens, model.Output, output),
		Messages:  turns(messages),
		Tools:     tools(req.Tools),
		Stream:    true,
	}
	if req.System != "" {
		r.System = []block{{Type: "text", Text: req.System, CacheControl: marked()}}
	}
	cacheTurns(r.Messages)
	think(&r, model, req.Thinking, messages)
	return r
}

// turns puts consecutive messages of one side into one: all results of a
// message's calls stand in one user message, before any text.
func turns(messages []llm.Message) []message {
	out := []message{}
	for _, m := range messages {
		role := roleUser
		if m.Role == llm.Assistant {
			role = roleAssistant
		}
		if len(out) == 0 || out[len(out)-1].Role != role {
			out = append(out, message{Role: role})
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

func content(b llm.Block) block {
	switch b := b.(type) {
	case llm.Text:
		return block{Type: "text", Text: b.Text}
	case llm.Image:
		return block{Type: "image", Source: &source{Data: b.Data, MediaType: b.MIME, Type: "base64"}}
	case llm.ToolCall:
		return block{Type: "tool_use", ID: b.ID, Name: b.Name, Input: b.Arguments}
	case llm.Thinking:
		if b.Redacted {
			return block{Type: "redacted_thinking", Data: b.Signature}
		}
		return block{Type: "thinking", Thinking: &b.Text, Signature: b.Signature}
	}
	return block{Type: "text", Text: "[unknown content]"}
}

func result(m llm.Message) block {
	r := block{Type: "tool_result", ToolUseID: m.CallID, IsError: m.IsError}
	for _, b := range m.Content {
		if c := content(b); c.Type == "text" || c.Type == "image" {
			r.Content = append(r.Content, c)
		}
	}
	return r
}

// tools are the tools with their schemas as they are, the last one marked for
// the cache.
func tools(specs []llm.ToolSpec) []tool {
	var out []tool
	for _, s := range specs {
		out = append(out, tool{Name: s.Name, Description: s.Description, InputSchema: s.Schema})
	}
	if len(out) > 0 {
		out[len(out)-1].CacheControl = marked()
	}
	return out
}

// cacheTurns marks the ends of the last two turns of the user: the newest is
// written to the cache, the one before is where this request reads from. With
// system and tools these are the four marks that the API takes.
func cacheTurns(messages []message) {
	left := 2
	for i := len(messages) - 1; i >= 0 && left > 0; i-- {
		if m := messages[i]; m.Role == roleUser && len(m.Content) > 0 {
			m.Content[len(m.Content)-1].CacheControl = marked()
			left--
		}
	}
}

// think asks for reasoning in the way that the model knows.
func think(r *request, model llm.Model, asked llm.ThinkingLevel, messages []llm.Message) {
	level := model.Level(asked)
	if model.ID == "" {
		level = asked // unknown: the user should know
	}
	switch {
	case level == llm.ThinkingOff || level == "":
		switch {
		case !model.CanStop():
		case model.Reasoning == llm.ReasoningBetween:
			r.Thinking = &thinking{Type: "between_tools"}
		default:
			r.Thinking = &thinking{Type: "disabled"}
		}
	case model.Reasoning == llm.ReasoningAdaptive || model.Reasoning == llm.ReasoningBetween:
		r.Thinking = &thinking{Type: "adaptive", Display: "summarized"}
		r.OutputConfig = &outputConfig{Effort: effort(level)}
	case midTurn(messages):
		// A turn that was begun without thinking cannot go on with a budget:
		// the API wants the calls' message to begin with a thinking block.
	default:
		if budget := min(level.Budget(), r.MaxTokens-leastBudget); budget >= leastBudget {
			r.Thinking = &thinking{Type: "enabled", BudgetTokens: budget}
		}
	}
}

func effort(level llm.ThinkingLevel) string {
	if level == llm.ThinkingMinimal {
		return string(llm.ThinkingLow)
	}
	return string(level)
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
