package treeview_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"banyan/internal/llm"
	"banyan/internal/session"
	"banyan/internal/tree"
	"banyan/internal/tui/theme"
	"banyan/internal/tui/treeview"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"
)

var update = flag.Bool("update", false, "write the golden screens anew")

// start is when every session begins; each entry comes a minute after the last.
var start = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// garden is a session that grows by a few words an entry.
type garden struct {
	t testing.TB
	*session.Manager
	now time.Time
}

func newGarden(t testing.TB) *garden {
	g := &garden{t: t, now: start}
	n := 0
	m, err := session.New("", "/home/ada/engine", session.Options{
		Now:    func() time.Time { g.now = g.now.Add(time.Minute); return g.now },
		NewID:  func() string { n++; return fmt.Sprintf("%08x", n) },
		SessID: "01937f00-0000-7000-8000-000000000001",
	})
	g.must(err)
	g.Manager = m
	return g
}

func (g *garden) must(err error) {
	g.t.Helper()
	if err != nil {
		g.t.Fatal(err)
	}
}

// add adds entries below the leaf and gives the last one's id.
func (g *garden) add(data ...session.Data) session.ID {
	g.t.Helper()
	var id session.ID
	for _, d := range data {
		e, err := g.Append(d)
		g.must(err)
		id = e.ID
	}
	return id
}

func (g *garden) at(id session.ID) *garden {
	g.t.Helper()
	if id == "" {
		g.ResetLeaf()
	} else {
		g.must(g.Branch(id))
	}
	return g
}

func user(text string) session.Data {
	return session.Message{Message: llm.UserText(text, start)}
}

func says(text string, calls ...llm.ToolCall) session.Data {
	m := llm.Message{Role: llm.Assistant, Time: start, StopReason: llm.StopEnd, Model: "opus", Usage: llm.Usage{Total: 1200}}
	if text != "" {
		m.Content = append(m.Content, llm.Text{Text: text})
	}
	for _, c := range calls {
		m.StopReason, m.Content = llm.StopToolUse, append(m.Content, c)
	}
	return session.Message{Message: m}
}

func call(id, name, args string) llm.ToolCall {
	return llm.ToolCall{ID: id, Name: name, Arguments: json.RawMessage(args)}
}

func gave(id, name, text string, failed bool) session.Data {
	return session.Message{Message: llm.Message{
		Role: llm.ToolResult, Time: start, CallID: id, ToolName: name, IsError: failed,
		Content: []llm.Block{llm.Text{Text: text}},
	}}
}

// linear is a conversation without a fork, with every kind of entry.
func linear(g *garden) {
	g.add(
		session.Info{Name: "Config comments"},
		user("Make the config loader accept comments"),
		says("I look at the loader first.", call("c1", "read", `{"path":"/home/ada/engine/load.go","offset":10,"limit":31}`), call("c2", "bash", `{"command":"go test ./... 2>&1 | tail -20"}`)),
		gave("c1", "read", "package config", false),
		gave("c2", "bash", "--- FAIL: TestLoad", true),
		says("", call("c3", "grep", `{"pattern":"json.Unmarshal","path":"internal"}`), call("c4", "remember", `{"fact":"ünïcode","n":1}`)),
		gave("c3", "grep", "load.go:12", false), gave("c4", "remember", "ok", false),
		session.ModelChange{Provider: "anthropic", Model: "claude-opus-4"},
		session.ThinkingChange{Level: llm.ThinkingHigh},
		session.ModeChange{Mode: "plan"},
		session.Command{Command: "git diff", Output: "+1"},
		session.CustomMessage{Type: "review", Content: []llm.Block{llm.Text{Text: "two\nlines of\tit"}}, Display: true},
		session.Custom{Type: "todo"},
		session.Compaction{Summary: "## Goal\nComments in JSON.", FirstKept: "00000003", TokensBefore: 48_200},
		session.Message{Message: llm.Message{Role: llm.Assistant, Time: start, StopReason: llm.StopError, ErrorMessage: "overloaded: try again later"}},
		session.Message{Message: llm.Message{Role: llm.Assistant, Time: start, StopReason: llm.StopAborted, Content: []llm.Block{llm.Text{Text: "It needs"}}}},
		says("The loader takes comments now, and trailing commas. Both have tests."),
	)
}

