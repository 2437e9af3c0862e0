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
		return fmt.Errorf("the arguments of %s do not fit: %s. The schema is %s", t.Name, reason(err), t.Schema)
	}
	return nil
}

func resolve(text json.RawMessage) (*jsonschema.Resolved, error) {
	if r, ok := resolved.Load(string(text)); ok {
		return r.(*jsonschema.Resolved), nil
	}
	var schema jsonschema.Schema
	if err := json.Unmarshal(text, &schema); err != nil {
		return nil, err
	}
	r, err := schema.Resolve(nil)
	if err != nil {
		return nil, err
	}
	resolved.Store(string(text), r)
	return r, nil
}

// reason is the last and most precise part of the library's chain of errors.
func reason(err error) string {
	text := err.Error()
	for strings.HasPrefix(text, "validating ") {
		_, rest, found := strings.Cut(text, ": ")
		if !found {
			break
		}
		text = rest
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
