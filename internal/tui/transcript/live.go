package transcript

import (
	"strings"
	"time"

	"banyan/internal/llm"
	"banyan/internal/tui/markdown"
	"banyan/internal/tui/theme"
)

// live is the answer that is being written.
type live struct {
	th    theme.Theme
	fold  *llm.Fold
	texts map[int]*markdown.Stream // of text blocks, by place in the content
	retry *llm.Retry               // the last try failed and nothing came since
}

func newLive(th theme.Theme) *live {
	return &live{th: th, fold: llm.NewFold("", "", "", time.Time{}), texts: map[int]*markdown.Stream{}}
}

func (l *live) apply(ev llm.Event) {
	l.retry = nil
	if r, ok := ev.(llm.Retry); ok {
		l.retry = &r
		clear(l.texts)
	}
	l.fold.Apply(ev)
}

func (l *live) restyle(th theme.Theme) {
	l.th = th
	clear(l.texts)
}

// text is the stream of the text block at a place, brought up to date.
func (l *live) text(place int, whole string) *markdown.Stream {
	s := l.texts[place]
	if s == nil || !strings.HasPrefix(whole, s.Raw()) { // a block came in before it
		s = markdown.NewStream(l.th)
		l.texts[place] = s
	}
	s.Append(whole[len(s.Raw()):])
	return s
}
