package tool

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"
)

// resolved holds each schema in the form that checks, by its text. Resolving
// costs far more than checking, schemas never change, and calls of one turn are
// checked side by side: hence a concurrent map.
var resolved sync.Map // string → *jsonschema.Resolved

// Validate checks a call's arguments against the tool's schema. The error says
// what is wrong and what the schema wants, for a model to do better.
func Validate(t Tool, args json.RawMessage) error {
	schema, err := resolve(t.Schema)
	if err != nil {
		return fmt.Errorf("the schema of %s: %w", t.Name, err)
	}
	var object map[string]any
	if err := json.Unmarshal(args, &object); err != nil || object == nil {
		return fmt.Errorf("the arguments of %s are not a JSON object: %s", t.Name, clip(string(args), 200))
	}
	if err := schema.Validate(object); err != nil {
		return fmt.Errorf("the arguments of %s do not fit: %s%s", t.Name, reason(err), reminder(t.Schema))
	}
	return nil
}

// SchemaFollows comes before the schema in errors of [Validate].
const SchemaFollows = ". The schema is "

// reminder is the schema again, unless it is long: the model has it anyway.
func reminder(schema json.RawMessage) string {
	if len(schema) > 4<<10 {
		return ""
	}
	return SchemaFollows + string(schema)
}

// CheckSchema says what is wrong with the schema of a tool, or of a result: it
// does not parse, is too large, not supported, or refers to what is not in it.
func CheckSchema(schema json.RawMessage) error {
	_, err := resolve(schema)
	return err
}

func resolve(text json.RawMessage) (*jsonschema.Resolved, error) {
	if r, ok := resolved.Load(string(text)); ok {
		return r.(*jsonschema.Resolved), nil
	}
	var schema jsonschema.Schema
	if err := readable(text); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(text, &schema); err != nil {
		return nil, err
	}
	if err := sound(&schema); err != nil {
		return nil, err
	}
	r, err := schema.Resolve(nil)
	if err != nil {
		return nil, err
	}
	resolved.Store(string(text), r)
	return r, nil
}

// reason is the last and most precise part of the library's chain of errors,
// with the place in the schema that it is about.
func reason(err error) string {
	text, place := err.Error(), ""
	for strings.HasPrefix(text, "validating ") {
		at, rest, found := strings.Cut(text, ": ")
		if !found {
			break
		}
		text, place = rest, strings.TrimPrefix(at, "validating ")
	}
	if strings.HasPrefix(place, "/") {
		return text + " (" + place + " of the schema)"
	}
	return text
}

// clip cuts a text for a message.
func clip(text string, bytes int) string {
	if len(text) <= bytes {
		return text
	}
	return strings.ToValidUTF8(text[:bytes], "") + "…"
}
