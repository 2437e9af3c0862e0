package tree

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	"pgregory.net/rapid"
)

// parents draws the parents of a forest's nodes, and their times. Long chains,
// wide forks, several roots and clocks that go backwards all come up.
func parents(t *rapid.T, atMost int) (parent []Node, times []int64) {
	n := rapid.IntRange(0, atMost).Draw(t, "nodes")
	for i := range n {
		p := Node(i - 1)
		switch rapid.IntRange(0, 9).Draw(t, "kind") {
		case 0:
			p = None
		case 1, 2, 3:
			p = Node(rapid.IntRange(-1, i-1).Draw(t, "parent"))
		}
		parent = append(parent, p)
		times = append(times, rapid.Int64Range(0, 20).Draw(t, "time"))
	}
	return parent, times
}

func grow(f *Forest, parent []Node, times []int64) {
	for i, p := range parent {
		f.Add(p, times[i])
	}
}

// naiveChildren is Children, by looking at everybody.
func naiveChildren(parent []Node, times []int64, n Node) []Node {
	var kids []Node
	for i, p := range parent {
		if p == n {
			kids = append(kids, Node(i))
		}
	}
	slices.SortStableFunc(kids, func(a, b Node) int { return int(times[a] - times[b]) })
	return kids
}

func naivePath(parent []Node, n Node) []Node {
	var path []Node
	for ; n != None; n = parent[n] {
		path = append([]Node{n}, path...)
	}
	return path
}

func TestForestAgainstNaive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		parent, times := parents(t, 200)
		var f Forest
		f.Grow(rapid.IntRange(0, 10).Draw(t, "room"))
		views := []View{f.View()}
		for i, p := range parent {
			if got := f.Add(p, times[i]); got != Node(i) {
				t.Fatalf("node %d was numbered %d", i, got)
			}
			views = append(views, f.View())
		}
		// Every view is still what it was, also those whose arrays were left behind.
		for size, v := range views {
			if size%7 != 0 && size != len(parent) {
				continue
			}
			if v.Len() != size {
				t.Fatalf("view of %d nodes has %d", size, v.Len())
			}
			for n := None; int(n) < size; n++ {
				if want, got := naiveChildren(parent[:size], times, n), v.Children(n); !slices.Equal(want, got) {
					t.Fatalf("children of %d of %d: %v, want %v", n, size, got, want)
				}
				if want, got := naivePath(parent, n), v.Path(n); !slices.Equal(want, got) {
					t.Fatalf("path to %d: %v, want %v", n, got, want)
				}
			}
		}
		if n := len(parent); n > 0 {
			a := Node(rapid.IntRange(-1, n-1).Draw(t, "a"))
			b := Node(rapid.IntRange(-1, n-1).Draw(t, "b"))
			if b != None {
				newest := b
				for m := range Node(n) {
					if slices.Contains(naivePath(parent, m), b) {
						newest = m
					}
				}
				if got := f.View().Newest(b); got != newest {
					t.Fatalf("newest of %d: %d, want %d", b, got, newest)
				}
			}
			want := None
			for i, m := range naivePath(parent, a) {
				if other := naivePath(parent, b); i < len(other) && other[i] == m {
					want = m
				}
			}
			if got := f.View().Common(a, b); got != want {
				t.Fatalf("common of %d and %d: %d, want %d", a, b, got, want)
			}
		}
	})
}

func TestAddBelowNothingPanics(t *testing.T) {
	for _, parent := range []Node{0, 5, -2} {
		t.Run(fmt.Sprint(parent), func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			new(Forest).Add(parent, 0)
		})
	}
}

func TestWalkAgainstNaive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		parent, times := parents(t, 60)
		var f Forest
		grow(&f, parent, times)
		var want [][2]int
		var below func(n Node, depth int)
		below = func(n Node, depth int) {
			want = append(want, [2]int{int(n), depth})
			for _, kid := range naiveChildren(parent, times, n) {
				below(kid, depth+1)
			}
		}
		from := Node(rapid.IntRange(-1, len(parent)-1).Draw(t, "from"))
		if from != None {
			below(from, 0)
		} else {
			for n, p := range parent {
				if p == None {
					below(Node(n), 0)
				}
			}
		}
		limit := rapid.IntRange(0, len(want)).Draw(t, "limit")
		var got [][2]int
		for n, depth := range f.View().Walk(from) {
			if got = append(got, [2]int{int(n), depth}); len(got) == limit {
				break
			}
		}
		if limit > 0 {
			want = want[:limit]
		}
		if !slices.Equal(got, want) {
			t.Fatalf("from %d: %v, want %v", from, got, want)
		}
	})
}

