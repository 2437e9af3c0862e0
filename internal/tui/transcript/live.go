package transcript

import (
	"fmt"
	"strings"
	"time"

	"banyan/internal/llm"
	"banyan/internal/tui/inert"
	"banyan/internal/tui/markdown"
	"banyan/internal/tui/rich"
	"banyan/internal/tui/theme"
)

// live is the answer that is being written. What is drawn of it grows on one
// sheet: all that cannot change any more stays on it, and each time only what
// comes after is drawn again.
type live struct {
	th    theme.Theme
	fold  *llm.Fold
	texts map[int]*markdown.Stream // of blocks of text, by place in the content
	retry *llm.Retry               // the last try failed and nothing came since

	sheet   *sheet // nil: nothing of it stays
	stays   bookmark
	begin   bookmark // before the block that is open, if stays.opened is not 0
	growing bool     // whether the block that is open still grew when it was drawn
	block   int      // highest number of a block that a delta was for
	drawn   *drawn   // nil: something has changed
}

// bookmark is how much of a sheet stays.
type bookmark struct {
	content int // blocks of the content that are on it, whole
	opened  int // rows of the next one's stream that are on it, too
	base    int // where that one's source begins
	rows    int
	zones   int
	parts   int
	length  int
	slim    bool
}

func newLive(th theme.Theme) *live {
	return &live{th: th, fold: llm.NewFold("", "", "", time.Time{}), texts: map[int]*markdown.Stream{}}
}

func (l *live) apply(ev llm.Event) {
	l.drawn = nil
	l.retry = nil
	l.fold.Apply(ev)
	block := l.block
	switch ev := ev.(type) {
	case llm.Retry:
		l.retry = &ev
		l.texts = map[int]*markdown.Stream{}
		l.block, block = 0, 0
		l.forget()
	case llm.TextDelta:
		block = ev.Block
	case llm.ThinkingDelta:
		block = ev.Block
	case llm.CallDelta:
		block = ev.Block
	case llm.CallDone:
		block = ev.Block
	}
	if block < l.block { // blocks interleave: what was below may have moved
		l.forget()
	}
	l.block = max(l.block, block)
}

// forget has all of it drawn again.
func (l *live) forget() { l.drawn, l.sheet = nil, nil }

func (l *live) restyle(th theme.Theme) {
	l.th = th
	l.texts = map[int]*markdown.Stream{}
	l.forget()
}

// text is the stream of the block at a place, brought up to date.
func (l *live) text(place int, whole string, th theme.Theme) *markdown.Stream {
	s := l.texts[place]
	if s == nil || !strings.HasPrefix(whole, s.Raw()) { // a block came in before it
		s = markdown.NewStream(th)
		l.texts[place] = s
	}
	s.Append(whole[len(s.Raw()):])
	return s
}

// resume gives the sheet, cut back to what stays.
func (l *live) resume(m *Model) *sheet {
	if l.sheet == nil {
		l.sheet = m.sheet()
		l.stays = bookmark{}
	}
	s, b := l.sheet, l.stays
	s.d.rows = s.d.rows[:b.rows]
	s.d.zones = s.d.zones[:b.zones]
	s.d.source = s.d.source[:b.parts]
	s.length = b.length
	s.slim = b.slim
	return s
}

// mark notes that all that is on the sheet stays.
func (l *live) mark(content int) {
	s := l.sheet
	l.stays = bookmark{content: content, rows: len(s.d.rows), zones: len(s.d.zones), parts: len(s.d.source), length: s.length, slim: s.slim}
}

// drawLive draws the answer that is being written.
func (m *Model) drawLive() *drawn {
	l := m.live
	if l.drawn != nil {
		return l.drawn
	}
	s := l.resume(m)
	content := l.fold.Message().Content
	writing := l.fold.Writing()
	for n := l.stays.content; n < len(content); n++ {
		last := n == len(content)-1
		growing := last && len(writing) == 0
		if l.stays.opened > 0 && l.growing != growing { // which may show above what stays
			l.stays = l.begin
			s = l.resume(m)
		}
		l.growing = growing
		s.liveBlock(n, content[n], growing)
		if !last {
			l.mark(n + 1)
		}
	}
	i := m.items.len()
	for _, c := range writing {
		s.cardGap(i, len(s.d.rows) == 0)
		s.card(card{id: c.ID, name: c.Name, args: []byte(c.Arguments), writing: true})
	}
	if l.retry != nil {
		s.gap(i)
		s.retry(*l.retry)
	}
	l.drawn = &drawn{rows: s.d.rows, zones: s.d.zones, source: s.d.source}
	return l.drawn
}

// liveBlock draws one block of the answer.
func (s *sheet) liveBlock(n int, b llm.Block, growing bool) {
	l, i := s.m.live, s.m.items.len()
	switch b := b.(type) {
	case llm.Text:
		if strings.TrimSpace(b.Text) == "" {
			return
		}
		if l.stays.opened == 0 {
			s.gap(i)
		}
		s.grow(l.text(n, b.Text, s.th), margin)
	case llm.Thinking:
		open := l.stays.opened > 0
		if !open {
			open = s.thinkingTitle(i, fmt.Sprintf("thinking:live:%d", n), b, growing)
		}
		if open {
			s.grow(l.text(n, b.Text, s.th.Quiet()), margin+2)
		}
	case llm.ToolCall:
		s.cardGap(i, len(s.d.rows) == 0)
		s.card(card{id: b.ID, name: b.Name, args: b.Arguments, last: true})
	}
}

// grow adds the rows of a stream. Those that are closed stay.
func (s *sheet) grow(t *markdown.Stream, indent int) {
	l := s.m.live
	closed, tail := t.Parts(s.room(indent))
	if l.stays.opened == 0 {
		l.stays.base = s.length
	}
	base := l.stays.base
	s.place(closed[l.stays.opened:], base, indent)
	if len(closed) > 0 {
		if l.stays.opened == 0 {
			l.begin = l.stays
		}
		l.stays.rows, l.stays.opened = len(s.d.rows), len(closed)
		l.stays.zones, l.stays.parts, l.stays.length = len(s.d.zones), len(s.d.source), s.length
	}
	s.place(tail, base, indent)
	s.d.source = append(s.d.source, part{stream: t})
	s.length += t.Len() + 1
}

// retry says why and when a request is sent again.
func (s *sheet) retry(r llm.Retry) {
	text := fmt.Sprintf("try %d", r.Attempt)
	if r.Wait > 0 {
		text += " in " + took(r.Wait.Round(time.Second))
	}
	if r.Err != nil {
		text += ": " + inert.Text(r.Err.Error())
	}
	s.prose(text, s.th.Warning, margin, sign{"↻", s.th.Warning})
}

// place adds rows whose source begins at a byte of ours.
func (s *sheet) place(rows []rich.Row, base, indent int) {
	for _, r := range rows {
		if r.Width > 0 {
			r = r.Shift(base).Indent(blanks(indent), theme.Style{})
		}
		s.row(r)
	}
}
