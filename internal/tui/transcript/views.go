package transcript

import (
	"fmt"
	"path"
	"strconv"
	"strings"

	"banyan/internal/tool"
	"banyan/internal/tui/highlight"
	"banyan/internal/tui/inert"
	"banyan/internal/tui/rich"
	"banyan/internal/tui/theme"
)

// body is how the picture below a card's header is drawn.
type body struct {
	fold   string
	open   bool
	failed bool
}

// Draw draws a view by itself and whole, in rows of at most width cells: for
// questions about a call that has not been run.
func Draw(v tool.View, width int, th theme.Theme) []string {
	m := New(th)
	m.w = max(width, 1)
	m.expandTools = true
	s := m.sheet()
	s.body, s.edge = 0, 0
	s.view(v, body{open: true})
	rows := make([]string, len(s.d.rows))
	for i, r := range s.d.rows {
		rows[i] = r.Text
	}
	return rows
}

// view draws a picture by its kind.
func (s *sheet) view(v tool.View, b body) {
	switch v := v.(type) {
	case tool.Plain:
		s.plain(v, b)
	case tool.Command:
		s.command(v, b)
		s.output(b.fold, v.Output, "", s.th.Dim, tail)
		s.full(v.Cut, b)
	case tool.Diff:
		s.diff(v, b)
	case tool.Listing:
		s.listing(v, b)
	case tool.Image:
		s.line([]rich.Span{rich.Chrome("▣ "+inert.Line(v.Path), s.th.Dim)}, s.body, noSign)
	}
}

// command shows the whole of a command, as it was run, where the header cannot.
func (s *sheet) command(v tool.Command, b body) {
	text := strings.Trim(inert.Text(v.Command), "\n")
	if !b.open || !strings.Contains(text, "\n") && rich.Width(text) < s.room(margin)/2 {
		return
	}
	for _, line := range rich.Source(text, s.th.Subject, s.say(text)) {
		for _, l := range rich.Hard(line, s.room(s.body)) {
			s.put([]rich.Row{rich.Draw(l)}, s.body, noSign)
		}
	}
}

// plain shows text: of a file nothing until it is opened, of an answer its beginning.
func (s *sheet) plain(v tool.Plain, b body) {
	switch {
	case b.failed:
		s.lines(b.fold, inert.Output(v.Text), s.th.Failure, head)
	case v.Path == "":
		s.lines(b.fold, inert.Output(v.Text), s.th.Output, head)
	case b.open:
		s.code(v)
	}
	s.full(v.Cut, b)
}

// full says where the whole of a cut text is.
func (s *sheet) full(c *tool.Cut, b body) {
	if b.open && c != nil && c.Full != "" {
		s.prose("all of it: "+inert.Line(c.Full), s.th.Faint, s.body, noSign)
	}
}

// code shows a file's text with line numbers.
func (s *sheet) code(v tool.Plain) {
	text := strings.TrimSuffix(inert.Text(v.Text), "\n")
	at := s.say(text)
	runs := highlight.Lines(highlight.LangOf(v.Path), text)
	first := max(v.Line, 1)
	gutter := len(strconv.Itoa(first + len(runs)))
	for i, value := range strings.Split(text, "\n") {
		var line []rich.Span
		for _, run := range runs[i] {
			line = rich.Tabs(line, value[:run.Len], run.Kind.Style(s.th), at)
			value, at = value[run.Len:], at+run.Len
		}
		at++ // the line feed
		number := fmt.Sprintf("%*d  ", gutter, first+i)
		for _, l := range rich.Hard(line, s.room(s.body+len(number))) {
			s.put([]rich.Row{rich.Draw(l).Indent(number, s.th.LineNumber)}, s.body, noSign)
			number = blanks(len(number))
		}
	}
}

// end says which end of a long text is shown while it is folded.
type end bool

const (
	head end = false
	tail end = true
)

// previewLines is how many lines of a result are shown while it is folded.
const previewLines = 5

// output shows a program's output, and a note below it.
func (s *sheet) output(fold, text, note string, noteStyle theme.Style, e end) {
	s.lines(fold, inert.Output(text), s.th.Output, e)
	if note != "" {
		s.line([]rich.Span{rich.Chrome(note, noteStyle)}, s.body, noSign)
	}
}

