package tui

import (
	"fmt"
	"strings"

	"banyan/internal/tui/inert"
	"banyan/internal/tui/keymap"
	"banyan/internal/tui/rich"

	tea "charm.land/bubbletea/v2"
)

// pager shows a text that may be longer than the screen.
type pager struct {
	m     *Model
	title string
	// lines draws the text at a width. It is pure.
	lines func(width int) []string
	keys  keymap.Table[*pager]
	done  bool
	top   int
	page  int // rows of text that were last offered
	last  int // the last line that may stand at the top
}

func (m *Model) page(title string, lines func(width int) []string) {
	m.push(&pager{m: m, title: title, lines: lines, keys: keymap.New(pagerKeys(), m.opts.Keys)})
}

// pagerKeys are the keys of texts.
func pagerKeys() []keymap.Binding[*pager] {
	scroll := func(by func(*pager) int) func(*pager) tea.Cmd {
		return func(p *pager) tea.Cmd { p.scroll(by(p)); return nil }
	}
	return []keymap.Binding[*pager]{
		{ID: "page.close", Keys: []string{"esc", "q", "ctrl+c", "?"}, Help: "close", Run: func(p *pager) tea.Cmd { p.done = true; return nil }},
		{ID: "page.up", Keys: []string{"up", "k"}, Help: "a line up", Run: scroll(func(*pager) int { return -1 })},
		{ID: "page.down", Keys: []string{"down", "j", "enter"}, Help: "a line down", Run: scroll(func(*pager) int { return 1 })},
		{ID: "page.back", Keys: []string{"pgup", "b"}, Help: "a page up", Run: scroll(func(p *pager) int { return -p.page })},
		{ID: "page.on", Keys: []string{"pgdown", "space"}, Help: "a page down", Run: scroll(func(p *pager) int { return p.page })},
		{ID: "page.first", Keys: []string{"home", "g"}, Help: "to the beginning", Run: scroll(func(p *pager) int { return -p.last })},
		{ID: "page.last", Keys: []string{"end", "G"}, Help: "to the end", Run: scroll(func(p *pager) int { return p.last })},
	}
}

// Update implements [overlay].
func (p *pager) Update(msg tea.Msg) (bool, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		if b, ok := p.keys.Find(p, msg.String()); ok {
			b.Run(p)
		}
	case tea.MouseWheelMsg:
		if msg.Button == tea.MouseWheelUp {
			p.scroll(-wheelLines)
		} else {
			p.scroll(wheelLines)
		}
	}
	return p.done, nil
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
	hints := p.m.hints(p.keys.Key("page.close"), "closes")
	if end < len(all) {
		hints = append(hints, p.m.hints(p.keys.Key("page.on"), fmt.Sprintf("goes on (%d%%)", 100*end/len(all)))...)
	}
	return strings.Join(append(out, rich.Draw(rich.Truncate(hints, w)).Text)[:h], "\n")
}
