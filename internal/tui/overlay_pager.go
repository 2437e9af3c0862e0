package tui

import (
	"fmt"
	"strings"

	"banyan/internal/tui/inert"
	"banyan/internal/tui/rich"

	tea "charm.land/bubbletea/v2"
)

// pager shows a text that may be longer than the screen.
type pager struct {
	m     *Model
	title string
	// lines draws the text at a width. It is pure.
	lines func(width int) []string
	top   int
	page  int // rows of text that were last offered
	last  int // the last line that may stand at the top
}

func (m *Model) page(title string, lines func(width int) []string) {
	m.push(&pager{m: m, title: title, lines: lines})
}

// Update implements [overlay].
func (p *pager) Update(msg tea.Msg) (bool, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		by, known := map[string]int{
			"up": -1, "k": -1, "down": 1, "j": 1, "enter": 1,
			"pgup": -p.page, "b": -p.page, "pgdown": p.page, "space": p.page,
			"home": -p.last, "g": -p.last, "end": p.last, "G": p.last,
		}[msg.String()]
		if !known {
			switch msg.String() {
			case "esc", "ctrl+c", "q", "?":
				return true, nil
			}
		}
		p.scroll(by)
	case tea.MouseWheelMsg:
		if msg.Button == tea.MouseWheelUp {
			p.scroll(-3)
		} else {
			p.scroll(3)
		}
	}
	return false, nil
}

func (p *pager) scroll(by int) { p.top = max(0, min(p.top+by, p.last)) }

// Height implements [overlay].
func (p *pager) Height(w, limit int) int {
	n := len(p.lines(w))
	h := min(limit, n+3)
	p.page = max(1, h-3)
	p.last = max(0, n-p.page)
	p.top = min(p.top, p.last)
	return h
}

// Cursor implements [overlay].
func (p *pager) Cursor() (x, y int, ok bool) { return 0, 0, false }

// View implements [overlay].
func (p *pager) View(w, h int) string {
	all := p.lines(w)
	end := min(len(all), p.top+max(0, h-3))
	out := []string{p.m.theme.Title.Paint(rich.TruncateText("  "+inert.Line(p.title), w)), ""}
	out = append(out, all[min(p.top, end):end]...)
	for len(out) < h-1 {
		out = append(out, "")
	}
	hints := p.m.hints("esc", "closes")
	if p.last > 0 {
		hints = append(hints, p.m.hints("pgdown", fmt.Sprintf("goes on (%d%%)", 100*end/len(all)))...)
	}
	return strings.Join(append(out, rich.Draw(rich.Truncate(hints, w)).Text)[:h], "\n")
}
