package tool

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

func TestSchemasThatAreRefused(t *testing.T) {
	for schema, want := range map[string]string{
		`{"type":"strng"}`: `no type "strng"`,
		`{"properties":{"a":{"type":["string","nul"]}}}`: `"#/properties/a"`,
		`{"$ref":"https://example.com/s.json"}`:          "leads elsewhere",
		`{"$ref":"file:///etc/passwd"}`:                  "leads elsewhere",
		`{"properties":{"a":{"$ref":"other.json#/x"}}}`:  "leads elsewhere",
		`{"$ref":"#/$defs/gone"}`:                        "no schema at",
		`{"$ref":"#"}`:                                   "back to itself",
		`{"$ref":"#/$defs/a","$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}}}`:   "back to itself",
		`{"anyOf":[{"type":"string"},{"not":{"$ref":"#"}}]}`:                                 "back to itself",
		`{"$defs":{"a":{"dependentSchemas":{"x":{"$ref":"#/$defs/a"}}}},"$ref":"#/$defs/a"}`: "back to itself",
		`{"$dynamicRef":"#x"}`:                         "not supported",
		`{"properties":{"a":{"$id":"x"}}}`:             "not supported",
		`{"properties":{"a":null}}`:                    "null",
		`{"properties":{"a":{"pattern":"(?=lookah)"}}`: "",
		`{"pattern":"(?=ahead)"}`:                      "pattern",
		nested(`{"items":`, 300):                       "nested",
	} {
		if err := CheckSchema(json.RawMessage(schema)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.80s: %v, want something about %q", schema, err, want)
		}
	}
}

func nested(open string, n int) string {
	return strings.Repeat(open, n) + "true" + strings.Repeat("}", n)
}

// What refers to itself by a step into the value is the usual way to say "tree".
func TestSchemasThatAreFine(t *testing.T) {
	for schema, value := range map[string]string{
		`{"type":"object","properties":{"kids":{"type":"array","items":{"$ref":"#"}}}}`:                                         `{"kids":[{"kids":[]}]}`,
		`{"$ref":"#/$defs/n","$defs":{"n":{"type":"object","properties":{"next":{"anyOf":[{"$ref":"#/$defs/n"},{}]}}}}}`:        `{"next":{"next":1}}`,
		`{"properties":{"a":{"$ref":"#/definitions/a~1b%20c"}},"definitions":{"a/b c":{"type":"string"}}}`:                      `{"a":"x"}`,
		`{"$schema":"http://json-schema.org/draft-07/schema#","$id":"https://example.com/s","properties":{"$ref":{"const":1}}}`: `{"$ref":1}`,
		`{"type":"object","description":"` + strings.Repeat("[{", 500) + `"}`:                                                   `{}`,
		nested(`{"properties":{"a":`, 40) + strings.Repeat("}", 40):                                                             `{"a":{"a":{}}}`,
	} {
		tool := Tool{}
		tool.Schema = json.RawMessage(schema)
		if err := Validate(tool, json.RawMessage(value)); err != nil {
			t.Errorf("%.90s: %v", schema, err)
		}
	}
}

func TestLongSchemasAreNotRepeated(t *testing.T) {
	long := Tool{}
	long.Name, long.Schema = "x", fmt.Appendf(nil, `{"type":"object","description":%q,"properties":{"a":{"items":{"type":"integer"}}}}`, strings.Repeat("long ", 2000))
	err := Validate(long, json.RawMessage(`{"a":["b"]}`))
	if err == nil || len(err.Error()) > 300 || !strings.Contains(err.Error(), "/properties/a/items") {
		t.Errorf("%v", err)
	}
}
