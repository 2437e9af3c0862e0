package tui

import "slices"

// sessionOrder is how sessions are sorted.
type sessionOrder int

const (
	byForks sessionOrder = iota // below the session that each was forked from; the best match first while filtered
	byTime                      // the newest first, filtered or not
	byMatch                     // the best match first
	sessionOrders
)

var orderNames = [sessionOrders]string{byForks: "with their forks", byTime: "newest first", byMatch: "best match first"}

// leadDepth is how many generations of forks are indented.
const leadDepth = 6

// forkTree puts sessions, newest first, below the one that each was forked from,
// and draws the lines before them. A family stands where its newest member did;
// forks of one session are in the order of the list. Whose parent is not there,
// or is itself by a round of parents that a damaged file may make, begins a
// family of its own.
func forkTree(list []Session) (ordered []Session, leads []string) {
	parents, children := families(list)
	type branch struct {
		at          int
		lead, below string // before it, and before its children's own
		depth       int
	}
	done := make([]bool, len(list))
	for i := range list {
		if done[i] {
			continue
		}
		root := i
		for seen := 0; parents[root] >= 0 && seen < len(list); seen++ {
			root = parents[root]
		}
		stack := []branch{{at: root}}
		for len(stack) > 0 {
			b := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			if done[b.at] {
				continue
			}
			done[b.at] = true
			ordered, leads = append(ordered, list[b.at]), append(leads, b.lead)
			for n, child := range slices.Backward(children[b.at]) {
				c := branch{at: child, lead: b.below + "├─ ", below: b.below + "│  ", depth: b.depth + 1}
				if n == len(children[b.at])-1 {
					c.lead, c.below = b.below+"└─ ", b.below+"   "
				}
				if c.depth >= leadDepth {
					c.below = b.below
				}
				stack = append(stack, c)
			}
		}
	}
	return ordered, leads
}

// families are the parent of each session, -1 if it is not in the list, and the
// children of each. A parent is named by its path or its id.
func families(list []Session) (parents []int, children [][]int) {
	at := make(map[string]int, 2*len(list))
	for i, s := range list {
		at[s.ID], at[s.Path] = i, i
	}
	parents, children = make([]int, len(list)), make([][]int, len(list))
	for i, s := range list {
		parents[i] = -1
		if p, ok := at[s.Parent]; ok && s.Parent != "" && p != i {
			parents[i] = p
			children[p] = append(children[p], i)
		}
	}
	return parents, children
}
