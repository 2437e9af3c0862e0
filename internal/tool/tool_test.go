package tool

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"banyan/internal/llm"
)

// bench is a workspace in a temporary folder and the tools that work on it.
type bench struct {
	testing.TB
	env   *Env
	tools []Tool
}

func newBench(t testing.TB) bench {
	t.Helper()
	env, err := NewEnv(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := env.Close(); err != nil {
			t.Error(err)
		}
	})
	return bench{t, env, All(env)}
}

type args map[string]any

// call runs a tool as the agent does: arguments checked, then run.
func (b bench) call(name string, a args) Result {
	b.Helper()
	return b.callContext(b.Context(), name, a)
}

func (b bench) callContext(ctx context.Context, name string, a args) Result {
	b.Helper()
	t, ok := Find(b.tools, name)
	if !ok {
		b.Fatalf("no tool %s", name)
	}
	raw, err := json.Marshal(a)
	if err != nil {
		b.Fatal(err)
	}
	if err := Validate(t, raw); err != nil {
		return Fail(err)
	}
	r := t.Run(ctx, Input{CallID: "1", Args: raw, Progress: func(View) {}})
	if r.Err == nil && r.View != nil && DecodeView(EncodeView(r.View)) == nil {
		b.Errorf("%s: its view cannot be stored: %#v", name, r.View)
	}
	return r
}

// text is the text of a call that must work.
func (b bench) text(name string, a args) string {
	b.Helper()
	r := b.call(name, a)
	if r.Err != nil {
		b.Fatalf("%s %v: %v", name, a, r.Err)
	}
	return textOf(r)
}

// fails demands that a call fails and that its error has the words.
func (b bench) fails(name string, a args, words ...string) {
	b.Helper()
	r := b.call(name, a)
	if r.Err == nil {
		b.Fatalf("%s %v worked: %s", name, a, textOf(r))
	}
	for _, w := range words {
		if !strings.Contains(r.Err.Error(), w) {
			b.Errorf("%s %v: the error lacks %q: %v", name, a, w, r.Err)
		}
	}
}

func textOf(r Result) string {
	return llm.Message{Content: r.Content}.Text()
}

func (b bench) path(name string) string { return filepath.Join(b.env.Dir, name) }

func (b bench) put(name, content string) string {
	b.Helper()
	path := b.path(name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		b.Fatal(err)
	}
	return path
}

func (b bench) get(name string) string {
	b.Helper()
	data, err := os.ReadFile(b.path(name))
	if err != nil {
		b.Fatal(err)
	}
	return string(data)
}

func TestEveryToolIsWellMade(t *testing.T) {
	b := newBench(t)
	for _, tool := range b.tools {
		var schema struct {
			Type       string
			Additional *bool `json:"additionalProperties"`
			Properties map[string]any
		}
		if err := json.Unmarshal(tool.Schema, &schema); err != nil {
			t.Fatalf("%s: schema: %v", tool.Name, err)
		}
		if schema.Type != "object" || schema.Additional == nil || *schema.Additional {
			t.Errorf("%s: the schema is not that of a closed object", tool.Name)
		}
		if len(tool.Description) < 40 {
			t.Errorf("%s: the prompt says too little", tool.Name)
		}
		if _, ok := subjectOf[tool.Name]; !ok {
			t.Errorf("%s has no row in subjectOf", tool.Name)
		}
		if err := Validate(tool, json.RawMessage(`{"no such argument":1}`)); err == nil {
			t.Errorf("%s accepts unknown arguments", tool.Name)
		}
		for _, raw := range []string{``, `{`, `null`, `[]`, `3`, `{"path":3}`, `{"command":["x"]}`} {
			tool.Subject(json.RawMessage(raw)) // must not panic
		}
	}
}

func TestValidateSaysWhatIsWanted(t *testing.T) {
	read, _ := Find(newBench(t).tools, "read")
	for raw, words := range map[string]string{
		`{}`:                       "path",
		`{"path":7}`:               "string",
		`{"path":"x","offset":0}`:  "minimum",
		`{"path":"x","lines":"3"}`: "lines",
		`[]`:                       "not a JSON object",
		`{"path":`:                 "not a JSON object",
	} {
		err := Validate(read, json.RawMessage(raw))
		if err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%s: got %v, want something about %q", raw, err, words)
		}
	}
	if err := Validate(read, json.RawMessage(`{"path":"x","limit":3}`)); err != nil {
		t.Error(err)
	}
}

func TestDescribe(t *testing.T) {
	for _, test := range []struct{ name, args, want string }{
		{"read", `{"path":"a.go"}`, "a.go"},
		{"read", `{"path":"a.go","offset":10,"limit":31}`, "a.go:10-40"},
		{"bash", `{"command":"go test ./..."}`, "go test ./..."},
		{"grep", `{"path":"internal","pattern":"TODO"}`, "TODO internal"},
		{"bash_output", `{"id":3}`, "3"},
		{"todo", `{"items":[]}`, ""},
		{"mcp__x__y", `{"zone":1,"query":"who"}`, "who"},
		{"bash", `{"command":`, ""},
		{"bash", `{"command":7}`, "7"},
	} {
		if got := Describe(test.name, json.RawMessage(test.args)); got != test.want {
			t.Errorf("%s %s: got %q, want %q", test.name, test.args, got, test.want)
		}
	}
}
