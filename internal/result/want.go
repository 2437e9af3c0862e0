package result

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"banyan/internal/agent"
	"banyan/internal/llm"
	"banyan/internal/tool"
)

// maxReminders is how often a turn that ends without a result is kept going.
const maxReminders = 3

const (
	finishPrompt = `Gives the result of the task, and ends it. Call it once, when everything else is done; its arguments are the result. Whoever asked sees these arguments and nothing else. If they do not fit the schema you are told why, and can call it again.`
	giveUpPrompt = `Ends the task without a result. Call it only where finish cannot be called truthfully, after trying; the reason says what stands in the way.`
	giveUpSchema = `{"type":"object","additionalProperties":false,"required":["reason"],"properties":{"reason":{"type":"string","minLength":1,"description":"what stands in the way"}}}`
	reminderText = `This task ends with a call of the tool finish, whose arguments are its result; nothing else of what you say is seen. Go on with the task if it is not done, then call finish. If there can be no result, call give_up and say why.`
)

// Want is a result that is wanted. It does not change.
type Want struct {
	schema  json.RawMessage // of finish's arguments
	wrapped bool            // they are an object that holds the result
}

// Parse reads a JSON schema, draft-07 or 2020-12, of at most [tool.MaxSchema] bytes.
// The error says what is wrong with it. Nothing is fetched: a reference leads
// into the schema itself.
func Parse(schema []byte) (*Want, error) {
	if len(schema) > tool.MaxSchema {
		return nil, fmt.Errorf("the schema has more than %d bytes", tool.MaxSchema)
	}
	var text bytes.Buffer
	if err := json.Compact(&text, schema); err != nil {
		return nil, fmt.Errorf("the schema is not JSON: %w", err)
	}
	w := &Want{schema: text.Bytes()}
	if err := w.check(); err != nil {
		return nil, err
	}
	if err := tool.CheckSchema(w.schema); err != nil {
		return nil, fmt.Errorf("the schema: %w", err)
	}
	if w.wrapped = !isObject(w.schema); !w.wrapped {
		return w, nil
	}
	w.schema = wrap(w.schema)
	if err := tool.CheckSchema(w.schema); err != nil {
		return nil, fmt.Errorf("the schema, put into that of an object: %w", err)
	}
	return w, nil
}

// check refuses what is no schema, or one that nothing fits.
func (w *Want) check() error {
	switch text := string(w.schema); {
	case text == "false":
		return errors.New("the schema is false, which nothing fits")
	case text != "true" && text[0] != '{':
		return errors.New("the schema is not a JSON object")
	}
	return nil
}

// outer are the members by which a schema is not one of a plain object, as the
// arguments of a tool must be.
type outer struct {
	Type  any
	AnyOf json.RawMessage
	OneOf json.RawMessage
	AllOf json.RawMessage
	Enum  json.RawMessage
	Const json.RawMessage
	Not   json.RawMessage
	Ref   string `json:"$ref"`
}

func isObject(schema json.RawMessage) bool {
	var o outer
	if json.Unmarshal(schema, &o) != nil || o.Type != "object" {
		return false
	}
	return o.AnyOf == nil && o.OneOf == nil && o.AllOf == nil && o.Enum == nil && o.Const == nil && o.Not == nil && o.Ref == ""
}

// inside rewrites references for a schema that becomes that of the member
// "result". In compact JSON no text within a string looks like that.
var inside = strings.NewReplacer(`"$ref":"#"`, `"$ref":"#/properties/result"`, `"$ref":"#/`, `"$ref":"#/properties/result/`)

// wrap makes the schema of an object whose member "result" fits a schema. The
// word for the dialect goes out with it, and its name is dropped.
func wrap(schema json.RawMessage) json.RawMessage {
	schema = json.RawMessage(inside.Replace(string(schema)))
	out := map[string]json.RawMessage{
		"type": json.RawMessage(`"object"`), "required": json.RawMessage(`["result"]`), "additionalProperties": json.RawMessage(`false`),
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(schema, &members) == nil {
		if dialect, ok := members["$schema"]; ok {
			out["$schema"] = dialect
		}
		delete(members, "$schema")
		delete(members, "$id")
		schema = encoded(members)
	}
	out["properties"] = encoded(map[string]json.RawMessage{"result": schema})
	return encoded(out)
}

// encoded cannot fail: what it encodes was decoded.
func encoded(members map[string]json.RawMessage) json.RawMessage {
	text, _ := json.Marshal(members)
	return text
}

// Tools are finish and give_up. They come beside all others, to a model that
// must end with a result.
func (w *Want) Tools() []tool.Tool {
	return []tool.Tool{
		ending(tool.Finish, finishPrompt, w.schema, func(args json.RawMessage) tool.Result {
			return tool.TextResult("The result is taken.", tool.Plain{Text: string(args)})
		}),
		ending(tool.GiveUp, giveUpPrompt, json.RawMessage(giveUpSchema), func(json.RawMessage) tool.Result {
			return tool.TextResult("The task has ended without a result.", nil) // its reason is the call's subject
		}),
	}
}

func ending(name, prompt string, schema json.RawMessage, run func(json.RawMessage) tool.Result) tool.Tool {
	return tool.Tool{
		ToolSpec: llm.ToolSpec{Name: name, Description: prompt, Schema: schema},
		Access:   tool.Read, Ends: true,
		Subject: func(args json.RawMessage) string { return tool.Describe(name, args) },
		Run:     func(_ context.Context, in tool.Input) tool.Result { return run(in.Args) },
	}
}

// Ending reminds a model that ends without a result, and lets it end when that
// does not help. It is an [agent.Loop]'s.
func (*Want) Ending(_ context.Context, e agent.Ending) (string, error) {
	if e.Kept >= maxReminders {
		return "", nil
	}
	return reminderText, nil
}
