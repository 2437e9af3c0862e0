package tui

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"banyan/internal/llm"
	"banyan/internal/tui/inert"
	"banyan/internal/tui/rich"
	"banyan/internal/tui/theme"
)

// segment is one fact of the footer. Where there is no room, the segment with
// the highest rank goes first.
type segment struct {
	rank int
	line []rich.Span
}

// footer is one line: where we are at the left, what we have at the right.
func (m *Model) footer() string {
	left, right := m.place(), m.means()
	for width(left)+width(right)+2 > m.width && dropLast(&left, &right) {
	}
	l, r := joined(left), joined(right)
	gap := max(1, m.width-rich.LineWidth(l)-rich.LineWidth(r)-1)
	line := append(l, rich.Chrome(strings.Repeat(" ", gap), theme.Style{}))
	return rich.Draw(rich.Truncate(append(line, r...), m.width)).Text
}

// place is where we are: folder, branch, session.
func (m *Model) place() []segment {
	segments := []segment{m.plain(4, "  "+shortPath(m.opts.Cwd, max(12, m.width/3)))}
	if m.branch != "" {
		segments = append(segments, m.plain(6, m.branch))
	}
	if m.opened && m.session.Name() != "" {
		segments = append(segments, segment{5, []rich.Span{rich.Chrome(rich.TruncateText(inert.Line(m.session.Name()), 24), m.theme.Strong)}})
	}
	return segments
}

// means is what we have: mode, model, context, tokens, money.
func (m *Model) means() []segment {
	var segments []segment
	if n := len(m.queue.Steering) + len(m.queue.FollowUps); n > 0 {
		segments = append(segments, segment{3, []rich.Span{rich.Chrome(fmt.Sprintf("%d queued", n), m.theme.Accent)}})
	}
	segments = append(segments, m.statuses()...)
	if m.state.Unsaved > 0 {
		segments = append(segments, segment{0, []rich.Span{rich.Chrome(fmt.Sprintf("%d unsaved", m.state.Unsaved), m.theme.Failure)}})
	}
	if mode := m.state.Mode; mode != "" && mode != m.state.Permission {
		segments = append(segments, segment{1, []rich.Span{rich.Chrome(rich.TruncateText(inert.Line(mode), 20), m.theme.Accent)}})
	}
	if m.state.Permission != "" {
		style := m.theme.Footer
		if m.state.Permission != "ask" {
			style = m.theme.Warning
		}
		segments = append(segments, segment{1, []rich.Span{rich.Chrome(inert.Line(m.state.Permission), style)}})
	}
	if name := m.modelName(); name != "" {
		segments = append(segments, m.plain(2, rich.TruncateText(name, 32)))
	}
	segments = append(segments, m.window()...)
	if n := m.state.Usage.Context() + m.state.Tasks.Tokens; n > 0 {
		segments = append(segments, m.plain(9, count(n)))
	}
	if n := m.state.Tasks.Running; n > 0 {
		segments = append(segments, segment{3, []rich.Span{rich.Chrome(fmt.Sprintf("%d working", n), m.theme.Running)}})
	}
	if usd := m.state.Usage.Cost.Total + m.state.Tasks.USD; usd > 0 { // what tasks took counts
		segments = append(segments, m.plain(7, fmt.Sprintf("$%.2f", usd)))
	}
	return segments
}

// modelName is the model and how much it thinks.
func (m *Model) modelName() string {
	name := m.state.ModelName
	if name == "" {
		name = m.state.Model.Model
	}
	if t := m.state.Thinking; name != "" && t != "" && t != llm.ThinkingOff {
		name += " " + string(t)
	}
	return inert.Line(name)
}

// barCells is the width of the context bar.
const barCells = 8

// window is how full the context window is, as a bar and a number.
func (m *Model) window() []segment {
	if m.state.ContextWindow <= 0 || m.state.ContextTokens <= 0 {
		return nil
	}
	part := float64(m.state.ContextTokens) / float64(m.state.ContextWindow)
	part = max(0, min(part, 1))
	full := int(part*barCells + 0.5)
	style := m.theme.Bar
	if part >= 0.8 {
		style = m.theme.BarFull
	}
	bar := []rich.Span{
		rich.Chrome(strings.Repeat("━", full), style),
		rich.Chrome(strings.Repeat("━", barCells-full), m.theme.BarTrack),
	}
	about := "" // or counted by the provider
	if m.state.ContextEstimated {
		about = "~"
	}
	return []segment{{8, bar}, m.plain(3, fmt.Sprintf("%s%d%%", about, int(part*100+0.5)))}
}

func (m *Model) plain(rank int, text string) segment {
	return segment{rank, []rich.Span{rich.Chrome(inert.Line(text), m.theme.Footer)}}
}

// dropLast takes the segment with the highest rank away. Rank 0 stays.
func dropLast(sides ...*[]segment) bool {
	var side *[]segment
	at, worst := 0, 0
	for _, s := range sides {
		for i, seg := range *s {
			if seg.rank > worst {
				side, at, worst = s, i, seg.rank
			}
		}
	}
	if side == nil {
		return false
	}
	*side = append((*side)[:at:at], (*side)[at+1:]...)
	return true
}

const between = "  "

func joined(segments []segment) []rich.Span {
	var line []rich.Span
	for i, s := range segments {
		if i > 0 {
			line = append(line, rich.Chrome(between, theme.Style{}))
		}
		line = append(line, s.line...)
	}
	return line
}

func width(segments []segment) int { return rich.LineWidth(joined(segments)) }

// count writes a number of tokens: 940, 12k, 1.2M.
func count(n int) string {
	switch {
	case n < 1000:
		return fmt.Sprint(n)
	case n < 1_000_000:
		return fmt.Sprintf("%dk", (n+500)/1000)
	}
	return fmt.Sprintf("%.1fM", float64(n)/1e6)
}

// shortPath writes a folder in at most cells cells: ~ for home, the end where
// there is no room for all.
func shortPath(path string, cells int) string {
	if home, err := os.UserHomeDir(); err == nil && home != "/" {
		if rel, err := filepath.Rel(home, path); err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
			path = filepath.Join("~", rel)
		}
	}
	path = inert.Line(path)
	for rich.Width(path) > cells {
		cut := strings.IndexByte(strings.TrimPrefix(path, "…/"), filepath.Separator)
		if cut < 0 {
			return rich.TruncateText(path, cells)
		}
		path = "…/" + strings.TrimPrefix(path, "…/")[cut+1:]
	}
	return path
}
