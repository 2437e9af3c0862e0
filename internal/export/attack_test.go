package export

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"golang.org/x/net/html"

	"banyan/internal/llm"
	"banyan/internal/session"
	"banyan/internal/tool"
	"banyan/internal/tui/inert/inerttest"
)

// attacks are what is known to be done to pages and to terminals.
var attacks = append([]string{
	"<script>alert(1)</script>", "<SCRIPT SRC=//x.example/a.js></SCRIPT>", "</script><script>alert(1)</script>", "</style><script>alert(1)</script>",
	"<img src=x onerror=alert(1)>", "<svg onload=alert(1)>", "<svg><script>alert(1)</script></svg>", "<body onload=alert(1)>", "<iframe src=javascript:alert(1)>",
	"<a href=\"javascript:alert(1)\">x</a>", "[x](javascript:alert(1))", "[x](JaVaScRiPt:alert(1))", "[x](java\tscript:alert(1))", "[x](&#106;avascript:alert(1))",
	"[x](vbscript:msgbox(1))", "[x](data:text/html,<script>alert(1)</script>)", "[x](data:text/html;base64,PHNjcmlwdD4=)", "[x](file:///etc/passwd)", "[x](//x.example)",
	"<javascript:alert(1)>", "![x](javascript:alert(1))", "![x](https://x.example/track.png)", "![x](x\" onerror=\"alert(1))", "[x](https://x.example/\" onmouseover=\"alert(1))",
	"[x](https://x.example 'a\" onclick=\"alert(1)')", "[a]: javascript:alert(1)\n\n[a]", "\"><script>alert(1)</script>", "' onmouseover='alert(1)", "\" onfocus=alert(1) autofocus x=\"",
	"<!-- --><script>alert(1)</script>", "<![CDATA[<script>alert(1)</script>]]>", "<math><mi//xlink:href=\"data:x,<script>alert(1)</script>\">", "<base href=//x.example/>",
	"<meta http-equiv=refresh content=\"0;url=//x.example\">", "<link rel=stylesheet href=//x.example/a.css>", "<form action=//x.example><input name=a>", "<style>*{background:url(//x.example)}</style>",
	"<template><script>alert(1)</script></template>", "<noscript><p title=\"</noscript><img src=x onerror=alert(1)>\">", "<textarea></textarea><script>alert(1)</script>", "<title></title><script>alert(1)</script>",
	"<object data=//x.example>", "<embed src=//x.example>", "<details open ontoggle=alert(1)>", "<section data-strand=0>", "</section></main><h1>gone</h1>", "</article></details></div></td></tr></table>",
	"```html\n<script>alert(1)</script>\n```", "```\"><script>alert(1)</script>\nx\n```", "`<script>alert(1)</script>`", "|<script>|\n|-|\n|<img src=x onerror=alert(1)>|", "&lt;script&gt;alert(1)&lt;/script&gt;",
	"&#x202e;&#x200b;&#0;", "<a href=\"https://x.example\" style=\"position:fixed;inset:0\">", strings.Repeat("> ", 2000) + "deep", strings.Repeat("[", 5000), strings.Repeat("](", 5000), "\xff\xfe<\xc0script>",
}, inerttest.Attacks()...)

// everywhere is a session in which a text stands wherever text of others may.
func everywhere(t *testing.T, a string) session.Snapshot {
	b := build(t, a)
	text := llm.Text{Text: a}
	b.add(session.Info{Name: a})
	asked := b.user(a, llm.Image{MIME: a, Data: "AAAA"}, llm.Image{MIME: "image/png", Data: a})
	b.add(session.Label{Target: asked, Text: a})
	args := map[string]string{"path": a, "command": a, a: a}
	raw, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	blocks := []llm.Block{
		llm.Thinking{Text: a}, text, llm.Text{Text: "[" + a + "](" + a + ") ![" + a + "](" + a + ") <" + a + "> <https://x.example/" + a + ">\n\n# " + a + "\n\n|" + a + "|\n|-|\n|" + a + "|\n\n- [ ] " + a + "\n\n```" + a + "\n" + a + "\n```\n\n    " + a},
	}
	views := []tool.View{
		nil,
		tool.Plain{Text: a, Path: a},
		tool.Plain{Text: a, Path: "x.html"},
		tool.Command{Command: a, Output: a, Signal: a},
		tool.Diff{Path: a, Diff: "@@ -1 +1 @@\n-x " + a + "\n+y " + a + "\n", Added: 1},
		tool.Listing{Items: []tool.Item{{Path: a, Text: a, Line: 1}}},
		tool.Image{Path: a, MIME: a},
		tool.TaskView{Task: a, Session: a, Description: a, Agent: a, State: tool.TaskState(a), Last: a},
	}
	for i := range len(views) + 1 { // the last one stays open
		blocks = append(blocks, llm.ToolCall{ID: fmt.Sprint(i), Name: a, Arguments: raw})
	}
	b.add(session.Message{Message: llm.Message{Role: llm.Assistant, Provider: a, Model: a, Content: blocks, StopReason: llm.StopToolUse}})
	for i, v := range views {
		b.result(fmt.Sprint(i), a, a, v)
	}
	b.add(session.Command{Command: a, Output: a})
	b.branch(asked)
	b.add(session.Compaction{Summary: a})
	b.add(session.BranchSummary{Summary: a})
	b.add(session.CustomMessage{Type: a, Display: true, Content: []llm.Block{text}})
	b.add(session.Message{Message: llm.Message{Role: llm.Assistant, StopReason: llm.StopError, ErrorMessage: a}})
	return b.Snapshot()
}

