package tui

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"banyan/internal/engine"
	"banyan/internal/tui/inert"
	"banyan/internal/tui/rich"
	"banyan/internal/tui/theme"

	tea "charm.land/bubbletea/v2"
)

// showContext asks for what fills the context window; the page opens when the
// report comes.
func (m *Model) showContext(string) tea.Cmd {
	m.opts.Engine.Send(engine.Inspect{})
	return nil
}

// reported draws the report: all of it as a bar, each kind with its share, and
// the messages that take the most.
func (m *Model) reported(r engine.ContextReport) {
	m.page("What the model sees", func(w int) []string {
		lines := m.contextBar(r, w-4)
		lines = append(lines, "")
		lines = append(lines, m.contextParts(r, w)...)
		return append(lines, m.contextEntries(r, w)...)
	})
}

// dropFrom leaves an entry and what follows it out of the context: the leaf goes to
// the entry before it, and what comes next is a branch.
func (m *Model) dropFrom(from string) tea.Cmd {
	if from == "" {
		m.refuse("Which entry? /context names the largest: /drop <id or label>")
		return nil
	}
	id, err := m.session.Resolve(from)
	switch {
	case err != nil:
		m.refuse(err.Error())
		return nil
	case id == "" || !slices.Contains(m.session.PathIDs(m.session.Leaf()), id):
		m.refuse(from + " is not on this branch, so it fills nothing")
		return nil
	}
	before := m.session.ID(m.session.Tree().Parent(m.session.Node(id)))
	return m.goTo(before, true, trip{did: "Left out " + m.named(id) + " and what follows; it is on a branch of its own"})
}

// contextStyle is the colour of a kind.
func (m *Model) contextStyle(k engine.ContextKind) theme.Style {
	th := m.theme
	style, ok := map[engine.ContextKind]theme.Style{
		engine.ContextSystem: th.Dim, engine.ContextTools: th.Type, engine.ContextSummaries: th.Summary,
		engine.ContextPrompts: th.UserBar, engine.ContextAnswers: th.Link, engine.ContextResults: th.Code,
		engine.ContextCommands: th.Warning, engine.ContextNotes: th.Comment, engine.ContextImages: th.Failure,
	}[k]
	if !ok {
		return th.Text
	}
	return theme.Style{Fg: style.Fg}
}

// contextBar is the window as one bar, or what there is of it where the window's
// size is not known.
func (m *Model) contextBar(r engine.ContextReport, cells int) []string {
	whole := max(r.Window, r.Total, 1)
	line := []rich.Span{rich.Chrome("  ", m.theme.Text)}
	used, tokens := 0, 0
	for _, p := range r.Parts {
		tokens += p.Tokens
		end := min(cells, tokens*cells/whole) // of the sum, so that roundings do not add up
		line = append(line, rich.Chrome(strings.Repeat("█", max(0, end-used)), m.contextStyle(p.Kind)))
		used = max(used, end)
	}
	reserve := min(cells-used, r.Reserve*cells/whole)
	line = append(line,
		rich.Chrome(strings.Repeat("━", cells-used-reserve), m.theme.BarTrack),
		rich.Chrome(strings.Repeat("░", reserve), m.theme.Faint))
	return []string{rich.Draw(line).Text}
}

// contextParts are the kinds with their shares.
func (m *Model) contextParts(r engine.ContextReport, w int) []string {
	th := m.theme
	var lines []string
	row := func(mark string, style theme.Style, name string, tokens int, note string) {
		share := ""
		if whole := max(r.Window, r.Total); whole > 0 {
			share = fmt.Sprintf("%5.1f%%", 100*float64(tokens)/float64(whole))
		}
		line := []rich.Span{
			rich.Chrome("  "+mark+" ", style), rich.Chrome(fmt.Sprintf("%-14s", name), th.Text),
			rich.Chrome(fmt.Sprintf("%8s  %s", count(tokens), share), th.Dim), rich.Chrome("  "+note, th.Faint),
		}
		lines = append(lines, rich.Draw(rich.Truncate(line, w)).Text)
	}
	for _, p := range r.Parts {
		note := ""
		if p.Count > 1 {
			note = fmt.Sprint(p.Count)
		}
		row("█", m.contextStyle(p.Kind), string(p.Kind), p.Tokens, note)
	}
	if r.Window > 0 {
		row("░", th.Faint, "for the answer", r.Reserve, "")
		row("━", th.BarTrack, "free", max(0, r.Window-r.Total-r.Reserve), "")
	}
	row(" ", th.Text, "in all", r.Total, "estimated")
	if r.Counted > 0 {
		row(" ", th.Text, "last answer", r.Counted, "counted by the provider")
	}
	return lines
}

// largest is how many messages are named.
const largest = 12

// contextEntries are the messages that take the most.
func (m *Model) contextEntries(r engine.ContextReport, w int) []string {
	entries := slices.Clone(r.Entries)
	slices.SortStableFunc(entries, func(a, b engine.ContextEntry) int { return cmp.Compare(b.Tokens, a.Tokens) })
	entries = entries[:min(largest, len(entries))]
	if len(entries) == 0 {
		return nil
	}
	head := []rich.Span{rich.Chrome("  The largest", m.theme.Strong), rich.Chrome("  /drop <id> leaves one out, and what follows it", m.theme.Dim)}
	lines := []string{"", rich.Draw(rich.Truncate(head, w)).Text}
	for _, e := range entries {
		line := []rich.Span{
			rich.Chrome("  █ ", m.contextStyle(e.Kind)),
			rich.Chrome(fmt.Sprintf("%8s  ", count(e.Tokens)), m.theme.Dim),
			rich.Chrome(inert.Line(string(e.ID))+"  ", m.theme.Faint),
			rich.Chrome(inert.Line(e.Text), m.theme.Text),
		}
		lines = append(lines, rich.Draw(rich.Truncate(line, w)).Text)
	}
	return lines
}
