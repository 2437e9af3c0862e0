package markdown

import (
	"strings"

	"github.com/yuin/goldmark/ast"

	"banyan/internal/tui/inert"
	"banyan/internal/tui/rich"
	"banyan/internal/tui/theme"
)

// Stream draws a text that is still being written. Blocks of the top level that
// nothing can change any more are closed: drawn once and never looked at again.
// What is left, the tail, is drawn again when it grows; the last bytes of a very
// long one may be waited for. One goroutine owns it.
//
// A link by reference shows as it is written until its definition is there and
// [Stream.Finish] draws the whole once more.
type Stream struct {
	th    theme.Theme
	width int
	raw   strings.Builder // the text as it came

	closed     int             // bytes of raw that are closed blocks
	closedText strings.Builder // the same, inert
	closedRows []rich.Row

	drawn    int    // bytes of raw that the rows show
	tail     string // what is not closed, inert
	tailRows []rich.Row
	code     codeCache
	whole    bool // finished: the tail is the whole text
}

// NewStream begins a text.
func NewStream(th theme.Theme) *Stream { return &Stream{th: th, drawn: -1, code: codeCache{}} }

// Append adds to the text.
func (s *Stream) Append(delta string) { s.raw.WriteString(delta) }

// Raw is the text so far, as it came.
func (s *Stream) Raw() string { return s.raw.String() }

// Source is the text so far, inert: what the marks of the rows lead to.
func (s *Stream) Source() string {
	s.draw(max(s.width, 1))
	if s.closed == 0 {
		return s.tail
	}
	return s.closedText.String() + s.tail
}

// Parts are the text so far, drawn for a width: the rows that stay as they are
// while the width does, to which more may be added, and those below, with the
// blank row between the two.
func (s *Stream) Parts(width int) (closed, tail []rich.Row) {
	s.draw(width)
	return s.closedRows, s.tailRows
}

// Rows is [Stream.Parts] as one.
func (s *Stream) Rows(width int) []rich.Row {
	closed, tail := s.Parts(width)
	return append(closed[:len(closed):len(closed)], tail...)
}

// Len is the number of bytes of [Stream.Source].
func (s *Stream) Len() int {
	s.draw(max(s.width, 1))
	return s.closedText.Len() + len(s.tail)
}

// Lines is [Stream.Rows] as strings.
func (s *Stream) Lines(width int) []string { return texts(s.Rows(width)) }

// Finish says that nothing is added any more, and draws the whole.
func (s *Stream) Finish(width int) []rich.Row {
	s.reopen(width)
	s.tail = inert.Text(s.raw.String())
	s.tailRows = Rows(s.tail, width, s.th)
	s.drawn, s.whole = s.raw.Len(), true
	return s.tailRows
}

// reopen forgets what was drawn.
func (s *Stream) reopen(width int) {
	s.width, s.drawn, s.whole = width, -1, false
	s.closed, s.closedRows = 0, nil
	s.closedText.Reset()
	s.tail, s.tailRows = "", nil
	clear(s.code)
}

// draw brings the rows up to date.
func (s *Stream) draw(width int) {
	if width != s.width {
		if s.whole {
			s.Finish(width)
			return
		}
		s.reopen(width)
	}
	if s.drawn == s.raw.Len() || s.tooSoon() {
		return
	}
	s.drawn, s.whole = s.raw.Len(), false
	s.tail = inert.Text(s.raw.String()[s.closed:])
	doc, raw := Parse(s.tail)
	if cut := closable(doc, s.tail); cut > 0 {
		s.close(cut)
		doc, raw = Parse(s.tail)
	}
	r := renderer{src: s.tail, raw: raw, th: s.th, width: max(width, 1), base: s.closedText.Len(), code: s.code}
	s.tailRows = r.document(doc)
	if len(s.tailRows) > 0 && len(s.closedRows) > 0 {
		s.tailRows = append([]rich.Row{{}}, s.tailRows...)
	}
}

// promptTail is how long a tail may be, in bytes, to be drawn with every delta.
const promptTail = 4 << 10

// tooSoon says that a long tail has hardly grown: it is drawn again when it is a
// 64th longer, so that a paragraph without end costs n·log n and not n².
func (s *Stream) tooSoon() bool {
	return s.drawn >= 0 && s.raw.Len()-s.drawn < (s.raw.Len()-s.closed-promptTail)/64
}

// close draws the tail up to a byte for the last time.
func (s *Stream) close(cut int) {
	head := s.tail[:cut]
	doc, raw := Parse(head)
	r := renderer{src: head, raw: raw, th: s.th, width: max(s.width, 1), base: s.closedText.Len()}
	rows := r.document(doc)
	if len(rows) > 0 && len(s.closedRows) > 0 {
		s.closedRows = append(s.closedRows, rich.Row{})
	}
	s.closedRows = append(s.closedRows, rows...)
	s.closedText.WriteString(head)
	s.closed += rawLength(s.raw.String()[s.closed:], strings.Count(head, "\n"))
	s.tail = s.tail[cut:]
	clear(s.code)
}

// closable is the byte where the last block of a text begins, 0 if blocks
// before it cannot be closed yet: the first line of the last block has to be
// whole, for a "2" may still become a "2." that goes on with the list before it.
func closable(doc ast.Node, src string) int {
	last := doc.LastChild()
	if last == nil || last == doc.FirstChild() || last.Pos() <= 0 {
		return 0
	}
	cut := strings.LastIndexByte(src[:last.Pos()], '\n') + 1
	if strings.IndexByte(src[cut:], '\n') < 0 {
		return 0
	}
	return cut
}

// rawLength is the length of as many lines of a raw text as its inert form has.
func rawLength(raw string, lines int) int {
	n := 0
	for range lines {
		n += strings.IndexByte(raw[n:], '\n') + 1
	}
	return n
}
