package tree

// Row is one line of the outline, without its text and style.
type Row struct {
	Node Node
	// Prefix is what stands before the text: gutters, connector and fold mark. It
	// takes Cells cells, at most half of the width. Where it would take more, its
	// left part is a single `…`.
	Prefix string
	Cells  int
	Level  int // how far it is indented, in levels of 3 cells, were there room
	Fold   Fold
	// Active: on the path to the leaf.
	Active bool
	Leaf   bool // where the next entry will go
	// Siblings: other rows hang below the same one, or there are several roots and
	// it is one.
	Siblings bool
}

// Fold says whether a row can be folded.
type Fold uint8

const (
	NoFold Fold = iota // it cannot
	Open               // it can: `⊟`
	Folded             // it is: `⊞`
)

// levelCells is the width of a level.
const levelCells = 3

// Rows are count rows from a number on, for a screen of width cells; fewer where
// the outline ends.
func (o *Outline) Rows(from, count, width int) []Row {
	from = max(from, 0)
	count = min(count, o.Len()-from)
	if count <= 0 {
		return nil
	}
	rows := make([]Row, 0, count)
	pen := pen{Outline: o, room: max(0, width/2), drawn: -1}
	for p := o.shown.at(from); len(rows) < count; p = o.shown.next(p + 1) {
		rows = append(rows, pen.row(p))
	}
	return rows
}

// pen draws rows.
type pen struct {
	*Outline
	room int // cells that a prefix may take
	line []rune

	// The rows of a strand after its head have one prefix: that of the last one drawn.
	drawn int32
	body  string
	cells int
}

func (d *pen) row(p int32) Row {
	s := d.strandAt(p)
	r := Row{Node: d.node[p], Active: p <= d.leaf, Leaf: p == d.leaf}
	if p == d.first[s] {
		r.Level = d.level(s)
		r.Siblings = d.up[s] >= 0 || d.roots > 1
		switch {
		case d.folded.has(p):
			r.Fold = Folded
		case d.foldable(p):
			r.Fold = Open
		}
		r.Prefix, r.Cells = d.head(s, r.Fold)
		return r
	}
	r.Level = d.bodyLevel(s)
	if s != d.drawn {
		d.draw(r.Level, s)
		d.drawn, d.body, d.cells = s, string(d.line), len(d.line)
	}
	r.Prefix, r.Cells = d.body, d.cells
	return r
}

// head draws the prefix of a strand's first row.
func (d *pen) head(s int32, fold Fold) (string, int) {
	d.draw(d.level(s), d.up[s])
	if n := len(d.line); d.up[s] >= 0 && n >= levelCells {
		joint := []rune("├─ ")
		if d.is(s, lastBit) {
			joint[0] = '└'
		}
		switch fold {
		case Open:
			joint[1] = '⊟'
		case Folded:
			joint[1] = '⊞'
		}
		copy(d.line[n-levelCells:], joint)
	} else if fold == Folded && n+2 <= d.room {
		d.line = append(d.line, '⊞', ' ')
	}
	return string(d.line), len(d.line)
}

// draw makes line of as many levels, the last of them if not all fit, with the
// gutters of a strand and those that it forks from. It looks at no more strands
// than it draws levels: each has a connector of its own, further left than the
// one before.
func (d *pen) draw(levels int, s int32) {
	skip := 0
	d.line = d.line[:0]
	if levelCells*levels > d.room {
		skip = levels - max(0, (d.room-1)/levelCells)
		if d.room > 0 {
			d.line = append(d.line, '…')
		}
	}
	left := len(d.line)
	for range levelCells * (levels - skip) {
		d.line = append(d.line, ' ')
	}
	for ; s >= 0 && d.up[s] >= 0; s = d.up[s] {
		at := d.level(s) - 1 - skip
		if at < 0 {
			return
		}
		if !d.is(s, lastBit) {
			d.line[left+levelCells*at] = '│'
		}
	}
}
