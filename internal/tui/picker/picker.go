// Package picker is a list to choose from by typing: a title, a filter, rows
// ranked by how well they match, one of them under the cursor.
//
// The data is a slice of [Item], given once or again with [Model.SetItems], and
// a continuation: what happens with the choice is said by whoever opens the
// list. Drawing costs the rows that are seen; a key costs one ranking.
//
// It reads nothing, and it does not know what its items stand for.
package picker

import (
	"slices"
	"strconv"
	"strings"

	"banyan/internal/tui/fuzzy"
	"banyan/internal/tui/inert"
	"banyan/internal/tui/keymap"
	"banyan/internal/tui/rich"
	"banyan/internal/tui/theme"

	tea "charm.land/bubbletea/v2"
)

// Item is one row. Its texts may come from anywhere.
type Item struct {
	Title  string
	Detail string // after the title, dimmed
	Mark   string // before the title: one cell, e.g. of what holds now
	Lead   string // before the title while nothing is filtered, e.g. the lines of a tree
	// Search is what the filter looks at; Title and Detail if empty. What it
	// finds is marked if the title comes first in it.
	Search string
}

// Action is something else that can be done with the item under the cursor.
type Action struct {
	Key  string // keystroke
	Help string
	// Run gets the item's index. The list stays open unless done.
	Run func(index int) (done bool, cmd tea.Cmd)
}

// Options describe a list.
type Options struct {
	Title string
	Empty string // shown when there are no items at all
	Items []Item
	// Cursor is the index of the item to begin at.
	Cursor int
	// Chosen gets the index of the chosen item.
	Chosen func(index int) tea.Cmd
	// Moved, if set, gets the index of each item that comes under the cursor.
	Moved func(index int)
	// Closed, if set, is called when the list is left without a choice.
	Closed func()
	// Keep leaves the list open after a choice, for flows that may come back to it.
	Keep    bool
	Actions []Action
	// Hints are more keys, and what they do, for the last line: of whoever opened
	// the list and handles them.
	Hints [][2]string
	// InOrder leaves what matches in the order of the items, instead of the best first.
	InOrder bool
	Query   string              // to begin with
	Keys    map[string][]string // overrides of [Bindings] by id
}

// Model is an open list. See [New].
type Model struct {
	opts    Options
	theme   theme.Theme
	keys    keymap.Table[*Model]
	query   string
	matches []fuzzy.Match
	cursor  int // in matches
	page    int // rows that were last offered, for paging
	airy    bool
	heads   int // rows of the title
	feet    int // rows of keys
	done    bool
}

// New opens a list.
func New(o Options, th theme.Theme) *Model {
	m := &Model{opts: o, theme: th, keys: keymap.New(Bindings(), o.Keys), query: o.Query, page: 10, heads: 1, feet: 1}
	m.SetItems(o.Items, o.Cursor)
	return m
}

// SetItems exchanges the items; the cursor goes to the item with that index.
func (m *Model) SetItems(items []Item, cursor int) {
	m.opts.Items = items
	m.rank()
	for i, match := range m.matches {
		if match.Index == cursor {
			m.cursor = i
		}
	}
}

// SetTheme says how it is painted.
func (m *Model) SetTheme(th theme.Theme) { m.theme = th }

// Index is the item under the cursor, -1 if there is none.
func (m *Model) Index() int {
	if len(m.matches) == 0 {
		return -1
	}
	return m.matches[m.cursor].Index
}

// SetTitle changes the title.
func (m *Model) SetTitle(text string) { m.opts.Title = text }

// SetInOrder changes whether what matches stays in the order of the items. It
// holds from the next ranking on: call [Model.SetItems] after it.
func (m *Model) SetInOrder(on bool) { m.opts.InOrder = on }

// SetEmpty is shown while there are no items.
func (m *Model) SetEmpty(text string) { m.opts.Empty = text }

