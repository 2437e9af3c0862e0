package transcript

import (
	"fmt"
	"strings"

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
	last, waiting := s.m.lastAnswer()
	for n, b := range msg.Content {
		switch b := b.(type) {
		case llm.Text:
			if text := strings.Trim(inert.Text(b.Text), "\n"); strings.TrimSpace(text) != "" {
				s.gap(i)
				s.markdown(text)
			}
		case llm.Thinking:
			s.thinking(i, fmt.Sprintf("thinking:%s:%d", id, n), b)
		case llm.ToolCall:
			s.cardGap(i, len(s.d.rows) == 0)
			c := card{id: b.ID, entry: id, name: b.Name, args: b.Arguments, result: results[b.ID]}
			if i == last {
				c.last, c.run = waiting, s.m.runs[b.ID]
			}
			s.card(c)
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

// cardGap leaves a blank row above a card, but not where the one above it is a
// single line: such cards are one piece of work.
func (s *sheet) cardGap(i int, first bool) {
	if first {
		if i > 0 && !(isResult(s.m.items.class(i-1)) && s.m.slim(i-1)) {
			s.blank()
		}
		return
	}
	if !s.slim {
		s.blank()
	}
}

// slim says whether the card of a result, item i, is a single line.
func (m *Model) slim(i int) bool {
	e, err := m.items.at(i).block.Load()
	if err != nil {
		return false
	}
	d, ok := e.Data.(session.Message)
	owner, owned := m.owner(i)
	if !ok || !owned {
		return false
	}
	s := m.sheet()
	s.card(card{id: d.CallID, entry: m.items.at(owner).block.ID, name: d.ToolName, result: &d.Message})
	return len(s.d.rows) == 1
}

// markdown adds the model's text.
func (s *sheet) markdown(text string) {
	at := s.say(text)
	s.place(markdown.Rows(text, s.room(margin), s.th), at, margin)
}

// thinking is folded to a line unless it is asked for.
func (s *sheet) thinking(i int, fold string, t llm.Thinking) {
	text := strings.TrimSpace(inert.Text(t.Text))
	if text == "" && !t.Redacted {
		return
	}
	if s.thinkingTitle(i, fold, t, false) {
		at := s.say(text)
		s.place(markdown.Rows(text, s.room(margin+2), s.th.Quiet()), at, margin+2)
	}
}

// thinkingTitle draws the line that stands for thinking, and says whether the
// thinking itself is to follow.
func (s *sheet) thinkingTitle(i int, fold string, t llm.Thinking, live bool) bool {
	s.gap(i)
	open := s.m.open(fold, s.m.showThinking) && t.Text != ""
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
	if !open && t.Text != "" {
		lines := strings.Count(strings.TrimSpace(t.Text), "\n") + 1
		spans = append(spans, rich.Chrome(" · "+plural(lines, "line"), s.th.Faint))
	}
	s.line(spans, margin, sign{mark, s.th.Faint})
	s.fold(fold)
	return open
}

// lastAnswer is the item of the last answer, -1 if there is none: only its calls
// can be running. Those that are not can still wait for it if no turn came since.
func (m *Model) lastAnswer() (i int, waiting bool) {
	waiting = true
	for i = m.items.len() - 1; i >= 0; i-- {
		switch c := m.items.class(i); {
		case isAnswer(c):
			return i, waiting
		case isTurn(c):
			waiting = false
		}
	}
	return -1, false
}
