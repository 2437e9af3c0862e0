package tui

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"banyan/internal/engine"
	"banyan/internal/tui/inert"
	"banyan/internal/tui/keymap"
	"banyan/internal/tui/rich"
	"banyan/internal/tui/theme"
	"banyan/internal/tui/transcript"

	tea "charm.land/bubbletea/v2"
)

// noticeRows is how many rows a notice may take.
const noticeRows = 3

// notice is a short word to the user about what a key just did. The next key
// takes it away.
type notice struct {
	level engine.Level
	text  string
}

// hint says something in passing.
func (m *Model) hint(text string) { m.notice = notice{engine.Note, text} }

// refuse says why something was not done.
func (m *Model) refuse(text string) { m.notice = notice{engine.Failure, text} }

// say puts something in the transcript that should not pass unnoticed.
func (m *Model) say(level engine.Level, text string) {
	if !m.opened {
		m.early = append(m.early, notice{level, text})
	}
	if m.treeAt() >= 0 { // the transcript is out of sight
		m.notice = notice{level, text}
	}
	m.said++
	m.transcript.Notice(transcript.Level(level), text)
}

// queueRows is how many waiting prompts are shown.
const queueRows = 3

// status are the rows between the transcript and the editor: a blank one where
// there is room, the prompts that wait, and one line for what goes on. There is
// always that line, so that nothing moves when something begins.
func (m *Model) status() []string {
	rows := slices.Concat(m.widgets(), m.waiting(), m.activity())
	if m.height >= airyFrom {
		rows = append([]string{""}, rows...)
	}
	return rows
}

// waiting are the queued prompts, the rest as a number.
func (m *Model) waiting() []string {
	var rows []string
	show := func(kind string, prompts []string) {
		for _, p := range prompts {
			line := []rich.Span{
				rich.Chrome("  "+kind+" ", m.theme.Accent),
				rich.Chrome(inert.Line(p), m.theme.Dim),
			}
			rows = append(rows, rich.Draw(rich.Truncate(line, m.width)).Text)
		}
	}
	show("↳ next:", m.queue.Steering)
	show("↳ later:", m.queue.FollowUps)
	if more := len(rows) - queueRows; more > 0 {
		rows = append(rows[:queueRows-1], m.theme.Dim.Paint(fmt.Sprintf("  ↳ and %d more", more+1)))
	}
	return rows
}

// activity is the notice if there is one, else one line of what runs; at its
// right what is out of sight.
func (m *Model) activity() []string {
	right := m.outOfSight()
	room := m.width - rich.LineWidth(right) - 1
	if m.notice.text != "" {
		lines := m.noticeLines(room)
		rows := make([]string, 0, len(lines))
		for _, line := range lines[:len(lines)-1] {
			rows = append(rows, rich.Draw(line).Text)
		}
		return append(rows, m.beside(lines[len(lines)-1], right))
	}
	return []string{m.beside(rich.Truncate(m.happening(), room), right)}
}

// beside is a line with something at its right end.
func (m *Model) beside(left, right []rich.Span) string {
	if len(right) > 0 {
		gap := m.width - rich.LineWidth(left) - rich.LineWidth(right)
		left = append(append(left, rich.Chrome(strings.Repeat(" ", max(0, gap)), theme.Style{})), right...)
	}
	return rich.Draw(left).Text
}

// happening is what runs, or what is waited for.
func (m *Model) happening() []rich.Span {
	switch {
	case m.tasks.view != nil:
		return m.taskSpans()
	case m.retry != nil:
		return m.retrySpans()
	case m.running != nil && m.asking():
		return []rich.Span{rich.Chrome("● ", m.theme.Warning), rich.Chrome("Waiting for your answer", m.theme.Text)}
	case m.running != nil:
		return m.runningSpans()
	case m.chord != "":
		return []rich.Span{rich.Chrome("  "+keymap.Title(m.chord)+" …", m.theme.Dim)}
	}
	return nil
}

// noticeLines is the notice broken into a few lines.
func (m *Model) noticeLines(w int) [][]rich.Span {
	margin, text := m.noticeSpans()[:1], m.noticeSpans()[1:]
	lines := rich.WrapTo(text, w-2, noticeRows)
	for i, line := range lines {
		lines[i] = append(slices.Clone(margin), line...)
	}
	return lines
}

