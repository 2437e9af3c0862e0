package tree

import (
	"cmp"
	"iter"
	"slices"
	"sync/atomic"
)

// Node is the number of a node in its forest, counted from 0 in order of addition.
type Node int32

// None is no node: the parent of a root, the leaf of an empty path.
const None Node = -1

// Forest is a forest that grows at the end. One goroutine adds; any goroutine
// may read through a [View]. The zero Forest is empty and ready.
//
// Invariants: parent[n] < n; prev[n] is the child of the same parent that was
// added before n; neither changes once written. last[n], the number of the
// youngest child plus one so that zero is none, is the only thing that changes
// afterwards, which is why it is atomic.
//
// The four arrays always have one capacity. So a reader whose view is older than
// the youngest child that it meets in last finds that child's prev in the array
// that it holds, and follows it back into its view.
type Forest struct {
	parent []Node
	prev   []Node
	time   []int64 // Unix ms, for the order of siblings
	last   []atomic.Int32
	roots  []Node
}

// Add appends a node below a parent, [None] for a root. The time is in Unix ms.
// A parent that has not been added is a mistake of the caller and panics.
func (f *Forest) Add(parent Node, time int64) Node {
	n := Node(len(f.parent))
	if parent >= n || parent < None {
		panic("tree: a parent must be added before its child")
	}
	if len(f.parent) == cap(f.parent) {
		f.Grow(max(64, len(f.parent)))
	}
	prev := None
	if parent == None {
		f.roots = append(f.roots, n)
	} else {
		prev = Node(f.last[parent].Load()) - 1
	}
	f.parent = append(f.parent, parent)
	f.prev = append(f.prev, prev)
	f.time = append(f.time, time)
	f.last = f.last[:n+1]
	if parent != None {
		// Last: whoever sees the child here sees all of it.
		f.last[parent].Store(int32(n) + 1)
	}
	return n
}

// Grow makes room for n more nodes. Views that exist keep the old arrays, which
// then stay as they are.
func (f *Forest) Grow(n int) {
	size := len(f.parent) + n
	if size <= cap(f.parent) {
		return
	}
	f.parent = append(make([]Node, 0, size), f.parent...)
	f.prev = append(make([]Node, 0, size), f.prev...)
	f.time = append(make([]int64, 0, size), f.time...)
	last := make([]atomic.Int32, len(f.last), size)
	for i := range f.last {
		last[i].Store(f.last[i].Load())
	}
	f.last = last
}

// Len is the number of nodes.
func (f *Forest) Len() int { return len(f.parent) }

// View is the forest as it is now, in O(1).
func (f *Forest) View() View {
	return View{parent: f.parent, prev: f.prev, time: f.time, last: f.last, roots: f.roots}
}

// View is a forest as it was at one moment. Its methods are safe for concurrent
// use with each other and with the forest's growth.
type View struct {
	parent, prev []Node
	time         []int64
	last         []atomic.Int32
	roots        []Node
}

// Len is the number of nodes.
func (v View) Len() int { return len(v.parent) }

// Parent is a node's parent, [None] for a root.
func (v View) Parent(n Node) Node { return v.parent[n] }

// Time is a node's time in Unix ms.
func (v View) Time(n Node) int64 { return v.time[n] }

// Path is the way from a root to n, root first. O(depth).
func (v View) Path(n Node) []Node {
	depth := 0
	for m := n; m != None; m = v.parent[m] {
		depth++
	}
	path := make([]Node, depth)
	for m := n; m != None; m = v.parent[m] {
		depth--
		path[depth] = m
	}
	return path
}

// Children are the nodes below n, oldest first by time, ties in order of
// addition; the roots for [None].
func (v View) Children(n Node) []Node {
	var kids []Node
	if n == None {
		kids = slices.Clone(v.roots)
	} else {
		for k := v.youngest(n); k != None; k = v.prev[k] {
			kids = append(kids, k)
		}
		slices.Reverse(kids)
	}
	slices.SortStableFunc(kids, func(a, b Node) int { return cmp.Compare(v.time[a], v.time[b]) })
	return kids
}

// Walk goes over a node and all below it, depth first, children oldest first, and
// says how far below it each is. For [None] it goes over everything, root by root
// in order of addition.
func (v View) Walk(n Node) iter.Seq2[Node, int] {
	type step struct {
		node  Node
		depth int
	}
	return func(yield func(Node, int) bool) {
		stack := []step{{n, 0}} // the next on top
		if n == None {
			stack = stack[:0]
			for _, root := range slices.Backward(v.roots) {
				stack = append(stack, step{root, 0})
			}
		}
		for len(stack) > 0 {
			s := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			if !yield(s.node, s.depth) {
				return
			}
			switch kid := v.youngest(s.node); {
			case kid == None:
			case v.prev[kid] == None:
				stack = append(stack, step{kid, s.depth + 1})
			default:
				for _, kid := range slices.Backward(v.Children(s.node)) {
					stack = append(stack, step{kid, s.depth + 1})
				}
			}
		}
	}
}

// youngest is the child of n that was added last, [None] if there is none.
func (v View) youngest(n Node) Node {
	k := Node(v.last[n].Load()) - 1
	for int(k) >= len(v.prev) { // added after the view was taken
		k = v.prev[:cap(v.prev)][k]
	}
	return k
}

// Newest is the node that was added last of n and everything below it, which is
// a tip: where somebody goes on who comes back to a branch. O(nodes added since n).
func (v View) Newest(n Node) Node {
	newest := n
	below := newBits(len(v.parent) - int(n)) // counted from n
	below.set(0)
	for m := n + 1; int(m) < len(v.parent); m++ {
		if p := v.parent[m]; p >= n && below.has(int32(p-n)) {
			below.set(int32(m - n))
			newest = m
		}
	}
	return newest
}

// Common is the deepest node that is on the path of both, [None] if there is none. O(depth).
func (v View) Common(a, b Node) Node {
	for a != b {
		// The larger number cannot be an ancestor of the smaller.
		if a > b {
			a = v.parent[a]
		} else {
			b = v.parent[b]
		}
	}
	return a
}