// Readers go over views while the forest grows; with the race detector this is
// the proof of what View promises.
func TestReadWhileGrowing(t *testing.T) {
	const nodes = 20_000
	var f Forest
	views := make(chan View)
	var readers sync.WaitGroup
	for range 3 {
		readers.Go(func() {
			for v := range views {
				readAll(t, v)
			}
		})
	}
	for i := range nodes {
		parent := None
		if i > 0 {
			parent = Node(i % 7 * i / 11) // forks everywhere
		}
		f.Add(parent, int64(i))
		if i%500 == 0 {
			views <- f.View()
		}
	}
	close(views)
	readers.Wait()
}

func readAll(t *testing.T, v View) {
	kids := 0
	for n := None; int(n) < v.Len(); n++ {
		for _, k := range v.Children(n) {
			kids++
			if v.Parent(k) != n || int(k) >= v.Len() {
				t.Errorf("%d is not a child of %d in a view of %d", k, n, v.Len())
			}
		}
	}
	if kids != v.Len() {
		t.Errorf("%d nodes are somebody's children, want %d", kids, v.Len())
	}
	NewOutline(Source{View: v, Leaf: Node(v.Len() - 1), Class: func(Node) Class { return 0 }}, Default, nil).Rows(0, 50, 80)
}

// shapes are the extremes that sessions come in.
var shapes = map[string]func(n int) (parent []Node){
	"deep":   func(n int) []Node { return shape(n, func(i int) Node { return Node(i - 1) }) },
	"wide":   func(n int) []Node { return shape(n, func(i int) Node { return min(0, Node(i-1)) }) },
	"roots":  func(n int) []Node { return shape(n, func(int) Node { return None }) },
	"nested": nested,
}

func shape(n int, parent func(int) Node) []Node {
	ps := make([]Node, n)
	for i := range ps {
		ps[i] = parent(i)
	}
	return ps
}

// nested forks at every tenth node, a fork within the fork before: 10 nodes a
// level, one of them the tip of the branch that was left.
func nested(n int) []Node {
	trunk := None
	return shape(n, func(i int) Node {
		p := trunk
		if i%10 != 9 {
			trunk = Node(i)
		}
		return p
	})
}

func TestShapes(t *testing.T) {
	sizes := map[string]int{"deep": 1_000_000, "wide": 100_000, "roots": 100_000, "nested": 50_000}
	for name, parent := range shapes {
		t.Run(name, func(t *testing.T) {
			n := sizes[name]
			var f Forest
			grow(&f, parent(n), make([]int64, n))
			v := f.View()
			last := Node(n - 1)
			path := v.Path(last)
			if path[len(path)-1] != last || v.Parent(path[0]) != None {
				t.Errorf("the path to %d goes from %d to %d", last, path[0], path[len(path)-1])
			}
			if got := v.Common(last, path[0]); got != path[0] {
				t.Errorf("common of the last node and its root: %d", got)
			}
			o := NewOutline(Source{View: v, Leaf: last, Class: func(Node) Class { return 0 }}, Default, nil)
			if o.Len() != n || o.Selected() != last {
				t.Errorf("%d rows with %d selected, want %d and %d", o.Len(), o.Selected(), n, last)
			}
			for key, press := range goldenKeys {
				press(o)
				screen := o.Rows(o.Window(40), 40, 80)
				if !slices.ContainsFunc(screen, func(r Row) bool { return r.Node == o.Selected() }) {
					t.Errorf("%s: the selected row is not in the window", key)
				}
				for _, r := range screen {
					if r.Cells > 40 {
						t.Errorf("%s: prefix of %d cells in half of 80", key, r.Cells)
					}
				}
			}
		})
	}
}
