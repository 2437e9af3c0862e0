package transcript

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"banyan/internal/llm"
	"banyan/internal/session"
	"banyan/internal/tool"
	"banyan/internal/tui/theme"
)

func TestSubject(t *testing.T) {
	tests := []struct{ name, args, want string }{
		{"bash", `{"command":"go test"}`, "go test"},
		{"read", `{"path":"a.go","offset":10,"limit":5}`, "a.go:10-14"},
		{"write", `{"path":"a.go","content":"pack`, "a.go"},
		{"write", `{"path":"inter`, "inter"},
		{"write", `{"path":"a\u00e`, "a"},
		{"write", `{"content":"x","path":"b.go"}`, "b.go"},
		{"mcp__x", `{"thing":"first","other":"second"}`, "first"},
		{"mcp__x", `{"n":1}`, ""},
		{"bash", `{"comm`, ""},
		{"bash", ``, ""},
		{"bash", `[1]`, ""},
		{"bash", `{"command":"a \"quoted\" b`, `a "quoted" b`},
	}
	for _, tt := range tests {
		if got := Subject(tt.name, json.RawMessage(tt.args)); got != tt.want {
			t.Errorf("%s %s: got %q, want %q", tt.name, tt.args, got, tt.want)
		}
	}
	args := `{"command":"日本\n\u00e9\"x","n":[1,{"a":2}]}`
	for i := range args { // cut anywhere, it says something or nothing
		Subject("bash", json.RawMessage(args[:i]))
	}
}

// onlyCard is the screen with the card of one call.
func onlyCard(w int, args string, r llm.Message, v tool.View) string {
	r.Role, r.CallID, r.ToolName, r.Details = llm.ToolResult, "1", "bash", tool.EncodeView(v)
	s := &script{}
	s.answer(call("1", "bash", args))
	s.add(session.Message{Message: r})
	m := New(theme.Must("dark", theme.NoColor))
	m.SetSize(w, 30)
	m.Reset(Entries(s.entries))
	return strings.Trim(text(m.View()), "\n")
}

func TestCards(t *testing.T) {
	tests := []struct {
		name   string
		result llm.Message
		view   tool.View
		want   string
	}{
		{"no output", llm.Message{}, tool.Command{ExitCode: intp(0)}, "✓ bash make"},
		{"a failure says why", llm.Message{IsError: true, Content: []llm.Block{llm.Text{Text: "ended after 2s"}, llm.Text{Text: "out"}}}, tool.Command{Output: "out", Signal: "killed"}, "✗ bash make · killed\n    out\n    ended after 2s"},
		{"the end of long output", llm.Message{}, tool.Command{Output: "1\n2\n3\n4\n5\n6\n7\n", ExitCode: intp(0)}, "✓ bash make\n    … 2 more lines\n    3\n    4\n    5\n    6\n    7"},
		{"one line is never folded away", llm.Message{}, tool.Command{Output: "1\n2\n3\n4\n5\n6\n", ExitCode: intp(0)}, "✓ bash make\n    1\n    2\n    3\n    4\n    5\n    6"},
		{"what was cut", llm.Message{}, tool.Command{Output: "x", ExitCode: intp(0), Cut: &tool.Cut{Lines: 9000, Bytes: 120_000}}, "✓ bash make · 9000 lines · 120.0 kB\n    x"},
		{"no view", llm.Message{Content: []llm.Block{llm.Text{Text: "plain"}}}, nil, "✓ bash make\n    plain"},
		{"a line without end", llm.Message{}, tool.Command{Output: strings.Repeat("x", 1000)}, "✓ bash make\n    " + strings.Repeat("x", 34) + "…"},
		{"a picture", llm.Message{}, tool.Image{Path: "a.png", MIME: "image/png", Width: 3, Height: 4}, "✓ bash make · image/png · 3×4\n    ▣ a.png"},
		{"a new file", llm.Message{}, tool.Diff{Path: "a", Diff: "@@ -0,0 +1,2 @@\n+a\n+b\n", Added: 2, Created: true}, "✓ bash make · new, 2 lines\n    1 + a\n    2 + b"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := onlyCard(40, `{"command":"make"}`, tt.result, tt.view); got != tt.want {
				t.Errorf("got:\n%s\nwant:\n%s", got, tt.want)
			}
		})
	}
}

// What cannot be read says so where it stands.
func TestUnreadable(t *testing.T) {
	why := errors.New("unexpected end of JSON input")
	blocks := []Block{
		{ID: "deadbeef", Class: session.Class{Kind: "message", Role: llm.User}, Load: func() (session.Entry, error) { return session.Entry{}, why }},
		{ID: "deadbeef", Class: session.Class{Kind: "message", Role: llm.Assistant}, Load: func() (session.Entry, error) {
			return session.Entry{ID: "deadbeef", Data: session.Unknown{Type: "message", Err: why}}, nil
		}},
	}
	for _, b := range blocks {
		m := New(theme.Must("dark", theme.NoColor))
		m.Append(b)
		if got, want := strings.TrimSpace(text(m.View())), "! entry deadbeef cannot be read: unexpected end of JSON input"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestDraw(t *testing.T) {
	th := theme.Must("dark", theme.TrueColor)
	views := []tool.View{
		tool.Diff{Path: "a.go", Diff: "@@ -1,2 +1,2 @@\n a\n-\tb := \"日本\"\n+\tb := 1 // and more of it, far beyond the edge\n"},
		tool.Command{Command: "make all && make test && make install && rm -rf build", Output: strings.Repeat("line\n", 30)},
		tool.Plain{Path: "a.go", Text: "package a\n\nfunc f() {}\n"},
		tool.Listing{Items: []tool.Item{{Path: "a/b", Line: 1, Text: "x"}}},
		tool.Image{Path: "a.png"},
		tool.Plain{Text: "text"},
		nil,
	}
	for _, v := range views {
		for _, w := range []int{1, 7, 40, 100} {
			for _, l := range Draw(v, w, th) {
				if n := ansi.StringWidth(l); n > w {
					t.Errorf("%T in %d cells has a row of %d: %q", v, w, n, l)
				}
			}
		}
	}
	want := "1   a\n2 -     b := \"日本\"\n2 +     b := 1 // and more of it, far be\n    yond the edge"
	if got := text(strings.Join(Draw(views[0], 40, th), "\n")); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
	if got := Draw(views[1], 30, th); len(got) != 32 {
		t.Errorf("a command and its output take %d rows, want 32: %q", len(got), got)
	}
}
