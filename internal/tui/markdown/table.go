package markdown

import (
	"strings"

	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"

	"banyan/internal/tui/rich"
	"banyan/internal/tui/theme"
)

// table is a table whose cells are lines of spans: head is its first row.
type table struct {
	node  *extast.Table
	cells [][][][]rich.Span // row, column, line
}

func tableOf(n ast.Node) (*extast.Table, bool) {
	t, ok := n.(*extast.Table)
	return t, ok
}

// gap stands between two columns.
const gap = " │ "

// minColumn is the width below which a column is not narrowed: beyond it the
// table is drawn as a list of its rows.
const minColumn = 5

// table draws a table as wide as it needs, its columns narrowed where that is
// too wide, or as a list where that would leave too little.
func (r *renderer) table(n *extast.Table) {
	t := r.readTable(n)
	columns := len(n.Alignments)
	if columns == 0 || len(t.cells) == 0 {
		return
	}
	widths := make([]int, columns)
	for _, row := range t.cells {
		for c, cell := range row {
			for _, line := range cell {
				widths[c] = max(widths[c], rich.LineWidth(line))
			}
		}
	}
	if !narrow(widths, r.room()-len([]rune(gap))*(columns-1)) {
		r.records(t)
		return
	}
	for i, row := range t.cells {
		r.tableRow(t, row, widths)
		if i == 0 {
			r.emit([]rich.Span{rich.Chrome(tableRule(widths), r.th.Rule)})
		}
	}
}

// readTable draws the cells, each by itself.
func (r *renderer) readTable(n *extast.Table) table {
	t := table{node: n}
	for row := n.FirstChild(); row != nil; row = row.NextSibling() {
		style := r.style()
		if _, ok := row.(*extast.TableHeader); ok {
			style = r.th.Bold.On(style)
		}
		var cells [][][]rich.Span
		for c := row.FirstChild(); c != nil && len(cells) < len(n.Alignments); c = c.NextSibling() {
			cells = append(cells, r.inline(c, style))
		}
		for len(cells) < len(n.Alignments) {
			cells = append(cells, [][]rich.Span{nil})
		}
		t.cells = append(t.cells, cells)
	}
	return t
}

// narrow makes the widest columns narrower until all fit, and says whether that can be done.
func narrow(widths []int, room int) bool {
	total := 0
	for _, w := range widths {
		total += w
	}
	for total > room {
		widest := 0
		for i, w := range widths {
			if w > widths[widest] {
				widest = i
			}
		}
		if widths[widest] <= minColumn {
			return false
		}
		second := minColumn
		for i, w := range widths {
			if i != widest {
				second = max(second, w)
			}
		}
		by := min(total-room, max(widths[widest]-second, 1))
		widths[widest] -= by
		total -= by
	}
	return true
}

func tableRule(widths []int) string {
	parts := make([]string, len(widths))
	for i, w := range widths {
		parts[i] = dashes(w)
	}
	return strings.Join(parts, "─┼─")
}

// tableRow draws one row, which takes as many rows of the screen as its tallest cell.
func (r *renderer) tableRow(t table, cells [][][]rich.Span, widths []int) {
	wrapped := make([][][]rich.Span, len(cells))
	height := 1
	for c, cell := range cells {
		for _, line := range cell {
			wrapped[c] = append(wrapped[c], rich.Wrap(line, max(widths[c], 1))...)
		}
		height = max(height, len(wrapped[c]))
	}
	for y := range height {
		var line []rich.Span
		for c := range cells {
			if c > 0 {
				line = append(line, rich.Chrome(gap, r.th.Rule))
			}
			var part []rich.Span
			if y < len(wrapped[c]) {
				part = wrapped[c][y]
			}
			line = append(line, aligned(part, widths[c], t.node.Alignments[c], c == len(cells)-1)...)
		}
		r.emit(line)
	}
}

// aligned pads a line to a width; nothing follows the last column, so that is
// not padded at its right.
func aligned(line []rich.Span, width int, a extast.Alignment, last bool) []rich.Span {
	free := max(width-rich.LineWidth(line), 0)
	left := 0
	switch a {
	case extast.AlignRight:
		left = free
	case extast.AlignCenter:
		left = free / 2
	}
	if left > 0 {
		line = append([]rich.Span{blanks(left)}, line...)
	}
	if right := free - left; right > 0 && !last {
		line = append(line[:len(line):len(line)], blanks(right))
	}
	return line
}

func blanks(n int) rich.Span { return rich.Chrome(strings.Repeat(" ", n), theme.Style{}) }

// records draws a table that is too wide as a list: each cell of a row on a
// line of its own after the name of its column.
func (r *renderer) records(t table) {
	head := t.cells[0]
	if len(t.cells) == 1 {
		for _, cell := range head {
			r.lines(cell)
		}
	}
	for i, row := range t.cells[1:] {
		if i > 0 {
			r.blank()
		}
		for c, cell := range row {
			for j, line := range cell {
				if j == 0 && len(head[c]) > 0 && len(head[c][0]) > 0 {
					name := append(head[c][0][:len(head[c][0]):len(head[c][0])], rich.Chrome(": ", r.th.Dim))
					line = append(name, line...)
				}
				r.lines([][]rich.Span{line})
			}
		}
	}
}
