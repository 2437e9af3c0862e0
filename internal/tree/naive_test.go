package tree

import (
	"regexp"
	"slices"
	"strings"
)

// naive is the outline as one would write it down: everything is worked out
// again for every question, by looking at everybody. It is what the real one is
// measured against, so it is to be obvious and nothing else.
type naive struct {
	parent []Node
	times  []int64
	class  []Class
	text   []string
	leaf   Node

	filter   Filter
	query    string
	folded   map[Node]bool
	selected Node
}

// drawn is a row with all that the rules say about it.
type drawn struct {
	Row
	parent    Node // nearest visible ancestor
	kids      []Node
	indent    int
	connector bool
	last      bool
	gutters   map[int]bool // level → drawn
}

func (m *naive) isAncestor(a, n Node) bool {
	for n = m.parent[n]; n != None; n = m.parent[n] {
		if n == a {
			return true
		}
	}
	return false
}

func (m *naive) active(n Node) bool {
	return m.leaf != None && (n == m.leaf || m.isAncestor(n, m.leaf))
}

// order is all nodes, depth first, the active one of siblings first.
func (m *naive) order(below Node) []Node {
	kids := naiveChildren(m.parent, m.times, below)
	slices.SortStableFunc(kids, func(a, b Node) int {
		switch {
		case m.active(a) && !m.active(b):
			return -1
		case m.active(b) && !m.active(a):
			return 1
		}
		return 0
	})
	var all []Node
	for _, k := range kids {
		all = append(append(all, k), m.order(k)...)
	}
	return all
}

func (m *naive) visible(n Node) bool {
	c := m.class[n]
	if c&Silent != 0 && n != m.leaf {
		return false
	}
	switch m.filter {
	case Default:
		if c&Bookkeeping != 0 {
			return false
		}
	case NoTools:
		if c&(Bookkeeping|ToolResult) != 0 {
			return false
		}
	case UserOnly:
		if c&User == 0 {
			return false
		}
	case LabeledOnly:
		if c&Labelled == 0 {
			return false
		}
	}
	return m.finds(n)
}

func (m *naive) finds(n Node) bool {
	text := strings.ToLower(strings.Join(strings.Fields(m.text[n]), " "))
	if expr, ok := strings.CutPrefix(m.query, "re:"); ok {
		re, err := regexp.Compile("(?i)" + expr)
		return err == nil && re.MatchString(text)
	}
	for i, part := range strings.Split(m.query, `"`) {
		words := strings.Fields(strings.ToLower(part))
		if i%2 == 1 {
			words = []string{strings.Join(words, " ")}
		}
		for _, w := range words {
			if !strings.Contains(text, w) {
				return false
			}
		}
	}
	return true
}

// tree is everything visible, folded or not, in order, linked and indented.
func (m *naive) tree() []*drawn {
	var rows []*drawn
	by := map[Node]*drawn{}
	var roots []Node
	for _, n := range m.order(None) {
		if !m.visible(n) {
			continue
		}
		d := &drawn{Row: Row{Node: n, Active: m.active(n), Leaf: n == m.leaf}, gutters: map[int]bool{}}
		d.parent = m.parent[n]
		for d.parent != None && !m.visible(d.parent) {
			d.parent = m.parent[d.parent]
		}
		if d.parent == None {
			roots = append(roots, n)
		} else {
			by[d.parent].kids = append(by[d.parent].kids, n)
		}
		rows, by[n] = append(rows, d), d
	}
	branched := map[Node]bool{} // just below a branching
	for _, d := range rows {
		siblings := roots
		if d.parent != None {
			siblings = by[d.parent].kids
		}
		d.Siblings = len(siblings) > 1
		d.last = siblings[len(siblings)-1] == d.Node
		m.indent(d, by[d.parent], branched)
		branched[d.Node] = d.Siblings
		if len(d.kids) > 0 && (d.parent == None || d.Siblings) {
			d.Fold = Open
			if m.folded[d.Node] {
				d.Fold = Folded
			}
		}
	}
	return rows
}

// indent follows the rules of indent: a virtual root above several roots, one
// more level below a fork, and once more for what comes first below that.
func (m *naive) indent(d, up *drawn, branched map[Node]bool) {
	switch {
	case up == nil && d.Siblings:
		d.indent = 1
	case up == nil:
		d.indent = 0
	case d.Siblings:
		d.indent, d.connector = up.indent+1, true
	case branched[up.Node] && up.indent > 0:
		d.indent = up.indent + 1
	default:
		d.indent = up.indent
	}
	if up == nil {
		return
	}
	for level, drawn := range up.gutters {
		d.gutters[level] = drawn
	}
	if up.connector {
		d.gutters[up.indent-1] = !up.last
	}
}

