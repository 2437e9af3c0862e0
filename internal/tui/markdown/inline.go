package markdown

import (
	"html"
	"net/url"
	"strings"

	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"

	"banyan/internal/tui/inert"
	"banyan/internal/tui/rich"
	"banyan/internal/tui/theme"
)

// inline gives the text within a block as lines of spans.
func (r *renderer) inline(n ast.Node, style theme.Style) [][]rich.Span {
	w := inliner{r: r, lines: make([][]rich.Span, 1)}
	w.children(n, style, "")
	if last := len(w.lines) - 1; last > 0 && len(w.lines[last]) == 0 {
		w.lines = w.lines[:last]
	}
	return w.lines
}

// inliner collects spans, line by line.
type inliner struct {
	r     *renderer
	lines [][]rich.Span
}

func (w *inliner) put(s rich.Span) {
	if s.Text == "" {
		return
	}
	last := len(w.lines) - 1
	w.lines[last] = append(w.lines[last], s)
}

func (w *inliner) newline() { w.lines = append(w.lines, nil) }

func (w *inliner) children(n ast.Node, style theme.Style, link string) {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		w.node(c, style, link)
	}
}

func (w *inliner) node(n ast.Node, style theme.Style, link string) {
	r := w.r
	switch n := n.(type) {
	case *ast.Text:
		w.text(n, style, link)
	case *ast.String:
		w.put(rich.Span{Text: inert.Line(string(n.Value)), Style: style, Link: link})
	case *ast.CodeSpan:
		w.code(n, r.th.Code.On(style), link)
	case *ast.Emphasis:
		if n.Level >= 2 {
			w.children(n, r.th.Bold.On(style), link)
		} else {
			w.children(n, r.th.Emphasis.On(style), link)
		}
	case *extast.Strikethrough:
		w.children(n, r.th.Struck.On(style), link)
	case *ast.Link:
		w.link(n, string(n.Destination), style)
	case *ast.Image:
		w.put(rich.Chrome("▣ ", r.th.Dim))
		w.link(n, string(n.Destination), style)
	case *ast.AutoLink:
		w.autoLink(n, style)
	case *ast.RawHTML:
		w.html(n, style)
	case *extast.TaskCheckBox: // drawn as the bullet
	default:
		w.children(n, style, link)
	}
}

// text adds a piece of source. Escapes and entities are resolved; what an
// entity stands for comes through the door like anything else.
func (w *inliner) text(n *ast.Text, style theme.Style, link string) {
	s := n.Segment
	w.r.at = s.Stop
	value := w.r.src[s.Start:s.Stop]
	src := s.Start
	for value != "" {
		i := strings.IndexAny(value, "\\&\t")
		if i < 0 || n.IsRaw() && value[i] != '\t' {
			i = len(value)
		}
		w.put(rich.Span{Text: value[:i], Style: style, Link: link, Src: src, N: i})
		value, src = value[i:], src+i
		if value == "" {
			break
		}
		text, size := escape(value)
		w.put(rich.Span{Text: text, Style: style, Link: link, Src: src, N: size})
		value, src = value[size:], src+size
	}
	if n.SoftLineBreak() || n.HardLineBreak() {
		w.newline()
	}
}

// Text is what a piece of text says: escapes and entities resolved, and inert.
func Text(n *ast.Text, raw []byte) string {
	value := string(n.Segment.Value(raw))
	if n.IsRaw() || !strings.ContainsAny(value, "\\&\t") {
		return value
	}
	var b strings.Builder
	for value != "" {
		i := strings.IndexAny(value, "\\&\t")
		if i < 0 {
			i = len(value)
		}
		b.WriteString(value[:i])
		if value = value[i:]; value != "" {
			text, size := escape(value)
			b.WriteString(text)
			value = value[size:]
		}
	}
	return b.String()
}

// escape resolves what text begins with: a backslash escape, an entity, or a
// tab, and says how many bytes of the source it is.
func escape(text string) (string, int) {
	switch text[0] {
	case '\t':
		return " ", 1
	case '\\':
		if len(text) > 1 && strings.IndexByte("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", text[1]) >= 0 {
			return text[1:2], 2
		}
	case '&':
		if i := strings.IndexByte(text[:min(len(text), maxEntity)], ';'); i > 1 {
			if s := html.UnescapeString(text[:i+1]); s != text[:i+1] {
				return inert.Line(s), i + 1
			}
		}
	}
	return text[:1], 1
}

// maxEntity is longer than any entity, in bytes.
const maxEntity = 40

// code adds a code span; a line break within is a blank.
func (w *inliner) code(n *ast.CodeSpan, style theme.Style, link string) {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		t, ok := c.(*ast.Text)
		if !ok {
			continue
		}
		s := t.Segment
		w.r.at = s.Stop
		value := strings.ReplaceAll(w.r.src[s.Start:s.Stop], "\n", " ")
		value = strings.ReplaceAll(value, "\t", " ")
		w.put(rich.Span{Text: value, Style: style, Link: link, Src: s.Start, N: len(value)})
	}
}

// link adds the text of a link and, where that does not say it, its target.
func (w *inliner) link(n ast.Node, dest string, style theme.Style) {
	dest = inert.Line(dest)
	target := WebTarget(dest)
	line, from := len(w.lines)-1, len(w.lines[len(w.lines)-1])
	w.children(n, w.r.th.Link.On(style), target)
	shown := len(w.lines)-1 > line
	text := ""
	if !shown {
		for _, s := range w.lines[line][from:] {
			text += s.Text
		}
	}
	switch {
	case text == "" && !shown:
		w.put(rich.Span{Text: dest, Style: w.r.th.URL, Link: target})
	case text != dest && "mailto:"+text != dest:
		w.put(rich.Span{Text: " (" + dest + ")", Style: w.r.th.URL, Link: target})
	}
}

// autoLink adds a link that is its own text.
func (w *inliner) autoLink(n *ast.AutoLink, style theme.Style) {
	r := w.r
	label := string(n.Label(r.raw))
	s := rich.Span{Text: label, Style: r.th.Link.On(style), Link: WebTarget(string(n.URL(r.raw)))}
	if i := strings.Index(r.src[r.at:], label); i >= 0 {
		s.Src, s.N = r.at+i, len(label)
		r.at += i + len(label)
	}
	w.put(s)
}

// html shows inline HTML as it is written, but a line break is one.
func (w *inliner) html(n *ast.RawHTML, style theme.Style) {
	for i := range n.Segments.Len() {
		s := n.Segments.At(i)
		w.r.at = s.Stop
		value := w.r.src[s.Start:s.Stop]
		switch strings.ToLower(strings.ReplaceAll(value, " ", "")) {
		case "<br>", "<br/>":
			w.newline()
			continue
		}
		if i > 0 {
			w.newline()
		}
		w.put(rich.Verbatim(strings.ReplaceAll(strings.TrimRight(value, "\n"), "\t", " "), w.r.th.Dim.On(style), s.Start))
	}
}

// maxTarget is how long the target of a hyperlink may be, in bytes.
const maxTarget = 2000

// WebTarget gives the target of a hyperlink as a terminal or a browser may be
// told it: http or https, printable ASCII. Empty for anything else.
func WebTarget(dest string) string {
	u, err := url.Parse(dest)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return ""
	}
	target := u.String()
	if len(target) > maxTarget {
		return ""
	}
	for i := range len(target) {
		if target[i] <= ' ' || target[i] > '~' {
			return ""
		}
	}
	return target
}
