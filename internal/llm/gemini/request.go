package gemini

import (
	"cmp"
	"encoding/base64"
	"strings"

	"banyan/internal/llm"
)

// unsigned is what Google documents for calls that another model made: newer
// models refuse calls of theirs without a signature.
const unsigned = "skip_thought_signature_validator"

// body translates a request.
func (c *client) body(req llm.Request) request {
	var model llm.Model
	if c.Model != nil {
		model = c.Model(req.Model)
	}
	messages := llm.Adapt(req.Messages, llm.Target{
		API: API, Provider: c.Provider, Model: req.Model,
		Images: model.Images || model.ID == "", MaxID: 64,
	})
	r := request{Contents: contents(messages, needsSignature(req.Model))}
	if req.System != "" {
		r.SystemInstruction = &content{Parts: []part{{Text: req.System}}, Role: roleUser}
	}
	if len(req.Tools) > 0 {
		var f []functionDeclaration
		for _, t := range req.Tools {
			f = append(f, functionDeclaration{Name: t.Name, Description: t.Description, Schema: t.Schema})
		}
		r.Tools = []tool{{FunctionDeclarations: f}}
	}
	g := generationConfig{MaxOutputTokens: cmp.Or(req.MaxTokens, model.Output), ThinkingConfig: think(model, req.Thinking)}
	if g != (generationConfig{}) {
		r.GenerationConfig = &g
	}
	return r
}

// think asks for thoughts in the way that the model knows. A model of which
// nothing is known thinks as it likes.
func think(model llm.Model, asked llm.ThinkingLevel) *thinkingConfig {
	level := model.Level(asked)
	switch {
	case model.ID == "" || len(model.Levels) == 0:
		return nil
	case level == llm.ThinkingOff && !model.CanStop():
		return nil // the model's own level holds
	case model.Reasoning == llm.ReasoningBudget:
		budget := level.Budget()
		return &thinkingConfig{IncludeThoughts: budget > 0, ThinkingBudget: &budget}
	case level == llm.ThinkingOff:
		return &thinkingConfig{ThinkingLevel: "MINIMAL"}
	}
	name := level
	if name == llm.ThinkingXHigh {
		name = llm.ThinkingHigh
	}
	return &thinkingConfig{IncludeThoughts: true, ThinkingLevel: strings.ToUpper(string(name))}
}

// needsSignature says whether a model refuses calls that have none.
func needsSignature(model string) bool {
	return !strings.HasPrefix(model, "gemini-1") && !strings.HasPrefix(model, "gemini-2") && strings.Contains(model, "gemini")
}

// contents puts consecutive messages of one side into one. Results stand
// together, as their calls do; their pictures follow as the user's.
func contents(messages []llm.Message, sign bool) []*content {
	var out []*content
	add := func(role string, parts []part) {
		if len(parts) == 0 {
			return
		}
		if len(out) == 0 || out[len(out)-1].Role != role {
			out = append(out, &content{Role: role})
		}
		out[len(out)-1].Parts = append(out[len(out)-1].Parts, parts...)
	}
	var pictures []part
	for _, m := range messages {
		if m.Role != llm.ToolResult {
			add(roleUser, pictures)
			pictures = nil
		}
		switch m.Role {
		case llm.Assistant:
			add(roleModel, answerParts(m, sign))
		case llm.ToolResult:
			add(roleUser, []part{resultPart(m)})
			pictures = append(pictures, resultPictures(m)...)
		default:
			add(roleUser, inputParts(m.Content))
		}
	}
	add(roleUser, pictures)
	return out
}

func inputParts(blocks []llm.Block) []part {
	var parts []part
	for _, b := range blocks {
		parts = append(parts, inputPart(b))
	}
	return parts
}

func inputPart(b llm.Block) part {
	switch b := b.(type) {
	case llm.Text:
		return part{Text: b.Text}
	case llm.Image:
		return part{InlineData: &blob{MIMEType: b.MIME, Data: b.Data}}
	}
	return part{Text: "[unreadable content]"}
}

// answerParts translates an answer. Thoughts are not sent back: what the model
// needs of them is in the signatures of its texts and calls.
func answerParts(m llm.Message, sign bool) []part {
	var parts []part
	first := true
	for _, b := range m.Content {
		switch b := b.(type) {
		case llm.Text:
			parts = append(parts, part{Text: b.Text, ThoughtSignature: signature(b.Signature)})
		case llm.ToolCall:
			p := part{
				FunctionCall:     &functionCall{ID: b.ID, Name: b.Name, Args: b.Arguments},
				ThoughtSignature: signature(b.Signature),
			}
			if string(b.Arguments) == "{}" {
				p.FunctionCall.Args = nil // as the SDK has it
			}
			// Of parallel calls only the first has a signature.
			if sign && first && p.ThoughtSignature == nil {
				p.ThoughtSignature = []byte(unsigned)
			}
			first = false
			parts = append(parts, p)
		}
	}
	return parts
}

func signature(s string) []byte {
	data, err := base64.StdEncoding.DecodeString(s)
	if err != nil || len(data) == 0 {
		return nil
	}
	return data
}

func resultPart(m llm.Message) part {
	key := "output"
	if m.IsError {
		key = "error"
	}
	return part{FunctionResponse: &functionResponse{
		ID: m.CallID, Name: m.ToolName, Response: map[string]any{key: m.Text()},
	}}
}

// resultPictures are a result's pictures, in the form that every model takes.
func resultPictures(m llm.Message) []part {
	var parts []part
	for _, b := range m.Content {
		if image, ok := b.(llm.Image); ok {
			parts = append(parts, part{Text: "The picture that " + m.ToolName + " returned:"}, inputPart(image))
		}
	}
	return parts
}
