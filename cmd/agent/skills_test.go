package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"banyan/internal/llm/llmtest"
)

// put writes a file below a folder.
func put(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func skillFile(name, body string) string {
	return fmt.Sprintf("---\nname: %s\ndescription: About %s\n---\n%s\n", name, name, body)
}

// A model is told of skills, takes one, reads what lies beside it without anyone
// being asked, and is not given the same text twice.
func TestModelUsesSkills(t *testing.T) {
	h := newHome(t)
	home, err := filepath.EvalSymlinks(h.dir)
	if err != nil {
		t.Fatal(err)
	}
	h.dir = home
	put(t, home, ".config/banyan/skills/oak/SKILL.md", skillFile("oak", "Count the rings."))
	rings := put(t, home, ".config/banyan/skills/oak/rings.txt", "one hundred rings\n")
	other := put(t, home, ".config/banyan/other.txt", "not of a skill\n")
	put(t, home, ".claude/skills/secret.md", "---\ndescription: for people\ndisable-model-invocation: true\n---\nHush.")
	put(t, h.work, ".agents/roles/forester.md", "---\nthinking: low\n---\nYou know trees.")
	put(t, h.work, "AGENTS.md", "Plant trees.")

	var d llmtest.Anthropic
	call := func(id, name, args string) llmtest.Play {
		return llmtest.Stream(d.Frames(llmtest.Reply{Parts: []llmtest.Part{{Call: &llmtest.WireCall{ID: id, Name: name, Args: args}}}})...)
	}
	server := llmtest.NewServer(t, d,
		call("c1", "skill", `{"name":"oak","args":"the old one"}`),
		call("c2", "skill", `{"name":"oak"}`),
		call("c3", "read", fmt.Sprintf(`{"path":%q}`, rings)),
		call("c4", "skill", `{"name":"../oak"}`),
		call("c5", "skill", `{"name":"secret"}`),
		llmtest.Stream(d.Frames(llmtest.Reply{Parts: []llmtest.Part{{Text: "A hundred."}}})...),
		call("c6", "read", fmt.Sprintf(`{"path":%q}`, other)),
		llmtest.Stream(d.Frames(llmtest.Reply{Parts: []llmtest.Part{{Text: "Refused."}}})...),
	)
	args := []string{"-p", "--trust", "--role", "forester", "-m", "anthropic/claude-sonnet-5"}
	out, errs, err := h.agent(t, anthropicEnv(server.URL), append(args, "how old is it?")...)
	if err != nil || !strings.Contains(out, "A hundred.") {
		t.Fatalf("%v\n%s\n%s", err, out, errs)
	}
	got := server.Received()
	for i, r := range got {
		for _, want := range []string{"- oak: About oak", "You know trees.", "Plant trees."} {
			if !bytes.Contains(r.Body, []byte(want)) {
				t.Errorf("request %d does not say %q", i, want)
			}
		}
		if bytes.Contains(r.Body, []byte("for people")) {
			t.Errorf("request %d tells of a skill that is for the user only", i)
		}
	}
	last := got[len(got)-1].Body
	for _, want := range []string{"ARGUMENTS: the old one", "stands in the conversation already", "one hundred rings", `there is no skill \"../oak\"`, "is for the user to call"} {
		if !bytes.Contains(last, []byte(want)) {
			t.Errorf("the model was not told %q", want)
		}
	}
	if n := bytes.Count(last, []byte("Count the rings.")); n != 1 {
		t.Errorf("the skill stands in the request %d times", n)
	}
	// Only the skill's folder can be read, not what lies about it.
	if _, errs, err := h.agent(t, anthropicEnv(server.URL), append(args, "-c", "and the other?")...); err == nil || !strings.Contains(errs, "refused") {
		t.Errorf("%v\n%s", err, errs)
	}
}

// What a folder brings along can be used once it is trusted; a command comes
// back as it was typed.
func TestTerminalSkills(t *testing.T) {
	h := newHome(t)
	put(t, h.work, "notes.md", "remember the milk\n")
	put(t, h.work, ".agents/commands/look.md", "---\ndescription: Looks at a file\nargument-hint: <file>\n---\nread $1")
	put(t, h.work, ".agents/roles/gardener.md", "You grow things.")
	put(t, h.work, ".agents/skills/bad.md", "nothing")
	put(t, h.work, ".claude/commands/tree.md", "Draw a tree.")
	put(t, h.work, ".claude/agents/helper.md", "---\ndescription: Helps\ntools: Read\n---\nHelp.")
	tm := start(t, h, 120, 40)
	tm.see("offline", "its .agents has no effect")
	tm.send("/look notes.md" + enter)
	tm.see("There is no /look")
	tm.send(ctrlC + "/trust" + enter)
	tm.see("Do you trust")
	tm.send("\x1b[B" + enter)
	tm.see("is trusted from now on")
	tm.send("/look notes.md" + enter)
	tm.see("remember the milk", "/look notes.md")
	put(t, h.work, ".banyan/skills/new.md", "---\ndescription: Newly written\n---\nlist .")
	tm.send("/skills" + enter)
	tm.see("Looks at a file", "/skill:new", "Newly written", "not used", "it has no description", "/tree is a command of this program")
	tm.send("q/agents" + enter)
	tm.see("helper", "Helps")
	tm.send("q/role gardener" + enter)
	tm.see("The role is gardener")
	tm.send("/undo" + enter)
	tm.see("› /look notes.md")
	tm.send(enter)
	tm.see("Done.")
	tm.send("/skill:new" + enter)
	tm.see("do what plain requests ask")
	tm.send(ctrlD)
	if code := tm.end(); code != 0 {
		t.Fatalf("exit code %d:\n%s", code, tm.text())
	}
	files, _ := filepath.Glob(filepath.Join(h.dir, ".local/share/banyan/sessions/*/*.jsonl"))
	if len(files) != 1 {
		t.Fatalf("sessions: %v", files)
	}
	data, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(data, []byte(`"text":"/look notes.md"`)); n != 2 {
		t.Errorf("the command is recorded %d times", n)
	}
	if n := bytes.Count(data, []byte(`"customType":"banyan.skill"`)); n != 1 {
		t.Errorf("the skill is recorded %d times", n)
	}
}

// The model and thinking level of a flag go before those of the role, these
// before the session's, these before the settings'.
func TestRoleChoosesTheModel(t *testing.T) {
	h := newHome(t)
	put(t, h.work, ".agents/roles/quick.md", "---\nmodel: anthropic/claude-haiku-4-5\n---\nBe quick.")
	put(t, h.dir, ".config/banyan/settings.json", `{"model": "anthropic/claude-opus-4-5"}`)
	var d llmtest.Anthropic
	for _, c := range []struct{ flags, model string }{
		{"", "claude-opus-4-5"},
		{"--role quick", "claude-haiku-4-5"},
		{"-c", "claude-haiku-4-5"},
		{"-c -m anthropic/claude-sonnet-4-5", "claude-sonnet-4-5"},
		{"-c", "claude-sonnet-4-5"},
		{"-c --role quick", "claude-haiku-4-5"},
		{"-c --role quick -m anthropic/claude-sonnet-4-5", "claude-sonnet-4-5"},
	} {
		server := llmtest.NewServer(t, d, llmtest.Stream(d.Frames(llmtest.Reply{Parts: []llmtest.Part{{Text: "Yes."}}})...))
		args := append([]string{"-p", "--trust"}, strings.Fields(c.flags)...)
		out, errs, err := h.agent(t, anthropicEnv(server.URL), append(args, "go on")...)
		if err != nil || !strings.Contains(out, "Yes.") {
			t.Fatalf("%s: %v\n%s\n%s", c.flags, err, out, errs)
		}
		var asked struct {
			Model  string
			System json.RawMessage
		}
		if err := json.Unmarshal(server.Received()[0].Body, &asked); err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(asked.Model, c.model) {
			t.Errorf("with %q %s was asked, not %s", c.flags, asked.Model, c.model)
		}
		if has := bytes.Contains(asked.System, []byte("Be quick.")); has != strings.Contains(c.flags, "--role") {
			t.Errorf("with %q the role is told: %v", c.flags, has)
		}
	}
}
