package transcript

import (
	"github.com/charmbracelet/x/ansi"

	"banyan/internal/tui/markdown"
	"banyan/internal/tui/rich"
	"banyan/internal/tui/theme"
)

// margin is the column where text begins; our signs stand left of it.
const margin = 2

// sheet is what an item is drawn on: rows that are added from top to bottom,
// and the source text that they stand for.
type sheet struct {
	m      *Model
	th     theme.Theme
	width  int
	length int  // of the source so far, in bytes
	slim   bool // what was added last is a card of a single line
	body   int  // the column where results of tools begin
	edge   int  // columns that stay free at the right
	d      drawn
}

func (m *Model) sheet() *sheet { return &sheet{m: m, th: m.th, width: m.w, body: margin + 2, edge: 1} }

// done is what was drawn.
func (s *sheet) done() *drawn { return &s.d }

// room is how many cells there are right of an indent.
func (s *sheet) room(indent int) int { return max(s.width-indent-s.edge, 1) }

// row adds a row. None is ever wider than the screen.
func (s *sheet) row(r rich.Row) {
	s.slim = false
	if r.Width > s.width {
		r.Text, r.Width = ansi.Truncate(r.Text, s.width, ""), s.width
	}
	s.d.rows = append(s.d.rows, r)
}

// blank adds a blank row, but never a second one.
func (s *sheet) blank() {
	if n := len(s.d.rows); n > 0 && s.d.rows[n-1].Width == 0 {
		return
	}
	s.row(rich.Row{})
}

// say adds text to the source and gives the byte where it begins.
func (s *sheet) say(text string) int {
	at := s.length
	s.d.source = append(s.d.source, part{text: text})
	s.length += len(text) + 1
	return at
}

// sign is what stands in the margin of a row.
type sign struct {
	text  string
	style theme.Style
}

var noSign sign

// put adds rows at an indent, a sign in the margin of the first.
func (s *sheet) put(rows []rich.Row, indent int, first sign) {
	for i, r := range rows {
		lead := blanks(indent)
		if i > 0 || first == noSign {
			if r.Width == 0 {
				s.row(r)
				continue
			}
			s.row(r.Indent(lead, theme.Style{}))
			continue
		}
		pad := max(indent-rich.Width(first.text), 0)
		s.row(r.Indent(blanks(pad), theme.Style{}).Indent(first.text, first.style))
	}
}

// prose adds text, wrapped at words, in one style.
func (s *sheet) prose(text string, st theme.Style, indent int, first sign) {
	at := s.say(text)
	s.put(wrapAll(rich.Source(text, st, at), min(s.room(indent), markdown.Measure)), indent, first)
}

// wrapAll wraps lines at words.
func wrapAll(lines [][]rich.Span, width int) []rich.Row {
	var rows []rich.Row
	for _, line := range lines {
		for _, l := range rich.Wrap(line, width) {
			rows = append(rows, rich.Draw(l))
		}
	}
	return rows
}

// line adds one line that is cut, not wrapped, where it is too long.
func (s *sheet) line(spans []rich.Span, indent int, first sign) {
	row := rich.Draw(rich.Truncate(spans, s.room(indent)))
	s.put([]rich.Row{row}, indent, first)
}

// zone makes the cells of the last row clickable.
func (s *sheet) zone(a, b int, h Hit) {
	s.d.zones = append(s.d.zones, zone{row: len(s.d.rows) - 1, a: a, b: b, hit: h})
}

// fold makes the whole of the last row open and close a fold.
func (s *sheet) fold(name string) { s.zone(0, s.width, Hit{Kind: HitFold, Fold: name}) }
