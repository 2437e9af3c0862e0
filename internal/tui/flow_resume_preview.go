package tui

import (
	"context"
	"strings"

	"banyan/internal/tui/inert"
	"banyan/internal/tui/rich"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
)

// preview is the end of the conversation under the cursor of a list of sessions,
// beside the list where there is room. One is read at a time, and only what the
// cursor stays at: holding a key down reads few.
type preview struct {
	room    bool
	reading bool
	path    string // of the session that was read last
	said    []Said
	err     error
}

// previewMsg is a preview that was read.
type previewMsg struct {
	list *sessionList
	path string
	said []Said
	err  error
}

const (
	previewFrom = 100 // cells of the screen from which on there is room for one
	previewRows = 16  // that the list takes at least then
	saidRows    = 6   // of one message
)

// look reads what is under the cursor, if it is wanted and nothing else is being read.
func (l *sessionList) look() tea.Cmd {
	list, read := l, l.m.opts.Preview
	s, ok := l.current()
	if !ok || read == nil || !l.preview.room || l.preview.reading || l.preview.path == s.Path {
		return nil
	}
	l.preview.reading = true
	return func() tea.Msg {
		said, err := read(context.Background(), s.Path)
		return previewMsg{list, s.Path, said, err}
	}
}

func (p *preview) take(msg previewMsg) {
	p.reading = false
	p.path, p.said, p.err = msg.path, msg.said, msg.err
}

// Height implements [overlay].
func (l *sessionList) Height(w, limit int) int {
	h := l.Model.Height(w, limit)
	if l.preview.room = w >= previewFrom && l.m.opts.Preview != nil; l.preview.room && h < previewRows {
		return l.Model.Stretch(min(previewRows, limit))
	}
	return h
}

// View implements [overlay].
func (l *sessionList) View(w, h int) string {
	if !l.preview.room {
		return l.Model.View(w, h)
	}
	right := w * 2 / 5
	left := w - right - 3
	rows := strings.Split(l.Model.View(left, h), "\n")
	pane := l.pane(right, h)
	for i, row := range rows {
		pad := strings.Repeat(" ", max(0, left-ansi.StringWidth(row)))
		rows[i] = row + pad + l.m.theme.Faint.Paint(" │ ") + pane[i]
	}
	return strings.Join(rows, "\n")
}

// pane is the preview in exactly h rows of at most w cells: as much of the end
// as fits.
func (l *sessionList) pane(w, h int) []string {
	th := l.m.theme
	var rows []string
	switch s, ok := l.current(); {
	case !ok:
	case l.preview.path != s.Path:
		rows = []string{th.Faint.Paint("reading …")}
	case l.preview.err != nil:
		for _, line := range rich.Wrap([]rich.Span{rich.Chrome(inert.Line(l.preview.err.Error()), th.Failure)}, w) {
			rows = append(rows, rich.Draw(line).Text)
		}
	default:
		for _, said := range l.preview.said {
			rows = append(rows, l.saidRows(said, w)...)
		}
	}
	rows = rows[max(0, len(rows)-h):]
	for len(rows) < h {
		rows = append(rows, "")
	}
	return rows
}

// saidRows draws a message of a preview, the beginning of it where it is long.
func (l *sessionList) saidRows(said Said, w int) []string {
	th := l.m.theme
	rows := []string{th.Strong.Paint(rich.TruncateText(inert.Line(said.Who), w))}
	for _, line := range rich.Source(strings.TrimSpace(inert.Text(said.Text)), th.Text, 0) {
		for _, part := range rich.Wrap(line, w) {
			if len(rows) > saidRows {
				return append(rows, th.Faint.Paint("…"), "")
			}
			rows = append(rows, rich.Draw(part).Text)
		}
	}
	return append(rows, "")
}
