package markdown

import (
	"os"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"

	"banyan/internal/tui/inert"
	"banyan/internal/tui/rich"
	"banyan/internal/tui/theme"
)

var dark = theme.Must("dark", theme.TrueColor)

// draw is a text drawn without styles, blanks at line ends cut off.
func draw(src string, width int) string { return strip(Render(src, width, dark)) }

func strip(lines []string) string {
	plain := make([]string, len(lines))
	for i, l := range lines {
		plain[i] = strings.TrimRight(ansi.Strip(l), " ")
	}
	return strings.Join(plain, "\n")
}

func TestBlocks(t *testing.T) {
	tests := []struct {
		name, src string
		width     int
		want      string
	}{
		{"paragraphs", "one *two* **three** `four`\nfive\n\nsix", 40, "one two three four\nfive\n\nsix"},
		{"wrap", "the quick brown fox jumps", 10, "the quick\nbrown fox\njumps"},
		{"long word", "abcdefghijkl", 5, "abcde\nfghij\nkl"},
		{"heading", "# Title\ntext\n## Sub", 40, "Title\n\ntext\n\nSub"},
		{"list", "- a\n- b\n  - c\n    d\n- e", 40, "• a\n• b\n  ◦ c\n    d\n• e"},
		{"loose list", "- a\n\n- b", 40, "• a\n\n• b"},
		{"numbers", "9. a\n10. b", 40, " 9. a\n10. b"},
		{"tasks", "- [ ] a\n- [x] b", 40, "[ ] a\n[✓] b"},
		{"item wraps", "- aaa bbb ccc ddd", 9, "• aaa bbb\n  ccc ddd"},
		{"empty item", "- \n- b", 40, "•\n• b"},
		{"quote", "> a\n> b\n>\n> > c", 40, "│ a\n│ b\n│\n│ │ c"},
		{"list in quote", "> - a\n>\n> - b", 40, "│ • a\n│\n│ • b"},
		{"code", "```go\nfunc f() {\n\treturn\n}\n```", 40, "  func f() {\n      return\n  }"},
		{"code wraps anywhere", "```\nabc def ghi jkl mno pqr\n```", 14, "  abc def ghi\n  jkl mno pqr"},
		{"long code hangs", "```\n  aaaa bbbb cccc dddd eeee ffff\n```", 24, "    aaaa bbbb cccc\n      dddd eeee ffff"},
		{"prose has its measure, code has not", strings.Repeat("word ", 22) + "\n\n    " + strings.Repeat("x", 110), 120, strings.TrimSpace(strings.Repeat("word ", 20)) + "\nword word\n\n  " + strings.Repeat("x", 110)},
		{"code in list", "1. a\n   ```sh\n   ls\n   ```", 40, "1. a\n     ls"},
		{"empty code", "```\n```", 40, ""},
		{"rule", "a\n\n---\n\nb", 9, "a\n\n─────────\n\nb"},
		{"link", "[text](https://a.org/x) <https://b.org> https://c.org", 80, "text (https://a.org/x) https://b.org https://c.org"},
		{"link is its text", "[https://a.org](https://a.org)", 80, "https://a.org"},
		{"file link", "[main](cmd/main.go:12)", 80, "main (cmd/main.go:12)"},
		{"reference", "[x][r]\n\n[r]: https://a.org", 80, "x (https://a.org)"},
		{"image", "![alt](a.png)", 80, "▣ alt (a.png)"},
		{"html", "<details>\n<b>x</b>\n</details>\n\na<br>b <i>c</i>", 80, "<details>\n<b>x</b>\n</details>\n\na\nb <i>c</i>"},
		{"escapes", `\*a\* &amp; &lt;b&gt; \d & &nope;`, 80, `*a* & <b> \d & &nope;`},
		{"struck", "~~a~~", 80, "a"},
		{"table", "|a|b|\n|-|-:|\n|one|2|\n|three|44|", 40, "a     │  b\n──────┼───\none   │  2\nthree │ 44"},
		{"wide table", "|a|b|\n|-|-|\n|one two three|four five six|", 17, "a       │ b\n────────┼────────\none two │ four\nthree   │ five\n        │ six"},
		{"CJK table", "|名前|b|\n|-|-|\n|日本語|x|", 40, "名前   │ b\n───────┼──\n日本語 │ x"},
		{"too narrow table", "|a|b|c|\n|-|-|-|\n|one|two|three|\n|1|2|3|", 12, "a: one\nb: two\nc: three\n\na: 1\nb: 2\nc: 3"},
		{"CJK wraps between characters", "日本語のテキスト。", 8, "日本語の\nテキス\nト。"},
		{"deep nesting stays on the screen", strings.Repeat("> ", 40) + "x", 20, strings.Repeat("│ ", 7) + "x"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := draw(tt.src, tt.width); got != tt.want {
				t.Errorf("got:\n%s\nwant:\n%s", got, tt.want)
			}
		})
	}
}

// Nothing in a text reaches the terminal as a control, by whatever road.
func TestInert(t *testing.T) {
	for _, src := range []string{
		"a\x1b[2Jb", "`\x1b]0;x\a`", "&#27;[2J &#x202e; &#155;", "[a](https://x/\x1b]8;;)", "[a](https://x/&#27;)",
		"<https://a.org/\u202e>", "![\x1b](\x1b)", "```\x1b\n\x1b\n```", "|\x1b|\n|-|\n|&#7;|", "<b\x1b>", "# \u009b31m",
		"[a](javascript:alert(1))", "[a](file:///etc/passwd)", "[a](https://a.org/%0a%1b)",
	} {
		for _, line := range Render(src, 60, dark) {
			rest := line
			for _, known := range []string{"\x1b[", "\x1b]8;;https://", "\x1b]8;;\a"} {
				rest = strings.ReplaceAll(rest, known, "")
			}
			rest = strings.ReplaceAll(rest, "\a", "")
			if rest != inert.Text(rest) {
				t.Errorf("%q gives %q", src, line)
			}
			if strings.Contains(line, "]8;;javascript") || strings.Contains(line, "]8;;file") {
				t.Errorf("%q gives a link to what is not the web: %q", src, line)
			}
		}
	}
}

