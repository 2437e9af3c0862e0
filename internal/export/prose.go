package export

import (
	"strings"

	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"

	"banyan/internal/tui/highlight"
	"banyan/internal/tui/inert"
	"banyan/internal/tui/markdown"
)

const (
	// mostProse is how much text is read as Markdown, in bytes; more is shown as
	// it was written.
	mostProse = 1 << 20
	// mostDeep is how many quotes and lists may stand in each other.
	mostDeep = 32
)

// prose writes Markdown. HTML in it is shown as it was written.
func (p *page) prose(src string) {
	src = strings.Trim(inert.Text(src), "\n")
	if len(src) > mostProse {
		p.put("<pre>%</pre>", src)
		return
	}
	doc, raw := markdown.Parse(src)
	w := prose{page: p, raw: raw}
	p.put(`<div class="md">`)
	w.children(doc)
	p.put("</div>")
}

// prose is a document of Markdown that is being written.
type prose struct {
	*page
	raw  []byte
	deep int
}

func (w *prose) children(n ast.Node) {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		w.node(c)
	}
}

// in writes what is in a node between two pieces of markup. What is nested too
// deep stands there without them.
func (w *prose) in(n ast.Node, begin, end markup) {
	if w.deep >= mostDeep {
		w.children(n)
		return
	}
	w.deep++
	w.put(begin)
	w.children(n)
	w.put(end)
	w.deep--
}

// headings are one size smaller than the page's own.
var headings = [...][2]markup{
	{"<h2>", "</h2>\n"},
	{"<h3>", "</h3>\n"},
	{"<h4>", "</h4>\n"},
	{"<h5>", "</h5>\n"},
	{"<h6>", "</h6>\n"},
	{"<h6>", "</h6>\n"},
}

func (w *prose) node(n ast.Node) {
	switch n := n.(type) {
	case *ast.Heading:
		h := headings[n.Level-1]
		w.in(n, h[0], h[1])
	case *ast.Paragraph:
		w.in(n, "<p>", "</p>\n")
	case *ast.Blockquote:
		w.in(n, "<blockquote>", "</blockquote>\n")
	case *ast.List:
		w.list(n)
	case *ast.ListItem:
		w.in(n, "<li>", "</li>\n")
	case *ast.FencedCodeBlock:
		w.code(highlight.Lang(string(n.Language(w.raw))), w.lines(n.Lines()))
	case *ast.CodeBlock:
		w.code("", w.lines(n.Lines()))
	case *ast.HTMLBlock:
		src := w.lines(n.Lines())
		if n.HasClosure() {
			src += string(n.ClosureLine.Value(w.raw))
		}
		w.put("<pre>%</pre>\n", strings.TrimRight(src, "\n"))
	case *ast.ThematicBreak:
		w.put("<hr>\n")
	case *extast.Table:
		w.in(n, `<div class="wide"><table>`, "</table></div>\n")
	case *extast.TableHeader, *extast.TableRow:
		w.in(n, "<tr>", "</tr>\n")
	case *extast.TableCell:
		w.cell(n)
	default:
		w.inline(n)
	}
}

func (w *prose) list(n *ast.List) {
	if !n.IsOrdered() {
		w.in(n, "<ul>", "</ul>\n")
		return
	}
	if w.deep < mostDeep && n.Start != 1 {
		w.put(`<ol start="%">`, n.Start)
		w.in(n, "", "</ol>\n")
		return
	}
	w.in(n, "<ol>", "</ol>\n")
}

// cells are how a cell of a table begins, by its alignment and whether it is in
// the head.
func (w *prose) cell(n *extast.TableCell) {
	begin, end := markup("<td>"), markup("</td>")
	switch n.Alignment {
	case extast.AlignRight:
		begin = `<td class="right">`
	case extast.AlignCenter:
		begin = `<td class="middle">`
	}
	if _, head := n.Parent().(*extast.TableHeader); head {
		begin, end = "<th>", "</th>"
	}
	w.in(n, begin, end)
}