// forks are forks in forks, with a label, a note of a branch, and the leaf on a
// branch that is not the newest.
func forks(g *garden) {
	ask := g.add(user("How should comments be parsed?"), says("By hand, or with a library. Which?"))
	hand := g.add(user("by hand, no new dependency"), says("Done: a small state machine."))
	g.add(session.Label{Target: hand, Text: "by hand"})
	g.at(hand).add(user("does it know strings?"), says("Yes, it tracks quotes."))
	deep := g.at(hand).add(user("allow trailing commas"), says("That needs a look-ahead."))
	g.add(user("then look ahead"), says("Done."))
	g.at(deep).add(user("no, leave it"), says("Left."))
	_, err := g.BranchWithSummary(ask, session.BranchSummary{Summary: "## Goal\nComments by hand: works, no commas."})
	g.must(err)
	lib := g.add(user("use the library"), says("Added, four lines."))
	g.add(user("and the docs?"), says("Written."))
	g.at(lib)
}

// roots are several beginnings.
func roots(g *garden) {
	g.add(user("first beginning"), says("yes?"), user("go on"), says("done"))
	g.at("").add(user("second beginning"), says("oh?"))
	g.at("").add(user("third beginning"), says("hm"))
	g.at("00000006")
}

// wide is text that is not one cell a character, and text from outside.
func wide(g *garden) {
	top := g.add(user("日本語のコメントも読めますか？ とても長い文章なので折り返さずに切られます。本当に。"))
	g.at(top).add(says("はい、UTF-8 のまま通ります。"))
	g.at(top).add(says("👩‍🚀 emoji, e\u0301 marks and \x1b[31mescapes\x1b[0m\u202e stay harmless"))
	g.add(session.Label{Target: top, Text: "言語"})
}

type scene struct {
	name string
	plot func(*garden)
	keys []string // "type:…" is typed
}

var scenes = []scene{
	{"linear", linear, nil},
	{"linear no-tools", linear, []string{"ctrl+t"}},
	{"linear user-only", linear, []string{"ctrl+u"}},
	{"linear labeled-only", linear, []string{"ctrl+l"}},
	{"linear all", linear, []string{"ctrl+a"}},
	{"forks", forks, nil},
	{"forks user-only", forks, []string{"ctrl+u"}},
	{"forks labeled-only", forks, []string{"ctrl+l"}},
	{"forks all, label times", forks, []string{"ctrl+a", "T"}},
	{"forks folded", forks, []string{"end", "ctrl+left", "ctrl+left"}},
	{"forks searched", forks, []string{"type:done a", "ctrl+n"}},
	{"forks, a bad expression", forks, []string{"type:re:(", "type:a"}},
	{"forks, nothing found", forks, []string{"type:nowhere"}},
	{"forks, a label is edited", forks, []string{"home", "down", "L", "type:the question"}},
	{"roots", roots, nil},
	{"roots folded", roots, []string{"home", "ctrl+left"}},
	{"wide", wide, nil},
	{"wide searched", wide, []string{"type:読め"}},
}

// press presses keys and lets the search be filled.
func press(m *treeview.Model, keys ...string) {
	for cmd := m.Init(); cmd != nil; {
		_, cmd = m.Update(cmd())
	}
	named := map[string]rune{"home": tea.KeyHome, "end": tea.KeyEnd, "left": tea.KeyLeft, "right": tea.KeyRight, "up": tea.KeyUp, "down": tea.KeyDown, "enter": tea.KeyEnter, "esc": tea.KeyEscape, "backspace": tea.KeyBackspace, "pgup": tea.KeyPgUp, "pgdown": tea.KeyPgDown}
	for _, key := range keys {
		if text, ok := strings.CutPrefix(key, "type:"); ok {
			for _, r := range text {
				m.Update(tea.KeyPressMsg{Code: r, Text: string(r)})
			}
			continue
		}
		var msg tea.KeyPressMsg
		parts := strings.Split(key, "+")
		for _, mod := range parts[:len(parts)-1] {
			msg.Mod |= map[string]tea.KeyMod{"ctrl": tea.ModCtrl, "alt": tea.ModAlt, "shift": tea.ModShift}[mod]
		}
		last := parts[len(parts)-1]
		if code, ok := named[last]; ok {
			msg.Code = code
		} else if msg.Code = rune(last[0]); msg.Mod == 0 {
			msg.Text = last
		}
		m.Update(msg)
	}
}

func screen(m *treeview.Model, w, h int) string {
	m.Height(w, h)
	lines := strings.Split(ansi.Strip(m.View(w, h)), "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRight(l, " ")
	}
	return strings.Join(lines, "\n") + "\n"
}

func grown(t testing.TB, plot func(*garden)) *garden {
	g := newGarden(t)
	plot(g)
	return g
}

func view(g *garden, th theme.Theme) *treeview.Model {
	return treeview.New(treeview.Options{Session: g.Snapshot(), Now: func() time.Time { return g.now.UTC() }}, th)
}

