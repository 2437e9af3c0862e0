package tui_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"banyan/internal/engine"
	"banyan/internal/llm"
	"banyan/internal/session"
	"banyan/internal/tool"
	"banyan/internal/tui"
	"banyan/internal/tui/tuitest"

	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"
)

var update = flag.Bool("update", false, "write the golden frames anew")

// scene is something to be seen, and how one gets there.
type scene struct {
	name string
	play func(*tuitest.Driver)
}

// scenes are what the golden frames show.
var scenes = []scene{
	{"welcome", func(d *tuitest.Driver) { d.Open() }},
	{"chat", func(d *tuitest.Driver) { chat(d) }},
	{"working", func(d *tuitest.Driver) {
		chat(d)
		d.Append(user("and in Go?"))
		d.Emit(engine.Started{What: "turn", At: tuitest.Start}, delta("A map of "), delta("slices, or"))
		d.Emit(engine.Queue{Steering: []string{"with generics"}, FollowUps: []string{"then write a test"}})
		d.Advance(7 * time.Second)
		d.Type("no allocations, please")
	}},
	{"approval", func(d *tuitest.Driver) { chat(d); d.Emit(asked(1)) }},
	{"edit", func(d *tuitest.Driver) {
		chat(d)
		ask := asked(1)
		ask.Reason = "it changes a file"
		ask.Always = "edits in this session"
		ask.Call = llm.ToolCall{Name: "edit", Arguments: []byte(`{"path":"tree.go"}`)}
		ask.Preview = tool.Diff{Path: "tree.go", Diff: "@@ -3,3 +3,3 @@\n type Tree struct {\n-\tkids []Tree\n+\tkids []*Tree // 世界\n }\n", Added: 1, Removed: 1}
		d.Emit(ask)
	}},
	{"commands", func(d *tuitest.Driver) { chat(d); d.Type("/") }},
	{"palette", func(d *tuitest.Driver) { chat(d); d.Press("ctrl+p").Type("se") }},
	{"help", func(d *tuitest.Driver) { d.Open().Press("?") }},
	{"error", func(d *tuitest.Driver) {
		chat(d)
		d.Emit(engine.Notice{Level: engine.Failure, Text: "anthropic (api.anthropic.com): invalid key [HTTP 401]. Set ANTHROPIC_API_KEY to a valid one."})
		d.Type("/modle").Press("enter")
	}},
	{"wide text", func(d *tuitest.Driver) {
		d.Open()
		d.Append(user("日本語の入力 👩‍🚀"), answer("はい、**読めます**。e\u0301 und Ümlaute."))
		d.Type("もう一度、長い文章を書いてみます。折り返しは正しいですか？ 👍🏽")
	}},
	{"long prompt", func(d *tuitest.Driver) {
		d.Open()
		d.Paste("first\nsecond\nthird").Press("ctrl+j")
		d.Paste(strings.Repeat("a pasted line\n", 40))
		d.Type(" and a long line that has to be broken somewhere because the screen ends before it does")
	}},
}

func chat(d *tuitest.Driver) {
	d.Open()
	d.Append(
		user("What is a banyan?"),
		answer("A **fig** that lets roots down from its branches, and each becomes a trunk:\n\n- one tree\n- many trunks\n\n```go\nfunc main() { grow() }\n```"),
		session.Info{Name: "Figs"},
	)
	d.Emit(engine.State{
		ModelName: "claude-opus-4", Thinking: llm.ThinkingHigh, Permission: "ask", ContextTokens: 84_000, ContextWindow: 200_000,
		Usage: llm.Usage{Total: 96_200, Cost: llm.Cost{Total: 0.4213}},
	})
}

func TestGoldenFrames(t *testing.T) {
	for _, scene := range scenes {
		for _, size := range [][2]int{{40, 10}, {80, 24}, {120, 40}, {200, 60}} {
			name := fmt.Sprintf("%s-%dx%d", strings.ReplaceAll(scene.name, " ", "-"), size[0], size[1])
			t.Run(name, func(t *testing.T) {
				d := tuitest.New(t, func(o *tui.Options) { o.Branch = func(contextT) string { return "main" } })
				d.Resize(size[0], size[1])
				scene.play(d)
				fits(t, d, size[0], size[1])
				golden(t, name, caret(d))
			})
		}
	}
}

// caret is the screen with the caret drawn in.
func caret(d *tuitest.Driver) string {
	v := d.Model.View()
	lines := strings.Split(d.Screen(), "\n")
	if c := v.Cursor; c != nil {
		line := lines[c.Y] + strings.Repeat(" ", max(0, c.X-ansi.StringWidth(lines[c.Y])))
		lines[c.Y] = strings.TrimRight(ansi.Truncate(line, c.X, "")+"▏"+ansi.TruncateLeft(line, c.X, ""), " ")
	}
	return strings.Join(lines, "\n") + "\n"
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", "frames", name+".txt")
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("the frame has changed; if that is right: go test ./internal/tui -run Golden -update\n--- want\n%s\n--- got\n%s", want, got)
	}
}

type failer interface {
	Helper()
	Fatalf(string, ...any)
}

// fits checks that a frame is exactly as large as the screen.
func fits(t failer, d *tuitest.Driver, w, h int) {
	t.Helper()
	v := d.Model.View()
	lines := strings.Split(v.Content, "\n")
	if len(lines) != h {
		t.Fatalf("%d lines on a screen of %d:\n%s", len(lines), h, d.Screen())
	}
	for _, l := range lines {
		if n := ansi.StringWidth(l); n > w {
			t.Fatalf("line %q takes %d cells of %d", ansi.Strip(l), n, w)
		}
	}
	if c := v.Cursor; c != nil && (c.X < 0 || c.X >= w || c.Y < 0 || c.Y >= h) {
		t.Fatalf("the caret is at %d,%d on %dx%d", c.X, c.Y, w, h)
	}
}

