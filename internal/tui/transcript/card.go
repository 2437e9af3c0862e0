package transcript

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"banyan/internal/llm"
	"banyan/internal/session"
	"banyan/internal/tool"
	"banyan/internal/tui/inert"
	"banyan/internal/tui/rich"
)

// card is a call of a tool and what became of it.
type card struct {
	id      string
	entry   session.ID // of the answer; zero while that is being written
	name    string
	args    json.RawMessage // incomplete while writing
	result  *llm.Message    // nil until there is one
	run     *run            // not nil while it is being run
	last    bool            // a result may still come
	writing bool            // the model has not finished the call
}

// card draws a call: one line that says how it stands, then some of what it gave.
func (s *sheet) card(c card) {
	fold := "card:" + string(c.entry) + ":" + c.id
	view := c.view()
	open := s.m.open(fold, s.m.expandTools)
	s.header(c, view)
	s.slim = true
	if t, ok := view.(tool.TaskView); ok {
		s.task(c, t, fold)
		return
	}
	s.fold(fold)
	if view == nil {
		return
	}
	b := body{fold: fold, open: open, failed: c.result != nil && c.result.IsError}
	s.view(view, b)
	if c.result != nil && (open || s.m.screen.Way.Pixels()) {
		for _, img := range images(c.result.Content) {
			s.picture(img, s.body)
		}
	}
	if _, said := view.(tool.Plain); b.failed && !said {
		s.lines(fold, inert.Output(firstText(c.result.Content)), s.th.Failure, head)
	}
}

// firstText is what a failed result says of its failure: its first text.
func firstText(blocks []llm.Block) string {
	for _, b := range blocks {
		if t, ok := b.(llm.Text); ok {
			return t.Text
		}
	}
	return ""
}

// view is what there is to show below the header, nil if nothing.
func (c card) view() tool.View {
	switch {
	case c.result != nil:
		if v := tool.DecodeView(c.result.Details); v != nil && !(c.result.IsError && empty(v)) {
			return v
		}
		return tool.Plain{Text: contentText(c.result.Content)}
	case c.run != nil:
		return c.run.view
	}
	return nil
}

// empty says whether a view has nothing to show, so that an error's text is shown instead.
func empty(v tool.View) bool {
	switch v := v.(type) {
	case tool.Plain:
		return v.Text == ""
	case tool.Diff:
		return v.Diff == ""
	case tool.Listing:
		return len(v.Items) == 0
	}
	return false
}

// header is the card's first line: state, name, subject, and in numbers what came of it.
func (s *sheet) header(c card, v tool.View) {
	mark := s.state(c, v)
	name := inert.Line(c.name)
	if name == "" {
		name = "tool"
	}
	facts := s.facts(c, v)
	args := c.args
	if c.writing { // what they are about stands at their beginning
		args = args[:min(len(args), 4096)]
	}
	subject := rich.Verbatim(inert.Line(Subject(c.name, args)), s.th.Subject, 0)
	spans := []rich.Span{rich.Verbatim(name, s.th.Tool, 0)}
	at := s.say(name + " " + subject.Text)
	spans[0].Src = at
	if subject.Text != "" {
		subject.Src = at + len(name) + 1
		space := rich.Verbatim(" ", s.th.Subject, at+len(name))
		spans = append(spans, space, subject)
		room := s.room(margin) - rich.LineWidth(facts)
		if room < min(rich.LineWidth(spans), len(name)+12) { // too narrow for both: the subject is worth more
			facts, room = nil, s.room(margin)
		}
		spans = rich.Truncate(spans, room)
	}
	s.line(append(spans, facts...), margin, mark)
}

// state is the sign of a card.
func (s *sheet) state(c card, v tool.View) sign {
	if t, ok := v.(tool.TaskView); ok {
		return s.taskSign(t.State)
	}
	switch {
	case c.result != nil && (c.result.IsError || failed(v)):
		return sign{"✗", s.th.Failure}
	case c.result != nil:
		return sign{"✓", s.th.Success}
	case c.run != nil:
		return sign{"●", s.th.Running}
	case c.writing || c.last:
		return sign{"○", s.th.Dim}
	}
	return sign{"?", s.th.Warning}
}

// failed says whether a program says that it failed.
func failed(v tool.View) bool {
	c, ok := v.(tool.Command)
	return ok && c.Failed()
}

// facts are what is known of a call in numbers, each after a dot.
func (s *sheet) facts(c card, v tool.View) []rich.Span {
	var words []string
	switch v := v.(type) {
	case tool.Command:
		if v.ExitCode != nil && *v.ExitCode != 0 {
			words = append(words, fmt.Sprintf("exit %d", *v.ExitCode))
		}
		if v.Signal != "" {
			words = append(words, inert.Line(v.Signal))
		}
		if v.Millis > 0 {
			words = append(words, took(time.Duration(v.Millis)*time.Millisecond))
		}
		words = append(words, cutText(v.Cut)...)
	case tool.Plain:
		if v.Path != "" && v.Text != "" {
			words = append(words, sizeText(v.Text, v.Cut)...)
		}
	case tool.Listing:
		words = append(words, plural(max(v.Total, len(v.Items)), "result"))
	case tool.TaskView:
		words = append(words, s.taskFacts(c, v)...)
	case tool.Image:
		words = append(words, inert.Line(v.MIME))
		if v.Width > 0 {
			words = append(words, fmt.Sprintf("%d×%d", v.Width, v.Height))
		}
	}
	if _, task := v.(tool.TaskView); c.result == nil && !task {
		words = append(words, s.waiting(c)...)
	}
	var spans []rich.Span
	if d, ok := v.(tool.Diff); ok {
		spans = s.changed(d)
	}
	for _, w := range words {
		spans = append(spans, rich.Chrome(" · "+w, s.th.Dim))
	}
	return spans
}

// waiting says what a call without a result is waiting for.
func (s *sheet) waiting(c card) []string {
	switch {
	case c.writing:
		if n := len(c.args); n > 1000 {
			return []string{bytesText(int64(n))}
		}
	case c.run != nil:
		if !c.run.at.IsZero() && s.m.now.Sub(c.run.at) >= time.Second {
			return []string{took(s.m.now.Sub(c.run.at).Truncate(time.Second))}
		}
	case !c.last:
		return []string{"no result"}
	}
	return nil
}

// changed says how many lines a diff adds and removes.
func (s *sheet) changed(d tool.Diff) []rich.Span {
	if d.Created {
		return []rich.Span{rich.Chrome(" · new, "+plural(d.Added, "line"), s.th.Dim)}
	}
	return []rich.Span{
		rich.Chrome(" · ", s.th.Dim),
		rich.Chrome(fmt.Sprintf("+%d", d.Added), s.th.Success),
		rich.Chrome(fmt.Sprintf(" −%d", d.Removed), s.th.Failure),
	}
}

func cutText(c *tool.Cut) []string {
	if c == nil {
		return nil
	}
	return []string{plural(c.Lines, "line"), bytesText(c.Bytes)}
}

func sizeText(text string, c *tool.Cut) []string {
	if c != nil {
		return cutText(c)
	}
	return []string{plural(strings.Count(strings.TrimSuffix(text, "\n"), "\n")+1, "line")}
}

// contentText is all text of a result; pictures are named.
func contentText(blocks []llm.Block) string {
	var parts []string
	for _, b := range blocks {
		switch b := b.(type) {
		case llm.Text:
			parts = append(parts, b.Text)
		case llm.Image:
			parts = append(parts, imageLabel(b))
		}
	}
	return strings.Join(parts, "\n")
}