// A text that is made to keep the parser busy is shown as it is.
func TestHostile(t *testing.T) {
	src := strings.Repeat("[a](", 10_000)
	if got := draw(src, 100_000); got != "  "+src {
		t.Errorf("got %.80q", got)
	}
	if links := strings.Repeat("[a](b) ", 10_000); hostile(links) {
		t.Error("many links are taken for one")
	}
}

// words are pieces that Markdown is made of, for texts that are nearly Markdown.
var words = []string{
	"a", "word ", "日本", "👩‍💻", " ", "\n", "\n\n", "\t", "- ", "1. ", "2", ". ", "> ", "# ", "```go\n", "```\n", "func f() {\n", "~~~\n",
	"|a|b|\n", "|-|-|\n", "*", "**", "`", "_", "[x](https://a.org)", "<br>", "<div>\n", "---\n", "===\n", "    ", "&amp;", "\\*", "\x1b[31m", "\r\n", "/* ", "\"", "- [x] ",
}

func markup(t *rapid.T) string {
	return strings.Join(rapid.SliceOf(rapid.SampledFrom(words)).Draw(t, "src"), "")
}

// Every row fits, and its marks lead to bytes of the source that are there.
func TestRowsFit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		src := inert.Text(markup(t))
		width := rapid.IntRange(1, 50).Draw(t, "width")
		for i, r := range Rows(src, width, dark) {
			if w := ansi.StringWidth(r.Text); w != r.Width || w > width {
				t.Fatalf("row %d is %d cells, says %d, of %d: %q", i, w, r.Width, width, r.Text)
			}
			for _, m := range r.Marks {
				if m.Src < 0 || int(m.Src+m.N) > len(src) || m.Col < 0 || int(m.Col+m.Width) > r.Width {
					t.Fatalf("row %d: mark %+v leads nowhere in %d bytes", i, m, len(src))
				}
			}
		}
	})
}

// A stream shows at any moment what the whole would show, and at its end it is
// the same to the last style.
func TestStreamIsRender(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := NewStream(dark)
		width := rapid.IntRange(8, 50).Draw(t, "width")
		var all strings.Builder
		for _, delta := range rapid.SliceOf(rapid.SampledFrom(words)).Draw(t, "deltas") {
			all.WriteString(delta)
			s.Append(delta)
			if rapid.IntRange(0, 3).Draw(t, "look") > 0 {
				continue
			}
			if rapid.IntRange(0, 9).Draw(t, "resize") == 0 {
				width = rapid.IntRange(8, 50).Draw(t, "width")
			}
			if got, want := strip(s.Lines(width)), draw(all.String(), width); got != want {
				t.Fatalf("after %q got:\n%s\nwant:\n%s", all.String(), got, want)
			}
			wantMarks(t, s, width)
		}
		got, want := texts(s.Finish(width)), Render(all.String(), width, dark)
		if strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Fatalf("finished:\n%q\nwant:\n%q", got, want)
		}
	})
}

// wantMarks checks that a stream's marks are those of its whole source.
func wantMarks(t *rapid.T, s *Stream, width int) {
	t.Helper()
	src := s.Source()
	if src != inert.Text(s.Raw()) {
		t.Fatalf("source is %q, want %q", src, inert.Text(s.Raw()))
	}
	want := Rows(src, width, dark)
	for i, r := range s.Rows(width) {
		for col := range r.Width {
			a, _ := r.Offset(src, col, false)
			b, _ := want[i].Offset(src, col, false)
			if a != b {
				t.Fatalf("row %d, cell %d leads to byte %d, want %d", i, col, a, b)
			}
		}
	}
}

// Closed rows are the same rows from one look to the next.
func TestClosedRowsStay(t *testing.T) {
	s := NewStream(dark)
	var before []rich.Row
	for _, delta := range strings.SplitAfter(sample(t), " ") {
		s.Append(delta)
		closed, _ := s.Parts(80)
		for i, r := range before {
			if closed[i].Text != r.Text {
				t.Fatalf("closed row %d changes from %q to %q", i, r.Text, closed[i].Text)
			}
		}
		before = closed
	}
	if len(before) < 100 {
		t.Errorf("only %d rows are closed in the end", len(before))
	}
}

func sample(t testing.TB) string {
	t.Helper()
	data, err := os.ReadFile("testdata/answer.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// BenchmarkStream draws 20 KB that come in pieces of 20 bytes, each piece drawn.
func BenchmarkStream(b *testing.B) {
	src := sample(b)
	src = strings.Repeat(src, 20_000/len(src)+1)[:20_000]
	b.ReportAllocs()
	for b.Loop() {
		s := NewStream(dark)
		for i := 0; i < len(src); i += 20 {
			s.Append(src[i:min(i+20, len(src))])
			s.Parts(100)
		}
		s.Finish(100)
	}
}

func BenchmarkRender(b *testing.B) {
	src := inert.Text(sample(b))
	b.SetBytes(int64(len(src)))
	for b.Loop() {
		Rows(src, 100, dark)
	}
}
