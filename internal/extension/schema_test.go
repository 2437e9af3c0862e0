package extension

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"banyan/internal/engine"
	"banyan/internal/llm"
	"banyan/internal/session"
	"banyan/internal/tool"
)

var update = flag.Bool("update", false, "write the generated documents")

// object is a schema in the making.
type object = map[string]any

// shape is the schema of a Go type. Members that we do not know are allowed: newer
// versions add some.
func shape(v any) object {
	s, err := jsonschema.ForType(reflect.TypeOf(v), &jsonschema.ForOptions{TypeSchemas: map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[json.RawMessage](): {},
	}})
	if err != nil {
		panic(err)
	}
	var open func(*jsonschema.Schema)
	open = func(s *jsonschema.Schema) {
		s.AdditionalProperties = nil
		for _, p := range s.Properties {
			open(p)
		}
		if s.Items != nil {
			open(s.Items)
		}
	}
	open(s)
	text, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	var o object
	if err := json.Unmarshal(text, &o); err != nil {
		panic(err)
	}
	return o
}

// toExtension are the shapes of the params of what the host sends besides events,
// and of the answers; nil where there is none.
func toExtension() map[string][2]any {
	return map[string][2]any{
		"initialize": {Initialize{}, Initialized{}},
		"tool":       {ToolRun{}, ToolOutput{}},
		"command":    {CommandRun{}, Nothing{}},
		"state":      {State{}, nil},
		"cancel":     {Cancel{}, nil},
		"shutdown":   {Nothing{}, nil},
	}
}

// schema is the JSON schema of the protocol: every line is a message of it.
func schema() ([]byte, error) {
	defs := object{"fault": shape(Fault{})}
	ref := func(name string) object { return object{"$ref": "#/$defs/" + name} }
	line := func(method string, params object) object {
		return object{"type": "object", "required": []string{"method"}, "properties": object{
			"jsonrpc": object{"const": "2.0"}, "id": object{"type": []string{"integer", "string"}}, "method": object{"const": method}, "params": params,
		}}
	}
	var host, extension []any
	for _, name := range sortedKeys(toExtension()) {
		shapes := toExtension()[name]
		defs[name] = shape(shapes[0])
		host = append(host, line(name, ref(name)))
		if shapes[1] != nil {
			defs[name+" answer"] = shape(shapes[1])
		}
	}
	for _, ev := range events() {
		about := shape(ev.in)
		properties, _ := about["properties"].(map[string]any)
		if properties == nil {
			properties = object{}
		}
		properties["event"] = object{"const": ev.name}
		about["properties"] = properties
		defs["event "+ev.name] = about
		host = append(host, line("event", object{"allOf": []any{ref("event " + ev.name), object{"required": []string{"event"}}}}))
		if ev.asked {
			defs["event "+ev.name+" answer"] = shape(ev.out)
		}
	}
	for _, r := range requests() {
		defs[r.method] = shape(r.in)
		defs[r.method+" answer"] = shape(r.out)
		row := line(r.method, ref(r.method))
		row["description"] = r.help
		extension = append(extension, row)
	}
	answer := object{"type": "object", "required": []string{"id"}, "properties": object{
		"jsonrpc": object{"const": "2.0"}, "id": object{"type": []string{"integer", "string"}}, "result": object{}, "error": ref("fault"),
	}, "not": object{"required": []string{"method"}}}
	defs["to extension"] = object{"anyOf": append(host, answer)}
	defs["from extension"] = object{"anyOf": append(extension, line("cancel", object{}), answer)}
	text, err := json.MarshalIndent(object{
		"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "Banyan's extension protocol, version 1",
		"description": "One line in either direction. The result of a request X has the shape of \"X answer\"; see docs/extensions.md.",
		"anyOf":       []any{ref("to extension"), ref("from extension")}, "$defs": defs,
	}, "", "  ")
	// A blank in a reference is written %20.
	for _, name := range sortedKeys(defs) {
		if strings.Contains(name, " ") {
			text = bytes.ReplaceAll(text, []byte(`"#/$defs/`+name+`"`), []byte(`"#/$defs/`+strings.ReplaceAll(name, " ", "%20")+`"`))
		}
	}
	return append(text, '\n'), err
}

