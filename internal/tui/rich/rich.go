package rich

import (
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
	"github.com/clipperhouse/displaywidth"

	"banyan/internal/tui/theme"
)

// Span is a run of text in one style. Its text has no line feed and no tab.
type Span struct {
	Text  string
	Style theme.Style
	// Link is the target of a hyperlink, if it is http or https.
	Link string
	// Src and N are the bytes of the source that the text stands for. Where N
	// is len(Text) it stands there as it is. N is 0 for what only we draw.
	Src, N int
}

// Chrome is a span that stands for nothing in the source.
func Chrome(text string, s theme.Style) Span { return Span{Text: text, Style: s} }

// Verbatim is a span of the source text that begins at a byte.
func Verbatim(text string, s theme.Style, src int) Span {
	return Span{Text: text, Style: s, Src: src, N: len(text)}
}

// Row is a line as it is drawn: text with styles, its width, and where its
// cells come from. It is immutable.
type Row struct {
	Text  string
	Width int // cells
	Marks []Mark
}

// Mark says that cells from Col on stand for bytes from Src on.
type Mark struct {
	Col, Width int32 // cells
	Src, N     int32 // bytes
}

// Width is the number of cells that text takes.
func Width(text string) int {
	if ascii(text) {
		return len(text)
	}
	return displaywidth.String(text)
}

func ascii(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] >= utf8.RuneSelf || s[i] < ' ' {
			return false
		}
	}
	return true
}

// LineWidth is the number of cells that a line takes.
func LineWidth(line []Span) int {
	w := 0
	for _, s := range line {
		w += Width(s.Text)
	}
	return w
}

// Draw makes a row of a line, which must fit where it goes.
func Draw(line []Span) Row { return DrawAt(line, 0) }

// DrawAt is [Draw] of a line whose source begins at a byte of a larger one.
func DrawAt(line []Span, base int) Row {
	d := drawer{base: base}
	for _, s := range line {
		d.add(s)
	}
	return d.row()
}

// Plain makes a row of text in one style that stands for nothing in the source.
func Plain(text string, s theme.Style) Row {
	return Row{Text: s.Paint(text), Width: Width(text)}
}

// drawer writes a row. It changes style only where the style changes.
type drawer struct {
	b     strings.Builder
	style theme.Style
	link  string
	col   int
	base  int // where the spans' source begins
	marks []Mark
}

func (d *drawer) add(s Span) {
	if s.Text == "" {
		return
	}
	if s.Link != d.link {
		if d.link != "" {
			d.b.WriteString(ansi.ResetHyperlink())
		}
		if s.Link != "" {
			d.b.WriteString(ansi.SetHyperlink(s.Link))
		}
		d.link = s.Link
	}
	if s.Style != d.style {
		if d.style != (theme.Style{}) {
			d.b.WriteString(theme.Reset)
		}
		d.b.WriteString(s.Style.Open())
		d.style = s.Style
	}
	d.b.WriteString(s.Text)
	w := Width(s.Text)
	if s.N > 0 {
		d.mark(Mark{Col: int32(d.col), Width: int32(w), Src: int32(d.base + s.Src), N: int32(s.N)})
	}
	d.col += w
}

// mark adds a mark, or lengthens the last one where the new one goes on in both
// cells and bytes and both are one byte a cell: that is what ASCII text gives.
func (d *drawer) mark(m Mark) {
	if n := len(d.marks); n > 0 {
		p := &d.marks[n-1]
		if p.Col+p.Width == m.Col && p.Src+p.N == m.Src && p.Width == p.N && m.Width == m.N {
			p.Width += m.Width
			p.N += m.N
			return
		}
	}
	d.marks = append(d.marks, m)
}

func (d *drawer) row() Row {
	if d.style != (theme.Style{}) {
		d.b.WriteString(theme.Reset)
	}
	if d.link != "" {
		d.b.WriteString(ansi.ResetHyperlink())
	}
	return Row{Text: d.b.String(), Width: d.col, Marks: d.marks}
}

// Offset is the byte of the source at a column of the row: of the character
// there, or of the one after it when after is set. It is the nearest byte at the
// left, else at the right, where the column stands for nothing. False if no
// cell of the row stands for anything.
func (r Row) Offset(source string, col int, after bool) (int, bool) {
	if len(r.Marks) == 0 {
		return 0, false
	}
	best := r.Marks[0]
	if col < int(best.Col) {
		return int(best.Src), true
	}
	for _, m := range r.Marks {
		if int(m.Col) > col {
			break
		}
		best = m
	}
	end := int(best.Src + best.N)
	if col >= int(best.Col+best.Width) {
		return end, true
	}
	text := source[best.Src:min(end, len(source))]
	if Width(text) != int(best.Width) { // stands for something else: whole or not
		if after {
			return end, true
		}
		return int(best.Src), true
	}
	at := int(best.Col)
	for g := displaywidth.StringGraphemes(text); g.Next(); {
		if col < at+g.Width() {
			if after {
				return end - len(text) + len(g.Value()), true
			}
			return end - len(text), true
		}
		at += g.Width()
		text = text[len(g.Value()):]
	}
	return end, true
}

// Columns are the cells of the row, from a to before b, that stand for bytes of
// the source from lo to before hi. Equal where there are none.
func (r Row) Columns(source string, lo, hi int) (a, b int) {
	a, b = -1, -1
	for _, m := range r.Marks {
		src, end := int(m.Src), int(m.Src+m.N)
		if end <= lo || src >= hi {
			continue
		}
		from, to := int(m.Col), int(m.Col+m.Width)
		if text := source[src:end]; Width(text) == int(m.Width) {
			from += Width(text[:max(lo-src, 0)])
			to -= Width(text[min(hi-src, len(text)):])
		}
		if a < 0 {
			a = from
		}
		b = to
	}
	return max(a, 0), max(b, 0)
}

// Paint draws cells from a to before b of the row in another style.
func (r Row) Paint(a, b int, s theme.Style) string {
	b = min(b, r.Width)
	if a >= b {
		return r.Text
	}
	return ansi.Cut(r.Text, 0, a) + s.Paint(ansi.Strip(ansi.Cut(r.Text, a, b))) + ansi.Cut(r.Text, b, r.Width)
}

// Indent puts text before the row.
func (r Row) Indent(text string, s theme.Style) Row {
	w := Width(text)
	marks := make([]Mark, len(r.Marks))
	for i, m := range r.Marks {
		m.Col += int32(w)
		marks[i] = m
	}
	return Row{Text: s.Paint(text) + r.Text, Width: w + r.Width, Marks: marks}
}

// Shift moves the row's marks to a source in which its own begins at a byte.
func (r Row) Shift(by int) Row {
	if by == 0 || len(r.Marks) == 0 {
		return r
	}
	marks := make([]Mark, len(r.Marks))
	for i, m := range r.Marks {
		m.Src += int32(by)
		marks[i] = m
	}
	r.Marks = marks
	return r
}

// ButLast is a text without the user-perceived character that it ends with:
// what Backspace leaves of a one-line field.
func ButLast(s string) string {
	at := 0
	for i := 0; i < len(s); {
		at = i
		c, _ := ansi.FirstGraphemeCluster(s[i:], ansi.GraphemeWidth)
		i += len(c)
	}
	return s[:at]
}

// ButLastWord is a text without the word that it ends with, and the spaces behind it.
func ButLastWord(s string) string {
	s = strings.TrimRight(s, " ")
	return s[:strings.LastIndexByte(s, ' ')+1]
}
