package tree

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// pair is the outline and the naive one, with the forest that both show.
type pair struct {
	forest Forest
	o      *Outline
	m      *naive
	asked  map[Node]int // how often Text was called
}

func (p *pair) source() Source {
	class, text := p.m.class, p.m.text
	return Source{
		View:  p.forest.View(),
		Leaf:  p.m.leaf,
		Class: func(n Node) Class { return class[n] },
		Text: func(n Node) string {
			p.asked[n]++
			return text[n]
		},
	}
}

var words = []string{"go", "Goat", "read: main.go", "foo  bar", "FOO\nbar", "ÄÖ", "äö x", "", "reads"}

func drawClass(t *rapid.T) Class {
	return rapid.SampledFrom([]Class{
		0, 0, User, User, User | Labelled, ToolResult, Bookkeeping, Bookkeeping, Labelled, Silent, Silent | Labelled,
	}).Draw(t, "class")
}

func (p *pair) add(t *rapid.T, parent Node, time int64) {
	p.forest.Add(parent, time)
	p.m.parent = append(p.m.parent, parent)
	p.m.times = append(p.m.times, time)
	p.m.class = append(p.m.class, drawClass(t))
	p.m.text = append(p.m.text, rapid.SampledFrom(words).Draw(t, "text"))
}

func newPair(t *rapid.T, nodes int) *pair {
	p := &pair{m: &naive{leaf: None, folded: map[Node]bool{}}, asked: map[Node]int{}}
	parent, times := parents(t, nodes)
	for i := range parent {
		p.add(t, parent[i], times[i])
	}
	if n := len(parent); n > 0 {
		p.m.leaf = Node(rapid.IntRange(-1, n-1).Draw(t, "leaf"))
		if rapid.Bool().Draw(t, "leaf is last") {
			p.m.leaf = Node(n - 1)
		}
	}
	p.m.filter = Filter(rapid.IntRange(0, int(All)).Draw(t, "filter"))
	p.m.selected = p.m.leaf
	p.m.settle()
	p.o = NewOutline(p.source(), p.m.filter, nil)
	p.o.IndexSome(1000)
	return p
}

// node draws a node, [None] if there is none.
func (p *pair) node(t *rapid.T) Node {
	if len(p.m.parent) == 0 {
		return None
	}
	return Node(rapid.IntRange(0, len(p.m.parent)-1).Draw(t, "node"))
}

