package rich

import (
	"strings"

	"github.com/clipperhouse/displaywidth"

	"banyan/internal/tui/theme"
)

// TabWidth is how far apart tab stops are, in cells.
const TabWidth = 4

// Wrap breaks a line into lines of at most width cells: at blanks, which are
// dropped there, after hyphens and slashes of long words, between wide
// characters, and anywhere in what is longer than a line. An empty line is one line.
func Wrap(line []Span, width int) [][]Span {
	width = max(width, 1)
	if LineWidth(line) <= width {
		return [][]Span{line}
	}
	w := wrapper{width: width}
	for _, s := range line {
		for rest := s; rest.Text != ""; {
			var word Span
			word, rest = nextWord(rest)
			w.add(word)
		}
	}
	return w.finish()
}

// WrapTo is [Wrap] into at most a number of rows, the last of which ends in … if
// there is more.
func WrapTo(line []Span, width, rows int) [][]Span {
	lines := Wrap(line, width)
	if len(lines) <= rows {
		return lines
	}
	last := lines[rows-1]
	style := last[len(last)-1].Style
	lines[rows-1] = append(Truncate(last, width-1), Chrome("…", style))
	return lines[:rows]
}

// wrapper collects words until a place where the line may be broken.
type wrapper struct {
	width   int
	lines   [][]Span
	line    []Span // up to the last place to break
	used    int    // its cells
	pending []Span // after it: the word so far
	pwidth  int
	blank   []Span // blanks between the two, dropped if the break is taken
	bwidth  int
}

func (w *wrapper) add(s Span) {
	if s.Text[0] == ' ' {
		w.settle()
		w.blank = append(w.blank, s)
		w.bwidth += len(s.Text)
		return
	}
	n := Width(s.Text)
	if w.used+w.bwidth+w.pwidth+n > w.width {
		if w.used > 0 {
			w.newline()
		}
		w.blank, w.bwidth = nil, 0
	}
	w.pending = append(w.pending, s)
	w.pwidth += n
	for w.pwidth > w.width { // longer than a line: cut it
		w.cut()
	}
	if breakable(s.Text) {
		w.settle()
	}
}

// settle makes the word so far part of the line.
func (w *wrapper) settle() {
	if len(w.pending) == 0 {
		return
	}
	w.line = append(append(w.line, w.blank...), w.pending...)
	w.used += w.bwidth + w.pwidth
	w.pending, w.pwidth = nil, 0
	w.blank, w.bwidth = nil, 0
}

func (w *wrapper) newline() {
	w.lines = append(w.lines, w.line)
	w.line, w.used = nil, 0
	w.blank, w.bwidth = nil, 0
}

// cut ends the line within the pending word, which does not fit on any.
func (w *wrapper) cut() {
	room := w.width - w.used - w.bwidth
	if room <= 0 {
		w.newline()
		room = w.width
	}
	head, tail, taken := cutFirst(w.pending, room)
	w.pwidth -= taken
	w.line = append(append(w.line, w.blank...), head...)
	w.newline()
	w.pending = tail
}

func (w *wrapper) finish() [][]Span {
	w.settle()
	if len(w.line) > 0 || len(w.lines) == 0 {
		w.lines = append(w.lines, w.line)
	}
	return w.lines
}

// Split divides a line after at most width cells. It looks at no more of the
// line than that.
func Split(line []Span, width int) (head, tail []Span) {
	for i, s := range line {
		at, used := prefix(s.Text, width)
		if at == len(s.Text) {
			width -= used
			continue
		}
		head = append(head, line[:i]...)
		a, b := s.cutAt(at)
		if a.Text != "" {
			head = append(head, a)
		}
		return head, append([]Span{b}, line[i+1:]...)
	}
	return line, nil
}

// Truncate shortens a line to width cells, an ellipsis in the place of what is left out.
func Truncate(line []Span, width int) []Span {
	if width <= 0 {
		return nil
	}
	if LineWidth(line) <= width {
		return line
	}
	head, tail := Split(line, width-1)
	return append(head[:len(head):len(head)], Chrome("…", tail[0].Style))
}

// TruncateText is [Truncate] of plain text.
func TruncateText(text string, width int) string {
	if width <= 0 {
		return ""
	}
	if Width(text) <= width {
		return text
	}
	at, _ := prefix(text, width-1)
	return text[:at] + "…"
}

// prefix is the longest prefix of at most width cells: its bytes and its cells.
func prefix(text string, width int) (n, used int) {
	for g := displaywidth.StringGraphemes(text); g.Next(); {
		w := g.Width()
		if used+w > width {
			break
		}
		used += w
		n += len(g.Value())
	}
	return n, used
}

