package transcript

import (
	"fmt"

	"banyan/internal/llm"
	"banyan/internal/session"
	"banyan/internal/tui/inert"
	"banyan/internal/tui/rich"
)

// drawItem draws an item anew.
func (m *Model) drawItem(i int) *drawn {
	it := m.items.at(i)
	if it.notice != nil {
		return m.drawNotice(i, it.notice)
	}
	if isResult(it.block.Class) {
		if owner, ok := m.owner(i); ok && m.draw(owner).claims[i] {
			return &drawn{}
		}
	}
	if !isShown(it.block.Class) {
		return &drawn{}
	}
	e, err := it.block.Load()
	if err != nil {
		return m.drawUnreadable(i, it.block.ID, err)
	}
	s := m.sheet()
	switch d := e.Data.(type) {
	case session.Unknown:
		if d.Err != nil {
			return m.drawUnreadable(i, it.block.ID, d.Err)
		}
	case session.Message:
		m.drawMessage(s, i, e.ID, d)
	case session.Command:
		s.gap(i)
		s.userCommand(e.ID, d)
	case session.Compaction:
		s.gap(i)
		title := fmt.Sprintf("compacted, %s tokens before", count(d.TokensBefore))
		s.summary("summary:"+string(e.ID), title, d.Summary)
	case session.BranchSummary:
		if d.Summary != "" {
			s.gap(i)
			s.summary("summary:"+string(e.ID), "summary of the branch that was left", d.Summary)
		}
	case session.CustomMessage:
		if d.Display {
			s.gap(i)
			s.custom(d)
		}
	case session.ModelChange:
		s.change(i, "model "+join(d.Provider, d.Model))
	case session.ThinkingChange:
		s.change(i, "thinking "+string(d.Level))
	}
	return s.done()
}

func (m *Model) drawMessage(s *sheet, i int, id session.ID, d session.Message) {
	switch d.Role {
	case llm.User:
		s.gap(i)
		s.turn(i, id, d.Content)
	case llm.Assistant:
		s.answer(i, id, d.Message)
	case llm.ToolResult:
		s.gap(i)
		s.card(card{id: d.CallID, entry: id, name: d.ToolName, result: &d.Message})
	}
}

// gap leaves a blank row above an item, except above the first.
func (s *sheet) gap(i int) {
	if i > 0 {
		s.blank()
	}
}

// change is a dim line that says what changed.
func (s *sheet) change(i int, text string) {
	if i > 0 && !changesState(s.m.items.class(i-1)) {
		s.blank()
	}
	s.prose("· "+inert.Line(text), s.th.Faint, margin, noSign)
}

// custom is the message of an extension.
func (s *sheet) custom(d session.CustomMessage) {
	s.row(rich.Draw([]rich.Span{rich.Chrome("  "+inert.Line(d.Type), s.th.Label)}))
	s.content(d.Content, s.th.Text)
}

func (m *Model) drawUnreadable(i int, id session.ID, err error) *drawn {
	s := m.sheet()
	s.gap(i)
	text := fmt.Sprintf("entry %s cannot be read: %s", inert.Line(string(id)), inert.Line(err.Error()))
	s.prose(text, s.th.Failure, margin, sign{"!", s.th.Failure})
	return s.done()
}

func (m *Model) drawNotice(i int, n *notice) *drawn {
	s := m.sheet()
	if i > 0 && (i <= m.items.baseLen || m.items.at(i-1).notice == nil) {
		s.blank()
	}
	style := s.th.Dim
	mark := sign{"i", s.th.Accent}
	switch n.level {
	case Warning:
		style, mark = s.th.Warning, sign{"!", s.th.Warning}
	case Failure:
		style, mark = s.th.Failure, sign{"✗", s.th.Failure}
	}
	s.prose(inert.Text(n.text), style, margin, mark)
	return s.done()
}

func join(provider, model string) string {
	if provider == "" {
		return model
	}
	return provider + "/" + model
}
