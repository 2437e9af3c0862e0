package tool

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// Schemas come from servers, files and models. What follows refuses those by
// which the library would run forever or that nothing can fit; it resolves no
// references to other documents itself.

// MaxSchema is the size of the largest schema, in bytes, and maxNesting the most
// brackets that may be open in it. Reading one takes time by their product.
const (
	MaxSchema  = 256 << 10
	maxNesting = 100
)

// readable refuses a text that is too large, or nested too deeply. What is no
// JSON it leaves to others.
func readable(text json.RawMessage) error {
	if len(text) > MaxSchema {
		return fmt.Errorf("it has %d bytes, more than %d", len(text), MaxSchema)
	}
	depth := 0
	for d := json.NewDecoder(bytes.NewReader(text)); ; {
		token, err := d.Token()
		if err != nil {
			return nil
		}
		switch token {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
		if depth > maxNesting {
			return fmt.Errorf("it is nested more than %d deep", maxNesting)
		}
	}
}

// types are the words that "type" has.
var types = []string{"array", "boolean", "integer", "null", "number", "object", "string"}

// part is a schema inside another.
type part struct {
	place   string // JSON pointer from the schema around it
	schema  *jsonschema.Schema
	inPlace bool // it is about the same value
}

// sound refuses unknown types, references that are not plain pointers into the
// schema, and those that come back to themselves without a step into the value.
func sound(root *jsonschema.Schema) error {
	at := map[string]*jsonschema.Schema{}
	if err := collect(root, "", at); err != nil {
		return err
	}
	state := map[string]int{} // 1: on the way, 2: done
	var visit func(place string) error
	visit = func(place string) error {
		switch state[place] {
		case 1:
			return fmt.Errorf("the reference at %q leads back to itself", "#"+place)
		case 2:
			return nil
		}
		state[place] = 1
		s := at[place]
		if s.Ref != "" {
			if err := visit(target(s.Ref)); err != nil {
				return err
			}
		}
		for p := range parts(s) {
			if p.inPlace {
				if err := visit(place + p.place); err != nil {
					return err
				}
			}
		}
		state[place] = 2
		return nil
	}
	for place, s := range at {
		if s.Ref != "" && at[target(s.Ref)] == nil {
			return fmt.Errorf("there is no schema at %q, to which %q refers", s.Ref, "#"+place)
		}
	}
	for place := range at {
		if err := visit(place); err != nil {
			return err
		}
	}
	return nil
}

// collect finds all schemas by their place.
func collect(s *jsonschema.Schema, place string, at map[string]*jsonschema.Schema) error {
	switch {
	case s == nil:
		return fmt.Errorf("%q is null", "#"+place)
	case s.Ref != "" && s.Ref != "#" && !strings.HasPrefix(s.Ref, "#/"):
		return fmt.Errorf("the reference %q leads elsewhere; only those like #/$defs/name are followed", s.Ref)
	case s.DynamicRef != "":
		return errors.New("$dynamicRef is not supported")
	case s.ID != "" && place != "":
		return fmt.Errorf("an $id inside, at %q, is not supported", "#"+place)
	}
	for _, t := range append(s.Types, s.Type) {
		if t != "" && !slices.Contains(types, t) {
			return fmt.Errorf("there is no type %q, at %q; there are %s", t, "#"+place, strings.Join(types, ", "))
		}
	}
	at[place] = s
	for p := range parts(s) {
		if err := collect(p.schema, place+p.place, at); err != nil {
			return err
		}
	}
	return nil
}

// target is the place that a reference into the schema means.
func target(ref string) string {
	place := strings.TrimPrefix(ref, "#")
	if plain, err := url.PathUnescape(place); err == nil {
		return plain
	}
	return place
}

// pointer writes a name as it stands in a JSON pointer.
var pointer = strings.NewReplacer("~", "~0", "/", "~1")

// parts are the schemas of a schema.
func parts(s *jsonschema.Schema) iter.Seq[part] {
	type schemas = map[string]*jsonschema.Schema
	return func(yield func(part) bool) {
		for inPlace, one := range map[bool]schemas{
			true: {"not": s.Not, "if": s.If, "then": s.Then, "else": s.Else},
			false: {
				"items": s.Items, "additionalItems": s.AdditionalItems, "contains": s.Contains, "unevaluatedItems": s.UnevaluatedItems,
				"additionalProperties": s.AdditionalProperties, "propertyNames": s.PropertyNames,
				"unevaluatedProperties": s.UnevaluatedProperties, "contentSchema": s.ContentSchema,
			},
		} {
			for key, sub := range one {
				if sub != nil && !yield(part{"/" + key, sub, inPlace}) {
					return
				}
			}
		}
		for key, list := range map[string][]*jsonschema.Schema{
			"allOf": s.AllOf, "anyOf": s.AnyOf, "oneOf": s.OneOf, "prefixItems": s.PrefixItems, "items": s.ItemsArray,
		} {
			for i, sub := range list {
				if !yield(part{"/" + key + "/" + strconv.Itoa(i), sub, strings.HasSuffix(key, "Of")}) {
					return
				}
			}
		}
		for key, named := range map[string]schemas{
			"$defs": s.Defs, "definitions": s.Definitions, "properties": s.Properties, "patternProperties": s.PatternProperties,
			"dependentSchemas": s.DependentSchemas, "dependencies": s.DependencySchemas,
		} {
			for name, sub := range named {
				if !yield(part{"/" + key + "/" + pointer.Replace(name), sub, strings.HasPrefix(key, "depend")}) {
					return
				}
			}
		}
	}
}