// Bindings are the keys of all lists.
func Bindings() []keymap.Binding[*Model] {
	move := func(by int) func(*Model) tea.Cmd {
		return func(m *Model) tea.Cmd { m.move(by); return nil }
	}
	return []keymap.Binding[*Model]{
		{ID: "picker.choose", Keys: []string{"enter"}, Help: "choose", Run: (*Model).choose},
		{ID: "picker.close", Keys: []string{"esc", "ctrl+c"}, Help: "clear the filter, or close", Run: (*Model).close},
		{ID: "picker.up", Keys: []string{"up", "ctrl+p"}, Help: "up", Run: move(-1)},
		{ID: "picker.down", Keys: []string{"down", "ctrl+n"}, Help: "down", Run: move(1)},
		{ID: "picker.page-up", Keys: []string{"pgup"}, Help: "a page up", Run: func(m *Model) tea.Cmd { m.jump(m.cursor - m.page); return nil }},
		{ID: "picker.page-down", Keys: []string{"pgdown"}, Help: "a page down", Run: func(m *Model) tea.Cmd { m.jump(m.cursor + m.page); return nil }},
		{ID: "picker.first", Keys: []string{"home"}, Help: "first", Run: func(m *Model) tea.Cmd { m.jump(0); return nil }},
		{ID: "picker.last", Keys: []string{"end"}, Help: "last", Run: func(m *Model) tea.Cmd { m.jump(len(m.matches)); return nil }},
		{ID: "picker.erase", Keys: []string{"backspace", "ctrl+h"}, Help: "erase a character of the filter", Run: func(m *Model) tea.Cmd { m.filter(rich.ButLast(m.query)); return nil }},
		{ID: "picker.erase-word", Keys: []string{"ctrl+w", "alt+backspace"}, Help: "erase a word of the filter", Run: func(m *Model) tea.Cmd { m.filter(rich.ButLastWord(m.query)); return nil }},
		{ID: "picker.erase-all", Keys: []string{"ctrl+u"}, Help: "erase the filter", Run: func(m *Model) tea.Cmd { m.filter(""); return nil }},
	}
}

// Update handles a key, a paste or the wheel. It says whether the list is closed.
func (m *Model) Update(msg tea.Msg) (done bool, cmd tea.Cmd) {
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		return m.key(msg)
	case tea.PasteMsg:
		m.filter(m.query + inert.Line(strings.TrimSpace(msg.Content)))
	case tea.MouseClickMsg:
		if msg.Button == tea.MouseLeft {
			return m.click(msg.Y)
		}
	case tea.MouseWheelMsg:
		if msg.Button == tea.MouseWheelUp {
			m.jump(m.cursor - 1)
		} else {
			m.jump(m.cursor + 1)
		}
	}
	return m.done, nil
}

// click chooses the item of a row.
func (m *Model) click(y int) (bool, tea.Cmd) {
	i := m.top(m.page) + y - m.itemsAt()
	if y < m.itemsAt() || i >= min(len(m.matches), m.top(m.page)+m.page) {
		return false, nil
	}
	m.cursor = i
	cmd := m.choose()
	return m.done, cmd
}

func (m *Model) key(msg tea.KeyPressMsg) (bool, tea.Cmd) {
	key := msg.String()
	for _, a := range m.opts.Actions {
		if a.Key == key && len(m.matches) > 0 {
			return a.Run(m.matches[m.cursor].Index)
		}
	}
	if b, ok := m.keys.Find(m, key); ok {
		cmd := b.Run(m)
		m.moved()
		return m.done, cmd
	}
	if msg.Text != "" {
		m.filter(m.query + msg.Text)
		m.moved()
	}
	return m.done, nil
}

// moved tells what is under the cursor now.
func (m *Model) moved() {
	if m.opts.Moved != nil && !m.done && len(m.matches) > 0 {
		m.opts.Moved(m.matches[m.cursor].Index)
	}
}

func (m *Model) choose() tea.Cmd {
	if len(m.matches) == 0 {
		return nil
	}
	m.done = !m.opts.Keep
	return m.opts.Chosen(m.matches[m.cursor].Index)
}

func (m *Model) close() tea.Cmd {
	if m.query != "" {
		m.filter("")
		return nil
	}
	m.done = true
	if m.opts.Closed != nil {
		m.opts.Closed()
	}
	return nil
}

// move goes around the ends.
func (m *Model) move(by int) {
	if n := len(m.matches); n > 0 {
		m.cursor = (m.cursor + by + n) % n
	}
}

// jump does not.
func (m *Model) jump(to int) { m.cursor = max(0, min(to, len(m.matches)-1)) }

func (m *Model) filter(query string) {
	m.query = query
	m.rank()
}

