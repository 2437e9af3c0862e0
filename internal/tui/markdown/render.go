package markdown

import (
	"bytes"
	"strings"
	"sync"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"

	"banyan/internal/tui/inert"
	"banyan/internal/tui/rich"
	"banyan/internal/tui/theme"
)

// Render draws a text in rows of at most width cells.
func Render(src string, width int, th theme.Theme) []string {
	return texts(Rows(inert.Text(src), width, th))
}

// Rows is [Render] of a text that is inert, with the marks that lead back to it.
func Rows(src string, width int, th theme.Theme) []rich.Row {
	doc, raw := Parse(src)
	r := renderer{src: src, raw: raw, th: th, width: max(width, 1)}
	return r.document(doc)
}

func texts(rows []rich.Row) []string {
	lines := make([]string, len(rows))
	for i, r := range rows {
		lines[i] = r.Text
	}
	return lines
}

var markdownParser = sync.OnceValue(func() parser.Parser {
	return goldmark.New(goldmark.WithExtensions(
		extension.Table, extension.Strikethrough, extension.TaskList, extension.Linkify,
	)).Parser()
})

// Parse reads a text, which must be inert, for those who draw on something else
// than a terminal. The bytes are what the document's segments lie in.
func Parse(src string) (doc ast.Node, raw []byte) {
	raw = []byte(src)
	if hostile(src) {
		return plainDocument(raw), raw
	}
	return markdownParser().Parse(text.NewReader(raw)), raw
}

// maxOpen is how many links may begin in one word. The parser looks for the end
// of each to the end of the word, so that many of them cost the square.
const maxOpen = 1000

// hostile says whether a text is made to keep the parser busy.
func hostile(src string) bool {
	open := 0
	for {
		i := strings.Index(src, "](")
		if i < 0 {
			return false
		}
		if strings.ContainsAny(src[:i], " \t\n") {
			open = 0
		}
		if open++; open > maxOpen {
			return true
		}
		src = src[i+2:]
	}
}

// plainDocument is one block of code that is all of a text.
func plainDocument(raw []byte) ast.Node {
	block := ast.NewCodeBlock()
	for at := 0; at < len(raw); {
		end := len(raw)
		if i := bytes.IndexByte(raw[at:], '\n'); i >= 0 {
			end = at + i + 1
		}
		block.Lines().Append(text.NewSegment(at, end))
		at = end
	}
	doc := ast.NewDocument()
	doc.AppendChild(doc, block)
	return doc
}

// Measure is the width, in cells, beyond which prose is not set, for eyes that
// have to find the next line. Code and tables take what there is.
const Measure = 100

// minWidth is the width, in cells, below which nothing is indented further:
// what is nested deeper stands at the same place.
const minWidth = 6

// renderer draws one text.
type renderer struct {
	src    string
	raw    []byte // src again, for goldmark
	th     theme.Theme
	width  int
	rows   []rich.Row
	levels []level
	base   int       // where src begins in a larger text
	code   codeCache // nil outside of streams
	at     int       // end of the last inline text, to find those that have no position
}

// level is a container around what is drawn: a quote or an item of a list.
type level struct {
	first []rich.Span // left of its first row: the bullet
	rest  []rich.Span // left of the others
	begun bool
	quote bool        // its bar stands on blank rows too
	style theme.Style // of the text within
}

// document draws the top-level blocks, a blank row between them.
func (r *renderer) document(doc ast.Node) []rich.Row {
	r.blocks(doc, false)
	return r.rows
}

// blocks draws the children of a block.
func (r *renderer) blocks(n ast.Node, tight bool) {
	drawn := false
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		before := len(r.rows)
		if drawn && !tight {
			r.blank()
		}
		start := len(r.rows)
		r.block(c)
		if len(r.rows) == start { // nothing to see: a link definition
			r.rows = r.rows[:before]
			continue
		}
		drawn = true
	}
}