func TestExtensionsSchemaIsFresh(t *testing.T) {
	want, err := schema()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join("..", "..", "docs", "extensions.schema.json")
	if *update {
		if err := os.WriteFile(path, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s is not what the types say (%v); run: go test -run Fresh ./internal/extension -update", path, err)
	}
}

// resolved is a schema of the document, ready to check.
func resolved(t *testing.T, name string) *jsonschema.Resolved {
	t.Helper()
	text, err := schema()
	if err != nil {
		t.Fatal(err)
	}
	var doc jsonschema.Schema
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	doc.AnyOf = nil
	doc.Ref = "#/$defs/" + strings.ReplaceAll(name, " ", "%20")
	r, err := doc.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func fits(t *testing.T, r *jsonschema.Resolved, what string, raw []byte) {
	t.Helper()
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	if err := r.Validate(v); err != nil {
		t.Errorf("%s does not fit the schema: %v\n%s", what, err, raw)
	}
}

// samples are one occasion of each kind, with everything set that can be.
func samples(t *testing.T) map[string]engine.Occasion {
	t.Helper()
	m, err := session.New(t.TempDir(), t.TempDir(), session.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	user := llm.UserText("u", m.Snapshot().Header().Time)
	e, err := m.Append(session.Message{Message: user})
	if err != nil {
		t.Fatal(err)
	}
	snap := m.Snapshot()
	all := map[string]engine.Occasion{}
	for _, o := range []engine.Occasion{
		&engine.SessionStart{Reason: "new", Session: snap}, &engine.SessionShutdown{Reason: "quit", Session: snap},
		&engine.SessionSwitch{Reason: "new", Session: snap},
		&engine.SessionBeforeTree{Target: e.ID, Left: []session.Entry{e}, Session: snap}, &engine.SessionTree{NewLeaf: e.ID, Summary: &e, Session: snap},
		&engine.SessionBranch{Session: snap}, &engine.SessionBeforeCompact{Path: []session.Entry{e}, FirstKept: e.ID, Session: snap},
		&engine.SessionCompact{Entry: e, Session: snap}, &engine.BeforeAgentStart{Prompt: "p", Session: snap},
		&engine.AgentEnd{Last: user, Session: snap}, &engine.Context{Messages: []llm.Message{user}},
		&engine.TurnEnd{Message: user, Results: []llm.Message{user}}, &engine.MessageStart{Message: user},
		&engine.MessageUpdate{Event: llm.TextDelta{Text: "x"}}, &engine.MessageEnd{Entry: e.ID, Message: user},
		&engine.ToolCall{ID: "c", Tool: "read", Access: tool.Read, Arguments: json.RawMessage(`{}`)},
		&engine.ToolResult{CallID: "c", Tool: "read", Arguments: json.RawMessage(`{}`), Content: user.Content},
		&engine.PermissionRequest{Call: llm.ToolCall{ID: "c", Name: "n", Arguments: json.RawMessage(`{}`)}},
	} {
		all[o.Name()] = o
	}
	for _, o := range engine.Occasions() {
		if all[o.Name()] == nil {
			all[o.Name()] = o // what has only plain members
		}
	}
	return all
}

// The protocol's conformance, from the host's side: what it sends fits the schema,
// and what the schema allows as an answer it takes.
func TestProtocolConformance(t *testing.T) {
	lineSchema := resolved(t, "to extension")
	for name, o := range samples(t) {
		ev := New(Options{}).table[name]
		params, err := ev.params(o)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		line, err := json.Marshal(Line{RPC: "2.0", ID: json.RawMessage("1"), Method: "event", Params: params})
		if err != nil {
			t.Fatal(err)
		}
		fits(t, lineSchema, "event "+name, line)
		if !ev.asked {
			continue
		}
		for _, raw := range []string{`{}`, `null`, ``, `{"something":"newer"}`} {
			if err := ev.answer(o, json.RawMessage(raw), "x"); err != nil {
				t.Errorf("%s: the answer %s is not taken: %v", name, raw, err)
			}
		}
		for _, raw := range []string{`[]`, `7`, `"text"`} {
			if err := ev.answer(o, json.RawMessage(raw), "x"); err == nil {
				t.Errorf("%s: the answer %s is taken", name, raw)
			}
		}
	}
	requestSchema := resolved(t, "from extension")
	for _, r := range requests() {
		in, err := json.Marshal(r.in)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(in, []byte("null")) {
			continue // shapes with members that must be there
		}
		fits(t, requestSchema, r.method, []byte(`{"method":"`+r.method+`","params":`+string(in)+`}`))
	}
}
