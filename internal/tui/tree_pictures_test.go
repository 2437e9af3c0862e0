package tui_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"banyan/internal/engine"
	"banyan/internal/llm"
	"banyan/internal/session"
	"banyan/internal/tui/shot"
	"banyan/internal/tui/tuitest"
)

// story is the conversation of docs/tree.md.
func story(d *tuitest.Driver) {
	d.Open()
	tool := func(id, name, args, gave string) []session.Data {
		return []session.Data{
			session.Message{Message: llm.Message{Role: llm.Assistant, Time: tuitest.Start, StopReason: llm.StopToolUse, Content: []llm.Block{
				llm.Text{Text: "I look first."}, llm.ToolCall{ID: id, Name: name, Arguments: []byte(args)},
			}}},
			session.Message{Message: llm.Message{Role: llm.ToolResult, Time: tuitest.Start, CallID: id, ToolName: name, Content: []llm.Block{llm.Text{Text: gave}}}},
		}
	}
	d.Append(session.Info{Name: "Config comments"}, user("Make the config loader accept comments in JSON files"))
	d.Append(tool("c1", "read", `{"path":"/home/ada/engine/config/load.go","offset":10,"limit":31}`, "package config")...)
	d.Append(answer("The loader uses encoding/json. There are two ways: strip the comments before decoding, or take a library. Which one?"))
	ask := d.Session.Snapshot().Leaf()
	d.Append(user("Strip them by hand, no new dependency"))
	d.Append(tool("c2", "edit", `{"path":"config/load.go"}`, "edited")...)
	d.Append(answer("Done: a small state machine that knows strings and comments."))
	hand := d.Session.Snapshot().Leaf()
	d.Append(session.Label{Target: hand, Text: "by hand"}, user("Also allow trailing commas"), answer("That needs a look-ahead, which makes it twice as long."))
	must(d.Session.Branch(hand))
	d.Append(user("Does it handle URLs in strings?"), answer("Yes: it tracks quotes, so https:// inside a string stays as it is."))
	must(d.Session.Branch(ask))
	d.Append(user("Use a library"))
	d.Append(tool("c3", "bash", `{"command":"go get github.com/tidwall/jsonc"}`, "added")...)
	d.Append(answer("Added. The loader calls jsonc.ToJSON before it decodes; four lines changed."))
	d.Emit(engine.Moved{Session: d.Session.Snapshot()})
	d.Emit(engine.State{ModelName: "claude-opus-4", Permission: "ask", ContextTokens: 12_000, ContextWindow: 200_000})
	d.Sent()
}

// The pictures of docs/tree.md are what the screen shows: write them with -update.
func TestTreePictures(t *testing.T) {
	for name, p := range map[string]struct {
		w, h int
		play func(*tuitest.Driver)
	}{
		"tree":     {112, 20, func(d *tuitest.Driver) { d.Press("esc", "esc") }},
		"search":   {80, 12, func(d *tuitest.Driver) { d.Press("esc", "esc").Type("string") }},
		"label":    {80, 14, func(d *tuitest.Driver) { d.Press("esc", "esc", "L").Type("with jsonc") }},
		"leave":    {96, 24, func(d *tuitest.Driver) { d.Press("esc", "esc", "down", "enter", "down") }},
		"sibling":  {80, 14, func(*tuitest.Driver) {}},
		"branches": {96, 16, func(d *tuitest.Driver) { run(d, "/branches") }},
	} {
		t.Run(name, func(t *testing.T) {
			d := tuitest.New(t)
			d.Resize(p.w, p.h)
			story(d)
			p.play(d)
			var svg bytes.Buffer
			if err := shot.Of(d.Frame(), p.w, p.h, shot.Dark).SVG(&svg); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join("..", "..", "docs", "pictures", "tree-"+name+".svg")
			if *update {
				must(os.MkdirAll(filepath.Dir(path), 0o755))
				must(os.WriteFile(path, svg.Bytes(), 0o644))
			}
			if want, err := os.ReadFile(path); err != nil || !bytes.Equal(want, svg.Bytes()) {
				t.Errorf("%s is not what the screen shows (%v); look, and write it with: go test ./internal/tui -run TreePictures -update\n%s", path, err, d.Screen())
			}
		})
	}
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "tree.md"))
	must(err)
	for _, name := range []string{"tree", "search", "label", "leave", "sibling", "branches"} {
		if !strings.Contains(string(text), "pictures/tree-"+name+".svg") {
			t.Errorf("docs/tree.md does not show %s", name)
		}
	}
}
