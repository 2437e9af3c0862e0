package headless

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"unicode/utf16"
	"unicode/utf8"

	"banyan/internal/engine"
	"banyan/internal/llm"
	"banyan/internal/session"
	"banyan/internal/tui/inert"
)

// lines tells the whole run in one object, the last line of a stream.
type lines struct{ out io.Writer }

func (lines) event(engine.Event, *record) error { return nil }

func (l lines) end(err error, r *record) error { return l.write(resultLine(err, r)) }

// write puts out one object, as one line, in one Write.
func (l lines) write(v any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("encode: %w", err)
	}
	_, err := l.out.Write(inertJSON(b.Bytes()))
	return err
}

// inertJSON is a line of JSON that a terminal may be shown. Nothing of its
// values may change, so what is not plainly visible is written as escapes.
func inertJSON(line []byte) []byte {
	if text := string(line); inert.Text(text) == text {
		return line
	}
	out := make([]byte, 0, len(line)+len(line)/2)
	for len(line) > 0 {
		c, n := utf8.DecodeRune(line)
		switch {
		case c < 0x7f:
			out = append(out, byte(c))
		case c > 0xffff:
			high, low := utf16.EncodeRune(c)
			out = fmt.Appendf(out, `\u%04x\u%04x`, high, low)
		default:
			out = fmt.Appendf(out, `\u%04x`, c)
		}
		line = line[n:]
	}
	return out
}

// stream tells each thing that happens: a system line at the beginning, then
// answers and results as they are recorded, and the run's object at the end.
type stream struct {
	lines
	tools   func() []string
	began   bool     // the system line is out
	partial *partial // of the answer that is coming; nil if nobody wants to see it
}

// names are the tools' names.
func (s *stream) names() []string {
	if s.tools == nil {
		return nil
	}
	return s.tools()
}

func (s *stream) event(ev engine.Event, r *record) error {
	switch ev := ev.(type) {
	case engine.Started: // model and permission mode are known by now
		return s.begin(r)
	case engine.Appended:
		return s.appended(ev.Entry, nil, r)
	case engine.TaskEvent:
		ev = innermost(ev)
		if a, ok := ev.Event.(engine.Appended); ok {
			return s.appended(a.Entry, &ev, r)
		}
	case engine.Progress:
		if s.partial != nil && !r.compacting { // a summary is no answer
			return s.progress(ev.Event, r)
		}
	case engine.CompactionEnded:
		if ev.Err == nil {
			return s.tell(r, compactLine(ev, r))
		}
	}
	return nil
}

// appended tells an entry, of the session or of a task.
func (s *stream) appended(e session.Entry, in *engine.TaskEvent, r *record) error {
	m, ok := e.Data.(session.Message)
	var line exchange
	switch {
	case ok && m.Role == llm.Assistant && len(m.Content) > 0:
		line = answerLine(e, m.Message, r)
	case ok && m.Role == llm.ToolResult:
		line = toolResultLine(e, m.Message, r)
	default:
		return nil
	}
	if in != nil {
		line.Above, line.Task, line.Leaf = &in.Call, in.Task, ""
	}
	return s.tell(r, line)
}

func (s *stream) progress(ev llm.Event, r *record) error {
	for _, part := range s.partial.events(ev, r.state.Model.Model) {
		if err := s.tell(r, progressLine(part, r)); err != nil {
			return err
		}
	}
	return nil
}

func (s *stream) tell(r *record, v any) error {
	if err := s.begin(r); err != nil {
		return err
	}
	return s.write(v)
}

func (s *stream) begin(r *record) error {
	if s.began || !r.opened {
		return nil
	}
	s.began = true
	return s.write(initLine(s.names(), r))
}
