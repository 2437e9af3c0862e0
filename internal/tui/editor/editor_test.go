package editor

import (
	"fmt"
	"strings"
	"testing"

	"banyan/internal/llm"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"
)

// press sends keys by name; other texts are typed.
func press(t testing.TB, m *Model, keys ...string) {
	t.Helper()
	for _, key := range keys {
		msg, ok := named[key]
		if !ok {
			for _, r := range key {
				m.Update(tea.KeyPressMsg{Code: r, Text: string(r)})
			}
			continue
		}
		m.Update(msg)
	}
}

var named = map[string]tea.KeyPressMsg{}

func init() {
	codes := map[string]rune{
		"left": tea.KeyLeft, "right": tea.KeyRight, "up": tea.KeyUp, "down": tea.KeyDown, "home": tea.KeyHome, "end": tea.KeyEnd,
		"backspace": tea.KeyBackspace, "delete": tea.KeyDelete, "tab": tea.KeyTab, "enter": tea.KeyEnter,
	}
	for r := rune('!'); r < 0x7f; r++ {
		codes[string(r)] = r
	}
	for name, code := range codes {
		if len(name) > 1 {
			named[name] = tea.KeyPressMsg{Code: code}
		}
		named["ctrl+"+name] = tea.KeyPressMsg{Code: code, Mod: tea.ModCtrl}
		named["alt+"+name] = tea.KeyPressMsg{Code: code, Mod: tea.ModAlt}
	}
}

// shown is the text with the caret as a bar.
func shown(m *Model) string {
	return m.buf.slice(pos{}, m.caret) + "|" + m.buf.slice(m.caret, m.buf.end())
}