// cutAt divides a span before a byte of its text. A span that is not verbatim
// stays with its first part as far as the source is concerned.
func (s Span) cutAt(at int) (a, b Span) {
	a, b = s, s
	a.Text, b.Text = s.Text[:at], s.Text[at:]
	if s.N == len(s.Text) {
		a.N = at
		b.Src, b.N = s.Src+at, s.N-at
	} else if at > 0 {
		b.Src, b.N = s.Src+s.N, 0
	}
	return a, b
}

// nextWord takes what is not to be broken from the front of a span: a run of
// blanks, or a run of others up to where a break is allowed.
func nextWord(s Span) (word, rest Span) {
	blank := s.Text[0] == ' '
	i := 0
	for i < len(s.Text) && (s.Text[i] == ' ') == blank {
		if s.Text[i] < 0x80 {
			i++
			if !blank && (s.Text[i-1] == '-' || s.Text[i-1] == '/') {
				break
			}
			continue
		}
		n, wide := grapheme(s.Text[i:])
		if wide && i > 0 {
			break // before a wide character
		}
		i += n
		if wide { // and after it, but not before a sign that closes
			for i < len(s.Text) {
				if n, _ = grapheme(s.Text[i:]); !closing(s.Text[i : i+n]) {
					break
				}
				i += n
			}
			break
		}
	}
	return s.cutAt(i)
}

// grapheme is the length in bytes of the first character, and whether it is wide.
func grapheme(text string) (n int, wide bool) {
	g := displaywidth.StringGraphemes(text)
	g.Next()
	return len(g.Value()), g.Width() == 2
}

// breakable says whether a line may be broken after a word even without a blank.
func breakable(word string) bool {
	last := word[len(word)-1]
	if last == '-' || last == '/' {
		return len(word) > 3
	}
	return last >= 0x80 && Width(word) == 2
}

// closing says whether a wide character must not begin a line.
func closing(g string) bool {
	return strings.Contains("、。，．！？；：）」』】》〉〕］｝”’ー…", g)
}

// Source splits a text, of which a part of a larger source begins at byte src,
// into lines of verbatim spans, with tabs expanded.
func Source(text string, s theme.Style, src int) [][]Span {
	return lines(text, s, src, TabWidth)
}

// Output is [Source] for what a program wrote for a terminal, whose tab stops
// are eight cells apart.
func Output(text string, s theme.Style, src int) [][]Span {
	return lines(text, s, src, 8)
}

func lines(text string, s theme.Style, src, stops int) [][]Span {
	var lines [][]Span
	for {
		i := strings.IndexByte(text, '\n')
		if i < 0 {
			return append(lines, tabs(nil, text, s, src, stops))
		}
		lines = append(lines, tabs(nil, text[:i], s, src, stops))
		text, src = text[i+1:], src+i+1
	}
}

// Tabs appends a piece of one source line to a line, tabs expanded to the stops
// of the whole line.
func Tabs(line []Span, text string, s theme.Style, src int) []Span {
	return tabs(line, text, s, src, TabWidth)
}

func tabs(line []Span, text string, s theme.Style, src, stops int) []Span {
	for text != "" {
		i := strings.IndexByte(text, '\t')
		if i != 0 {
			if i < 0 {
				i = len(text)
			}
			line = append(line, Verbatim(text[:i], s, src))
			text, src = text[i:], src+i
			continue
		}
		n := stops - LineWidth(line)%stops
		line = append(line, Span{Text: "        "[:n], Style: s, Src: src, N: 1})
		text, src = text[1:], src+1
	}
	return line
}

// Hard breaks a line into lines of exactly width cells and a rest, blanks kept:
// for code, output and whatever is aligned.
func Hard(line []Span, width int) [][]Span {
	width = max(width, 1)
	var lines [][]Span
	for rest := LineWidth(line); rest > width; {
		head, tail, taken := cutFirst(line, width)
		lines = append(lines, head)
		line = tail
		rest -= taken
	}
	return append(lines, line)
}

// cutFirst is [Split] that always takes something, and says how many cells: a
// wide character where there is one cell becomes an ellipsis.
func cutFirst(line []Span, width int) (head, tail []Span, taken int) {
	head, tail = Split(line, width)
	if len(head) > 0 {
		return head, tail, LineWidth(head)
	}
	n, wide := grapheme(line[0].Text)
	first, rest := line[0].cutAt(n)
	first.Text = "…"
	taken = 1
	if wide {
		taken = 2
	}
	if rest.Text == "" {
		return []Span{first}, line[1:], taken
	}
	return []Span{first}, append([]Span{rest}, line[1:]...), taken
}
