package markdown

import (
	"banyan/internal/tui/inert"
	"banyan/internal/tui/rich"
	"banyan/internal/tui/theme"
)

// Render draws a text in rows of at most width cells.
func Render(src string, width int, th theme.Theme) []string {
	rows := Rows(inert.Text(src), width, th)
	lines := make([]string, len(rows))
	for i, r := range rows {
		lines[i] = r.Text
	}
	return lines
}

// Rows is [Render] of a text that is inert, with the marks that lead back to it.
func Rows(src string, width int, th theme.Theme) []rich.Row {
	var rows []rich.Row
	for _, line := range rich.Source(src, th.Text, 0) {
		for _, l := range rich.Wrap(line, width) {
			rows = append(rows, rich.Draw(l))
		}
	}
	return rows
}
