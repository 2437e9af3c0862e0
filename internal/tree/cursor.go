package tree

import mathbits "math/bits"

// The selection, and the keys that move it. A row is named by its number, from
// the top, counted from 0.

// Len is the number of rows.
func (o *Outline) Len() int { return o.shown.len() }

// Selected is the selected node, [None] if there are no rows.
func (o *Outline) Selected() Node {
	if o.Len() == 0 {
		return None
	}
	return o.selected
}

// Row is the number of the selected row, -1 if there are no rows.
func (o *Outline) Row() int {
	if o.Len() == 0 {
		return -1
	}
	return int(o.shown.rank(o.at()))
}

// RowOf is the number of a node's row, -1 if it has none.
func (o *Outline) RowOf(n Node) int {
	if !o.has(n) || !o.shown.has(o.pos[n]) {
		return -1
	}
	return int(o.shown.rank(o.pos[n]))
}

// NodeAt is the node of a row, [None] if there is no such row.
func (o *Outline) NodeAt(row int) Node {
	if row < 0 || row >= o.Len() {
		return None
	}
	return o.node[o.shown.at(row)]
}

// Window is the first of height rows with the selected one in their middle, as
// far as there are rows to fill them.
func (o *Outline) Window(height int) int {
	return max(0, min(o.Row()-height/2, o.Len()-height))
}

// Select selects a node, or its nearest ancestor with a row, or the last row.
func (o *Outline) Select(n Node) {
	o.selected = n
	o.reselect()
}

// Reveal unfolds what hides a node and selects it as [Outline.Select] does.
func (o *Outline) Reveal(n Node) {
	for above := n; o.has(above); {
		// The folds are a set of positions like any other.
		if above = o.src.View.Parent(above); above == None {
			break
		}
		p := o.nearest(o.folded, o.pos[above])
		if p < 0 {
			break
		}
		o.folded.clear(p)
		above = o.node[p]
	}
	o.selected = n
	o.show()
}

// SelectRow selects a row; numbers beyond the ends are the ends.
func (o *Outline) SelectRow(row int) {
	if n := o.Len(); n > 0 {
		o.selected = o.NodeAt(max(0, min(row, n-1)))
	}
}

// Up selects the row before, from the first the last.
func (o *Outline) Up() { o.step(-1) }

// Down selects the row after, from the last the first.
func (o *Outline) Down() { o.step(1) }

func (o *Outline) step(by int) {
	if n := o.Len(); n > 0 {
		o.SelectRow((o.Row() + by + n) % n)
	}
}

// Page moves by rows (negative: up) and stops at the ends.
func (o *Outline) Page(rows int) { o.SelectRow(o.Row() + rows) }

// Home selects the first row.
func (o *Outline) Home() { o.SelectRow(0) }

// End selects the last row.
func (o *Outline) End() { o.SelectRow(o.Len() - 1) }

// PrevTurn selects the turn of the user before, if there is one.
func (o *Outline) PrevTurn() {
	if o.Len() > 0 {
		o.selectAt(o.shown.prevIn(o.user(), o.at()-1, 0))
	}
}

// NextTurn selects the turn of the user after, if there is one.
func (o *Outline) NextTurn() {
	if o.Len() > 0 {
		o.selectAt(o.shown.nextIn(o.user(), o.at()+1))
	}
}

// user are the turns of the user.
func (o *Outline) user() bits { return o.class[mathbits.TrailingZeros8(uint8(User))] }

// PrevMatch selects what the search finds before, from the first the last, and
// unfolds what hides it. Without a search it is Up that goes into folds.
func (o *Outline) PrevMatch() { o.stepMatch(-1) }

// NextMatch selects what the search finds after, from the last the first, and
// unfolds what hides it.
func (o *Outline) NextMatch() { o.stepMatch(1) }

func (o *Outline) stepMatch(by int) {
	if n := o.vis.len(); n > 0 {
		at := (int(o.vis.rank(o.at())) + by + n) % n
		o.Reveal(o.node[o.vis.at(at)])
	}
}

