package tree

import "slices"

// strands is the drawing: how what has a row is linked.
//
// Hidden nodes are left out: a node hangs below its nearest visible ancestor. A
// strand is a longest chain of only children in that tree, so it begins at a root
// or at a node with siblings, its head. Strands are to the drawing what runs are
// to the forest: their rows follow each other, and everything in front of a row
// is a matter of the strand and of whether the row is its head.
//
// Levels are 3 cells. With one root, its strand has no indent at all; with
// several, the heads have none and the rest of their strands one level. A head
// below a fork stands one level to the right of the fork, with its connector on
// that level, and the rest of its strand one more level to the right.
type strands struct {
	// By strand, in order of position.
	first []int32 // position of the head
	up    []int32 // strand that it forks from, -1 for roots
	// info is the head's level and three facts.
	info  []int32
	roots int

	// Scratch of weave, by run: its visible nodes, how many nodes hang below the
	// last of them, the nearest run at or above it that has any, and their strand.
	rows, kids, near, strand []int32
}

const (
	lastBit   = 1 << iota // no sibling comes after it
	longBit               // it has more rows than its head
	forksBit              // strands fork from its end
	infoShift = iota
)

func (s *strands) level(i int32) int    { return int(s.info[i] >> infoShift) }
func (s *strands) is(i, bit int32) bool { return s.info[i]&bit != 0 }

// bodyLevel is the level of the rows after the head.
func (s *strands) bodyLevel(i int32) int {
	if s.up[i] < 0 && s.roots == 1 {
		return 0
	}
	return s.level(i) + 1
}

// strandAt is the strand that a visible position is on.
func (s *strands) strandAt(p int32) int32 {
	i, exact := slices.BinarySearch(s.first, p)
	if exact {
		return int32(i)
	}
	return int32(i) - 1
}

// foldable says whether a position can be folded: it is a head and has something below.
func (s *strands) foldable(p int32) bool {
	i, head := slices.BinarySearch(s.first, p)
	return head && s.info[i]&(longBit|forksBit) != 0
}

// lengthen says that the strand of a position has got or lost rows after its
// head. It must be one that nothing forks from.
func (o *Outline) lengthen(p int32) {
	i := o.strandAt(p)
	head := o.first[i]
	o.info[i] &^= longBit
	if next := o.vis.next(head + 1); next >= 0 && next < o.end(head) {
		o.info[i] |= longBit
	}
}

// weave makes the strands for what is visible, run by run.
func (o *Outline) weave() {
	runs := int32(len(o.above))
	o.countKids(runs)
	s := &o.strands
	s.roots = int(s.kids[runs])
	s.first, s.up, s.info = s.first[:0], s.up[:0], s.info[:0]
	s.near = resize(s.near, runs+1)
	s.strand = resize(s.strand, runs+1)
	// The run above roots: none, and as the last element easy to reach.
	s.near[runs], s.strand[runs] = runs, -1
	for r := range runs {
		above := s.near[o.orRoot(o.above[r])] // the nearest run above that has rows
		rows := s.rows[r]
		if rows == 0 {
			s.near[r] = above
			continue
		}
		s.near[r] = r
		if above != runs && s.kids[above] == 1 {
			s.strand[r] = s.strand[above]
			s.info[s.strand[r]] |= longBit
			continue
		}
		s.strand[r] = int32(len(s.first))
		s.begin(o.vis.next(o.start[r]), s.strand[above], rows)
	}
	s.markLast()
}

// countKids counts for each run its visible nodes and, for those that have any
// and for the roots together, how many nodes hang below the last one.
func (o *Outline) countKids(runs int32) {
	o.rows = resize(o.rows, runs)
	o.kids = resize(o.kids, runs+1)
	clear(o.kids)
	end := int32(o.vis.len())
	for r := runs - 1; r >= 0; r-- {
		before := o.vis.rank(o.start[r])
		o.rows[r] = end - before
		end = before
		if o.rows[r] > 0 {
			o.kids[o.orRoot(o.above[r])]++
		} else {
			o.kids[o.orRoot(o.above[r])] += o.kids[r]
		}
	}
}

// orRoot puts the run above roots at the end of arrays.
func (o *Outline) orRoot(r int32) int32 {
	if r < 0 {
		return int32(len(o.above))
	}
	return r
}

// begin adds a strand.
func (s *strands) begin(p, up, rows int32) {
	level := 0
	if up >= 0 {
		level = s.level(up) + 1
		if s.is(up, longBit) {
			level = s.bodyLevel(up) + 1
		}
	}
	info := int32(level) << infoShift
	if rows > 1 {
		info |= longBit
	}
	s.first, s.up, s.info = append(s.first, p), append(s.up, up), append(s.info, info)
}

// markLast finds the last of all siblings: the first that is met from behind.
func (s *strands) markLast() {
	met := false // a root
	for i := len(s.up) - 1; i >= 0; i-- {
		switch up := s.up[i]; {
		case up < 0 && !met:
			met = true
			s.info[i] |= lastBit
		case up >= 0 && !s.is(up, forksBit):
			s.info[up] |= forksBit
			s.info[i] |= lastBit
		}
	}
}

// resize gives a slice of a length; what is in it is of no account.
func resize(s []int32, n int32) []int32 {
	if int(n) > cap(s) {
		return make([]int32, n)
	}
	return s[:n]
}