// lines shows a text line by line, one end of it while it is folded.
func (s *sheet) lines(fold, text string, st theme.Style, e end) {
	text = strings.Trim(text, "\n")
	if strings.TrimSpace(text) == "" {
		return
	}
	open := s.m.open(fold, s.m.expandTools)
	shown, hidden := text, 0
	if !open {
		shown, hidden = preview(text, e)
	}
	if hidden > 0 && e == tail {
		s.more(fold, hidden, "line")
	}
	at := s.say(shown)
	for _, line := range rich.Output(shown, st, at) {
		room := s.room(s.body)
		if !open && rich.LineWidth(line) > 2*room { // a line without end must not fill the screen
			line = rich.Truncate(line, room)
		}
		for _, l := range rich.Hard(line, room) {
			s.put([]rich.Row{rich.Draw(l)}, s.body, noSign)
		}
	}
	if hidden > 0 && e == head {
		s.more(fold, hidden, "line")
	}
}

// more says how much is folded away.
func (s *sheet) more(fold string, n int, what string) {
	s.line([]rich.Span{rich.Chrome("… "+plural(n, "more "+what), s.th.Faint)}, s.body, noSign)
	s.fold(fold)
}

// preview is one end of a text and the number of lines that it leaves out. One
// line is never left out: the note would take its place.
func preview(text string, e end) (shown string, hidden int) {
	lines := strings.Count(text, "\n") + 1
	if lines <= previewLines+1 {
		return text, 0
	}
	at := 0
	if e == tail {
		at = len(text)
		for range previewLines {
			at = strings.LastIndexByte(text[:at], '\n')
		}
		return text[at+1:], lines - previewLines
	}
	for range previewLines {
		at += strings.IndexByte(text[at:], '\n') + 1
	}
	return text[:at-1], lines - previewLines
}

// listing shows places: paths, with what stands there.
func (s *sheet) listing(v tool.Listing, b body) {
	items := v.Items
	if !b.open && len(items) > previewLines+1 {
		items = items[:previewLines]
	}
	for _, it := range items {
		s.line(s.listed(it), s.body, noSign)
	}
	if hidden := max(v.Total, len(v.Items)) - len(items); hidden > 0 {
		s.more(b.fold, hidden, "result")
	}
}

// listed is one line of a listing.
func (s *sheet) listed(it tool.Item) []rich.Span {
	dir, name := path.Split(inert.Line(it.Path))
	if it.Dir && !strings.HasSuffix(name, "/") {
		name += "/"
	}
	where := dir + name
	if it.Line > 0 {
		where += fmt.Sprintf(":%d", it.Line)
	}
	text := inert.Line(strings.TrimSpace(it.Text))
	if text != "" {
		text = "  " + text
	}
	at := s.say(where + text)
	spans := []rich.Span{
		rich.Verbatim(dir, s.th.Dim, at),
		rich.Verbatim(name, s.th.Subject, at+len(dir)),
		rich.Verbatim(where[len(dir)+len(name):], s.th.LineNumber, at+len(dir)+len(name)),
	}
	if text != "" {
		spans = append(spans, rich.Verbatim(text, s.th.Output, at+len(where)))
	}
	if it.Size > 0 && !it.Dir {
		spans = append(spans, rich.Chrome("  "+bytesText(it.Size), s.th.Faint))
	}
	return spans
}

// summary is folded to its title and a few words.
func (s *sheet) summary(fold, title, text string) {
	text = strings.Trim(inert.Text(text), "\n")
	open := s.m.open(fold, false)
	mark := "▸"
	if open {
		mark = "▾"
	}
	spans := []rich.Span{rich.Chrome(title, s.th.Summary)}
	if n := strings.Count(text, "\n") + 1; !open && text != "" {
		spans = append(spans, rich.Chrome(" · "+plural(n, "line"), s.th.Faint))
	}
	s.line(spans, margin, sign{mark, s.th.Summary})
	s.fold(fold)
	if open {
		s.markdown(text)
	}
}
