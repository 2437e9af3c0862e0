package export

import (
	"cmp"
	"slices"

	"banyan/internal/session"
	"banyan/internal/tree"
	"banyan/internal/tui/treeview"
)

// outline is the part of a session that is written: a forest of the entries that
// say something, each below the nearest one above it that does.
type outline struct {
	s     session.Snapshot
	nodes []tree.Node // of the session, by node here
	view  tree.View
	leaf  tree.Node // where the active path ends here; None for nothing
	// strands are its runs without a fork, depth first, the active one first.
	strands []strand
}

// strand is a run of nodes without a fork, from first to last, each the only
// child of the one before.
type strand struct {
	first, last tree.Node
	up, down    int // strands: that it forks off, and where its newest end is; -1 for none
	at, of      int // which of how many at the fork, by age, from 1
	prev, next  tree.Node
	active      bool
}

func newOutline(s session.Snapshot, p Part) *outline {
	o := &outline{s: s, leaf: tree.None}
	whole := s.Tree()
	in := member(whole, s.Node(p.id), p)
	here := make([]tree.Node, whole.Len()) // by node of the session: itself, or what it hangs below
	var f tree.Forest
	for n := range tree.Node(whole.Len()) {
		here[n] = tree.None
		if above := whole.Parent(n); above != tree.None {
			here[n] = here[above]
		}
		if in(n) && treeview.Speaks(s.Class(n)) {
			here[n] = f.Add(here[n], whole.Time(n))
			o.nodes = append(o.nodes, n)
		}
	}
	o.view = f.View()
	if o.view.Len() == 0 {
		return o
	}
	leaf := s.Node(s.Leaf())
	if p.kind == path {
		leaf = s.Node(p.id)
	}
	if leaf != tree.None {
		o.leaf = here[leaf]
	}
	if o.leaf == tree.None {
		o.leaf = tree.Node(o.view.Len() - 1) // the newest there is
	}
	o.strand()
	return o
}

// member says which nodes belong to a part, asked in rising order.
func member(view tree.View, at tree.Node, p Part) func(tree.Node) bool {
	switch p.kind {
	case path:
		on := map[tree.Node]bool{}
		for _, n := range view.Path(at) {
			on[n] = true
		}
		return func(n tree.Node) bool { return on[n] }
	case below:
		in := make([]bool, view.Len())
		return func(n tree.Node) bool {
			above := view.Parent(n)
			in[n] = n == at || above != tree.None && in[above]
			return in[n]
		}
	}
	return func(tree.Node) bool { return true }
}

// strand parts the forest into strands.
func (o *outline) strand() {
	active := make([]bool, o.view.Len())
	for _, n := range o.view.Path(o.leaf) {
		active[n] = true
	}
	newest := newestBelow(o.view)
	waiting := o.forks(tree.None, -1, active)
	for len(waiting) > 0 {
		s := waiting[len(waiting)-1]
		waiting = waiting[:len(waiting)-1]
		i := len(o.strands)
		s.down, s.active, s.last = -1, active[s.first], s.first
		kids := o.view.Children(s.last)
		for len(kids) == 1 {
			s.last = kids[0]
			kids = o.view.Children(s.last)
		}
		if s.up >= 0 && newest[s.first] == newest[o.strands[s.up].last] {
			o.strands[s.up].down = i
		}
		o.strands = append(o.strands, s)
		waiting = append(waiting, o.forks(s.last, i, active)...)
	}
}

// forks are the strands that begin below a node, the active one last, before it
// the oldest: the order in which a stack gives them back is the other way round.
func (o *outline) forks(n tree.Node, up int, active []bool) []strand {
	kids := o.view.Children(n)
	begin := make([]strand, len(kids))
	for i, k := range kids {
		s := strand{first: k, up: up, at: i + 1, of: len(kids), prev: tree.None, next: tree.None}
		if i > 0 {
			s.prev = kids[i-1]
		}
		if i+1 < len(kids) {
			s.next = kids[i+1]
		}
		begin[i] = s
	}
	slices.SortStableFunc(begin, func(a, b strand) int {
		if active[a.first] != active[b.first] {
			if active[a.first] {
				return 1
			}
			return -1
		}
		return cmp.Compare(b.at, a.at)
	})
	return begin
}

// newestBelow is for each node the one that was added last of it and what is
// below it.
func newestBelow(view tree.View) []tree.Node {
	newest := make([]tree.Node, view.Len())
	for n := tree.Node(view.Len() - 1); n >= 0; n-- {
		newest[n] = max(newest[n], n)
		if above := view.Parent(n); above != tree.None {
			newest[above] = max(newest[above], newest[n])
		}
	}
	return newest
}

// along are the nodes of a strand.
func (o *outline) along(s strand) func(yield func(tree.Node) bool) {
	return func(yield func(tree.Node) bool) {
		for n := s.first; yield(n) && n != s.last; {
			n = o.view.Children(n)[0]
		}
	}
}

// entry reads the entry of a node.
func (o *outline) entry(n tree.Node) (session.Entry, error) { return o.s.EntryAt(o.nodes[n]) }

func (o *outline) class(n tree.Node) session.Class { return o.s.Class(o.nodes[n]) }