func TestKeys(t *testing.T) {
	for _, tt := range []struct {
		name string
		keys []string
		want string
	}{
		{"type", []string{"hello"}, "hello|"},
		{"left by cluster", []string{"a👩‍🚀e\u0301", "left", "left"}, "a|👩‍🚀e\u0301"},
		{"backspace by cluster", []string{"a👩‍🚀", "backspace"}, "a|"},
		{"newline", []string{"a", "ctrl+j", "b", "home", "backspace"}, "a|b"},
		{"words", []string{"go test ./internal/tui", "alt+b", "alt+b", "ctrl+left"}, "go |test ./internal/tui"},
		{"word right", []string{"go test", "home", "alt+f"}, "go| test"},
		{"kill word to space", []string{"rm ./a/b", "ctrl+w"}, "rm |"},
		{"kill word", []string{"rm ./a/b", "alt+backspace"}, "rm ./a/|"},
		{"kill to end and yank", []string{"one two", "alt+b", "ctrl+k", "home", "ctrl+y"}, "two|one "},
		{"kills in a row are one", []string{"one two three", "alt+backspace", "alt+backspace", "ctrl+y"}, "one two three|"},
		{"kill at the end joins lines", []string{"a", "ctrl+j", "b", "up", "ctrl+k"}, "a|b"},
		{"kill to start", []string{"one two", "ctrl+u", "x", "ctrl+y"}, "xone two|"},
		{"yank older", []string{"a b", "ctrl+w", "left", "right", "ctrl+w", "ctrl+y", "alt+y"}, "b|"},
		{"undo a word", []string{"one two", "ctrl+_"}, "one |"},
		{"undo all, redo all", []string{"one two", "ctrl+_", "ctrl+_", "alt+_", "alt+_"}, "one two|"},
		{"undo a kill", []string{"one two", "ctrl+u", "ctrl+_"}, "one two|"},
		{"up keeps the column", []string{"abcdef", "ctrl+j", "x", "ctrl+j", "abcdef", "up", "up"}, "abcdef|\nx\nabcdef"},
		{"up over wide text", []string{"ab世界", "ctrl+j", "abc", "up"}, "ab世|界\nabc"},
		{"stash", []string{"later", "ctrl+s", "now", "ctrl+a", "ctrl+k", "ctrl+s"}, "later|"},
		{"delete right", []string{"ab", "home", "ctrl+d"}, "|b"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := New(Options{})
			m.SetSize(40, 5)
			press(t, m, tt.keys...)
			if got := shown(m); got != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}

func TestHistory(t *testing.T) {
	m := New(Options{})
	m.SetHistory([]string{"first", "second\nline"})
	press(t, m, "draft", "up")
	if got := shown(m); got != "second\nline|" {
		t.Fatalf("up shows %q", got)
	}
	press(t, m, "up", "up") // within the recalled text, then the one before
	if got := shown(m); got != "first|" {
		t.Fatalf("then %q", got)
	}
	press(t, m, "down", "down")
	if got := shown(m); got != "draft|" {
		t.Fatalf("down comes back to %q", got)
	}
	m.Clear()
	press(t, m, "up")
	if got := shown(m); got != "draft|" {
		t.Errorf("a cleared prompt is in the history; got %q", got)
	}
}

// Terminals may send a carriage return where a line ends.
func TestPasteWithCarriageReturns(t *testing.T) {
	m := New(Options{})
	m.SetSize(60, 5)
	m.Paste(strings.Repeat("a line\r", 40) + "the last")
	if got := ansi.Strip(m.View()); got != "› [Pasted #1 +41 lines]" {
		t.Errorf("drawn as %q", got)
	}
}

func TestPasteChip(t *testing.T) {
	long := strings.Repeat("a line of text\r\n", 31) + "the last"
	m := New(Options{})
	m.SetSize(60, 5)
	press(t, m, "see: ")
	m.Paste(long)
	press(t, m, " ok?")
	if got := ansi.Strip(m.View()); got != "› see: [Pasted #1 +32 lines] ok?" {
		t.Errorf("drawn as %q", got)
	}
	text, _ := m.Value()
	if want := "see: " + strings.ReplaceAll(long, "\r\n", "\n") + " ok?"; text != want {
		t.Errorf("sent as %q", text)
	}
	press(t, m, "left", "left", "left", "left", "backspace")
	if got := ansi.Strip(m.View()); got != "› see:  ok?" {
		t.Errorf("a chip goes as one; left %q", got)
	}
	press(t, m, "ctrl+_")
	if text, _ := m.Value(); !strings.Contains(text, "the last") {
		t.Error("undo brings the chip back")
	}
}

func TestSmallPasteIsText(t *testing.T) {
	m := New(Options{})
	m.Paste("a\r\nb\rc")
	if text, _ := m.Value(); text != "a\nb\nc" || strings.Contains(m.View(), "Pasted") {
		t.Errorf("pasted as %q", text)
	}
}

func TestImages(t *testing.T) {
	m := New(Options{})
	press(t, m, "what is ")
	m.PasteImage(llm.Image{Data: "AAAA", MIME: "image/png"})
	text, images := m.Value()
	if text != "what is [Image #1]" || len(images) != 1 || images[0].Data != "AAAA" {
		t.Errorf("sent %q with %v", text, images)
	}
	// A draft that comes back has its pictures where they were.
	n := New(Options{})
	n.PasteImage(llm.Image{Data: "BBBB"})
	n.SetValue(text+"?", images)
	if again, pics := n.Value(); again != "what is [Image #2]?" || len(pics) != 1 || pics[0].Data != "AAAA" {
		t.Errorf("came back as %q with %v", again, pics)
	}
}

func TestForeignChipRunes(t *testing.T) {
	m := New(Options{})
	in := "x\U00100000y"
	m.Paste(in)
	if text, images := m.Value(); text != in || images != nil {
		t.Errorf("%q came out as %q", in, text)
	}
}

func TestBackslashContinues(t *testing.T) {
	m := New(Options{})
	press(t, m, `one\`)
	if ok, _ := m.Continue(); !ok || shown(m) != "one\n|" {
		t.Errorf("got %q", shown(m))
	}
	if ok, _ := m.Continue(); ok {
		t.Error("nothing to continue")
	}
}

func TestVi(t *testing.T) {
	for _, tt := range []struct{ start, keys, want string }{
		{"one two", "x", "one t|w"},
		{"one two", "0x", "|ne two"},
		{"one two", "bD", "one| "},
		{"one two three", "0dw", "|two three"},
		{"one two three", "02dw", "|three"},
		{"one two three", "0wcwTWO", "one TWO| three"},
		{"one two three", "0de", "| two three"},
		{"one, two", "0dw", "|, two"},
		{"one two", "0db", "|one two"},
		{"one two", "b~", "one |two"},
		{"one two", "0rX", "|Xne two"},
		{"one two", "IX", "X|one two"},
		{"one two", "hAX", "one twoX|"},
		{"one\ntwo\nthree", "ggdd", "|two\nthree"},
		{"one\ntwo\nthree", "dd", "one\n|two"},
		{"one\ntwo\nthree", "gg2dd", "|three"},
		{"one\ntwo\nthree", "ggyyp", "one\n|one\ntwo\nthree"},
		{"one\ntwo\nthree", "ggddP", "|one\ntwo\nthree"},
		{"one\ntwo\nthree", "kdk", "|three"},
		{"one\ntwo", "kccX", "X|\ntwo"},
		{"one", "oX", "one\nX|"},
		{"one", "OX", "X|\none"},
		{"one two", "bDu", "one |two"},
		{"世界 x", "0x", "|界 x"},
		{"ab", "0xp", "b|a"},
		{"", "xdwhp", "|"},
	} {
		m := New(Options{Vi: true})
		m.SetSize(40, 5)
		m.Paste(tt.start)
		if !m.Escape() || !m.Normal() {
			t.Fatal("Escape leads to commands")
		}
		press(t, m, tt.keys)
		if got := shown(m); got != tt.want {
			t.Errorf("%q, %s: %q, want %q", tt.start, tt.keys, got, tt.want)
		}
	}
}

func TestClick(t *testing.T) {
	m := New(Options{})
	m.SetSize(12, 5)
	press(t, m, "one two three", "ctrl+j", "世界")
	for _, tt := range []struct {
		x, y int
		want string
	}{
		{3, 0, "o|ne two three\n世界"},
		{2, 1, "one two |three\n世界"},
		{99, 0, "one two| three\n世界"},
		{4, 2, "one two three\n世|界"},
		{0, 9, "one two three\n|世界"},
	} {
		m.Click(tt.x, tt.y)
		if got := shown(m); got != tt.want {
			t.Errorf("a click at %d,%d: %q, want %q", tt.x, tt.y, got, tt.want)
		}
	}
}

func slash(names ...string) Source {
	return Source{
		Match: func(line int, before string) (int, bool) {
			return 0, line == 0 && strings.HasPrefix(before, "/") && !strings.Contains(before, " ")
		},
		List: func(query string) []Candidate {
			var cs []Candidate
			for _, n := range names {
				if strings.HasPrefix(n, query) {
					cs = append(cs, Candidate{Text: n, Detail: "does " + n, Done: true})
				}
			}
			return cs
		},
	}
}

func TestCompletion(t *testing.T) {
	m := New(Options{Sources: []Source{slash("/help", "/history", "/new")}})
	m.SetSize(40, 5)
	press(t, m, "/h")
	if n := len(m.Popup(10)); n != 2 {
		t.Fatalf("%d completions of /h", n)
	}
	press(t, m, "down")
	if !m.Accept() || shown(m) != "/history|" || m.Completing() {
		t.Errorf("accepted %q", shown(m))
	}
	press(t, m, "ctrl+u", "/h")
	if !m.Dismiss() || m.Completing() {
		t.Error("closed by hand")
	}
	press(t, m, "e")
	if m.Completing() {
		t.Error("stays closed while the same word is written")
	}
	press(t, m, "ctrl+u", "/n")
	if !m.Completing() {
		t.Error("opens again for the next word")
	}
}

func TestSlowCompletionIgnoresLateAnswers(t *testing.T) {
	s := Source{
		Match: func(_ int, before string) (int, bool) { i := strings.IndexByte(before, '@'); return i + 1, i >= 0 },
		Ask: func(q string) func() []Candidate {
			return func() []Candidate { return []Candidate{{Text: q + ".go"}} }
		},
	}
	m := New(Options{Sources: []Source{s}})
	_, first := m.Update(tea.KeyPressMsg{Code: '@', Text: "@"})
	_, second := m.Update(tea.KeyPressMsg{Code: 'a', Text: "a"})
	m.Update(second())
	m.Update(first())
	if !m.Completing() || m.pop.items[0].Text != "a.go" {
		t.Errorf("items %v", m.pop.items)
	}
}

var texts = rapid.OneOf(
	rapid.SampledFrom([]string{"a", "word ", " ", "世界", "é", "e\u0301", "👩‍🚀", "🇩🇪", "\t", "\n", "\x1b[31m", "\u202e", "\x00", "long-unbroken-text-without-spaces"}),
	rapid.StringN(0, 8, 32),
)

// Whatever is done, what is drawn fits, the caret is on a cluster's edge and in
// sight, and undoing everything gives back the beginning.
func TestRandomKeys(t *testing.T) {
	keys := []string{"left", "right", "up", "down", "home", "end", "backspace", "delete", "ctrl+w", "ctrl+k", "ctrl+u", "ctrl+y", "alt+y", "alt+b", "alt+f", "alt+d", "ctrl+_", "alt+_", "ctrl+j", "ctrl+s"}
	rapid.Check(t, func(rt *rapid.T) {
		m := New(Options{Vi: rapid.Bool().Draw(rt, "vi")})
		w, h := rapid.IntRange(8, 40).Draw(rt, "w"), rapid.IntRange(1, 6).Draw(rt, "h")
		m.SetSize(w, h)
		for range rapid.IntRange(0, 60).Draw(rt, "steps") {
			switch rapid.IntRange(0, 7).Draw(rt, "kind") {
			case 0:
				m.Insert(texts.Draw(rt, "text"))
			case 1:
				m.Paste(texts.Draw(rt, "paste"))
			case 2:
				m.Click(rapid.IntRange(0, 40).Draw(rt, "x"), rapid.IntRange(0, 6).Draw(rt, "y"))
			case 3:
				m.Escape()
				press(t, m, rapid.StringMatching(`[hlwbe0$jkGgdcyxsDCSpPuiaIAoOr2]{0,6}`).Draw(rt, "vi"))
			case 4:
				m.SetSize(rapid.IntRange(8, 40).Draw(rt, "w"), h)
			default:
				press(t, m, rapid.SampledFrom(keys).Draw(rt, "key"))
			}
			check(rt, m)
		}
		text := m.buf.text()
		undone := 0
		for ; len(m.undo.done) > 0; undone++ {
			m.Undo()
		}
		if !m.Empty() {
			rt.Fatalf("undone to %q", m.buf.text())
		}
		for range undone {
			m.Redo()
		}
		if got := m.buf.text(); got != text {
			rt.Fatalf("redone to %q, was %q", got, text)
		}
	})
}

func check(t *rapid.T, m *Model) {
	view := m.View()
	lines := strings.Split(view, "\n")
	if len(lines) != m.Height() || m.Height() > m.limit {
		t.Fatalf("%d lines, height %d, limit %d", len(lines), m.Height(), m.limit)
	}
	for _, l := range lines {
		if w := ansi.StringWidth(l); w > m.width {
			t.Fatalf("line %q is %d cells wide of %d", l, w, m.width)
		}
	}
	if m.View() != view {
		t.Fatal("drawn twice, drawn differently")
	}
	x, y := m.Cursor()
	if y >= m.Height() || x >= m.width || x < promptCells {
		t.Fatalf("caret at %d,%d of %dx%d", x, y, m.width, m.Height())
	}
	text := m.line()
	at := 0
	for at < m.caret.col {
		at += len(cluster(text[at:]))
	}
	if at != m.caret.col {
		t.Fatalf("caret within a cluster: %d in %q", m.caret.col, text)
	}
}

// Rows put together are the line, none is too wide, and only one that cannot be
// broken is empty or alone.
func FuzzWrap(f *testing.F) {
	f.Add("hello world 世界 👩‍🚀 and more", 10)
	f.Add("aaaaaaaaa世 b", 10)
	f.Fuzz(func(t *testing.T, s string, width int) {
		m := New(Options{})
		s = m.admit(strings.ReplaceAll(s, "\n", " "))
		width = max(4, min(200, width))
		rows := m.wrap(s, width)
		for r := range rows {
			row := rowText(s, rows, r)
			if m.cells(row) > width && len(cluster(row)) != len(row) {
				t.Errorf("row %q is wider than %d", row, width)
			}
			if row == "" && s != "" {
				t.Errorf("empty row in %q", s)
			}
		}
	})
}

func BenchmarkKey(b *testing.B) {
	for _, lines := range []int{1, 100, 10_000} {
		b.Run(fmt.Sprint(lines), func(b *testing.B) {
			m := New(Options{})
			m.SetSize(120, 20)
			m.SetValue(strings.Repeat("a line of a long prompt that somebody wrote by hand\n", lines), nil)
			for i := range lines / 2 {
				_ = i
				m.vertical(-1)
			}
			for b.Loop() {
				press(b, m, "x", "backspace")
				_ = m.View()
			}
		})
	}
}