func (w *prose) inline(n ast.Node) {
	switch n := n.(type) {
	case *ast.Text:
		w.put("%", markdown.Text(n, w.raw))
		if n.SoftLineBreak() || n.HardLineBreak() {
			w.put("<br>\n")
		}
	case *ast.String:
		w.put("%", string(n.Value))
	case *ast.CodeSpan:
		w.put("<code>")
		for c := n.FirstChild(); c != nil; c = c.NextSibling() {
			if t, ok := c.(*ast.Text); ok {
				w.put("%", strings.ReplaceAll(string(t.Segment.Value(w.raw)), "\n", " "))
			}
		}
		w.put("</code>")
	case *ast.Emphasis:
		if n.Level >= 2 {
			w.in(n, "<strong>", "</strong>")
		} else {
			w.in(n, "<em>", "</em>")
		}
	case *extast.Strikethrough:
		w.in(n, "<del>", "</del>")
	case *ast.Link:
		w.link(n, string(n.Destination))
	case *ast.Image: // its address is shown, never loaded
		w.put("▣ ")
		w.link(n, string(n.Destination))
	case *ast.AutoLink:
		w.anchor(string(n.URL(w.raw)), func() { w.put("%", string(n.Label(w.raw))) })
	case *ast.RawHTML:
		for i := range n.Segments.Len() {
			at := n.Segments.At(i)
			w.put("<code>%</code>", string(at.Value(w.raw)))
		}
	case *extast.TaskCheckBox:
		if n.IsChecked {
			w.put("☑ ")
		} else {
			w.put("☐ ")
		}
	default:
		w.children(n)
	}
}

// link writes a link and, where its text does not say it, its target.
func (w *prose) link(n ast.Node, dest string) {
	w.anchor(dest, func() { w.children(n) })
	if text := plainText(n, w.raw); text != dest && "mailto:"+text != dest {
		w.put(` <span class="url">(%)</span>`, inert.Line(dest))
	}
}

// anchor makes something a link where a browser may be told the target.
func (w *prose) anchor(dest string, body func()) {
	target := markdown.WebTarget(dest)
	if target == "" {
		body()
		return
	}
	w.put(`<a href="%" rel="noopener noreferrer nofollow">`, target)
	body()
	w.put("</a>")
}

// plainText is the text in a node.
func plainText(n ast.Node, raw []byte) string {
	var b strings.Builder
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if t, ok := c.(*ast.Text); ok {
			b.Write(t.Segment.Value(raw))
		}
	}
	return b.String()
}

func (w *prose) lines(lines *text.Segments) string {
	var b strings.Builder
	for i := range lines.Len() {
		at := lines.At(i)
		b.Write(at.Value(w.raw))
	}
	return b.String()
}

// kinds are the classes, in the style sheet, of what highlighting tells apart.
var kinds = map[highlight.Kind]markup{
	highlight.Keyword: "kw", highlight.Type: "ty", highlight.Function: "fn", highlight.String: "st",
	highlight.Number: "nu", highlight.Comment: "co", highlight.Constant: "nu", highlight.Variable: "va",
	highlight.Markup: "ty", highlight.Added: "add", highlight.Removed: "del", highlight.Heading: "kw", highlight.Strong: "kw",
}

// code writes code with its colours, where the language is known and there is
// time left for it.
func (p *page) code(lang, code string) {
	code = strings.TrimRight(inert.Text(code), "\n")
	if code == "" {
		return
	}
	if p.colour -= len(code); lang == "" || p.colour < 0 {
		p.put("<pre><code>%</code></pre>\n", code)
		return
	}
	p.put("<pre><code>")
	for _, line := range highlight.Lines(lang, code) {
		for _, run := range line {
			if class, ok := kinds[run.Kind]; ok {
				p.put(`<span class="%">%</span>`, class, code[:run.Len])
			} else {
				p.put("%", code[:run.Len])
			}
			code = code[run.Len:]
		}
		if code != "" { // the line feed
			p.put("\n")
			code = code[1:]
		}
	}
	p.put("</code></pre>\n")
}
