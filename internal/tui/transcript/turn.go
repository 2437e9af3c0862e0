package transcript

import (
	"encoding/base64"
	"fmt"
	"strings"

	"banyan/internal/llm"
	"banyan/internal/session"
	"banyan/internal/tui/inert"
	"banyan/internal/tui/rich"
	"banyan/internal/tui/theme"
)

// foldedLines is how much of a long turn or text is shown while it is folded.
const foldedLines = 12

// turn is what the user wrote: text at a bar, siblings at the right of its first row.
func (s *sheet) turn(i int, id session.ID, content []llm.Block) {
	first := len(s.d.rows)
	fold := "turn:" + string(id)
	for _, b := range content {
		switch b := b.(type) {
		case llm.Text:
			s.turnText(fold, strings.TrimRight(inert.Text(b.Text), "\n"))
		case llm.Image:
			s.line([]rich.Span{rich.Chrome(imageLabel(b), s.th.Dim)}, margin, s.bar())
		}
	}
	if first == len(s.d.rows) {
		s.line([]rich.Span{rich.Chrome("(nothing)", s.th.Dim)}, margin, s.bar())
	}
	s.d.turn = s.m.turnMark(i)
	if s.d.turn.n > 1 {
		s.siblings(first, id)
	}
}

func (s *sheet) bar() sign { return sign{"▌", s.th.UserBar} }

func (s *sheet) turnText(fold, text string) {
	at := s.say(text)
	rows := wrapAll(rich.Source(text, s.th.User, at), min(s.room(margin), measure))
	hidden := 0
	if len(rows) > foldedLines+1 && !s.m.open(fold, false) {
		hidden = len(rows) - foldedLines
		rows = rows[:foldedLines]
	}
	for _, r := range rows {
		s.put([]rich.Row{r}, margin, s.bar())
	}
	if hidden > 0 {
		s.line([]rich.Span{rich.Chrome(fmt.Sprintf("… %s more", plural(hidden, "line")), s.th.Dim)}, margin, s.bar())
		s.fold(fold)
	}
}

// siblings draws ‹2/3› at the right end of a row, in the place of what stands there.
func (s *sheet) siblings(row int, id session.ID) {
	mark := fmt.Sprintf("‹%d/%d›", s.d.turn.i, s.d.turn.n)
	w := rich.Width(mark)
	r := s.d.rows[row]
	at := s.width - w - 1
	if at < margin+4 {
		return
	}
	if r.Width >= at { // the text keeps its words: the mark gets a row of its own
		r = rich.Draw([]rich.Span{rich.Chrome("▌", s.th.UserBar)})
		s.d.rows = append(s.d.rows[:row], append([]rich.Row{r}, s.d.rows[row:]...)...)
		for i := range s.d.zones {
			s.d.zones[i].row++
		}
	}
	r.Text += strings.Repeat(" ", at-r.Width) + s.th.Sibling.Paint(mark)
	r.Width = at + w
	s.d.rows[row] = r
	s.d.zones = append(s.d.zones,
		zone{row, at, at + w/2, Hit{Kind: HitPrev, ID: id}},
		zone{row, at + w/2, at + w, Hit{Kind: HitNext, ID: id}})
}

// userCommand is what the user ran with `!`.
func (s *sheet) userCommand(id session.ID, d session.Command) {
	mark := "! "
	if d.Excluded {
		mark = "!! "
	}
	text := mark + inert.Line(d.Command)
	rows := wrapAll(rich.Source(text, s.th.User, s.say(text)), s.room(margin))
	for _, r := range rows {
		s.put([]rich.Row{r}, margin, s.bar())
	}
	note := ""
	style := s.th.Failure
	switch {
	case d.Cancelled:
		note = "interrupted"
	case d.ExitCode != nil && *d.ExitCode != 0:
		note = fmt.Sprintf("exit %d", *d.ExitCode)
	}
	if d.Excluded {
		note = strings.TrimPrefix(note+" · not shown to the model", " · ")
		style = s.th.Dim
	}
	s.output("command:"+string(id), d.Output, note, style, tail)
}

// content is text and pictures as they come.
func (s *sheet) content(blocks []llm.Block, st theme.Style) {
	for _, b := range blocks {
		switch b := b.(type) {
		case llm.Text:
			s.prose(strings.TrimRight(inert.Text(b.Text), "\n"), st, margin, noSign)
		case llm.Image:
			s.line([]rich.Span{rich.Chrome(imageLabel(b), s.th.Dim)}, margin, noSign)
		}
	}
}

// imageLabel stands for a picture where it is not drawn.
func imageLabel(img llm.Image) string {
	size := base64.StdEncoding.DecodedLen(len(img.Data))
	return fmt.Sprintf("▣ %s, %s", inert.Line(img.MIME), bytesText(int64(size)))
}
