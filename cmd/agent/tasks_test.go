package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"banyan/internal/llm/llmtest"
)

// asked is what a request says.
type asked struct {
	Model  string
	System []struct{ Text string }
	Tools  []struct{ Name string }
	Think  struct{ Type string } `json:"thinking"`
	body   string
}

func (a asked) system() (text string) {
	for _, s := range a.System {
		text += s.Text
	}
	return text
}

func (a asked) tools() (names []string) {
	for _, t := range a.Tools {
		names = append(names, t.Name)
	}
	return names
}

// Who works on a task, where, and with what: the agent of a file, in a folder
// below, whose own instructions and skills hold there; the call goes before the
// agent's file, and that before the session.
func TestWhoWorksOnATask(t *testing.T) {
	files := map[string]string{
		"AGENTS.md": "ALL-OVER", "sub/AGENTS.md": "DOWN-THERE", "other/AGENTS.md": "NOT-HERE",
		".agents/agents/scout.md":             "---\ndescription: Looks around\ntools: Read, Grep, LS\nmodel: anthropic/claude-haiku-4-5\n---\nYOU-SCOUT",
		".agents/agents/any.md":               "---\ndescription: Does all\n---\nYOU-ANY",
		"sub/.agents/skills/digging/SKILL.md": "---\nname: digging\ndescription: DIGGING\n---\nDig.",
	}
	for _, c := range []struct {
		name, args string
		model      string // beginning of
		has, lacks []string
		tools      string // of those that tell; empty: all
	}{
		{"nobody", `{}`, "claude-sonnet", []string{"ALL-OVER", "Looks around", "Another agent has given you a task"}, []string{"YOU-", "DOWN-THERE", "DIGGING"}, ""},
		{"a scout below", `{"agent":"scout","cwd":"sub"}`, "claude-haiku", []string{"YOU-SCOUT", "ALL-OVER", "DOWN-THERE", "DIGGING", "/sub"}, []string{"NOT-HERE", "Does all"}, "read grep glob ls stat exists"},
		{"a scout with another model", `{"agent":"scout","model":"anthropic/claude-opus-4-5"}`, "claude-opus", []string{"YOU-SCOUT"}, []string{"DOWN-THERE"}, "read grep glob ls stat exists"},
		{"any", `{"agent":"any"}`, "claude-sonnet", []string{"YOU-ANY"}, []string{"YOU-SCOUT"}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var d llmtest.Anthropic
			args := strings.TrimSuffix(c.args, "}")
			if args != "{" {
				args += ","
			}
			server := llmtest.NewServer(t, d,
				llmtest.Stream(d.Frames(llmtest.Reply{Parts: []llmtest.Part{{Call: &llmtest.WireCall{ID: "toolu_1", Name: "task", Args: args + `"description":"d","prompt":"THE-PROMPT"}`}}}})...),
				llmtest.Stream(d.Frames(llmtest.Reply{Parts: []llmtest.Part{{Text: "the answer of the task"}}})...),
				llmtest.Stream(d.Frames(llmtest.Reply{Parts: []llmtest.Part{{Text: "done"}}})...),
			)
			h := newHome(t)
			for name, text := range files {
				path := filepath.Join(h.work, name)
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			out, errs, err := h.agent(t, anthropicEnv(server.URL), "-p", "--trust", "-m", "anthropic/claude-sonnet-5-5", "go")
			if err != nil || strings.TrimSpace(out) != "done" {
				t.Fatalf("%v\n%s\n%s", err, out, errs)
			}
			var got []asked
			for _, r := range server.Received() {
				a := asked{body: string(r.Body)}
				if err := json.Unmarshal(r.Body, &a); err != nil {
					t.Fatal(err)
				}
				got = append(got, a)
			}
			if len(got) != 3 || !strings.Contains(got[2].body, "the answer of the task") {
				t.Fatalf("%d requests", len(got))
			}
			if !strings.Contains(got[0].system(), "- scout: Looks around") || !slices.Contains(got[0].tools(), "task") {
				t.Errorf("the model is not told of its agents: %v", got[0].tools())
			}
			task := got[1]
			if !strings.HasPrefix(task.Model, c.model) || !strings.Contains(task.body, "THE-PROMPT") || strings.Contains(task.body, `"go"`) {
				t.Errorf("%s was asked: %.300s", task.Model, task.body)
			}
			for _, text := range c.has {
				if !strings.Contains(task.system(), text) {
					t.Errorf("it is not told %q", text)
				}
			}
			for _, text := range c.lacks {
				if strings.Contains(task.system(), text) {
					t.Errorf("it is told %q", text)
				}
			}
			if tools := fmt.Sprint(task.tools()); c.tools == "" && !slices.Contains(task.tools(), "task") || c.tools != "" && tools != "["+c.tools+"]" {
				t.Errorf("its tools are %s", tools)
			}
		})
	}
}

// Where tasks are off there is no such tool.
func TestNoTasks(t *testing.T) {
	var d llmtest.Anthropic
	server := llmtest.NewServer(t, d, llmtest.Stream(d.Frames(llmtest.Reply{Parts: []llmtest.Part{{Text: "hello"}}})...))
	h := newHome(t)
	dir := filepath.Join(h.dir, ".config", "banyan")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "settings.json"), []byte(`{"maxTaskDepth": 0}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, errs, err := h.agent(t, anthropicEnv(server.URL), "-p", "hi"); err != nil {
		t.Fatal(errs)
	}
	if strings.Contains(string(server.Received()[0].Body), `"name":"task"`) {
		t.Error("the model has the tool")
	}
}
