package result

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"banyan/internal/agent"
	"banyan/internal/llm"
	"banyan/internal/tool"
)

// finish is what came of calling finish with some arguments, checked as a loop does.
func finish(t *testing.T, w *Want, o *Outcome, name, args string) {
	t.Helper()
	tl, ok := tool.Find(w.Tools(), name)
	if !ok || !tl.Ends {
		t.Fatalf("%s: %v, %v", name, ok, tl.Ends)
	}
	o.Add(llm.Message{Role: llm.Assistant, Content: []llm.Block{llm.ToolCall{ID: "c", Name: name, Arguments: json.RawMessage(args)}}})
	back := llm.Message{Role: llm.ToolResult, CallID: "c", ToolName: name}
	if err := tool.Validate(tl, json.RawMessage(args)); err != nil {
		back.IsError, back.Content = true, []llm.Block{llm.Text{Text: err.Error()}}
	}
	o.Add(back)
}

// Arguments of a tool are an object, so what is not a plain one is put into one,
// with all that it refers to, and taken out again.
func TestValues(t *testing.T) {
	for _, c := range []struct{ schema, args, value string }{
		{`{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`, `{ "n": 3 }`, `{"n":3}`},
		{`{"type":"object"}`, `{}`, `{}`},
		{`{"type":"integer"}`, `{"result":12345678901234567890}`, `12345678901234567890`},
		{`{"type":"string"}`, `{"result":"a"}`, `"a"`},
		{`{"type":"null"}`, `{"result":null}`, `null`},
		{`{"type":["object","null"]}`, `{"result":null}`, `null`},
		{`{"enum":["a","b"]}`, `{"result":"b"}`, `"b"`},
		{`{"type":"array","items":{"$ref" : "#"}}`, `{"result":[[],[[]]]}`, `[[],[[]]]`},
		{`{"type":"array","items":{"anyOf":[{"const":"\"$ref\":\"#\""},{"$ref":"#/items/anyOf/0"}]}}`, `{"result":["\"$ref\":\"#\""]}`, `["\"$ref\":\"#\""]`},
		{`true`, `{"result":[]}`, `[]`},
		{` {} `, `{"result":1.50}`, `1.50`},
		{`{"type":"array","items":{"$ref":"#/$defs/Item"},"$defs":{"Item":{"type":"object","properties":{"next":{"$ref":"#/$defs/Item"}}}}}`, `{"result":[{"next":{}}]}`, `[{"next":{}}]`},
		{`{"$schema":"http://json-schema.org/draft-07/schema#","$id":"https://example.com/a","$ref":"#/definitions/a","definitions":{"a":{"type":"boolean"}}}`, `{"result":true}`, `true`},
		{`{"type":"object","oneOf":[{"required":["a"]},{"required":["b"]}]}`, `{"result":{"b":1}}`, `{"b":1}`},
	} {
		w, err := Parse([]byte(c.schema))
		if err != nil {
			t.Errorf("%s: %v", c.schema, err)
			continue
		}
		var top struct{ Type string }
		if json.Unmarshal(w.schema, &top) != nil || top.Type != "object" {
			t.Errorf("%s becomes %s", c.schema, w.schema)
		}
		o := w.Outcome()
		finish(t, w, o, tool.Finish, c.args)
		if err := o.Err(nil); err != nil || string(o.Value) != c.value {
			t.Errorf("%s: %s gives %s, %v; want %s", c.schema, c.args, o.Value, err, c.value)
		}
	}
}

func TestSchemasThatAreRefused(t *testing.T) {
	for schema, want := range map[string]string{
		``: "not JSON", `{`: "not JSON", `{} {}`: "not JSON",
		`[]`: "not a JSON object", `null`: "not a JSON object", `"x"`: "not a JSON object", `false`: "nothing fits",
		`{"type":"strng"}`: "no type", `{"$ref":"http://example.com/x"}`: "leads elsewhere",
		strings.Repeat(" ", tool.MaxSchema+1): "bytes",
	} {
		if _, err := Parse([]byte(schema)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40s: %v, want something about %q", schema, err, want)
		}
	}
}

func TestOutcomes(t *testing.T) {
	w, err := Parse([]byte(`{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`))
	if err != nil {
		t.Fatal(err)
	}
	broken := errors.New("the connection was reset")
	for _, c := range []struct {
		name  string
		calls [][2]string
		ended error
		value string
		err   error
		says  string
	}{
		{"mended", [][2]string{{tool.Finish, `{}`}, {tool.Finish, `{"n":1}`}}, nil, `{"n":1}`, nil, ""},
		{"the last counts", [][2]string{{tool.Finish, `{"n":1}`}, {tool.GiveUp, `{"reason":"no"}`}, {tool.Finish, `{"n":2}`}, {tool.Finish, `{}`}}, nil, `{"n":2}`, nil, ""},
		{"given up after all", [][2]string{{tool.Finish, `{"n":1}`}, {tool.GiveUp, `{"reason":"no"}`}}, nil, "", ErrGaveUp, "no"},
		{"given up", [][2]string{{tool.Finish, `{}`}, {tool.GiveUp, `{"reason":"no such file"}`}}, nil, "", ErrGaveUp, "no such file"},
		{"given up without a reason", [][2]string{{tool.GiveUp, `{}`}}, nil, "", ErrNone, "did not call"},
		{"nothing called", nil, nil, "", ErrNone, "reminded 3 times"},
		{"never fits", [][2]string{{tool.Finish, `{}`}, {tool.Finish, `{"n":"x"}`}}, agent.ErrCannotEnd, "", ErrNone, `2 times, the last because: the arguments of finish do not fit: type`},
		{"broken", [][2]string{{tool.Finish, `{}`}}, broken, "", broken, "reset"},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := w.Outcome()
			for _, call := range c.calls {
				finish(t, w, o, call[0], call[1])
			}
			err := o.Err(c.ended)
			if string(o.Value) != c.value || !errors.Is(err, c.err) || !strings.Contains(fmt.Sprint(err), c.says) {
				t.Errorf("%s, %v", o.Value, err)
			}
		})
	}
}
