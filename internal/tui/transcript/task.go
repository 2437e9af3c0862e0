package transcript

import (
	"fmt"
	"time"

	"banyan/internal/tool"
	"banyan/internal/tui/inert"
	"banyan/internal/tui/rich"
)

// task draws the card of a task: while it works the last that it said or did,
// then its answer. Its header opens its conversation.
func (s *sheet) task(c card, v tool.TaskView, fold string) {
	s.zone(0, s.width, Hit{Kind: HitTask, Task: v.Task})
	if c.result == nil || v.State == tool.TaskRunning || v.State == tool.TaskWaiting {
		if v.Last != "" {
			s.line([]rich.Span{rich.Chrome(inert.Line(v.Last), s.th.Dim)}, s.body, noSign)
		}
		return
	}
	style := s.th.Output
	if c.result.IsError {
		style = s.th.Failure
	}
	s.lines(fold, inert.Output(contentText(c.result.Content)), style, head)
}

// taskSign is the sign of a task's state.
func (s *sheet) taskSign(state tool.TaskState) sign {
	switch state {
	case tool.TaskRunning:
		return sign{"●", s.th.Running}
	case tool.TaskWaiting:
		return sign{"○", s.th.Dim}
	case tool.TaskDone:
		return sign{"✓", s.th.Success}
	case tool.TaskFailed:
		return sign{"✗", s.th.Failure}
	}
	return sign{"■", s.th.Warning}
}

// taskFacts are what a task took, and its state where the sign does not say it.
func (s *sheet) taskFacts(c card, v tool.TaskView) (words []string) {
	switch v.State {
	case tool.TaskWaiting, tool.TaskStopped, tool.TaskInterrupted:
		words = append(words, string(v.State))
	}
	d := time.Duration(v.Millis) * time.Millisecond
	if v.State == tool.TaskRunning && c.run != nil && !c.run.at.IsZero() {
		d += s.m.now.Sub(c.run.at).Truncate(time.Second)
	}
	if d >= time.Second {
		words = append(words, took(d))
	}
	if v.Calls > 0 {
		words = append(words, plural(v.Calls, "call"))
	}
	if v.Tokens > 0 {
		words = append(words, plural(v.Tokens, "token"))
	}
	if v.USD > 0 {
		words = append(words, fmt.Sprintf("$%.2f", v.USD))
	}
	return words
}