// Whatever is pressed and told, in whatever order and size, the frame fits the
// screen, drawing changes nothing, and nothing panics: before the first size too.
func TestAnythingGoes(t *testing.T) {
	keys := []string{
		"enter", "esc", "tab", "up", "down", "left", "pgup", "pgdown", "ctrl+c", "ctrl+p", "ctrl+r", "ctrl+o", "ctrl+t", "ctrl+g",
		"ctrl+s", "alt+p", "alt+t", "alt+up", "alt+,", "alt+.", "shift+tab", "ctrl+x", "m", "y", "n", "a", "?", "/", "@", "ctrl+home", "ctrl+end", "ctrl+l", "alt+enter", "ctrl+up", "ctrl+down",
	}
	texts := []string{"hello ", "/", "/resume ", "/theme", "世界", "\x1b[2J", "👩‍🚀", "x"}
	rapid.Check(t, func(rt *rapid.T) {
		d := tuitest.New(t, func(o *tui.Options) {
			o.Sessions = func(contextT) ([]tui.Session, error) { return []tui.Session{{Path: "/a", First: "x"}}, nil }
			o.Models = func(contextT) ([]tui.Choice, error) { return nil, nil }
			o.Files = func(contextT) ([]string, error) { return []string{"a.go", "b.go"}, nil }
		})
		w, h := 80, 24
		if rapid.Bool().Draw(rt, "sized") {
			d.Open()
		} else {
			w, h = 0, 0
			d.Resize(0, 0)
		}
		for range rapid.IntRange(1, 40).Draw(rt, "steps") {
			switch rapid.IntRange(0, 9).Draw(rt, "kind") {
			case 0:
				w, h = rapid.IntRange(0, 120).Draw(rt, "w"), rapid.IntRange(0, 50).Draw(rt, "h")
				d.Resize(w, h)
			case 1:
				d.Paste(rapid.SampledFrom(texts).Draw(rt, "paste"))
			case 2:
				d.Type(rapid.SampledFrom(texts).Draw(rt, "text"))
			case 3:
				tell(rt, d)
			case 4:
				d.Advance(time.Duration(rapid.IntRange(0, 1500).Draw(rt, "ms")) * time.Millisecond)
			case 5:
				d.Wheel(rapid.IntRange(-3, 3).Draw(rt, "wheel"))
			case 6:
				x, y := rapid.IntRange(0, 130).Draw(rt, "x"), rapid.IntRange(0, 60).Draw(rt, "y")
				d.Drag(x, y, rapid.IntRange(0, 130).Draw(rt, "x"), rapid.IntRange(0, 60).Draw(rt, "y"))
			default:
				d.Press(rapid.SampledFrom(keys).Draw(rt, "key"))
			}
			if w >= 40 && h >= 10 {
				fits(rt, d, w, h)
			}
			if once, twice := d.Frame(), d.Frame(); once != twice {
				rt.Fatal("drawn twice, drawn differently")
			}
		}
	})
}

// tell is a random event.
func tell(t *rapid.T, d *tuitest.Driver) {
	switch rapid.IntRange(0, 8).Draw(t, "event") {
	case 0:
		d.Append(user("a prompt"))
	case 1:
		d.Append(answer("an answer\n\nof two"))
	case 2:
		d.Emit(engine.Started{What: "turn", At: tuitest.Start}, delta("some text "))
	case 3:
		d.Emit(engine.Finished{What: "turn"})
	case 4:
		d.Emit(asked(rapid.IntRange(1, 3).Draw(t, "ask")))
	case 5:
		d.Emit(engine.Withdrawn{Ask: rapid.IntRange(1, 3).Draw(t, "ask")})
	case 6:
		d.Emit(engine.Queue{Steering: []string{"a", "b"}, FollowUps: []string{"c", "d"}, TakenBack: []string{"e"}})
	case 7:
		d.Emit(engine.Notice{Level: engine.Level(rapid.IntRange(0, 2).Draw(t, "level")), Text: "note"})
	case 8:
		d.Open()
	}
}

// A frame costs what is on the screen, however long the session is.
func BenchmarkFrame(b *testing.B) {
	for _, n := range []int{10, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			d := tuitest.New(b)
			for range n / 2 {
				if _, err := d.Session.Append(user("a prompt")); err != nil {
					b.Fatal(err)
				}
				if _, err := d.Session.Append(answer("an answer\n\nof two paragraphs")); err != nil {
					b.Fatal(err)
				}
			}
			d.Open()
			for b.Loop() {
				d.Type("x").Press("backspace")
				_ = d.Frame()
			}
		})
	}
}

// An answer of 9 kB in deltas of 24 bytes, each drawn.
func BenchmarkStream(b *testing.B) {
	text := strings.Repeat("Some **words** of an answer, with `code` in it.\n\n- and a list\n\n", 150)[:9000]
	for b.Loop() {
		d := tuitest.New(b).Open()
		d.Append(user("go")).Emit(engine.Started{What: "turn", At: tuitest.Start})
		for i := 0; i < len(text); i += 24 {
			d.Emit(delta(text[i:min(i+24, len(text))]))
			_ = d.Frame()
		}
	}
}
