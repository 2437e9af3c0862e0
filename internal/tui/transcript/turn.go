package transcript

import (
	"encoding/base64"
	"fmt"
	"strings"

	"banyan/internal/llm"
	"banyan/internal/session"
	"banyan/internal/tui/inert"
	"banyan/internal/tui/markdown"
	"banyan/internal/tui/rich"
	"banyan/internal/tui/theme"
)

// foldedLines is how much of a long turn or text is shown while it is folded.
const foldedLines = 12

// turn is what the user wrote: text on a band, its siblings at the right of it.
func (s *sheet) turn(i int, id session.ID, content []llm.Block) {
	fold := "turn:" + string(id)
	var rows []rich.Row
	hidden := 0
	for _, b := range content {
		switch b := b.(type) {
		case llm.Text:
			text := strings.TrimRight(inert.Text(b.Text), "\n")
			rows = append(rows, wrapAll(rich.Source(text, s.th.User, s.say(text)), min(s.room(margin), markdown.Measure))...)
		case llm.Image:
			label := rich.TruncateText(imageLabel(b), s.room(margin))
			rows = append(rows, rich.Plain(label, s.th.Dim.On(s.th.User)))
		}
	}
	if len(rows) == 0 {
		rows = append(rows, rich.Plain("(nothing)", s.th.Dim.On(s.th.User)))
	}
	if len(rows) > foldedLines+1 && !s.m.open(fold, false) {
		rows, hidden = rows[:foldedLines], len(rows)-foldedLines
	}
	for _, r := range rows {
		s.band(r)
	}
	last := rows[len(rows)-1]
	if hidden > 0 {
		last = rich.Plain("… "+plural(hidden, "more line"), s.th.Dim.On(s.th.User))
		s.band(last)
		s.fold(fold)
	}
	if s.d.turn = s.m.turnMark(i); s.d.turn.n > 1 {
		s.siblings(id, last)
	}
	s.pictures(id, images(content))
}

// pictures draws the pictures of a turn below it: where the terminal draws them
// itself, else once they are asked for.
func (s *sheet) pictures(id session.ID, all []llm.Image) {
	if len(all) == 0 {
		return
	}
	fold := "pictures:" + string(id)
	s.fold(fold)
	if !s.m.open(fold, s.m.expandTools || s.m.screen.Way.Pixels()) {
		return
	}
	for _, img := range all {
		if s.blank(); !s.picture(img, margin) {
			s.line([]rich.Span{rich.Chrome("cannot be drawn here", s.th.Dim)}, margin, noSign)
		}
	}
}

// band adds a row of what the user wrote: a bar at its left, the background of
// the style over its whole width.
func (s *sheet) band(r rich.Row) { s.row(s.fill(s.barred(r), s.width)) }

// barred puts the bar before a row.
func (s *sheet) barred(r rich.Row) rich.Row {
	return r.Indent(" ", s.th.User).Indent("▌", s.th.UserBar)
}

// fill lengthens a row to a width in the user's style.
func (s *sheet) fill(r rich.Row, width int) rich.Row {
	if free := width - r.Width; free > 0 {
		r.Text += s.th.User.Paint(blanks(free))
		r.Width = width
	}
	return r
}

// siblings puts ‹2/3› at the right end of the turn's last row, or on a row of its
// own where the text reaches that far.
func (s *sheet) siblings(id session.ID, last rich.Row) {
	mark := fmt.Sprintf("‹%d/%d›", s.d.turn.i, s.d.turn.n)
	w := rich.Width(mark)
	at := s.width - w - 1
	if at < margin {
		return
	}
	if margin+last.Width < at {
		s.d.rows = s.d.rows[:len(s.d.rows)-1]
	} else {
		last = rich.Row{}
	}
	r := s.fill(s.barred(last), at)
	r.Text += s.th.Sibling.On(s.th.User).Paint(mark)
	r.Width += w
	s.row(s.fill(r, s.width))
	s.zone(at, at+w/2, Hit{Kind: HitPrev, ID: id})
	s.zone(at+w/2, at+w, Hit{Kind: HitNext, ID: id})
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
		s.band(r)
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