// Matches says how many nodes pass filter and search, and the how many-th of
// them, from 1, is selected; 0, 0 where none does.
func (o *Outline) Matches() (at, of int) {
	if o.vis.len() == 0 {
		return 0, 0
	}
	return int(o.vis.rank(o.at())) + 1, o.vis.len()
}

// FoldOrUp folds the selected row if it can be folded and is open. Else it
// selects the nearest row above it on its path that is a root or has siblings.
func (o *Outline) FoldOrUp() {
	if o.Len() == 0 {
		return
	}
	p := o.at()
	if o.foldable(p) && !o.folded.has(p) {
		o.Fold(o.selected)
		return
	}
	s := o.strandAt(p)
	if o.first[s] == p && o.up[s] >= 0 {
		s = o.up[s]
	}
	o.selectAt(o.first[s])
}

// UnfoldOrDown unfolds the selected row if it is folded. Else it selects the
// first row below the next fork, or the end of the branch where there is none.
func (o *Outline) UnfoldOrDown() {
	if o.Len() == 0 {
		return
	}
	p := o.at()
	if o.folded.has(p) {
		o.Unfold(o.selected)
		return
	}
	s := o.strandAt(p)
	if o.is(s, forksBit) {
		o.selectAt(o.first[s+1])
		return
	}
	o.selectAt(o.shown.prevIn(nil, o.end(p)-1, p))
}

// PrevSibling selects the head of the branch before the one that the selected
// row is on, from the same fork, if there is one.
func (o *Outline) PrevSibling() {
	if o.Len() == 0 {
		return
	}
	s := o.strandAt(o.at())
	up := o.up[s]
	// The strand before is below the sibling before, or is the fork itself.
	t := s - 1
	for t > up && o.up[t] != up {
		t = o.up[t]
	}
	if t > up {
		o.selectAt(o.first[t])
	}
}

// NextSibling selects the head of the branch after the one that the selected row
// is on, from the same fork, if there is one.
func (o *Outline) NextSibling() {
	if o.Len() == 0 {
		return
	}
	s := o.strandAt(o.at())
	if next := o.vis.next(o.end(o.first[s])); next >= 0 && !o.is(s, lastBit) {
		o.selectAt(next)
	}
}

// Fold hides what is below a node. It says whether it could: only roots and
// nodes with siblings that have something below fold.
func (o *Outline) Fold(n Node) bool {
	if !o.has(n) || !o.foldable(o.pos[n]) {
		return false
	}
	o.folded.set(o.pos[n])
	o.show()
	return true
}

// Unfold shows what Fold hid; folds in there stay.
func (o *Outline) Unfold(n Node) {
	if o.has(n) {
		o.folded.clear(o.pos[n])
		o.show()
	}
}

// Folds are the folded nodes, to be kept and given to SetFolds.
func (o *Outline) Folds() []Node { return o.nodes(o.folded) }

// SetFolds folds exactly these nodes, those of them that can be folded.
func (o *Outline) SetFolds(nodes []Node) {
	clear(o.folded)
	for _, n := range nodes {
		if o.has(n) {
			o.folded.set(o.pos[n])
		}
	}
	o.show()
}

// has says whether a node is one of those that are shown.
func (o *Outline) has(n Node) bool { return n >= 0 && int(n) < len(o.pos) }

// at is the position of the selected node. There must be rows.
func (o *Outline) at() int32 { return o.pos[o.selected] }

// selectAt selects a position; -1 changes nothing.
func (o *Outline) selectAt(p int32) {
	if p >= 0 {
		o.selected = o.node[p]
	}
}

// reselect keeps the selection on a row: its node's, else that of the nearest
// ancestor that has one, else the last. Where there are no rows the node is kept
// for when there are.
func (o *Outline) reselect() {
	if o.Len() == 0 {
		return
	}
	if o.has(o.selected) {
		if p := o.nearest(o.shown.bits, o.pos[o.selected]); p >= 0 {
			o.selected = o.node[p]
			return
		}
	}
	o.End()
}
