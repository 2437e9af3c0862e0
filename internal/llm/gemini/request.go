package gemini

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"strings"

	"google.golang.org/genai"

	"banyan/internal/llm"
)

// request is the body of generateContent.
type request struct {
	Contents          []*genai.Content  `json:"contents"`
	SystemInstruction *genai.Content    `json:"systemInstruction,omitempty"`
	Tools             []*genai.Tool     `json:"tools,omitempty"`
	GenerationConfig  *generationConfig `json:"generationConfig,omitempty"`
}

// generationConfig are the fields of [genai.GenerationConfig] that we set.
type generationConfig struct {
	MaxOutputTokens int                   `json:"maxOutputTokens,omitempty"`
	ThinkingConfig  *genai.ThinkingConfig `json:"thinkingConfig,omitempty"`
}

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
		r.SystemInstruction = &genai.Content{Parts: []*genai.Part{{Text: req.System}}, Role: genai.RoleUser}
	}
	if len(req.Tools) > 0 {
		var f []*genai.FunctionDeclaration
		for _, t := range req.Tools {
			f = append(f, &genai.FunctionDeclaration{Name: t.Name, Description: t.Description, ParametersJsonSchema: t.Schema})
		}
		r.Tools = []*genai.Tool{{FunctionDeclarations: f}}
	}
	g := generationConfig{MaxOutputTokens: cmp.Or(req.MaxTokens, model.Output), ThinkingConfig: think(model, req.Thinking)}
	if g != (generationConfig{}) {
		r.GenerationConfig = &g
	}
	return r
}

// think asks for thoughts in the way that the model knows. A model of which
// nothing is known thinks as it likes.
func think(model llm.Model, asked llm.ThinkingLevel) *genai.ThinkingConfig {
	level := model.Level(asked)
	switch {
	case model.ID == "" || len(model.Levels) == 0:
		return nil
	case level == llm.ThinkingOff && !model.CanStop():
		return nil // the model's own level holds
	case model.Reasoning == llm.ReasoningBudget:
		budget := int32(level.Budget())
		return &genai.ThinkingConfig{IncludeThoughts: budget > 0, ThinkingBudget: &budget}
	case level == llm.ThinkingOff:
		return &genai.ThinkingConfig{ThinkingLevel: genai.ThinkingLevelMinimal}
	}
	name := level
	if name == llm.ThinkingXHigh {
		name = llm.ThinkingHigh
	}
	return &genai.ThinkingConfig{IncludeThoughts: true, ThinkingLevel: genai.ThinkingLevel(strings.ToUpper(string(name)))}
}

// needsSignature says whether a model refuses calls that have none.
func needsSignature(model string) bool {
	return !strings.HasPrefix(model, "gemini-1") && !strings.HasPrefix(model, "gemini-2") && strings.Contains(model, "gemini")
}

// contents puts consecutive messages of one side into one. Results stand
// together, as their calls do; their pictures follow as the user's.
func contents(messages []llm.Message, sign bool) []*genai.Content {
	var out []*genai.Content
	add := func(role string, parts []*genai.Part) {
		if len(parts) == 0 {
			return
		}
		if len(out) == 0 || out[len(out)-1].Role != role {
			out = append(out, &genai.Content{Role: role})
		}
		out[len(out)-1].Parts = append(out[len(out)-1].Parts, parts...)
	}
	var pictures []*genai.Part
	for _, m := range messages {
		if m.Role != llm.ToolResult {
			add(genai.RoleUser, pictures)
			pictures = nil
		}
		switch m.Role {
		case llm.Assistant:
			add(genai.RoleModel, answerParts(m, sign))
		case llm.ToolResult:
			add(genai.RoleUser, []*genai.Part{resultPart(m)})
			pictures = append(pictures, resultPictures(m)...)
		default:
			add(genai.RoleUser, inputParts(m.Content))
		}
	}
	add(genai.RoleUser, pictures)
	return out
}

func inputParts(blocks []llm.Block) []*genai.Part {
	var parts []*genai.Part
	for _, b := range blocks {
		parts = append(parts, inputPart(b))
	}
	return parts
}

func inputPart(b llm.Block) *genai.Part {
	switch b := b.(type) {
	case llm.Text:
		return &genai.Part{Text: b.Text}
	case llm.Image:
		if data, err := base64.StdEncoding.DecodeString(b.Data); err == nil {
			return &genai.Part{InlineData: &genai.Blob{MIMEType: b.MIME, Data: data}}
		}
	}
	return &genai.Part{Text: "[unreadable content]"}
}

// answerParts translates an answer. Thoughts are not sent back: what the model
// needs of them is in the signatures of its texts and calls.
func answerParts(m llm.Message, sign bool) []*genai.Part {
	var parts []*genai.Part
	first := true
	for _, b := range m.Content {
		switch b := b.(type) {
		case llm.Text:
			parts = append(parts, &genai.Part{Text: b.Text, ThoughtSignature: signature(b.Signature)})
		case llm.ToolCall:
			p := &genai.Part{
				FunctionCall:     &genai.FunctionCall{ID: b.ID, Name: b.Name, Args: arguments(b.Arguments)},
				ThoughtSignature: signature(b.Signature),
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

// arguments keeps numbers as they were written.
func arguments(raw json.RawMessage) map[string]any {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var args map[string]any
	_ = d.Decode(&args) // a ToolCall's arguments are an object
	return args
}

func resultPart(m llm.Message) *genai.Part {
	key := "output"
	if m.IsError {
		key = "error"
	}
	return &genai.Part{FunctionResponse: &genai.FunctionResponse{
		ID: m.CallID, Name: m.ToolName, Response: map[string]any{key: m.Text()},
	}}
}

// resultPictures are a result's pictures, in the form that every model takes.
func resultPictures(m llm.Message) []*genai.Part {
	var parts []*genai.Part
	for _, b := range m.Content {
		if image, ok := b.(llm.Image); ok {
			parts = append(parts, &genai.Part{Text: "The picture that " + m.ToolName + " returned:"}, inputPart(image))
		}
	}
	return parts
}
