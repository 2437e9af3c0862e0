package transcript

import (
	"fmt"
	"strings"
	"time"

	"banyan/internal/llm"
	"banyan/internal/session"
	"banyan/internal/tui/inert"
	"banyan/internal/tui/markdown"
	"banyan/internal/tui/rich"
)

// answer is a message of the model with the results of its calls, which are
// items of their own after it.
func (s *sheet) answer(i int, id session.ID, msg llm.Message) {
	results := s.results(i, msg)
	for n, b := range msg.Content {
		switch b := b.(type) {
		case llm.Text:
			if text := strings.Trim(inert.Text(b.Text), "\n"); strings.TrimSpace(text) != "" {
				s.gap(i)
				s.markdown(text)
			}
		case llm.Thinking:
			s.thinking(i, fmt.Sprintf("thinking:%s:%d", id, n), b, false)
		case llm.ToolCall:
			s.cardGap(i, len(s.d.rows) == 0)
			s.card(card{id: b.ID, entry: id, name: b.Name, args: b.Arguments, result: results[b.ID], run: s.m.runs[b.ID], last: i == s.m.lastAnswer()})
		}
	}
	s.ending(i, msg)
}

// ending says how an answer ended, if not well.
func (s *sheet) ending(i int, msg llm.Message) {
	var text string
	style := s.th.Failure
	switch msg.StopReason {
	case llm.StopAborted:
		text, style = "interrupted", s.th.Dim
	case llm.StopLength:
		text, style = "the answer was cut: the limit on its length was reached", s.th.Warning
	case llm.StopError:
		text = msg.ErrorMessage
		if text == "" {
			text = "the answer failed"
		}
	default:
		return
	}
	s.gap(i)
	s.prose(inert.Text(text), style, margin, sign{"✗", style})
}

// results finds what the calls of answer i gave, and claims it.
func (s *sheet) results(i int, msg llm.Message) map[string]*llm.Message {
	wanted := map[string]bool{}
	for _, c := range msg.Calls() {
		wanted[c.ID] = true
	}
	results := map[string]*llm.Message{}
	s.d.claims = map[int]bool{}
	for j := i + 1; j < s.m.items.len() && len(wanted) > 0; j++ {
		b := s.m.items.at(j).block
		if isAnswer(b.Class) || isTurn(b.Class) {
			break
		}
		if !isResult(b.Class) {
			continue
		}
		e, err := b.Load()
		if err != nil {
			continue // it says so itself
		}
		if r, ok := e.Data.(session.Message); ok && wanted[r.CallID] {
			delete(wanted, r.CallID)
			results[r.CallID] = &r.Message
			s.d.claims[j] = true
		}
	}
	return results
}

// cardGap leaves a blank row above a card, but not between the cards of answers
// that say nothing: they are one piece of work.
func (s *sheet) cardGap(i int, first bool) {
	if !first {
		if n := len(s.d.zones); n == 0 || !strings.HasPrefix(s.d.zones[n-1].hit.Fold, "card:") {
			s.blank()
		}
		return
	}
	if i > 0 && !isResult(s.m.items.class(i-1)) {
		s.blank()
	}
}

// markdown adds the model's text.
func (s *sheet) markdown(text string) {
	at := s.say(text)
	s.marked(markdown.Rows(text, min(s.room(margin), measure), s.th), at)
}

// marked adds rows whose source begins at a byte of ours.
func (s *sheet) marked(rows []rich.Row, at int) {
	shifted := make([]rich.Row, len(rows))
	for i, r := range rows {
		shifted[i] = r.Shift(at)
	}
	s.put(shifted, margin, noSign)
}

// thinking is folded to a line unless it is asked for.
func (s *sheet) thinking(i int, fold string, t llm.Thinking, live bool) {
	text := strings.TrimSpace(inert.Text(t.Text))
	if text == "" && !t.Redacted && !live {
		return
	}
	s.gap(i)
	open := s.m.open(fold, s.m.showThinking) && text != ""
	title := "thought"
	switch {
	case t.Redacted:
		title = "thought, not shown by the provider"
	case live:
		title = "thinking…"
	}
	mark := "▸"
	if open {
		mark = "▾"
	}
	spans := []rich.Span{rich.Chrome(title, s.th.Thinking)}
	if !open && text != "" {
		spans = append(spans, rich.Chrome(" · "+plural(strings.Count(text, "\n")+1, "line"), s.th.Faint))
	}
	s.line(spans, margin, sign{mark, s.th.Faint})
	s.fold(fold)
	if open {
		s.prose(text, s.th.Thinking, margin+2, noSign)
	}
}

// lastAnswer is the item of the last answer, -1 if the last turn has none: only
// its calls can still be waiting.
func (m *Model) lastAnswer() int {
	for i := m.items.len() - 1; i >= 0; i-- {
		switch c := m.items.class(i); {
		case isAnswer(c):
			return i
		case isTurn(c):
			return -1
		}
	}
	return -1
}

// drawLive draws the answer that is being written.
func (m *Model) drawLive() *drawn {
	s := m.sheet()
	l := m.live
	i := m.items.len()
	msg := l.fold.Message()
	writing := l.fold.Writing()
	for n, b := range msg.Content {
		last := n == len(msg.Content)-1 && len(writing) == 0
		switch b := b.(type) {
		case llm.Text:
			s.gap(i)
			t := l.text(n, b.Text)
			s.marked(t.Rows(min(s.room(margin), measure)), s.say(t.Source()))
		case llm.Thinking:
			s.thinking(i, fmt.Sprintf("thinking:live:%d", n), b, last)
		case llm.ToolCall:
			s.cardGap(i, len(s.d.rows) == 0)
			s.card(card{id: b.ID, name: b.Name, args: b.Arguments, last: true})
		}
	}
	for _, c := range writing {
		s.cardGap(i, len(s.d.rows) == 0)
		s.card(card{id: c.ID, name: c.Name, args: []byte(c.Arguments), writing: true})
	}
	if l.retry != nil {
		s.gap(i)
		s.retry(*l.retry)
	}
	return s.done()
}

// retry says why and when a request is sent again.
func (s *sheet) retry(r llm.Retry) {
	text := fmt.Sprintf("try %d", r.Attempt)
	if r.Wait > 0 {
		text += " in " + r.Wait.Round(time.Second).String()
	}
	if r.Err != nil {
		text += ": " + inert.Text(r.Err.Error())
	}
	s.prose(text, s.th.Warning, margin, sign{"↻", s.th.Warning})
}
