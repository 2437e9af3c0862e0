package tui

import (
	"strings"

	"banyan/internal/engine"
	"banyan/internal/llm"
	"banyan/internal/tui/inert"
	"banyan/internal/tui/rich"

	tea "charm.land/bubbletea/v2"
)

// waiting shows a summary while it is written.
type waiting struct {
	m    *Model
	text []byte
	stop bool // the user does not want it any more
}

// waitingRows is how much of the text is shown.
const waitingRows = 6

// Update implements [overlay].
func (w *waiting) Update(msg tea.Msg) (bool, tea.Cmd) {
	if key, ok := msg.(tea.KeyPressMsg); ok && (key.String() == "esc" || key.String() == "ctrl+c") && !w.stop {
		w.stop = true
		w.m.opts.Engine.Send(engine.Interrupt{})
	}
	return false, nil
}

// Height implements [overlay].
func (w *waiting) Height(_, limit int) int { return min(limit, waitingRows+1) }

// Cursor implements [overlay].
func (w *waiting) Cursor() (x, y int, ok bool) { return 0, 0, false }

// View implements [overlay]: the end of the text.
func (w *waiting) View(width, h int) string {
	th := w.m.theme
	title := []rich.Span{rich.Chrome(" ● ", th.Running), rich.Chrome("Summarizing what you leave behind", th.Text)}
	if r := w.m.running; r != nil {
		title = append(title, rich.Chrome(" "+duration(w.m.opts.Now().Sub(r.At)), th.Dim))
	}
	if w.stop {
		title = append(title, rich.Chrome("  stopping …", th.Dim))
	} else {
		title = append(title, w.m.hints("esc", "stops; nothing changes")...)
	}
	lines := []string{rich.Draw(rich.Truncate(title, width)).Text}
	var text []string
	for _, line := range rich.Source(inert.Text(tail(string(w.text), 4096)), th.Dim, 0) {
		for _, part := range rich.Wrap(line, width-4) {
			text = append(text, "  "+rich.Draw(part).Text)
		}
	}
	lines = append(lines, text[max(0, len(text)-(h-1)):]...)
	for len(lines) < h {
		lines = append(lines, "")
	}
	return strings.Join(lines[:h], "\n")
}

// tail is a text's end of about so many bytes, from the beginning of a line.
func tail(text string, most int) string {
	if len(text) <= most {
		return text
	}
	_, text, _ = strings.Cut(text[len(text)-most:], "\n")
	return text
}

// streamWaiting shows more of a summary.
func (m *Model) streamWaiting(ev llm.Event) {
	text, ok := ev.(llm.TextDelta)
	if g := m.tree.going; ok && g != nil && g.wait != nil {
		g.wait.text = append(g.wait.text, text.Text...)
	}
}