// steps are all that can be done to an outline, each to both.
var steps = map[string]func(t *rapid.T, p *pair){
	"filter": func(t *rapid.T, p *pair) {
		f := Filter(rapid.IntRange(0, int(All)).Draw(t, "filter"))
		p.o.SetFilter(f)
		if f != p.m.filter {
			p.m.filter = f
			clear(p.m.folded)
		}
	},
	"search": func(t *rapid.T, p *pair) {
		q := rapid.SampledFrom([]string{
			"", "g", "go", "GO", "goa", "go r", "go re", `"foo bar"`, `"foo b`, "foo bar", "ö", "Ö x", "re:^g", "re:G.a", "zzz", "re:", `re:FOO\sb|Ö`, "re:[A-F]oo", "re:(R|x)EAD",
		}).Draw(t, "query")
		if err := p.o.Search(q); err != nil {
			t.Fatal(err)
		}
		if q != p.m.query {
			p.m.query = q
			clear(p.m.folded)
		}
	},
	"up":      func(_ *rapid.T, p *pair) { p.o.Up(); p.m.step(-1, true) },
	"down":    func(_ *rapid.T, p *pair) { p.o.Down(); p.m.step(1, true) },
	"home":    func(_ *rapid.T, p *pair) { p.o.Home(); p.m.step(-1000, false) },
	"end":     func(_ *rapid.T, p *pair) { p.o.End(); p.m.step(1000, false) },
	"turn -":  func(_ *rapid.T, p *pair) { p.o.PrevTurn(); p.m.turn(-1) },
	"turn +":  func(_ *rapid.T, p *pair) { p.o.NextTurn(); p.m.turn(1) },
	"match -": func(_ *rapid.T, p *pair) { p.o.PrevMatch(); p.m.match(-1) },
	"match +": func(_ *rapid.T, p *pair) { p.o.NextMatch(); p.m.match(1) },
	"fold":    func(_ *rapid.T, p *pair) { p.o.FoldOrUp(); p.m.foldOrUp() },
	"unfold":  func(_ *rapid.T, p *pair) { p.o.UnfoldOrDown(); p.m.unfoldOrDown() },
	"sib -":   func(_ *rapid.T, p *pair) { p.o.PrevSibling(); p.m.sibling(-1) },
	"sib +":   func(_ *rapid.T, p *pair) { p.o.NextSibling(); p.m.sibling(1) },
	"page": func(t *rapid.T, p *pair) {
		by := rapid.IntRange(-7, 7).Draw(t, "by")
		p.o.Page(by)
		p.m.step(by, false)
	},
	"select": func(t *rapid.T, p *pair) {
		n := p.node(t)
		p.o.Select(n)
		p.m.selected = n
	},
	"fold any": func(t *rapid.T, p *pair) {
		n := p.node(t)
		all := p.m.tree()
		i := at(all, n)
		foldable := i >= 0 && all[i].Fold != NoFold
		if got := p.o.Fold(n); got != foldable {
			t.Fatalf("Fold(%d) is %v, want %v", n, got, foldable)
		}
		p.m.folded[n] = foldable
	},
	"set folds": func(t *rapid.T, p *pair) {
		folds := []Node{None, 1 << 20, p.node(t), p.node(t)}
		p.o.SetFolds(folds)
		clear(p.m.folded)
		p.m.folded[folds[2]], p.m.folded[folds[3]] = true, true
		if folds[2] == None {
			clear(p.m.folded)
		}
	},
	"go on": func(t *rapid.T, p *pair) {
		for range rapid.IntRange(1, 3).Draw(t, "entries") {
			p.add(t, p.m.leaf, 99)
			p.m.leaf = Node(len(p.m.parent) - 1)
		}
		p.o.Update(p.source())
		p.o.IndexSome(1000)
	},
	"add": func(t *rapid.T, p *pair) {
		p.add(t, p.node(t), 50)
		p.o.Update(p.source())
		p.o.IndexSome(1000)
	},
	"branch": func(t *rapid.T, p *pair) {
		p.add(t, p.node(t), 50)
		p.m.leaf = Node(len(p.m.parent) - 1)
		p.o.Update(p.source())
		p.o.IndexSome(1000)
	},
	"move": func(t *rapid.T, p *pair) {
		p.m.leaf = p.node(t)
		p.o.Update(p.source())
	},
	"change": func(t *rapid.T, p *pair) {
		if n := p.node(t); n != None {
			p.m.class[n] = drawClass(t)
			p.m.text[n] = rapid.SampledFrom(words).Draw(t, "text")
			p.asked[n]--
			p.o.Changed(n)
		}
	},
}

// agree says how the two differ, at a width.
func (p *pair) agree(t *rapid.T, width int) {
	want := p.m.rows(width)
	got := p.o.Rows(0, len(want)+1, width)
	for i := range max(len(want), len(got)) {
		switch {
		case i >= len(got) || i >= len(want):
			t.Fatalf("%d rows, want %d", len(got), len(want))
		case got[i] != want[i]:
			t.Fatalf("row %d is\n%+v, want\n%+v", i, got[i], want[i])
		}
		if p.o.RowOf(want[i].Node) != i || p.o.NodeAt(i) != want[i].Node {
			t.Fatalf("row %d: RowOf %d, NodeAt %d", i, p.o.RowOf(want[i].Node), p.o.NodeAt(i))
		}
	}
	if p.o.Len() != len(want) {
		t.Fatalf("Len %d, want %d", p.o.Len(), len(want))
	}
	row := slices.IndexFunc(want, func(r Row) bool { return r.Node == p.m.selected })
	if len(want) == 0 {
		row = -1
	}
	if p.o.Row() != row {
		t.Fatalf("selected row %d (node %d), want %d (node %d)", p.o.Row(), p.o.Selected(), row, p.m.selected)
	}
	all := p.m.tree()
	i, of := p.o.Matches()
	if of != len(all) || i != at(all, p.m.selected)+1 && of > 0 {
		t.Fatalf("match %d of %d, want %d of %d", i, of, at(all, p.m.selected)+1, len(all))
	}
	var folds []Node
	for _, d := range all {
		if p.m.folded[d.Node] {
			folds = append(folds, d.Node)
		}
	}
	if got := p.o.Folds(); !slices.Equal(got, folds) {
		t.Fatalf("folds %v, want %v", got, folds)
	}
	if len(want) > 0 {
		from := rapid.IntRange(0, len(want)-1).Draw(t, "from")
		count := rapid.IntRange(1, len(want)-from).Draw(t, "count")
		if part := p.o.Rows(from, count, width); !slices.Equal(part, want[from:from+count]) {
			t.Fatalf("rows from %d differ from those from the start", from)
		}
	}
}