func TestGoldenScreens(t *testing.T) {
	time.Local = time.UTC
	for _, s := range scenes {
		t.Run(s.name, func(t *testing.T) {
			m := view(grown(t, s.plot), dark(t))
			press(m, s.keys...)
			var out strings.Builder
			for _, size := range [][2]int{{40, 12}, {60, 16}, {80, 24}, {120, 24}, {200, 24}} {
				got := screen(m, size[0], size[1])
				for i, line := range strings.Split(strings.TrimSuffix(got, "\n"), "\n") {
					if ansi.StringWidth(line) > size[0] || i >= size[1] {
						t.Errorf("%dx%d: line %d is too much: %q", size[0], size[1], i, line)
					}
				}
				fmt.Fprintf(&out, "-- %dx%d --\n%s", size[0], size[1], got)
			}
			golden(t, strings.NewReplacer(" ", "-", ",", "").Replace(s.name)+".txt", out.String())
		})
	}
}

// Colours say who speaks and where one is, in every theme; without colours the
// signs still do.
func TestGoldenColours(t *testing.T) {
	for name, profile := range map[string]theme.Profile{"dark": theme.TrueColor, "light": theme.TrueColor, "ansi16": theme.ANSI16, "none": theme.NoColor} {
		t.Run(name, func(t *testing.T) {
			file := map[string]string{"none": "dark"}[name]
			if file == "" {
				file = name
			}
			th, err := theme.Load(file, profile)
			if err != nil {
				t.Fatal(err)
			}
			m := view(grown(t, forks), th)
			press(m, "type:hand")
			m.Height(80, 14)
			golden(t, "colours-"+name+".txt", strings.ReplaceAll(m.View(80, 14), "\x1b", "␛")+"\n")
		})
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", "screens", name)
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
	if string(want) != got {
		t.Errorf("%s is not what it was; look, and write it with -update.\n%s", name, got)
	}
}

// Whatever is pressed and however the screen is cut, a frame has its rows and no
// row is too wide, the selection is in view, and drawing twice draws the same.
func TestFramesFit(t *testing.T) {
	keys := []string{
		"up", "down", "left", "right", "home", "end", "enter", "esc", "backspace", "pgup", "pgdown", "L", "T",
		"ctrl+left", "ctrl+right", "alt+up", "alt+down", "ctrl+up", "ctrl+down", "ctrl+n", "ctrl+p", "ctrl+d",
		"ctrl+t", "ctrl+u", "ctrl+l", "ctrl+a", "ctrl+o", "ctrl+w", "shift+up", "shift+down", "type:hand", "type: ", "type:re:.", "type:世",
	}
	plots := []func(*garden){linear, forks, roots, wide, func(g *garden) { nested(g, 40) }}
	th := dark(t)
	rapid.Check(t, func(rt *rapid.T) {
		g := grown(t, rapid.SampledFrom(plots).Draw(rt, "plot"))
		m := view(g, th)
		for range rapid.IntRange(1, 25).Draw(rt, "steps") {
			switch rapid.IntRange(0, 9).Draw(rt, "what") {
			case 0:
				at := tree.Node(rapid.IntRange(0, g.Snapshot().Len()-1).Draw(rt, "entry"))
				g.at(g.Snapshot().ID(at))
				m.SetSession(g.Snapshot())
			case 1:
				g.add(user("more"))
				m.SetSession(g.Snapshot())
			case 2:
				g.add(session.Label{Target: g.Snapshot().ID(0), Text: rapid.SampledFrom([]string{"", "a", "long label 世界"}).Draw(rt, "label")})
				m.SetSession(g.Snapshot())
			case 3:
				x, y := rapid.IntRange(0, 120).Draw(rt, "x"), rapid.IntRange(0, 30).Draw(rt, "y")
				m.Update(tea.MouseClickMsg{X: x, Y: y, Button: tea.MouseLeft})
			default:
				press(m, rapid.SampledFrom(keys).Draw(rt, "key"))
			}
			w, h := rapid.IntRange(20, 130).Draw(rt, "w"), rapid.IntRange(4, 30).Draw(rt, "h")
			m.Height(w, h)
			frame := m.View(w, h)
			lines := strings.Split(frame, "\n")
			if len(lines) != h {
				rt.Fatalf("%d rows of %d", len(lines), h)
			}
			for _, l := range lines {
				if ansi.StringWidth(l) > w {
					rt.Fatalf("too wide for %d: %q", w, l)
				}
			}
			if frame != m.View(w, h) {
				rt.Fatal("drawn twice, drawn differently")
			}
			if m.Selected() != "" && !strings.Contains(ansi.Strip(frame), "\n› ") {
				rt.Fatalf("the selection is out of view:\n%s", ansi.Strip(frame))
			}
			if x, y, ok := m.Cursor(); ok && (x < 0 || x >= w || y < 0 || y >= h) {
				rt.Fatalf("the caret is at %d,%d of %dx%d", x, y, w, h)
			}
		}
	})
}

// nested is a fork in each answer.
func nested(g *garden, depth int) {
	for i := range depth {
		at := g.add(user(fmt.Sprintf("question %d", i)), says("answer"))
		g.add(user("a way that was left"))
		g.at(at)
	}
}

// A search finds what entries say anywhere, and the rows say where.
func TestSearchFinds(t *testing.T) {
	m := view(grown(t, func(g *garden) {
		linear(g)
		g.add(user(strings.Repeat("long ", 300)+"needle "+strings.Repeat("tail ", 100)), session.Label{Target: "00000002", Text: "the beginning"})
	}), dark(t))
	for query, want := range map[string]string{
		"needle":         "needle",
		"TestLoad":       "[bash: go test",  // what a tool gave
		"offset":         "[read: load.go",  // its arguments
		"json.unmarshal": "[grep: json.Unm", // in any case
		"beginning":      "[the beginning]", // a label
		`"two lines"`:    "[review] two lines of it",
		"re:^user":       "user: long",
		"git diff":       "! git diff",
		"goal comments":  "[compaction: 48k tokens]",
	} {
		m.Reset()
		press(m, "type:"+query)
		if got := screen(m, 80, 24); !strings.Contains(got, want) {
			t.Errorf("searching %s:\n%s", query, got)
		}
	}
}

// Capitals that begin something are commands; within a search they are letters.
func TestCapitals(t *testing.T) {
	m := view(grown(t, forks), dark(t))
	press(m, "type:aLT")
	if got := screen(m, 80, 24); !strings.Contains(got, "/aLT") {
		t.Errorf("%s", got)
	}
	press(m, "esc", "type:by", "down", "L")
	if got := screen(m, 80, 24); !strings.Contains(got, "keeps the label") {
		t.Errorf("%s", got)
	}
}

// While texts are still being read, what was read is found, and how far it is is said.
func TestSearchBeginsWhileReading(t *testing.T) {
	m := view(grown(t, func(g *garden) {
		for i := range 3000 {
			g.add(user(fmt.Sprintf("prompt %d", i)))
		}
	}), dark(t))
	cmd := m.Init()
	for range 4 {
		m.Update(tea.KeyPressMsg{Code: '7', Text: "7"})
	}
	for _, want := range []string{"0 found, 0% read", "0 found, 34% read", "0 found, 68% read", "0 of 0"} {
		if got := screen(m, 80, 12); !strings.Contains(got, want) {
			t.Fatalf("%s is missing:\n%s", want, got)
		}
		if cmd != nil {
			_, cmd = m.Update(cmd())
		}
	}
	if cmd != nil {
		t.Error("reading does not end")
	}
	m.Update(tea.KeyPressMsg{Code: tea.KeyBackspace})
	m.Update(tea.KeyPressMsg{Code: tea.KeyBackspace})
	if got := screen(m, 80, 12); !strings.Contains(got, "53 of 57") {
		t.Errorf("%s", got)
	}
}

// A line that is too long for a row is named and not decoded.
func TestHugeEntriesAreNamed(t *testing.T) {
	m := view(grown(t, func(g *garden) {
		g.add(user("go"), says("", call("c1", "bash", `{"command":"yes"}`)), gave("c1", "bash", strings.Repeat("y\n", 2<<20), false))
	}), dark(t))
	press(m)
	if got := screen(m, 120, 12); !strings.Contains(got, "(6 MB)") {
		t.Errorf("%s", got)
	}
}

func TestStateIsTakenUp(t *testing.T) {
	g := grown(t, forks)
	m := view(g, dark(t))
	press(m, "T", "end", "ctrl+left", "ctrl+left")
	state := m.State()
	if len(state.Folds) != 1 || !state.Times {
		t.Fatalf("state %+v", state)
	}
	again := treeview.New(treeview.Options{Session: g.Snapshot(), State: state, Now: func() time.Time { return g.now }}, dark(t))
	if got := screen(again, 80, 24); !strings.Contains(got, "⊞") {
		t.Errorf("%s", got)
	}
	state.Folds = append(state.Folds, "gone")
	treeview.New(treeview.Options{Session: g.Snapshot(), State: state}, dark(t))
}
