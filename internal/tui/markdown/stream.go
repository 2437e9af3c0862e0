package markdown

import (
	"strings"

	"banyan/internal/tui/inert"
	"banyan/internal/tui/rich"
	"banyan/internal/tui/theme"
)

// Stream draws a text that is still being written. One goroutine owns it.
type Stream struct {
	th  theme.Theme
	src strings.Builder
}

// NewStream begins a text.
func NewStream(th theme.Theme) *Stream { return &Stream{th: th} }

// Append adds to the text.
func (s *Stream) Append(delta string) { s.src.WriteString(delta) }

// Raw is the text so far, as it came.
func (s *Stream) Raw() string { return s.src.String() }

// Source is the text so far, inert: what the marks of the rows lead to.
func (s *Stream) Source() string { return inert.Text(s.src.String()) }

// Rows are the text so far, drawn.
func (s *Stream) Rows(width int) []rich.Row { return Rows(s.Source(), width, s.th) }

// Lines is [Stream.Rows] as strings.
func (s *Stream) Lines(width int) []string {
	rows := s.Rows(width)
	lines := make([]string, len(rows))
	for i, r := range rows {
		lines[i] = r.Text
	}
	return lines
}