// rows are what is not folded away, with prefixes.
func (m *naive) rows(width int) []Row {
	all := m.tree()
	several := len(all) > 0 && all[0].parent == None && all[0].Siblings
	var rows []Row
	for _, d := range all {
		if m.hidden(d.Node) {
			continue
		}
		shift := 0
		if several {
			shift = 1
		}
		d.Level = max(0, d.indent-shift)
		d.Prefix = prefix(d, shift, width/2)
		d.Cells = len([]rune(d.Prefix))
		rows = append(rows, d.Row)
	}
	return rows
}

func (m *naive) hidden(n Node) bool {
	for f, on := range m.folded {
		if on && m.isAncestor(f, n) {
			return true
		}
	}
	return false
}

func prefix(d *drawn, shift, room int) string {
	var levels []string
	for level := shift; level < d.indent; level++ {
		cell := "   "
		if d.gutters[level] {
			cell = "│  "
		}
		if d.connector && level == d.indent-1 {
			joint := map[bool]string{false: "├", true: "└"}[d.last]
			cell = joint + map[Fold]string{NoFold: "─", Open: "⊟", Folded: "⊞"}[d.Fold] + " "
		}
		levels = append(levels, cell)
	}
	joined := d.connector
	s := strings.Join(levels, "")
	if 3*len(levels) > room {
		for 3*len(levels)+1 > room && len(levels) > 0 {
			levels = levels[1:]
		}
		joined = joined && len(levels) > 0
		s = strings.Join(levels, "")
		if room > 0 {
			s = "…" + s
		}
	}
	if d.Fold == Folded && !joined && len([]rune(s))+2 <= room {
		s += "⊞ "
	}
	return s
}

// The keys.

func (m *naive) shown() []*drawn {
	return slices.DeleteFunc(m.tree(), func(d *drawn) bool { return m.hidden(d.Node) })
}

func at(rows []*drawn, n Node) int {
	return slices.IndexFunc(rows, func(d *drawn) bool { return d.Node == n })
}

// settle drops folds that are none any more and puts the selection on a row.
func (m *naive) settle() {
	all := m.tree()
	for f := range m.folded {
		if i := at(all, f); i < 0 || all[i].Fold == NoFold {
			delete(m.folded, f)
		}
	}
	rows := m.shown()
	if len(rows) == 0 {
		return
	}
	for n := m.selected; n != None; n = m.parent[n] {
		if at(rows, n) >= 0 {
			m.selected = n
			return
		}
	}
	m.selected = rows[len(rows)-1].Node
}

func (m *naive) step(by int, wrap bool) {
	rows := m.shown()
	if len(rows) == 0 {
		return
	}
	i := at(rows, m.selected) + by
	if wrap {
		i = (i + len(rows)) % len(rows)
	}
	m.selected = rows[max(0, min(i, len(rows)-1))].Node
}

func (m *naive) turn(by int) {
	rows := m.shown()
	for i := at(rows, m.selected) + by; len(rows) > 0 && i >= 0 && i < len(rows); i += by {
		if m.class[rows[i].Node]&User != 0 {
			m.selected = rows[i].Node
			return
		}
	}
}

func (m *naive) match(by int) {
	all := m.tree()
	if len(all) == 0 {
		return
	}
	m.selected = all[(at(all, m.selected)+by+len(all))%len(all)].Node
	for f := range m.folded {
		if m.isAncestor(f, m.selected) {
			delete(m.folded, f)
		}
	}
}

func (m *naive) foldOrUp() {
	rows := m.shown()
	i := at(rows, m.selected)
	if i < 0 {
		return
	}
	if rows[i].Fold == Open {
		m.folded[m.selected] = true
		return
	}
	for d := rows[i]; ; d = rows[at(rows, d.parent)] {
		if d.parent == None || d.Siblings && d.Node != m.selected {
			m.selected = d.Node
			return
		}
	}
}

func (m *naive) unfoldOrDown() {
	rows := m.shown()
	i := at(rows, m.selected)
	if i < 0 {
		return
	}
	if rows[i].Fold == Folded {
		delete(m.folded, m.selected)
		return
	}
	for d := rows[i]; ; {
		if len(d.kids) == 0 {
			m.selected = d.Node
			return
		}
		if len(d.kids) > 1 {
			m.selected = d.kids[0]
			return
		}
		d = rows[at(rows, d.kids[0])]
	}
}

func (m *naive) sibling(by int) {
	rows := m.shown()
	i := at(rows, m.selected)
	if i < 0 {
		return
	}
	d := rows[i]
	for !d.Siblings && d.parent != None {
		d = rows[at(rows, d.parent)]
	}
	var siblings []Node
	for _, other := range rows {
		if other.parent == d.parent {
			siblings = append(siblings, other.Node)
		}
	}
	if i := slices.Index(siblings, d.Node) + by; i >= 0 && i < len(siblings) {
		m.selected = siblings[i]
	}
}
