package tui

import (
	"fmt"
	"strings"

	"banyan/internal/tui/inert"
	"banyan/internal/tui/rich"
	"banyan/internal/tui/theme"
)

// diffLines draws a unified diff in full, with the numbers of the lines: the old
// ones for what goes, the new ones for the rest.
func (m *Model) diffLines(diff string, w int) []string {
	var (
		lines         []string
		before, after int
	)
	for line := range strings.SplitSeq(strings.TrimRight(inert.Text(diff), "\n"), "\n") {
		if strings.HasPrefix(line, "@@") {
			if before > 0 {
				lines = append(lines, m.theme.Hunk.Paint("     ⋮"))
			}
			before, after = hunk(line)
			continue
		}
		number, style := after, m.theme.Output
		switch {
		case strings.HasPrefix(line, "+"):
			style = m.theme.Added
			after++
		case strings.HasPrefix(line, "-"):
			number, style = before, m.theme.Removed
			before++
		default:
			before, after = before+1, after+1
		}
		lines = append(lines, m.diffLine(number, line, style, w)...)
	}
	return lines
}

// numberCells is the width of the column of line numbers.
const numberCells = 6

// diffLine is one line of a diff, broken where the screen ends.
func (m *Model) diffLine(number int, line string, style theme.Style, w int) []string {
	gutter := fmt.Sprintf("%*d ", numberCells-1, number)
	if number == 0 { // no hunk has said where we are
		gutter = strings.Repeat(" ", numberCells)
	}
	var lines []string
	for _, part := range rich.Hard(rich.Tabs(nil, line, style, 0), w-numberCells-1) {
		lines = append(lines, rich.Draw(append([]rich.Span{rich.Chrome(gutter, m.theme.LineNumber)}, part...)).Text)
		gutter = strings.Repeat(" ", numberCells)
	}
	return lines
}

// hunk reads where "@@ -12,3 +14,5 @@" begins, in the old file and the new one.
func hunk(line string) (before, after int) {
	for _, word := range strings.Fields(line) {
		switch word[0] {
		case '-':
			_, _ = fmt.Sscanf(word, "-%d", &before)
		case '+':
			_, _ = fmt.Sscanf(word, "+%d", &after)
		}
	}
	return before, after
}
