package tui

import (
	"context"
	"strings"

	"banyan/internal/tui/inert"
	"banyan/internal/tui/rich"
	"banyan/internal/tui/termcap"

	tea "charm.land/bubbletea/v2"
)

// Finding is one thing that was looked at, and what to do about it.
type Finding struct {
	About string `json:"about"` // what was looked at, e.g. "terminal"
	State State  `json:"state"`
	Text  string `json:"text"`         // what was found
	Do    string `json:"do,omitempty"` // what the user can do
}

// State says how something is.
type State string

// The states, from good to bad.
const (
	Good    State = "ok"
	Limited State = "limited" // it works, but not all of it
	Broken  State = "problem"
)

// Sign is the sign of a state.
func (s State) Sign() string {
	switch s {
	case Limited:
		return "!"
	case Broken:
		return "✗"
	}
	return "✓"
}

// examinedMsg are the findings, when they are known.
type examinedMsg []Finding

func (msg examinedMsg) apply(m *Model) tea.Cmd {
	m.notice = notice{} // that it is being looked at
	m.page("What was found", func(w int) []string { return m.findings(msg, w) })
	return nil
}

// examine looks at what the program needs, and shows what it found.
func (m *Model) examine(string) tea.Cmd {
	look := m.opts.Doctor
	if look == nil {
		m.refuse("There is nothing to look at here")
		return nil
	}
	m.hint("Looking …")
	caps := m.terminal.caps
	return func() tea.Msg {
		found, err := look(context.Background(), caps)
		if err != nil {
			return failedMsg{err}
		}
		return examinedMsg(found)
	}
}

// findings draws what was found, a heading for each thing that was looked at.
func (m *Model) findings(all []Finding, w int) []string {
	th := m.theme
	var lines []string
	put := func(indent int, sign string, text []rich.Span) {
		for i, part := range rich.Wrap(text, max(w-indent-1, 1)) {
			if i > 0 {
				sign = ""
			}
			lead := rich.Chrome(sign+strings.Repeat(" ", indent-rich.Width(sign)), th.Dim)
			lines = append(lines, rich.Draw(append([]rich.Span{lead}, part...)).Text)
		}
	}
	about := ""
	for _, f := range all {
		if f.About != about {
			if about = f.About; len(lines) > 0 {
				lines = append(lines, "")
			}
			lines = append(lines, "  "+th.Heading.Paint(inert.Line(about)))
		}
		style := th.Text
		switch f.State {
		case Limited:
			style = th.Warning
		case Broken:
			style = th.Failure
		}
		put(4, "  "+f.State.Sign(), []rich.Span{rich.Chrome(inert.Line(f.Text), style)})
		if f.Do != "" {
			put(6, "    →", []rich.Span{rich.Chrome(inert.Line(f.Do), th.Dim)})
		}
	}
	return lines
}

// Examiner looks at what the program needs. It may take some seconds.
type Examiner func(context.Context, termcap.Caps) ([]Finding, error)
