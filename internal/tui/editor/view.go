package editor

import (
	"strings"
	"unicode/utf8"

	"banyan/internal/tui/inert"
	"banyan/internal/tui/keymap"
	"banyan/internal/tui/theme"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
)

// The prompt takes these cells at the left of every row, and one cell at the
// right is kept for the caret.
const (
	prompt      = "› "
	promptCells = 2
)

func (m *Model) wrapWidth() int { return m.width - promptCells - 1 }

// seen is what is drawn: the part of the text that can be seen, laid out. It is
// made by look, after every change, and only read by View.
type seen struct {
	top  row // the first row; follows the caret
	at   []row
	rows []string // their texts
	x, y int      // the caret's cell
}

// row is one drawn row of the text.
type row struct{ line, row int }

// look lays the visible part out. It costs the rows on the screen and the
// caret's line.
func (m *Model) look() {
	height := m.count(m.limit)
	at := row{m.caret.line, rowOf(m.rows(m.caret.line), m.caret.col)}
	top := m.seen.top
	if top.line >= len(m.buf.lines) || top.row >= len(m.rows(top.line)) {
		top = at
	}
	if at.line < top.line || at.line == top.line && at.row < top.row {
		top = at
	}
	if lowest := m.back(at, height-1); top.line < lowest.line || top.line == lowest.line && top.row < lowest.row {
		top = lowest
	}
	end := len(m.buf.lines) - 1
	if last := m.back(row{end, len(m.rows(end)) - 1}, height-1); last.line < top.line || last.line == top.line && last.row < top.row {
		top = last
	}
	m.seen.top = top
	m.lay(top, at, height)
}

// count is the number of rows of the text, but not more than limit.
func (m *Model) count(limit int) int {
	n := 0
	for i := range m.buf.lines {
		n += len(m.rows(i))
		if n >= limit {
			return limit
		}
	}
	return n
}

// back is the row that stands n rows above another, or the first.
func (m *Model) back(r row, n int) row {
	for n > r.row {
		if r.line == 0 {
			return row{}
		}
		n -= r.row + 1
		r.line--
		r.row = len(m.rows(r.line)) - 1
	}
	r.row -= n
	return r
}

// lay makes the rows from top on.
func (m *Model) lay(top, at row, height int) {
	m.seen.at, m.seen.rows = m.seen.at[:0], m.seen.rows[:0]
	for r := top; len(m.seen.rows) < height && r.line < len(m.buf.lines); {
		rows, text := m.rows(r.line), m.buf.lines[r.line].text
		if r == at {
			m.seen.y = len(m.seen.rows)
			m.seen.x = promptCells + m.cells(text[rows[r.row]:m.caret.col])
		}
		m.seen.at = append(m.seen.at, r)
		m.seen.rows = append(m.seen.rows, rowText(text, rows, r.row))
		if r.row++; r.row == len(rows) {
			r = row{r.line + 1, 0}
		}
	}
}

// Height is the number of rows that View has, at least 1.
func (m *Model) Height() int { return len(m.seen.rows) }

// Cursor is the caret's cell in View.
func (m *Model) Cursor() (x, y int) { return min(m.seen.x, m.width-1), m.seen.y }

// Click puts the caret at a cell of View.
func (m *Model) Click(x, y int) tea.Cmd {
	r := m.seen.at[max(0, min(y, len(m.seen.at)-1))]
	start := m.rows(r.line)[r.row]
	m.caret = pos{r.line, start + m.rowOffset(r, x-promptCells)}
	m.last = other
	return m.changed()
}

// rowOffset is the byte of a row that is nearest to a number of cells from its
// start. The end of a wrapped row is the start of the next one, so it is not the
// row's own.
func (m *Model) rowOffset(r row, cells int) int {
	rows := m.rows(r.line)
	text := rowText(m.buf.lines[r.line].text, rows, r.row)
	at := m.offset(text, cells)
	if at == len(text) && r.row+1 < len(rows) {
		at = lastCluster(text)
	}
	return at
}

// View draws the text: Height rows of at most the model's width.
func (m *Model) View() string {
	var b strings.Builder
	for i, text := range m.seen.rows {
		switch {
		case i > 0:
			b.WriteString("\n  ")
		case m.seen.top == row{}:
			b.WriteString(m.promptStyle().Paint(prompt))
		default:
			b.WriteString(m.theme.Faint.Paint("↑ "))
		}
		m.paint(&b, text)
	}
	switch {
	case m.Empty():
		b.WriteString(m.theme.Faint.Paint(ansi.Truncate(m.placeholder(), m.wrapWidth(), "…")))
	case m.tellsAside():
		b.WriteString(m.theme.Faint.Paint(ansi.Truncate("  "+m.placeholder(), m.wrapWidth()-1, "…")))
	}
	return b.String()
}

// placeholder is what stands where nothing is written.
func (m *Model) placeholder() string {
	if m.stashed != "" {
		return keymap.Title(m.keys.Key("editor.stash")) + " takes back what you put aside"
	}
	return m.opts.Placeholder
}

// promptStyle says whether keys write or command.
func (m *Model) promptStyle() theme.Style {
	if m.vi.normal {
		return m.theme.Warning
	}
	return m.theme.Accent
}

// paint draws one row, chips in their own style.
func (m *Model) paint(b *strings.Builder, text string) {
	plain := strings.Builder{}
	flush := func() {
		if plain.Len() > 0 {
			b.WriteString(m.theme.Text.Paint(plain.String()))
			plain.Reset()
		}
	}
	for text != "" {
		c := cluster(text)
		s, _ := m.glyph(c)
		if r, _ := utf8.DecodeRuneInString(c); isChip(r) {
			flush()
			b.WriteString(m.theme.Label.Paint(s))
		} else {
			plain.WriteString(s)
		}
		text = text[len(c):]
	}
	flush()
}

// Popup draws the completions, at most rows of them; nothing when there are none.
func (m *Model) Popup(rows int) []string {
	if !m.Completing() {
		return nil
	}
	items := m.pop.items
	n := min(len(items), popupRows, rows)
	top := min(max(m.pop.top, m.pop.cursor-n+1), max(0, len(items)-n))
	labels := 0
	for _, c := range items[top : top+n] {
		labels = max(labels, ansi.StringWidth(label(c)))
	}
	labels = min(labels, max(12, m.width/2))
	lines := make([]string, n)
	for i := range lines {
		lines[i] = m.popupLine(items[top+i], top+i == m.pop.cursor, labels)
	}
	return lines
}

func (m *Model) popupLine(c Candidate, chosen bool, labels int) string {
	name := ansi.Truncate(label(c), labels, "…")
	name += strings.Repeat(" ", labels-ansi.StringWidth(name))
	detail := ansi.Truncate(inert.Line(c.Detail), max(0, m.width-labels-6), "…")
	mark, style, tip := "  ", m.theme.Text, m.theme.Dim
	if chosen {
		mark, style, tip = "› ", m.theme.Accent.On(m.theme.Selection), m.theme.Dim.On(m.theme.Selection)
	}
	line := style.Paint(mark + name + "  ")
	if pad := m.width - labels - 4 - ansi.StringWidth(detail); pad > 0 {
		detail += strings.Repeat(" ", pad)
	}
	return line + tip.Paint(detail)
}

func label(c Candidate) string {
	if c.Label != "" {
		return inert.Line(c.Label)
	}
	return inert.Line(c.Text)
}