func (m *Model) rank() {
	items := m.opts.Items
	m.matches = fuzzy.Rank(m.query, len(items), func(i int) string { return items[i].text() }, 0)
	if m.opts.InOrder {
		slices.SortFunc(m.matches, func(a, b fuzzy.Match) int { return a.Index - b.Index })
	}
	m.cursor = 0
}

func (it Item) text() string {
	if it.Search != "" {
		return it.Search
	}
	return it.Title + " " + it.Detail
}

// airyFrom is the room from which on there are blank rows around the items.
const airyFrom = 12

// around is the number of rows that are not items: with the filter's.
func (m *Model) around() int {
	n := m.heads + 1 + m.feet
	if m.airy {
		n += 2
	}
	return n
}

// itemsAt is the row where the items begin.
func (m *Model) itemsAt() int { return m.around() - m.feet - (m.around()-m.heads-m.feet)/2 }

// Height is how many rows the list wants, of at most limit. It does not change
// with the filter, so that nothing moves while one types.
func (m *Model) Height(w, limit int) int {
	m.airy = limit >= airyFrom
	m.heads, m.feet = 1, 1
	if m.airy {
		m.heads, m.feet = len(m.title(w, 2)), min(2, len(m.hints(w)))
	}
	h := min(max(len(m.opts.Items), 1)+m.around(), limit)
	m.page = max(1, h-m.around())
	return h
}

// Stretch gives the list more rows than [Model.Height] wanted.
func (m *Model) Stretch(h int) int {
	m.page = max(1, h-m.around())
	return h
}

// Cursor is the caret's cell: at the end of the filter.
func (m *Model) Cursor() (x, y int, ok bool) {
	return 2 + rich.Width(inert.Line(m.query)), m.heads, true
}

// View draws the list in exactly h rows of at most w cells.
func (m *Model) View(w, h int) string {
	lines := append(m.head(w), m.filterLine(w))
	if m.airy {
		lines = append(lines, "")
	}
	rows := h - m.around()
	top := m.top(rows)
	titles := m.column(top, rows, w)
	for i := top; i < len(m.matches) && i < top+rows; i++ {
		lines = append(lines, m.row(i, w, titles))
	}
	if len(m.matches) == 0 {
		lines = append(lines, m.theme.Dim.Paint(rich.TruncateText("  "+m.nothing(), w)))
	}
	for len(lines) < h-m.feet {
		lines = append(lines, "")
	}
	return strings.Join(append(lines[:max(0, h-m.feet)], m.foot(w)...), "\n")
}

// top is the match in the first of a number of rows: the cursor stays in the middle.
func (m *Model) top(rows int) int { return max(0, min(m.cursor-rows/2, len(m.matches)-rows)) }

// nothing says why there are no rows.
func (m *Model) nothing() string {
	if len(m.opts.Items) == 0 {
		return inert.Line(m.opts.Empty)
	}
	return "nothing matches"
}

func (m *Model) filterLine(w int) string {
	if m.query == "" {
		return "  " + m.theme.Faint.Paint(rich.TruncateText("type to filter", w-2))
	}
	return "  " + m.theme.Text.Paint(rich.TruncateText(inert.Line(m.query), w-2))
}

// head is the title, in as many rows as it has, and at its right how many items
// there are.
func (m *Model) head(w int) []string {
	count := m.count()
	var rows []string
	for i, line := range m.title(w, m.heads) {
		text := rich.Draw(rich.Truncate(line, max(1, w-len(count)-2))).Text
		if i == 0 {
			gap := max(1, w-2-rich.LineWidth(line)-len(count))
			text += strings.Repeat(" ", gap) + m.theme.Faint.Paint(count)
		}
		rows = append(rows, text)
	}
	return rows
}

// title are the lines of the title, beside which the count has room.
func (m *Model) title(w, rows int) [][]rich.Span {
	text := []rich.Span{rich.Chrome(inert.Line(m.opts.Title), m.theme.Title)}
	lines := rich.WrapTo(text, w-len(m.count())-5, rows)
	for i := range lines {
		lines[i] = append([]rich.Span{rich.Chrome("  ", m.theme.Title)}, lines[i]...)
	}
	return lines
}

func (m *Model) count() string {
	count := strconv.Itoa(len(m.matches))
	if len(m.matches) != len(m.opts.Items) {
		count += " of " + strconv.Itoa(len(m.opts.Items))
	}
	return count
}

