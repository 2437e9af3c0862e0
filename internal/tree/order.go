package tree

import (
	"cmp"
	"slices"
)

// order is a forest depth first, the active branch first at every fork, then by
// age. A position is a place in it.
//
// A run is a longest chain of only children: it begins at a root or at a node
// with siblings and ends at a fork or a tip. Its nodes have consecutive
// positions, and so have the runs of a subtree, so three numbers a run say all
// that there is to know about who is above whom.
type order struct {
	node []Node  // by position; None where a position is free
	pos  []int32 // by node
	// leaf is the position of the leaf, -1 without one. The active path is what has
	// positions up to it.
	leaf int32
	// free positions follow the leaf if it is a tip: what comes next in the
	// conversation goes there and nothing else moves.
	free int32

	// By run. start has one more, the number of positions.
	start []int32 // the first position
	above []int32 // the run whose last node is the parent, -1 for roots
	past  []int32 // the first run that is not below
}

// head is where a run will begin.
type head struct {
	node  Node
	above int32
}

// newOrder goes over the view depth first, a run at a time.
func newOrder(v View, leaf Node) order {
	ord := order{leaf: -1, pos: make([]int32, v.Len())}
	if leaf != None && v.youngest(leaf) == None {
		ord.free = int32(64 + v.Len()/16)
	}
	ord.node = slices.Repeat([]Node{None}, v.Len()+int(ord.free))
	active := newBits(v.Len())
	for n := leaf; n != None; n = v.parent[n] {
		active.set(int32(n))
	}

	var stack []head // the next on top
	for _, n := range slices.Backward(v.roots) {
		stack = append(stack, head{n, -1})
	}
	sortStack(v, active, stack)
	p := int32(0)
	for len(stack) > 0 {
		h := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		run := int32(len(ord.start))
		ord.start = append(ord.start, p)
		ord.above = append(ord.above, h.above)
		var end Node
		if end, p = ord.lay(v, h.node, p); end == leaf {
			p += ord.free
		}
		kids := len(stack)
		for kid := v.youngest(end); kid != None; kid = v.prev[kid] {
			stack = append(stack, head{kid, run})
		}
		sortStack(v, active, stack[kids:])
	}
	ord.start = append(ord.start, p)
	if leaf != None {
		ord.leaf = ord.pos[leaf]
	}
	ord.close()
	return ord
}

// lay gives the positions from p on to a run, and returns its last node and the
// position after it.
func (ord *order) lay(v View, n Node, p int32) (Node, int32) {
	for {
		ord.node[p], ord.pos[n] = n, p
		p++
		kid := v.youngest(n)
		if kid == None || v.prev[kid] != None {
			return n, p
		}
		n = kid
	}
}

// sortStack sorts siblings for a stack: the active one last, before it by age,
// youngest first. They come in reverse order of addition.
func sortStack(v View, active bits, kids []head) {
	younger := func(a, b head) int {
		return cmp.Or(cmp.Compare(v.time[b.node], v.time[a.node]), cmp.Compare(b.node, a.node))
	}
	if !slices.IsSortedFunc(kids, younger) {
		slices.SortFunc(kids, younger)
	}
	for i, h := range kids {
		if active.has(int32(h.node)) {
			copy(kids[i:], kids[i+1:])
			kids[len(kids)-1] = h
			return
		}
	}
}

// close works out past: a run ends where the last run below it ends.
func (ord *order) close() {
	ord.past = make([]int32, len(ord.above))
	for r := int32(len(ord.above)) - 1; r >= 0; r-- {
		ord.past[r] = max(ord.past[r], r+1)
		if up := ord.above[r]; up >= 0 {
			ord.past[up] = max(ord.past[up], ord.past[r])
		}
	}
}

// run is the run that a position is on.
func (ord *order) run(p int32) int32 {
	r, exact := slices.BinarySearch(ord.start, p)
	if exact {
		return int32(r)
	}
	return int32(r) - 1
}

// end is the first position after the subtree of a position.
func (ord *order) end(p int32) int32 { return ord.start[ord.past[ord.run(p)]] }

// nearest is the member of a set that is p or its nearest ancestor, -1 if there is none.
func (ord *order) nearest(set bits, p int32) int32 {
	for r := ord.run(p); ; {
		if q := set.prevIn(nil, p, ord.start[r]); q >= 0 {
			return q
		}
		if r = ord.above[r]; r < 0 {
			return -1
		}
		p = ord.start[r+1] - 1
	}
}

// continues says whether the source only goes on where the old one ended.
func (o *Outline) continues(old Source) bool {
	from, v := old.View.Len(), o.src.View
	if old.Leaf == None || v.Len() <= from || int(o.src.Leaf) != v.Len()-1 || v.Len()-from > int(o.free) {
		return false
	}
	above := old.Leaf
	for n := Node(from); int(n) < v.Len(); n++ {
		if v.parent[n] != above {
			return false
		}
		above = n
	}
	return true
}

// extend takes in nodes that continue the leaf. What is drawn stays as it is
// unless the leaf's run has got its first row or lost its last.
func (o *Outline) extend(old Source) {
	run := o.run(o.leaf)
	had := o.vis.next(o.start[run])
	before := o.leaf
	for n := Node(old.View.Len()); int(n) < o.src.View.Len(); n++ {
		o.leaf++
		o.free--
		o.node[o.leaf] = n
		o.pos = append(o.pos, o.leaf)
		o.classify(o.leaf)
	}
	for p := before; p <= o.leaf; p++ {
		o.vis.put(p, o.passes(p))
	}
	has := o.vis.next(o.start[run])
	o.vis.count()
	if end := o.start[run+1]; had < 0 || had >= end || has != had {
		o.weave()
	} else {
		o.lengthen(has)
	}
	o.show()
}
