package tui

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"banyan/internal/engine"
	"banyan/internal/llm"
	"banyan/internal/tui/inert"
	"banyan/internal/tui/rich"
	"banyan/internal/tui/theme"

	tea "charm.land/bubbletea/v2"
)

// showUsage asks what the session took, and since an entry if one is named; the
// page opens when the report comes.
func (m *Model) showUsage(since string) tea.Cmd {
	var ask engine.ReportUsage
	if since != "" {
		id, err := m.session.Resolve(since)
		if err != nil {
			m.refuse(err.Error())
			return nil
		}
		ask.Since = id
	}
	m.opts.Engine.Send(ask)
	return nil
}

// usageReported draws the report: sums, the turns as a line of bars, and what
// took the most.
func (m *Model) usageReported(r engine.UsageReport) {
	m.page("What it took", func(w int) []string {
		lines := m.usageSums(r, w)
		lines = append(lines, m.usageLine(r.Turns, w)...)
		lines = append(lines, m.usageModels(r.Models, w)...)
		lines = append(lines, m.usageTurns(r.Turns, w)...)
		return append(lines, m.usageBranches(r.Branches, w)...)
	})
}

// usageSums is a table: this path, the whole session, and what came since.
func (m *Model) usageSums(r engine.UsageReport, w int) []string {
	lines := []string{m.usageRow(m.theme.Dim, w, "", "sent", "cached", "answered", "cost", "answers", "time")}
	row := func(name string, s engine.UsageSum) {
		if s.Answers+s.Summaries == 0 {
			return
		}
		sent := s.Input + s.CacheRead + s.CacheWrite
		lines = append(lines, m.usageRow(m.theme.Text, w, name, count(sent), percent(engine.CacheHits(s.Usage)), count(s.Output),
			dollars(s.Usage), fmt.Sprint(s.Answers), lasted(s.Took)))
	}
	row("this path", r.Path)
	row("all branches", r.File)
	row("since then", r.Since)
	if r.TaskNum > 0 {
		row(fmt.Sprintf("%d tasks", r.TaskNum), r.Tasks)
	}
	if len(lines) == 1 {
		return []string{rich.Draw([]rich.Span{rich.Chrome("  Nothing has been asked yet.", m.theme.Dim)}).Text}
	}
	return lines
}

func (m *Model) usageRow(style theme.Style, w int, name string, cells ...string) string {
	text := fmt.Sprintf("  %-12s", name)
	for _, c := range cells {
		text += fmt.Sprintf(" %9s", c)
	}
	return rich.Draw(rich.Truncate([]rich.Span{rich.Chrome(text, style)}, w)).Text
}

// sparks are bars of rising height.
var sparks = []rune("▁▂▃▄▅▆▇█")

// usageLine is the newest turns of the path, a bar each, as high as the tokens
// that it took.
func (m *Model) usageLine(turns []engine.UsageTurn, w int) []string {
	turns = turns[max(0, len(turns)-max(1, w-4)):]
	most := 0
	for _, t := range turns {
		most = max(most, t.Total)
	}
	if most == 0 || len(turns) < 2 {
		return nil
	}
	var b strings.Builder
	for _, t := range turns {
		b.WriteRune(sparks[t.Total*(len(sparks)-1)/most])
	}
	return []string{
		"", "  " + m.theme.Strong.Paint("Turn by turn") + m.theme.Dim.Paint(fmt.Sprintf("  tokens, at most %s", count(most))),
		rich.Draw([]rich.Span{rich.Chrome("  "+b.String(), m.theme.Bar)}).Text,
	}
}

// usageModels are the models with their shares.
func (m *Model) usageModels(models []engine.UsageModel, w int) []string {
	if len(models) == 0 {
		return nil
	}
	lines := []string{"", "  " + m.theme.Strong.Paint("By model")}
	for _, u := range models {
		name := u.Model.Model
		if name == "" {
			name = "summaries"
		}
		lines = append(lines, m.usageBar(w, u.Total, models[0].Total, u.UsageSum, name))
	}
	return lines
}

// usageTurns are the turns that took the most.
func (m *Model) usageTurns(turns []engine.UsageTurn, w int) []string {
	turns = slices.DeleteFunc(slices.Clone(turns), func(t engine.UsageTurn) bool { return t.Total == 0 })
	slices.SortStableFunc(turns, func(a, b engine.UsageTurn) int { return cmp.Compare(b.Total, a.Total) })
	if len(turns) == 0 {
		return nil
	}
	lines := []string{"", "  " + m.theme.Strong.Paint("The largest turns")}
	for _, t := range turns[:min(largest, len(turns))] {
		lines = append(lines, m.usageBar(w, t.Total, turns[0].Total, t.UsageSum, t.Text))
	}
	return lines
}

// usageBar is a row: a bar, tokens, cost, time, and what took them.
func (m *Model) usageBar(w, n, most int, s engine.UsageSum, name string) string {
	full := 0
	if most > 0 {
		full = (n*barCells + most/2) / most
	}
	return rich.Draw(rich.Truncate([]rich.Span{
		rich.Chrome("  "+strings.Repeat("█", full)+strings.Repeat(" ", barCells-full), m.theme.Bar), // seen without colours, too
		rich.Chrome(fmt.Sprintf(" %7s %9s %7s  ", count(n), dollars(s.Usage), lasted(s.Took)), m.theme.Dim),
		rich.Chrome(inert.Line(name), m.theme.Text),
	}, w)).Text
}

// usageBranches are the newest ends of paths, where there is more than one.
func (m *Model) usageBranches(branches []engine.UsageBranch, w int) []string {
	if len(branches) < 2 {
		return nil
	}
	lines := []string{"", "  " + m.theme.Strong.Paint("Branches, from their roots")}
	for _, b := range branches[:min(largest, len(branches))] {
		mark, style := "  ", m.theme.Text
		if b.Active {
			mark, style = "• ", m.theme.Active
		}
		lines = append(lines, rich.Draw(rich.Truncate([]rich.Span{
			rich.Chrome("  "+mark, style),
			rich.Chrome(fmt.Sprintf("%7s %9s  %-12s ", count(b.Tokens), fmt.Sprintf("$%.4f", b.USD), number(b.Answers, "answer", "answers")), m.theme.Dim),
			rich.Chrome(inert.Line(string(b.Leaf))+"  ", m.theme.Faint),
			rich.Chrome(inert.Line(m.session.Label(b.Leaf)), m.theme.Label),
		}, w)).Text)
	}
	return lines
}

// dollars are a cost; a plus says that some of it has no known price.
func dollars(u llm.Usage) string {
	switch {
	case u.CostUnknown && u.Cost.Total == 0:
		return "unknown"
	case u.CostUnknown:
		return fmt.Sprintf("$%.4f+", u.Cost.Total)
	}
	return fmt.Sprintf("$%.4f", u.Cost.Total)
}

func percent(part float64) string { return fmt.Sprintf("%.0f%%", 100*part) }

// lasted is a time as people say it: 840ms, 12s, 3m05s, 2h10m.
func lasted(d time.Duration) string {
	switch {
	case d < time.Second:
		return fmt.Sprintf("%dms", d.Milliseconds())
	case d < time.Minute:
		return fmt.Sprintf("%.0fs", d.Seconds())
	case d < time.Hour:
		return fmt.Sprintf("%dm%02ds", int(d.Minutes()), int(d.Seconds())%60)
	}
	return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
}