// Whatever is done in whatever order, the outline is what the naive one is.
func TestOutlineAgainstNaive(t *testing.T) {
	rapid.Check(t, checkOutline)
}

func FuzzOutline(f *testing.F) {
	for seed := range byte(8) {
		data := make([]byte, 4096)
		rand.NewChaCha8([32]byte{seed}).Read(data)
		f.Add(data)
	}
	f.Fuzz(rapid.MakeFuzz(checkOutline))
}

func checkOutline(t *rapid.T) {
	// Seldom as many as make the sets several words long: the naive one is slow.
	p := newPair(t, rapid.SampledFrom([]int{10, 40, 40, 300}).Draw(t, "at most"))
	width := rapid.SampledFrom([]int{0, 1, 2, 5, 8, 13, 20, 40, 200}).Draw(t, "width")
	p.agree(t, width)
	names := slices.Sorted(func(yield func(string) bool) {
		for name := range steps {
			if !yield(name) {
				return
			}
		}
	})
	for range rapid.IntRange(0, 12).Draw(t, "steps") {
		steps[rapid.SampledFrom(names).Draw(t, "step")](t, p)
		p.m.settle()
		p.agree(t, width)
	}
	for n, times := range p.asked {
		if times > 1 {
			t.Fatalf("text of %d was asked for %d times", n, times)
		}
	}
}

func TestFilterNames(t *testing.T) {
	for f := Default; f <= All; f++ {
		if got, err := ParseFilter(f.String()); got != f || err != nil {
			t.Errorf("%v reads as %v, %v", f, got, err)
		}
		if f.Next(1).Next(-1) != f || f.Next(5) != f {
			t.Errorf("%v does not cycle", f)
		}
	}
	if _, err := ParseFilter("users"); err == nil {
		t.Error("users is a filter")
	}
	if got := fmt.Sprint(All.Next(1), Default.Next(-1)); got != "default all" {
		t.Errorf("the ends join as %s", got)
	}
}

// Going on at the leaf asks about nothing but what is new, until the positions
// that were left free are used up.
func TestUpdateAtLeafIsCheap(t *testing.T) {
	const nodes = 1000
	var f Forest
	grow(&f, forking(100)(nodes), make([]int64, nodes))
	asked := 0
	src := Source{View: f.View(), Leaf: nodes - 1, Class: func(Node) Class { asked++; return User }}
	o := NewOutline(src, Default, nil)
	for range 50 {
		asked = 0
		src.Leaf = f.Add(src.Leaf, 0)
		src.View = f.View()
		o.Update(src)
		if asked != 1 {
			t.Fatalf("%d nodes were asked about, one is new", asked)
		}
	}
	if o.Len() != nodes+50 || o.Selected() != nodes-1 {
		t.Errorf("%d rows, %d selected", o.Len(), o.Selected())
	}
}

// What is not there can be asked for.
func TestUnknownNodes(t *testing.T) {
	o := textOutline("a", "b")
	for _, n := range []Node{None, -7, 2, 1 << 30} {
		o.Changed(n)
		o.Unfold(n)
		o.Reveal(n)
		o.Select(n)
		if o.Fold(n) || o.RowOf(n) != -1 || o.NodeAt(int(n)) != None {
			t.Errorf("node %d is there", n)
		}
		if o.Selected() != 1 {
			t.Errorf("%d selected for %d, want the last row", o.Selected(), n)
		}
	}
	empty := NewOutline(Source{Leaf: None, Class: func(Node) Class { return 0 }}, Default, nil)
	for name, press := range goldenKeys {
		press(empty)
		if empty.Row() != -1 || empty.Rows(0, 10, 80) != nil || empty.Window(10) != 0 {
			t.Errorf("%s finds something in nothing", name)
		}
	}
}

func TestWindow(t *testing.T) {
	o := textOutline(make([]string, 100)...)
	for _, c := range []struct{ row, height, want int }{
		{0, 10, 0}, {4, 10, 0}, {5, 10, 0}, {6, 10, 1}, {50, 10, 45}, {50, 11, 45}, {99, 10, 90}, {95, 10, 90}, {50, 200, 0},
	} {
		o.SelectRow(c.row)
		if got := o.Window(c.height); got != c.want {
			t.Errorf("row %d in %d: from %d, want %d", c.row, c.height, got, c.want)
		}
	}
}
