package tui_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"banyan/internal/engine"
	"banyan/internal/llm"
	"banyan/internal/session"
	"banyan/internal/tool"
	"banyan/internal/tui"
	"banyan/internal/tui/shot"
	"banyan/internal/tui/termcap"
	"banyan/internal/tui/tuitest"
)

// mixed is text that is wide, has marks, joins, and runs from right to left.
const mixed = "日本語 café 👩‍🚀 مرحبا بالعالم שלום é"

// furnished is a screen that has everything that overlays show.
func furnished(o *tui.Options) {
	newShelf().options(o)
	sessions := o.Sessions
	o.Sessions = func(ctx contextT) ([]tui.Session, error) {
		all, err := sessions(ctx)
		return append(all, tui.Session{Path: "/s/mixed", ID: "eeeeeeee-1", Name: mixed, Cwd: o.Cwd, Modified: tuitest.Start.Add(-time.Minute), Messages: 2}), err
	}
	o.Preview = func(_ contextT, path string) ([]tui.Said, error) {
		return []tui.Said{{Who: "You", Text: "what of " + path + "?"}, {Who: "Agent", Text: mixed}}, nil
	}
	o.Search = func(_ contextT, path, text string) ([]tui.Found, error) {
		return []tui.Found{{Path: path, ID: "00000007", Who: "you", Text: "… the " + text + " of " + mixed}}, nil
	}
	o.Branch = func(contextT) string { return "main" }
	o.Models = func(contextT) ([]tui.Choice, error) {
		return []tui.Choice{
			{Model: session.ModelRef{Provider: "anthropic", Model: "claude-opus-4"}, Name: "Claude Opus 4", Detail: "200k tokens · $15 in, $75 out"},
			{Model: session.ModelRef{Provider: "ollama", Model: "qwen3-coder"}, Name: "通义千问 Qwen 3", Detail: "32k tokens · local"},
		}, nil
	}
	o.Providers = func() []string { return []string{"anthropic", "openai", "google"} }
	o.Login = func(contextT, string, string) error { return nil }
	o.Settings = func(contextT) ([]tui.Setting, error) {
		return []tui.Setting{
			{Name: "theme", Value: `"dark"`, From: "default", Help: "The name of a theme.", Live: true},
			{Name: "mouse", Value: "true", From: "/home/ada/.config/banyan/settings.json:3", Help: "Take the mouse: wheel, selection, clicks.", Choices: []string{"true", "false"}, Live: true},
			{Name: "model", Value: `"anthropic/claude-opus-4"`, From: "--model", Help: "The model that answers."},
			{Name: "branchSummary.instructions", Value: `"` + mixed + `"`, From: "/home/ada/.config/banyan/settings.json:9", Help: "What branch summaries should look at."},
		}, nil
	}
	o.SaveSetting = func(contextT, string, string) (tui.Preferences, error) { return tui.Preferences{Theme: "dark"}, nil }
	o.Doctor = func(contextT, termcap.Caps) ([]tui.Finding, error) {
		return []tui.Finding{
			{About: "terminal", State: tui.Good, Text: "kitty(0.42.1), TERM=xterm-kitty, 16 million colours"},
			{About: "models", State: tui.Limited, Text: "No provider has a key: the embedded offline model answers", Do: "agent login anthropic, or set ANTHROPIC_API_KEY; so for the others"},
			{About: "sessions", State: tui.Broken, Text: "/home/ada/" + mixed + " cannot be written: permission denied", Do: "Make it writable, or choose another folder with --session-dir"},
		}, nil
	}
}

// overlays are what the golden frames show besides scenes: each picker, dialog
// and page over a conversation.
var overlays = []scene{
	{"resume", func(d *tuitest.Driver) { run(d, "/resume") }},
	{"resume rename", func(d *tuitest.Driver) { run(d, "/resume"); d.Press("ctrl+r") }},
	{"resume delete", func(d *tuitest.Driver) { run(d, "/resume"); d.Press("down", "ctrl+d") }},
	{"search", func(d *tuitest.Driver) { run(d, "/search parser") }},
	{"selection", func(d *tuitest.Driver) { d.Press("ctrl+space", "up", "shift+up") }},
	{"queue", func(d *tuitest.Driver) {
		d.Emit(engine.Started{What: "turn", At: tuitest.Start})
		d.Emit(engine.Queue{FollowUps: []string{"then write a test", mixed, "a follow-up of\ntwo lines"}})
		run(d, "/queue")
	}},
	{"settings", func(d *tuitest.Driver) { run(d, "/settings") }},
	{"settings change", func(d *tuitest.Driver) { run(d, "/settings"); d.Press("down", "enter") }},
	{"model", func(d *tuitest.Driver) { run(d, "/model") }},
	{"login", func(d *tuitest.Driver) { run(d, "/login anthropic"); d.Type("sk-secret") }},
	{"theme", func(d *tuitest.Driver) { run(d, "/theme") }},
	{"permissions", func(d *tuitest.Driver) { run(d, "/permissions") }},
	{"branches", func(d *tuitest.Driver) {
		d.Append(session.Label{Target: d.Session.Snapshot().Leaf(), Text: mixed})
		run(d, "/branches")
	}},
	{"name", func(d *tuitest.Driver) { run(d, "/name"); d.Type(" " + mixed) }},
	{"session", func(d *tuitest.Driver) { run(d, "/session") }},
	{"doctor", func(d *tuitest.Driver) { run(d, "/doctor") }},
	{"mixed text", func(d *tuitest.Driver) {
		d.Append(user(mixed), answer("- **"+mixed+"**\n\n| "+mixed+" | b |\n|---|---|\n| x | "+mixed+" |\n\n> "+mixed))
		d.Type(mixed)
	}},
	{"cards", cards},
}