// foot are the keys, in as many rows as they have.
func (m *Model) foot(w int) []string {
	hints := m.hints(w)
	if len(hints) > m.feet {
		hints = append(hints[:m.feet-1:m.feet-1], slices.Concat(hints[m.feet-1:]...))
	}
	var rows []string
	for _, line := range hints {
		rows = append(rows, rich.Draw(rich.Truncate(line, w)).Text)
	}
	return rows
}

// hints are the lines of keys; what a key does stands beside it.
func (m *Model) hints(w int) [][]rich.Span {
	lines := [][]rich.Span{nil}
	hint := func(key, help string) {
		if key == "" {
			return
		}
		pair := []rich.Span{rich.Chrome("  "+keymap.Title(key), m.theme.Key), rich.Chrome(" "+help, m.theme.Hint)}
		last := len(lines) - 1
		if len(lines[last]) > 0 && rich.LineWidth(lines[last])+rich.LineWidth(pair) > w {
			lines, last = append(lines, nil), last+1
		}
		lines[last] = append(lines[last], pair...)
	}
	hint(m.keys.Key("picker.choose"), "chooses")
	for _, a := range m.opts.Actions {
		hint(a.Key, a.Help)
	}
	for _, h := range m.opts.Hints {
		hint(h[0], h[1])
	}
	hint(m.keys.Key("picker.close"), "closes")
	return lines
}

// column is the width of the titles that are seen, so that details stand below
// each other; at most half of the row.
func (m *Model) column(top, rows, w int) int {
	widest := 0
	for i := top; i < len(m.matches) && i < top+rows; i++ {
		if it := m.opts.Items[m.matches[i].Index]; it.Detail != "" {
			widest = max(widest, m.lead(it)+rich.Width(inert.Line(it.Title)))
		}
	}
	return min(widest, w/2)
}

// lead is the width of what stands before an item's title.
func (m *Model) lead(it Item) int {
	if m.query != "" {
		return 0
	}
	return rich.Width(inert.Line(it.Lead))
}

// row draws one item, what matched of its title marked.
func (m *Model) row(i, w, titles int) string {
	match := m.matches[i]
	it := m.opts.Items[match.Index]
	below := theme.Style{}
	pointer := "  "
	if i == m.cursor {
		below, pointer = m.theme.Selection, "› "
	}
	line := []rich.Span{rich.Chrome(pointer, m.theme.Accent.On(below))}
	if it.Mark != "" {
		line = append(line, rich.Chrome(inert.Line(it.Mark)+" ", m.theme.Active.On(below)))
	}
	title := m.marked(it, match, below)
	if m.lead(it) > 0 {
		title = append([]rich.Span{rich.Chrome(inert.Line(it.Lead), m.theme.Faint.On(below))}, title...)
	}
	if it.Detail != "" {
		detail, room := inert.Line(it.Detail), w-rich.LineWidth(line)-2
		title = rich.Truncate(title, max(w*7/10, room-rich.Width(detail))) // some of both is seen
		gap := max(0, titles-rich.LineWidth(title)) + 2
		title = append(title, rich.Chrome(strings.Repeat(" ", gap)+detail, m.theme.Dim.On(below)))
	}
	line = append(line, title...)
	line = rich.Truncate(line, w)
	if i == m.cursor {
		line = append(line, rich.Chrome(strings.Repeat(" ", max(0, w-rich.LineWidth(line))), below))
	}
	return rich.Draw(line).Text
}

// marked is the title with the letters that the filter found in another style.
func (m *Model) marked(it Item, match fuzzy.Match, below theme.Style) []rich.Span {
	plain, hit := m.theme.Text.On(below), m.theme.Accent.With(theme.Bold).On(below)
	if it.Search != "" && !strings.HasPrefix(it.Search, it.Title) || len(match.Positions) == 0 {
		return []rich.Span{rich.Chrome(inert.Line(it.Title), plain)}
	}
	var line []rich.Span
	runes, at := []rune(it.Title), 0
	for _, p := range match.Positions {
		if p >= len(runes) {
			break
		}
		if p > at {
			line = append(line, rich.Chrome(inert.Line(string(runes[at:p])), plain))
		}
		line = append(line, rich.Chrome(inert.Line(string(runes[p])), hit))
		at = p + 1
	}
	if at < len(runes) {
		line = append(line, rich.Chrome(inert.Line(string(runes[at:])), plain))
	}
	return line
}
