package treeview

import (
	"fmt"
	"strconv"
	"strings"

	"banyan/internal/llm"
	"banyan/internal/session"
	"banyan/internal/tree"
	"banyan/internal/tui/inert"
	"banyan/internal/tui/keymap"
	"banyan/internal/tui/rich"
	"banyan/internal/tui/theme"

	"charm.land/bubbles/v2/help"
	"charm.land/bubbles/v2/key"
	"github.com/charmbracelet/x/ansi"
)

// The rows above and below the tree: title and search, and the keys.
const (
	headRows = 2
	footRows = 1
)

// cells before a row's prefix.
const pointerCells = 2

// keptTexts is how many rows' texts are remembered.
const keptTexts = 1024

// Height says how large the tree may be, and takes it all.
func (m *Model) Height(w, limit int) int {
	m.w, m.h = w, limit
	return limit
}

// page is the number of rows of the tree.
func (m *Model) page() int { return max(1, m.h-headRows-footRows) }

// top is the number of the first row that is seen.
func (m *Model) top() int { return m.outline.Window(m.page()) }

// Cursor is the caret's cell: in the label that is edited, else in the search.
func (m *Model) Cursor() (x, y int, ok bool) {
	if m.field == nil {
		x = rich.LineWidth(m.searchLine(m.w))
		return min(x, m.w-1), 1, true
	}
	row := m.outline.Row()
	rows := m.outline.Rows(row, 1, m.treeWidth())
	if len(rows) == 0 {
		return 0, 0, false
	}
	before := m.rowHead(rows[0], theme.Style{})
	at := rich.LineWidth(before) + 1
	_, caret := m.field.view(m.fieldCells(before))
	return at + caret, headRows + row - m.top(), true
}

// View draws exactly h rows of at most w cells.
func (m *Model) View(w, h int) string {
	lines := make([]string, 0, h)
	lines = append(lines, m.title(w), rich.Draw(rich.Truncate(m.searchRow(w), w)).Text)
	page := max(0, h-headRows-footRows)
	tw := m.treeWidth()
	rows := m.outline.Rows(m.outline.Window(page), page, tw)
	here := m.here()
	for _, r := range rows {
		lines = append(lines, m.row(r, r.Node == here, tw))
	}
	if len(rows) == 0 {
		lines = append(lines, m.theme.Dim.Paint(rich.TruncateText("  "+m.emptiness(), tw)))
	}
	for len(lines) < h-footRows {
		lines = append(lines, "")
	}
	if pw := m.previewWidth(); pw > 0 {
		m.beside(lines[headRows:], tw, pw)
	}
	return strings.Join(append(lines, m.foot(w))[:h], "\n")
}

// emptiness says why there are no rows, and how there would be some.
func (m *Model) emptiness() string {
	switch {
	case m.session.Len() == 0:
		return "There is nothing in this session yet."
	case m.err != nil:
		return m.err.Error()
	case m.outline.Query() != "":
		return "Nothing matches. " + m.keyOf(idClose) + " clears the search."
	case m.outline.Filter() == tree.LabeledOnly:
		return "Nothing has a label yet. " + m.keyOf("tree.default") + " shows all, " + m.keyOf("tree.label") + " labels."
	}
	return "This filter hides everything. " + m.keyOf("tree.default") + " shows more."
}

// title is the name, the filter and where among the rows the selected one is.
func (m *Model) title(w int) string {
	th := m.theme
	var right []rich.Span
	add := func(text string, s theme.Style) {
		if len(right) > 0 {
			right = append(right, rich.Chrome(" · ", th.Faint))
		}
		right = append(right, rich.Chrome(text, s))
	}
	if m.times {
		add("label times", th.Dim)
	}
	if f := m.outline.Filter(); f == tree.Default {
		add(f.String(), th.Dim)
	} else {
		add(f.String(), th.Accent)
	}
	add(fmt.Sprintf("%d/%d", m.outline.Row()+1, m.outline.Len()), th.Dim)
	left := []rich.Span{rich.Chrome(" Tree", th.Title)}
	if name := m.session.Name(); name != "" {
		left = append(left, rich.Chrome("  "+inert.Line(name), th.Dim))
	}
	return rich.Draw(apart(left, right, w)).Text
}

// apart puts two texts at the ends of a row; the left one gives way.
func apart(left, right []rich.Span, w int) []rich.Span {
	right = rich.Truncate(right, w)
	left = rich.Truncate(left, w-rich.LineWidth(right)-1)
	gap := w - rich.LineWidth(left) - rich.LineWidth(right)
	if gap > 0 {
		left = append(left[:len(left):len(left)], rich.Chrome(strings.Repeat(" ", gap), theme.Style{}))
	}
	return append(left, right...)
}

