package rule

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"banyan/internal/llm"
)

func mustRule(t testing.TB, name string, patterns []string, scope ...string) *Rule {
	t.Helper()
	r, err := New(name, "do it otherwise", patterns, scope)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestBadRules(t *testing.T) {
	for _, c := range []struct {
		patterns, scope []string
		text, want      string
	}{
		{nil, nil, "x", "no condition"},
		{[]string{"a"}, nil, " \n", "no text"},
		{[]string{"a("}, nil, "x", `condition "a(" is no regular expression`},
		{[]string{"(?=a)"}, nil, "x", "RE2"},
		{[]string{"a*"}, nil, "x", "met by nothing at all"},
		{make([]string, 65), nil, "x", "more than 64"},
		{[]string{"a"}, []string{"everywhere"}, "x", `scope "everywhere" is not known`},
		{[]string{"a"}, []string{"tool:"}, "x", `scope "tool:" is not known`},
		{[]string{"a"}, []string{"tool:edit(*.go"}, "x", "no pattern of paths"},
		{[]string{"a"}, []string{"tool:edit([)"}, "x", "syntax error"},
	} {
		if _, err := New("r", c.text, c.patterns, c.scope); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v %v: %v", c.patterns, c.scope, err)
		}
	}
}

// answer is a whole answer as events, its texts cut into pieces of at most n bytes.
func answer(n int, blocks ...llm.Block) []llm.Event {
	var all []llm.Event
	for i, b := range blocks {
		switch b := b.(type) {
		case llm.Text:
			for _, p := range pieces(b.Text, n) {
				all = append(all, llm.TextDelta{Block: i, Text: p})
			}
		case llm.Thinking:
			for _, p := range pieces(b.Text, n) {
				all = append(all, llm.ThinkingDelta{Block: i, Text: p})
			}
		case llm.ToolCall:
			all = append(all, llm.CallDelta{Block: i, ID: b.ID, Name: b.Name})
			for _, p := range pieces(string(b.Arguments), n) {
				all = append(all, llm.CallDelta{Block: i, Arguments: p})
			}
			all = append(all, llm.CallDone{Block: i})
		}
	}
	return append(all, llm.Done{Reason: llm.StopEnd})
}

func pieces(text string, n int) (all []string) {
	for len(text) > n {
		cut := n
		all, text = append(all, text[:cut]), text[cut:]
	}
	return append(all, text)
}

// met is the rule that an answer meets, by name, and how many events it took.
func met(rules []*Rule, events []llm.Event) (string, int) {
	w := NewWatch(rules, nil)
	for i, ev := range events {
		if r := w.Feed(ev); r != nil {
			return r.Name, i + 1
		}
	}
	return "", len(events)
}

func edit(path, content string) llm.ToolCall {
	args, _ := json.Marshal(map[string]string{"path": path, "new_string": content})
	return llm.ToolCall{ID: "1", Name: "edit", Arguments: args}
}

func TestScopes(t *testing.T) {
	for _, c := range []struct {
		scope []string
		block llm.Block
		want  bool
	}{
		{nil, llm.Text{Text: "I will panic now"}, true},
		{nil, llm.Thinking{Text: "I will panic now"}, false},
		{nil, edit("a.go", "panic(1)"), true},
		{[]string{"thinking"}, llm.Thinking{Text: "I will panic now"}, true},
		{[]string{"text"}, edit("a.go", "panic(1)"), false},
		{[]string{"tool:edit"}, edit("a.go", "panic(1)"), true},
		{[]string{"tool:Edit"}, edit("a.go", "panic(1)"), true},
		{[]string{"tool:write"}, edit("a.go", "panic(1)"), false},
		{[]string{"tool:edit(*.go)"}, edit("/p/cmd/a.go", "panic(1)"), true},
		{[]string{"tool:edit(*.go)"}, edit("a.md", "panic(1)"), false},
		{[]string{"tool:edit(*.{ts,go})"}, edit("a.go", "panic(1)"), true},
		{[]string{"tool:edit(cmd/**/*.go)"}, edit("cmd/x/y/a.go", "panic(1)"), true},
		{[]string{"tool:edit(cmd/**/*.go)"}, edit("/p/cmd/a.go", "panic(1)"), true},
		{[]string{"tool:edit(cmd/*.go)"}, edit("cmd/x/a.go", "panic(1)"), false},
		{[]string{"tool:edit(*.md)", "tool:edit(*.go)"}, edit("a.go", "panic(1)"), true},
		// The path may come after the text.
		{[]string{"tool:edit(*.go)"}, llm.ToolCall{Name: "edit", Arguments: []byte(`{"new_string":"panic(1)","path":"a.go"}`)}, true},
		{[]string{"tool:edit(*.go)"}, llm.ToolCall{Name: "edit", Arguments: []byte(`{"new_string":"panic(1)","path":"a.md"}`)}, false},
		{[]string{"tool:edit(*.go)"}, llm.ToolCall{Name: "edit", Arguments: []byte(`{"new_string":"panic(1)"}`)}, false},
	} {
		r := mustRule(t, "no-panic", []string{"will panic", `panic\(`}, c.scope...)
		for _, n := range []int{1, 7, 1000} {
			if got, _ := met([]*Rule{r}, answer(n, c.block)); (got != "") != c.want {
				t.Errorf("%v, in pieces of %d: %+v is met: %v", c.scope, n, c.block, got != "")
			}
		}
	}
}