func (m *Model) noticeSpans() []rich.Span {
	style := [...]theme.Style{engine.Note: m.theme.Dim, engine.Warning: m.theme.Warning, engine.Failure: m.theme.Failure}[m.notice.level]
	return []rich.Span{rich.Chrome("  ", style), rich.Chrome(inert.Line(m.notice.text), style)}
}

func (m *Model) runningSpans() []rich.Span {
	what, enter := m.doing()
	line := []rich.Span{
		rich.Chrome("● ", m.theme.Running),
		rich.Chrome(inert.Line(what), m.theme.Text),
	}
	if d := m.opts.Now().Sub(m.running.At); d >= time.Second {
		line = append(line, rich.Chrome(" "+duration(d), m.theme.Dim))
	}
	line = append(line, m.hints(m.keys.Key("escape"), "interrupts")...)
	if enter != "" {
		line = append(line, m.hints(m.keys.Key("send"), enter)...)
	}
	if len(m.queue.Steering)+len(m.queue.FollowUps) > 0 {
		line = append(line, m.hints(m.keys.Key("take-back"), "takes back")...)
	}
	if out := lastLine(m.shell.Output); out != "" {
		line = append(line, rich.Chrome("  "+out, m.theme.Faint))
	}
	return line
}

// doing says what runs, and what Enter does meanwhile.
func (m *Model) doing() (what, enter string) {
	switch {
	case m.shell.Command != "":
		return "Running " + m.shell.Command, ""
	case m.running.What == "turn":
		return "Working", "steers"
	}
	return "Working on the " + m.running.What, ""
}

// lastLine is the last line of a program's output that is not blank.
func lastLine(output string) string {
	output = strings.TrimSpace(output)
	return inert.Line(inert.Output(output[strings.LastIndexByte(output, '\n')+1:]))
}

func (m *Model) retrySpans() []rich.Span {
	wait := max(0, m.retry.at.Sub(m.opts.Now()).Round(time.Second))
	when := "now"
	if wait > 0 {
		when = "in " + duration(wait)
	}
	line := []rich.Span{
		rich.Chrome("● ", m.theme.Warning),
		rich.Chrome(fmt.Sprintf("Trying again %s (try %d)", when, m.retry.attempt), m.theme.Text),
	}
	line = append(line, m.hints(m.keys.Key("escape"), "stops")...)
	return append(line, rich.Chrome("  "+inert.Line(m.retry.why), m.theme.Dim))
}

// hints are pairs of a key and what it does. Without a key there is no hint.
func (m *Model) hints(pairs ...string) []rich.Span {
	var line []rich.Span
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i] == "" {
			continue
		}
		line = append(line,
			rich.Chrome("  "+keymap.Title(pairs[i])+" ", m.theme.Key),
			rich.Chrome(pairs[i+1], m.theme.Hint))
	}
	return line
}

// outOfSight says how much came below what is seen.
func (m *Model) outOfSight() []rich.Span {
	if m.shown().AtBottom() || m.blank() {
		return nil
	}
	key := keymap.Title(m.keys.Key("bottom"))
	text := "↓ " + key + " "
	if n := m.shown().NewBelow(); n > 0 {
		text = fmt.Sprintf("↓ %d new  %s ", n, key)
	}
	return []rich.Span{rich.Chrome(text, m.theme.Accent)}
}

// duration writes a time for people: 7s, 2m05s, 1h02m.
func duration(d time.Duration) string {
	s := int(d / time.Second)
	switch {
	case s < 60:
		return fmt.Sprintf("%ds", s)
	case s < 3600:
		return fmt.Sprintf("%dm%02ds", s/60, s%60)
	}
	return fmt.Sprintf("%dh%02dm", s/3600, s/60%60)
}

// tickMsg is a second of a clock. Only the newest clock is heard.
type tickMsg struct{ clock int }

// startClock lets the screen count seconds while something runs. Idle, there is no clock.
func (m *Model) startClock() tea.Cmd {
	m.clock++
	m.shown().SetNow(m.opts.Now())
	return m.opts.After(time.Second, tickMsg{m.clock})
}

func (msg tickMsg) apply(m *Model) tea.Cmd {
	if msg.clock != m.clock || m.running == nil {
		return nil
	}
	m.shown().SetNow(m.opts.Now())
	return m.opts.After(time.Second, msg)
}