// searchRow is the search, and what it has found.
func (m *Model) searchRow(w int) []rich.Span {
	var right []rich.Span
	switch at, of := m.outline.Matches(); {
	case m.outline.Query() == "":
	case m.err != nil:
		right = []rich.Span{rich.Chrome("no search yet ", m.theme.Failure)}
	case m.outline.Indexed() < m.session.Len():
		percent := 100 * m.outline.Indexed() / m.session.Len()
		right = []rich.Span{rich.Chrome(fmt.Sprintf("%d found, %d%% read ", of, percent), m.theme.Running)}
	default:
		right = []rich.Span{rich.Chrome(fmt.Sprintf("%d of %d ", at, of), m.theme.Dim)}
	}
	left := m.searchLine(w - rich.LineWidth(right) - 1)
	if m.outline.Query() == "" && m.field == nil {
		left = append(left, rich.Chrome("type to search", m.theme.Faint))
	}
	return apart(left, right, w)
}

// searchLine is the search up to the caret.
func (m *Model) searchLine(w int) []rich.Span {
	query := newField(m.outline.Query())
	text, _ := query.view(max(1, w-pointerCells))
	return []rich.Span{rich.Chrome(" /", m.theme.Accent), rich.Chrome(text, m.theme.Text)}
}

// foot are the keys that matter now.
func (m *Model) foot(w int) string {
	h := help.New()
	h.SetWidth(w - 1)
	h.ShortSeparator = "  "
	h.Styles.ShortKey, h.Styles.ShortDesc = m.theme.Key.Lip(), m.theme.Hint.Lip()
	h.Styles.ShortSeparator, h.Styles.Ellipsis = theme.Style{}.Lip(), m.theme.Hint.Lip()
	// Where not even its ellipsis fits, the help is as long as it is.
	return ansi.Truncate(" "+h.ShortHelpView(m.footKeys()), w, "…")
}

func (m *Model) footKeys() []key.Binding {
	hint := func(keys, does string) key.Binding {
		// A binding without keys is not shown.
		return key.NewBinding(key.WithKeys(strings.Fields(keys)...), key.WithHelp(keys, does))
	}
	if m.field != nil {
		return []key.Binding{hint("Enter", "keeps the label"), hint("Esc", "leaves it")}
	}
	keys := []key.Binding{
		hint(m.keyOf("tree.choose"), "goes there"),
		hint(m.keyOf(idClose), map[bool]string{true: "closes", false: "clears"}[m.outline.Query() == ""]),
		hint(m.keyOf("tree.menu"), "more"),
		hint(m.keyOf("tree.label"), "label"),
		hint(m.keyOf("tree.next-filter"), "filter"),
		hint(m.keyOf("tree.fold"), "fold"),
		hint(m.keyOf("tree.turn-up"), "prompts"),
	}
	if m.outline.Query() != "" {
		keys = append(keys, hint(m.keyOf("tree.match-down"), "next match"))
	}
	return keys
}

// keyOf is how the first key of an action is written; empty if it has none.
func (m *Model) keyOf(id string) string {
	for _, r := range m.keys.Rows() {
		if r.ID == id && len(r.Keys) > 0 {
			if r.Keys[0] == "L" || r.Keys[0] == "T" {
				return "Shift+" + r.Keys[0]
			}
			return keymap.Title(r.Keys[0])
		}
	}
	return ""
}

// Usage is what making an entry took; zero for what no model made.
func Usage(d session.Data) llm.Usage {
	switch d := d.(type) {
	case session.Message:
		return d.Usage
	case session.BranchSummary:
		if d.Usage != nil {
			return *d.Usage
		}
	case session.Compaction:
		if d.Usage != nil {
			return *d.Usage
		}
	}
	return llm.Usage{}
}

// facts are a line about an entry: when, which, what it took.
func facts(e session.Entry, label string) []string {
	var parts []string
	if !e.Time.IsZero() {
		parts = append(parts, e.Time.Local().Format("2 Jan 15:04"))
	}
	parts = append(parts, string(e.ID))
	if d, ok := e.Data.(session.Message); ok && d.Message.Model != "" {
		parts = append(parts, d.Message.Model)
	}
	u := Usage(e.Data)
	if n := u.Context(); n > 0 {
		parts = append(parts, strconv.Itoa(n)+" tokens")
	}
	if usd := u.Cost.Total; usd > 0 {
		parts = append(parts, fmt.Sprintf("$%.4f", usd))
	}
	if label != "" {
		parts = append(parts, "["+label+"]")
	}
	return parts
}