func TestPatternsSeeContentsAsTheyWillBe(t *testing.T) {
	for _, c := range []struct {
		pattern, content string
		want             bool
	}{
		{`"types"\s*:\s*\[`, `{"types": ["node"]}`, true},
		{`(?m)^import`, "package x\nimport y", true},
		{`(?m)^import`, "package x // import y", false},
		{"\tx", "a\tx", true},
		{"ä😀", "ä😀", true},
		{`C:\\x`, `C:\x`, true},
		{`^\{`, "x", true}, // the beginning of the block
		{`\}$`, "x", true}, // and its end
		{`^x`, "x", false},
	} {
		r := mustRule(t, "r", []string{c.pattern})
		args, _ := json.Marshal(map[string]string{"content": c.content})
		escaped := strings.NewReplacer("ä", `\u00e4`, "😀", `\ud83d\ude00`).Replace(string(args))
		for _, raw := range []string{string(args), escaped} {
			for _, n := range []int{1, 3, 1000} {
				if got, _ := met([]*Rule{r}, answer(n, llm.ToolCall{Name: "write", Arguments: []byte(raw)})); (got != "") != c.want {
					t.Errorf("%s in %s, pieces of %d: %v", c.pattern, raw, n, got != "")
				}
			}
		}
	}
}

// In pieces a pattern is met where it is met in the whole, and nowhere else.
func TestPiecesAreAsTheWhole(t *testing.T) {
	patterns := []string{
		`\bcat\b`, `(?m)^ab`, `(?m)cd$`, `x{3,40}y`, `a\s+b`, `^word`, `word$`, `(?i)CAT`, `(?s)BEGIN.{0,900}END`, `ö+`, `\Bat`, "d c", `concat|category`, `(xx|END)+y?`, `c(a|o)t`,
	}
	words := []string{"cat", "concat", "category", "ab", "cd", "\n", " ", "\t", "xxxy", "xxxxxxxxxxxxxxxxxxy", "a  b", "word", "BEGIN", "END", "öö", "long" + strings.Repeat("-", 700), "\n\n", "Cat", "z", "q"}
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range 3000 {
		p := patterns[rng.IntN(len(patterns))]
		var b strings.Builder
		for range rng.IntN(60) {
			b.WriteString(words[rng.IntN(len(words))])
			if rng.IntN(3) > 0 {
				b.WriteString([]string{" ", "\n", ""}[rng.IntN(3)])
			}
		}
		whole := b.String()
		r := mustRule(t, "r", []string{p})
		got, _ := met([]*Rule{r}, answer(1+rng.IntN(900), llm.Text{Text: whole}))
		if want := regexp.MustCompile(p).MatchString(whole); (got != "") != want {
			t.Fatalf("%d: %s in %q: in pieces %v, in the whole %v", i, p, whole, got != "", want)
		}
	}
}

// A rule is met soon after its words, not at the answer's end.
func TestMetWhileItIsWritten(t *testing.T) {
	r := mustRule(t, "r", []string{"forbidden"})
	long := strings.Repeat("some words that are fine\n", 20) + "forbidden " + strings.Repeat("and many more words that nobody needs ", 2000)
	events := answer(20, llm.Text{Text: long})
	if _, n := met([]*Rule{r}, events); n > 60 {
		t.Errorf("it took %d of %d events", n, len(events))
	}
}

func TestWhatBeginsAnewIsWatchedAnew(t *testing.T) {
	r := mustRule(t, "r", []string{"ab"})
	w := NewWatch([]*Rule{r}, nil)
	for _, ev := range []llm.Event{llm.TextDelta{Text: "a"}, llm.Retry{}, llm.TextDelta{Text: "b"}, llm.Done{}} {
		if w.Feed(ev) != nil {
			t.Errorf("met at %+v", ev)
		}
	}
	if NewWatch([]*Rule{r}, []string{"r"}).Feed(llm.TextDelta{Text: strings.Repeat("ab\n", 200)}) != nil {
		t.Error("a rule that is left out is met")
	}
}

func BenchmarkFeed(b *testing.B) {
	text := strings.Repeat("The quick brown fox jumps over the lazy dog, and func main() { return } is code.\n", 1300) // 105 KB
	events := answer(12, llm.Text{Text: text})
	for _, n := range []int{0, 1, 10} {
		var rules []*Rule
		for i := range n {
			r, err := New(fmt.Sprint(i), "x", []string{fmt.Sprintf(`\bpanic%d\s*\(`, i), fmt.Sprintf(`TODO\(%d\)|FIXME%d`, i, i)}, nil)
			if err != nil {
				b.Fatal(err)
			}
			rules = append(rules, r)
		}
		b.Run(fmt.Sprintf("%d-rules", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if name, _ := met(rules, events); name != "" {
					b.Fatal(name)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(events)), "ns/delta")
		})
	}
}