// block draws one block.
func (r *renderer) block(n ast.Node) {
	switch n := n.(type) {
	case *ast.Heading:
		r.heading(n)
	case *ast.Paragraph, *ast.TextBlock:
		r.lines(r.inline(n, r.style()))
	case *ast.List:
		r.list(n)
	case *ast.Blockquote:
		bar := []rich.Span{rich.Chrome("│ ", r.th.Rule)}
		r.within(level{first: bar, rest: bar, quote: true, style: r.th.Quote.On(r.style())}, func() { r.blocks(n, false) })
	case *ast.FencedCodeBlock:
		r.codeBlock(n.Lines(), string(n.Language(r.raw)))
	case *ast.CodeBlock:
		r.codeBlock(n.Lines(), "")
	case *ast.HTMLBlock:
		r.html(n)
	case *ast.ThematicBreak:
		r.emit([]rich.Span{rich.Chrome(dashes(min(r.room(), 24)), r.th.Rule)})
	default:
		if t, ok := tableOf(n); ok {
			r.table(t)
			return
		}
		r.blocks(n, false)
	}
}

// heading draws a heading; its level shows in its weight, not in its size.
func (r *renderer) heading(n *ast.Heading) {
	style := r.th.Heading
	switch {
	case n.Level == 1:
		style = style.With(theme.Bold | theme.Underline)
	case n.Level > 2:
		style = r.th.Bold
	}
	r.lines(r.inline(n, style.On(r.style())))
}

// html shows a block of HTML as it is written.
func (r *renderer) html(n *ast.HTMLBlock) {
	show := func(s text.Segment) {
		value := s.Value(r.raw)
		for len(value) > 0 && value[len(value)-1] == '\n' {
			value = value[:len(value)-1]
		}
		r.hard(rich.Tabs(nil, string(value), r.th.Dim, s.Start))
	}
	for i := range n.Lines().Len() {
		show(n.Lines().At(i))
	}
	if n.HasClosure() {
		show(n.ClosureLine)
	}
}

// style is the style of plain text here.
func (r *renderer) style() theme.Style {
	if n := len(r.levels); n > 0 {
		return r.levels[n-1].style
	}
	return r.th.Text
}

// within draws something inside of a container.
func (r *renderer) within(l level, draw func()) {
	if r.room()-rich.LineWidth(l.rest) < minWidth {
		l.first, l.rest = nil, nil
	}
	r.levels = append(r.levels, l)
	rows := len(r.rows)
	draw()
	if len(r.rows) == rows { // an empty item still shows its bullet
		r.emit(nil)
	}
	r.levels = r.levels[:len(r.levels)-1]
}

// room is the width that containers leave.
func (r *renderer) room() int {
	w := r.width
	for _, l := range r.levels {
		w -= rich.LineWidth(l.rest)
	}
	return max(w, 1)
}

// emit adds a row.
func (r *renderer) emit(line []rich.Span) {
	if len(r.levels) == 0 {
		r.rows = append(r.rows, rich.DrawAt(line, r.base))
		return
	}
	var whole []rich.Span
	for i := range r.levels {
		l := &r.levels[i]
		if l.begun {
			whole = append(whole, l.rest...)
		} else {
			whole = append(whole, l.first...)
		}
		l.begun = true
	}
	r.rows = append(r.rows, rich.DrawAt(rich.Truncate(append(whole, line...), r.width), r.base))
}

// blank adds a blank row, with the bars of quotes.
func (r *renderer) blank() {
	var whole []rich.Span
	used := 0
	for _, l := range r.levels {
		whole = append(whole, l.rest...)
		if l.quote {
			used = len(whole)
		}
	}
	r.rows = append(r.rows, rich.Draw(whole[:used]))
}

// lines adds lines, wrapped at words.
func (r *renderer) lines(lines [][]rich.Span) {
	for _, line := range lines {
		for _, l := range rich.Wrap(line, min(r.room(), Measure)) {
			r.emit(l)
		}
	}
}

// hard adds a line, wrapped anywhere.
func (r *renderer) hard(line []rich.Span) {
	for _, l := range rich.Hard(line, r.room()) {
		r.emit(l)
	}
}
