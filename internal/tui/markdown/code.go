package markdown

import (
	"strings"

	"github.com/yuin/goldmark/text"

	"banyan/internal/tui/highlight"
	"banyan/internal/tui/rich"
)

// codeIndent is how far code stands in, in cells.
const codeIndent = 2

// codeBlock draws code: lines as they are, coloured where the language is known.
func (r *renderer) codeBlock(lines *text.Segments, language string) {
	var code strings.Builder
	for i := range lines.Len() {
		s := lines.At(i)
		code.Write(s.Value(r.raw))
	}
	if lines.Len() == 0 {
		r.emit(nil)
		return
	}
	c := r.coloured(lines.At(0).Start, highlight.Lang(language), strings.TrimSuffix(code.String(), "\n"))
	for i := range lines.Len() {
		if i < len(c.rows) {
			r.rows = append(r.rows, c.rows[i]...)
			continue
		}
		from := len(r.rows)
		r.codeLine(lines.At(i), c.runs[min(i, len(c.runs)-1)])
		if c.keep && i < lines.Len()-1 {
			c.rows = append(c.rows, r.rows[from:len(r.rows):len(r.rows)])
		}
	}
}

// codeLine draws one line.
func (r *renderer) codeLine(s text.Segment, runs []highlight.Run) {
	value := strings.TrimSuffix(string(s.Value(r.raw)), "\n")
	src := s.Start - s.Padding // where it would begin if its padding were written
	var line []rich.Span
	for _, run := range runs {
		n := min(run.Len, len(value))
		line = rich.Tabs(line, value[:n], run.Kind.Style(r.th), src)
		value, src = value[n:], src+n
	}
	line = rich.Tabs(line, value, r.th.Block, src)
	for i := range line {
		if line[i].Src < s.Start {
			line[i].Src, line[i].N = s.Start, 0
		}
	}
	indent := min(codeIndent, max(r.room()-minWidth, 0))
	for _, l := range hang(line, max(r.room()-indent, 1)) {
		r.emit(append([]rich.Span{blanks(indent)}, l...))
	}
}

// hang breaks a line of code that is too long at words, and has what follows
// stand in deeper than the line does.
func hang(line []rich.Span, width int) [][]rich.Span {
	if rich.LineWidth(line) <= width {
		return [][]rich.Span{line}
	}
	lead := 0
	for _, s := range line {
		n := len(s.Text) - len(strings.TrimLeft(s.Text, " "))
		lead += n
		if n < len(s.Text) {
			break
		}
	}
	deeper := lead + codeIndent
	if width-deeper < 2*minWidth {
		return rich.Hard(line, width)
	}
	first, rest := rich.Split(line, lead)
	lines := rich.Wrap(rest, width-deeper)
	for i := range lines {
		begin := first
		if i > 0 {
			begin = []rich.Span{blanks(deeper)}
		}
		lines[i] = append(begin[:len(begin):len(begin)], lines[i]...)
	}
	return lines
}

// coloured is code with its colours.
type coloured struct {
	lang  string
	code  string // what the runs are of
	whole int    // how much of it was coloured at once, in bytes
	runs  [][]highlight.Run

	// keep says that rows keeps what was drawn of all lines but the last, at
	// the top level and a width.
	keep  bool
	width int
	rows  [][]rich.Row
}

func (r *renderer) coloured(start int, lang, code string) *coloured {
	if r.code == nil {
		return &coloured{runs: highlight.Lines(lang, code)}
	}
	c := r.code.get(start, lang, code)
	if c.keep = len(r.levels) == 0; !c.keep || c.width != r.width {
		c.rows, c.width = nil, r.width
	}
	return c
}

// codeCache keeps the colours of code while it is being written, by where it
// begins. Rules cannot be run from the middle, so code is coloured whole each
// time it has grown by a third, and what comes between line by line: linear for
// the whole of it, and wrong only for a moment where a comment or a string goes
// over lines.
type codeCache map[int]*coloured

func (cache codeCache) get(start int, lang, code string) *coloured {
	c := cache[start]
	if c == nil || c.lang != lang || !strings.HasPrefix(code, c.code) || len(code) > c.whole+max(c.whole/3, 200) {
		c = &coloured{lang: lang, code: code, whole: len(code), runs: highlight.Lines(lang, code)}
		cache[start] = c
		return c
	}
	if len(code) > len(c.code) {
		// Only the last of the lines that were there can have changed.
		at := strings.LastIndexByte(c.code, '\n') + 1
		c.runs = append(c.runs[:len(c.runs)-1], highlight.Lines(lang, code[at:])...)
		c.code = code
	}
	return c
}
