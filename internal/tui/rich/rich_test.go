package rich

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"

	"banyan/internal/tui/theme"
)

var bold = theme.Style{Attr: theme.Bold}

func lineTexts(lines [][]Span) []string {
	out := make([]string, len(lines))
	for i, l := range lines {
		for _, s := range l {
			out[i] += s.Text
		}
	}
	return out
}

func TestWrapTo(t *testing.T) {
	for rows, want := range map[int]string{1: "one…", 2: "one|two…", 3: "one|two|three", 4: "one|two|three"} {
		if got := strings.Join(lineTexts(WrapTo([]Span{Chrome("one two three", bold)}, 5, rows)), "|"); got != want {
			t.Errorf("%d rows: %q, want %q", rows, got, want)
		}
	}
}

func TestWrap(t *testing.T) {
	tests := []struct {
		text  string
		width int
		want  string
	}{
		{"", 5, ""},
		{"one two", 7, "one two"},
		{"one two", 6, "one|two"},
		{"one  two", 3, "one|two"},
		{"abcdef", 4, "abcd|ef"},
		{"a abcdef", 4, "a|abcd|ef"},
		{"/usr/share/doc", 8, "/usr/|share/|doc"},
		{"well-known word", 8, "well-|known|word"},
		{"日本語", 5, "日本|語"},
		{"日本。語", 5, "日|本。|語"},
		{"ab日本", 3, "ab|日|本"},
		{"日", 1, "…"},
		{"👩‍💻👩‍💻", 3, "👩‍💻|👩‍💻"},
		{"  two", 4, "two"},
		{" two", 4, " two"},
	}
	for _, tt := range tests {
		got := strings.Join(lineTexts(Wrap([]Span{Verbatim(tt.text, bold, 0)}, tt.width)), "|")
		if got != tt.want {
			t.Errorf("%q in %d: got %q, want %q", tt.text, tt.width, got, tt.want)
		}
	}
}

func TestTruncate(t *testing.T) {
	for _, tt := range []struct {
		text  string
		width int
		want  string
	}{{"abc", 3, "abc"}, {"abcd", 3, "ab…"}, {"日本", 3, "日…"}, {"日本", 2, "…"}, {"a", 0, ""}} {
		if got := strings.Join(lineTexts([][]Span{Truncate([]Span{Verbatim(tt.text, bold, 0)}, tt.width)}), ""); got != tt.want {
			t.Errorf("%q in %d: got %q, want %q", tt.text, tt.width, got, tt.want)
		}
		if got := TruncateText(tt.text, tt.width); got != tt.want {
			t.Errorf("text %q in %d: got %q, want %q", tt.text, tt.width, got, tt.want)
		}
	}
}

func TestTabs(t *testing.T) {
	got := lineTexts(Source("a\tb\n\tc\n日\td", bold, 0))
	if want := []string{"a   b", "    c", "日  d"}; strings.Join(got, "|") != strings.Join(want, "|") {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := lineTexts(Output("a\tb", bold, 0)); got[0] != "a       b" {
		t.Errorf("output: %q", got)
	}
}

// source draws texts of several styles, wrapped in one of the ways.
func source(t *rapid.T) (string, []Row) {
	src := rapid.StringOf(rapid.SampledFrom([]rune("ab -/日。é\t👍\u0301"))).Draw(t, "src")
	cut := 0
	if len(src) > 0 {
		cut = rapid.IntRange(0, len([]rune(src))).Draw(t, "cut")
	}
	cut = len(string([]rune(src)[:cut]))
	line := Tabs(nil, src[:cut], bold, 0)
	line = Tabs(line, src[cut:], theme.Style{}, cut)
	width := rapid.IntRange(2, 20).Draw(t, "width")
	wrap := Wrap
	if rapid.Bool().Draw(t, "hard") {
		wrap = Hard
	}
	var rows []Row
	for _, l := range wrap(line, width) {
		r := Draw(l)
		if r.Width > width || ansi.StringWidth(r.Text) != r.Width {
			t.Fatalf("row of %d cells, says %d, of %d: %q", ansi.StringWidth(r.Text), r.Width, width, r.Text)
		}
		rows = append(rows, r)
	}
	return src, rows
}

// The marks of all rows, one after the other, cover the source from its first
// byte to its last, but for the blanks where lines were broken.
func TestMarksCoverTheSource(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		src, rows := source(t)
		at := int32(0)
		for _, r := range rows {
			col := int32(0)
			for _, m := range r.Marks {
				if m.Src < at || strings.TrimSpace(src[at:m.Src]) != "" {
					t.Fatalf("mark %+v after byte %d of %q", m, at, src)
				}
				if m.Col < col {
					t.Fatalf("mark %+v stands before cell %d", m, col)
				}
				at, col = m.Src+m.N, m.Col+m.Width
			}
		}
		if strings.TrimSpace(src[at:]) != "" {
			t.Fatalf("%q of %q is drawn nowhere", src[at:], src)
		}
	})
}

// What is selected from the first cell of a row to the last is drawn over just
// those cells, and nothing of the row moves.
func TestOffsetAndColumns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		src, rows := source(t)
		for _, r := range rows {
			if len(r.Marks) == 0 {
				continue
			}
			col := rapid.IntRange(0, max(r.Width-1, 0)).Draw(t, "col")
			lo, ok := r.Offset(src, col, false)
			hi, _ := r.Offset(src, col, true)
			if !ok || lo > hi || hi > len(src) {
				t.Fatalf("cell %d leads to %d..%d of %d bytes", col, lo, hi, len(src))
			}
			if lo == hi {
				continue // the rest of a tab that was cut: it stands for nothing
			}
			a, b := r.Columns(src, lo, hi)
			if a > col || b <= col {
				t.Fatalf("cell %d stands for %d..%d, which stand in cells %d..%d of %q", col, lo, hi, a, b, r.Text)
			}
			painted := r.Paint(a, b, theme.Style{Attr: theme.Reverse})
			if ansi.Strip(painted) != ansi.Strip(r.Text) {
				t.Fatalf("painting %q gives %q", r.Text, painted)
			}
		}
	})
}

func TestDrawChangesStyleOnlyWhereItChanges(t *testing.T) {
	r := Draw([]Span{Verbatim("a", bold, 0), Verbatim("b", bold, 1), Chrome("c", theme.Style{}), {Text: "d", Link: "https://a.org"}})
	if want := "\x1b[1mab\x1b[mc\x1b]8;;https://a.org\ad\x1b]8;;\a"; r.Text != want {
		t.Errorf("got %q, want %q", r.Text, want)
	}
	if len(r.Marks) != 1 || r.Marks[0] != (Mark{0, 2, 0, 2}) {
		t.Errorf("marks %v", r.Marks)
	}
}