// cards is a conversation with a card of each kind.
func cards(d *tuitest.Driver) {
	exit := 1
	d.Append(user("find and mend it"))
	for i, c := range []struct {
		name, args string
		view       tool.View
	}{
		{"grep", `{"pattern":"leaf =","path":"internal"}`, tool.Listing{Total: 9, Items: []tool.Item{{Path: "internal/session/manager.go", Line: 41, Text: "\tm.leaf = e.ID"}, {Path: "internal/日本語.go", Line: 7, Text: "leaf = nil"}}}},
		{"bash", `{"command":"go test ./internal/session"}`, tool.Command{Command: "go test ./internal/session", ExitCode: &exit, Millis: 2140, Output: "--- FAIL: TestLeaf (0.00s)\n    leaf is 3f2a91c0, want 00000001\nFAIL\n"}},
		{"edit", `{"path":"manager.go"}`, tool.Diff{Path: "manager.go", Diff: "@@ -38,3 +38,4 @@\n \te := m.next(d)\n-\treturn e, err\n+\tm.leaf = e.ID // 世界\n+\treturn e, wrap(err)\n", Added: 2, Removed: 1}},
	} {
		id := fmt.Sprint("c", i)
		d.Append(called(id, c.name, c.args), gave(id, c.name, c.view))
	}
	d.Append(answer("The leaf moves **last** now. `go test` passes:\n\n```go\nm.leaf = e.ID\n```"))
}

func called(id, name, args string) session.Message {
	return session.Message{Message: llm.Message{Role: llm.Assistant, Time: tuitest.Start, StopReason: llm.StopToolUse, Content: []llm.Block{
		llm.ToolCall{ID: id, Name: name, Arguments: []byte(args)},
	}}}
}

func gave(id, name string, v tool.View) session.Message {
	return session.Message{Message: llm.Message{Role: llm.ToolResult, Time: tuitest.Start, CallID: id, ToolName: name, Details: tool.EncodeView(v)}}
}

func TestGoldenOverlays(t *testing.T) {
	for _, scene := range overlays {
		for _, size := range [][2]int{{40, 10}, {80, 24}, {120, 40}, {200, 60}} {
			name := fmt.Sprintf("%s-%dx%d", strings.ReplaceAll(scene.name, " ", "-"), size[0], size[1])
			t.Run(name, func(t *testing.T) {
				d := tuitest.New(t, furnished)
				d.Resize(size[0], size[1])
				chat(d)
				scene.play(d)
				fits(t, d, size[0], size[1])
				golden(t, name, caret(d))
			})
		}
	}
}

// looks are the colours in which docs/screens.md shows what there is.
var looks = map[string]shot.Colors{"dark": shot.Dark, "light": shot.Light}

// inPictures are the scenes of docs/screens.md.
var inPictures = []string{"chat", "working", "cards", "mixed text", "approval", "resume", "search", "settings", "model", "theme", "queue", "doctor"}

// The pictures of docs/screens.md are what the screen shows, dark and light:
// `make pictures` writes them.
func TestScreenPictures(t *testing.T) {
	const w, h = 100, 26
	page := "<!-- Generated by make pictures; do not edit. -->\n# Screens\n\nWhat the program draws, in its dark and its light theme. Tests hold these pictures, and the frames of every picker and dialog at four sizes (`internal/tui/testdata/frames`), against the screen.\n"
	for _, scene := range slices.Concat(scenes, overlays) {
		if !slices.Contains(inPictures, scene.name) {
			continue
		}
		file := "screen-" + strings.ReplaceAll(scene.name, " ", "-")
		page += fmt.Sprintf("\n## %s\n\n<picture><source media=\"(prefers-color-scheme: light)\" srcset=\"pictures/%s-light.svg\"><img alt=%q src=\"pictures/%s-dark.svg\"></picture>\n", scene.name, file, scene.name, file)
		for look, colors := range looks {
			t.Run(scene.name+" "+look, func(t *testing.T) {
				d := tuitest.New(t, furnished, func(o *tui.Options) { o.Theme = look })
				d.Resize(w, h)
				chat(d)
				scene.play(d)
				fits(t, d, w, h)
				var svg bytes.Buffer
				if err := shot.Of(d.Frame(), w, h, colors).SVG(&svg); err != nil {
					t.Fatal(err)
				}
				kept(t, filepath.Join("..", "..", "docs", "pictures", file+"-"+look+".svg"), svg.Bytes())
			})
		}
	}
	kept(t, filepath.Join("..", "..", "docs", "screens.md"), []byte(page))
}

// kept holds a file against what it should be, or writes it.
func kept(t *testing.T, path string, want []byte) {
	t.Helper()
	if *update {
		must(os.WriteFile(path, want, 0o644))
	}
	if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s is not what the screen shows (%v); look, and write it with: make pictures", path, err)
	}
}
