package tui

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"banyan/internal/llm"
	"banyan/internal/session"
	"banyan/internal/tree"
	"banyan/internal/tui/inert"
	"banyan/internal/tui/rich"
	"banyan/internal/tui/theme"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
)

// side is one of two branches, from where they part.
type side struct {
	name    string
	end     session.ID
	prompts []string
	answers int
	tokens  int // of the answers
	usd     float64
	changed []string // files, in order of their first change
	last    string   // the last answer
}

// comparisonMsg is a comparison that was made.
type comparisonMsg struct {
	common session.ID
	sides  [2]side
	err    error
}

// compare shows the active branch and another beside each other.
func (m *Model) compare(text string) tea.Cmd {
	if text == "" {
		m.refuse("Name the branch to compare with: /compare <id or label of its end>. /branches lists them")
		return nil
	}
	id, cmd, ok := m.resolve(text)
	if !ok {
		return cmd
	}
	return m.compareEntry(id)
}

func (m *Model) compareEntry(id session.ID) tea.Cmd {
	s, names := m.session, [2]string{"here", m.named(id)}
	return func() tea.Msg {
		view := s.Tree()
		ends := [2]tree.Node{s.Node(s.Leaf()), s.Node(id)}
		common := view.Common(ends[0], ends[1])
		msg := comparisonMsg{common: s.ID(common)}
		for i, end := range ends {
			if msg.sides[i], msg.err = readSide(s, common, end); msg.err != nil {
				break
			}
			msg.sides[i].name = names[i]
		}
		return msg
	}
}

// readSide sums up the way from an entry, exclusive, down to another.
func readSide(s session.Snapshot, from, to tree.Node) (side, error) {
	var way []tree.Node
	for n := to; n != from && n != tree.None; n = s.Tree().Parent(n) {
		way = append(way, n)
	}
	sd := side{end: s.ID(to)}
	for _, n := range slices.Backward(way) {
		c := s.Class(n)
		if c.Role != llm.User && c.Role != llm.Assistant {
			continue
		}
		e, err := s.EntryAt(n)
		if err != nil {
			return sd, err
		}
		d, ok := e.Data.(session.Message)
		switch {
		case !ok:
		case d.Role == llm.User:
			sd.prompts = append(sd.prompts, session.Line(d))
		default:
			sd.answers++
			sd.tokens += d.Usage.Output
			sd.usd += d.Usage.Cost.Total
			sd.changed = append(sd.changed, changedFiles(d)...)
			if text := d.Text(); text != "" {
				sd.last = text
			}
		}
	}
	seen := map[string]bool{}
	sd.changed = slices.DeleteFunc(sd.changed, func(path string) bool {
		again := seen[path]
		seen[path] = true
		return again
	})
	return sd, nil
}

// changers are the tools that change the file they are given.
var changers = []string{"write", "edit", "rm", "mkdir"}

func changedFiles(d session.Message) []string {
	var paths []string
	for _, c := range d.Calls() {
		var args struct{ Path string }
		if slices.Contains(changers, c.Name) && json.Unmarshal(c.Arguments, &args) == nil && args.Path != "" {
			paths = append(paths, args.Path)
		}
	}
	return paths
}

func (msg comparisonMsg) apply(m *Model) tea.Cmd {
	if msg.err != nil {
		m.refuse("The branches could not be read: " + msg.err.Error())
		return nil
	}
	if len(msg.sides[0].prompts)+msg.sides[0].answers+len(msg.sides[1].prompts)+msg.sides[1].answers == 0 {
		m.hint("There is nothing to compare: it is the same place")
		return nil
	}
	th := m.theme
	m.page("Two branches, since "+m.named(msg.common), func(w int) []string { return drawComparison(msg.sides, th, w) })
	return nil
}

// besideFrom is the width from which on branches stand beside each other.
const besideFrom = 72

func drawComparison(sides [2]side, th theme.Theme, w int) []string {
	if w < besideFrom {
		return append(append(drawSide(sides[0], th, w-2), ""), drawSide(sides[1], th, w-2)...)
	}
	half := (w - 5) / 2
	left, right := drawSide(sides[0], th, half), drawSide(sides[1], th, half)
	var lines []string
	for i := range max(len(left), len(right)) {
		line := ""
		if i < len(left) {
			line = left[i]
		}
		line += strings.Repeat(" ", max(0, half+2-ansi.StringWidth(line))) + th.Faint.Paint("│")
		if i < len(right) {
			line += right[i]
		}
		lines = append(lines, line)
	}
	return lines
}

// drawSide draws a branch in w cells, two of them margin.
func drawSide(s side, th theme.Theme, w int) []string {
	var lines []string
	put := func(text string, st theme.Style) {
		for _, line := range rich.Source(inert.Text(text), st, 0) {
			for _, part := range rich.Wrap(line, w-2) {
				lines = append(lines, "  "+rich.Draw(part).Text)
			}
		}
	}
	head := func(text string) { lines = append(lines, ""); put(text, th.Heading) }
	put(s.name, th.Strong)
	put(fmt.Sprintf("%s, %s, %s tokens, $%.4f", number(len(s.prompts), "turn", "turns"), number(s.answers, "answer", "answers"), count(s.tokens), s.usd), th.Dim)
	head("Turns")
	for _, p := range s.prompts {
		put("· "+p, th.Text)
	}
	if len(s.changed) > 0 {
		head("Changed files")
		for _, path := range s.changed {
			put(path, th.Text)
		}
	}
	if s.last != "" {
		head("Last answer")
		put(tail(s.last, 2048), th.Dim)
	}
	return lines
}