// mayHave are the elements of a page, and their attributes.
var mayHave = map[string]string{
	"html": "lang", "head": "", "meta": "charset http-equiv content name", "title": "", "style": "", "body": "", "script": "",
	"a": "class href id rel title aria-label", "header": "class", "h1": "", "h2": "", "h3": "", "h4": "", "h5": "", "h6": "", "p": "class", "main": "",
	"section": "data-strand data-up data-down hidden", "nav": "class id aria-label", "article": "id class", "div": "class", "span": "class aria-hidden",
	"time": "datetime", "mark": "", "b": "", "i": "", "s": "", "em": "", "strong": "", "del": "", "code": "", "pre": "", "br": "", "hr": "", "img": "alt src",
	"details": "class", "summary": "", "ul": "class", "ol": "start", "li": "class", "blockquote": "", "table": "class", "caption": "", "tbody": "", "tr": "class", "td": "class", "th": "",
}

var (
	okLink  = regexp.MustCompile(`^(#n\d+|#tree|https?://[!-~]+)$`)
	okImage = regexp.MustCompile(`^data:image/(png|jpeg|gif|webp);base64,[A-Za-z0-9+/=\r\n]+$`)
	okClass = regexp.MustCompile(`^[a-z ]*$`)
)

// wrong says what is in a page that content must not have brought there.
func wrong(doc *html.Node) (found []string) {
	bad := func(format string, args ...any) { found = append(found, fmt.Sprintf(format, args...)) }
	for n := range doc.Descendants() {
		switch n.Type {
		case html.CommentNode:
			bad("a comment: %.60q", n.Data)
		case html.TextNode:
			if r, ok := unseen(n.Data); ok {
				bad("%U in %.60q", r, n.Data)
			}
			if in := n.Parent.Data; in == "script" && n.Data != script || in == "style" && n.Data != style {
				bad("a %s: %.60q", in, n.Data)
			}
		case html.ElementNode:
			allowed, known := mayHave[n.Data]
			if !known || n.Namespace != "" {
				bad("<%s>", n.Data)
			}
			for _, a := range n.Attr {
				r, hidden := unseen(a.Val)
				switch {
				case !slices.Contains(strings.Fields(allowed), a.Key):
					bad("<%s %s>", n.Data, a.Key)
				case hidden:
					bad("%U in %s", r, a.Key)
				case a.Key == "href" && !okLink.MatchString(a.Val), a.Key == "src" && !okImage.MatchString(a.Val),
					a.Key == "class" && !okClass.MatchString(a.Val):
					bad("%s=%.60q", a.Key, a.Val)
				}
			}
		}
	}
	return found
}

// unseen is a character that does something else than be seen.
func unseen(text string) (rune, bool) {
	for _, r := range text {
		if r != '\n' && r != '\t' && unicode.IsControl(r) || r >= 0x202A && r <= 0x202E || r >= 0x2066 && r <= 0x2069 ||
			r == 0x200E || r == 0x200F || r == 0x061C || r == 0x200B || r == 0x2060 || r == 0xFEFF || r >= 0xE0000 && r <= 0xE0FFF {
			return r, true
		}
	}
	return 0, false
}

func count(doc *html.Node, element string) (n int) {
	for d := range doc.Descendants() {
		if d.Type == html.ElementNode && d.Data == element {
			n++
		}
	}
	return n
}

// Whatever stands in a session, its page has no script, no handler, no address
// that a browser would run or load, and nothing that is not seen.
func TestAttacksOnThePage(t *testing.T) {
	harmless, err := html.Parse(strings.NewReader(written(t, everywhere(t, "harmless"), Part{}, HTML)))
	if err != nil {
		t.Fatal(err)
	}
	for i, a := range attacks {
		doc, err := html.Parse(strings.NewReader(written(t, everywhere(t, a), Part{}, HTML)))
		if err != nil {
			t.Fatal(err)
		}
		for _, bad := range wrong(doc) {
			t.Errorf("attack %d (%.60q): %s", i, a, bad)
		}
		for _, element := range []string{"script", "style", "meta", "section", "article", "nav"} {
			if got, want := count(doc, element), count(harmless, element); got != want {
				t.Errorf("attack %d (%.60q): %d times <%s>, want %d", i, a, got, element, want)
			}
		}
	}
	t.Logf("%d attacks, each in 45 places: no script, handler, address or hidden character in the page", len(attacks))
}

// The check itself finds what it looks for.
func TestWrongFindsWhatIsWrong(t *testing.T) {
	for _, page := range []string{
		"<script>alert(1)</script>", "<p onclick=x>", "<a href=javascript:x>", "<a href=//x>", "<img src=http://x>", "<p style=x>", "<svg>", "<!-- x -->", "\u202e", "<iframe>", "<p class='x\"'>",
	} {
		doc, err := html.Parse(strings.NewReader("<!doctype html>" + page))
		if err != nil {
			t.Fatal(err)
		}
		if len(wrong(doc)) == 0 {
			t.Errorf("nothing is wrong with %s", page)
		}
	}
}
