package tree

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// The sessions that are measured: a conversation with a fork in every hundred
// entries, the same with many more entries, forks within forks, and a chat where
// every other entry is a fork, which is the worst that the outline can be given.
var benches = []struct {
	name   string
	n      int
	parent func(n int) []Node
}{
	{"10k", 10_000, forking(100)},
	{"100k", 100_000, forking(100)},
	{"1M", 1_000_000, forking(100)},
	{"1M-deep", 1_000_000, shapes["deep"]},
	{"1M-bushy", 1_000_000, forking(2)},
	{"nested-5000", 50_000, nested},
}

// forking is a session whose user went back every so many entries, by twice as many.
func forking(every int) func(n int) []Node {
	return func(n int) []Node {
		return shape(n, func(i int) Node {
			if i > 0 && i%every == 0 {
				return Node(max(0, i-2*every))
			}
			return Node(i - 1)
		})
	}
}

// benchSource is a source of realistic classes and texts.
func benchSource(n int, parent func(int) []Node) Source {
	var f Forest
	f.Grow(n)
	for i, p := range parent(n) {
		f.Add(p, int64(i))
	}
	classes := [...]Class{User, 0, Silent, ToolResult, Silent, ToolResult, 0, Bookkeeping}
	body := strings.Repeat("The quick brown fox reads internal/session/manager.go and says why. ", 6)
	return Source{
		View:  f.View(),
		Leaf:  Node(n - 1),
		Class: func(n Node) Class { return classes[n%8] },
		Text:  func(n Node) string { return fmt.Sprintf("assistant %d %s", n, body[n%60:350]) },
	}
}

// each runs a benchmark over the sessions, with an outline that is ready.
func each(b *testing.B, run func(b *testing.B, o *Outline)) {
	for _, c := range benches {
		b.Run(c.name, func(b *testing.B) {
			o := NewOutline(benchSource(c.n, c.parent), Default, nil)
			b.ReportAllocs()
			b.ResetTimer()
			run(b, o)
		})
	}
}

func BenchmarkOutlineBuild(b *testing.B) {
	for _, c := range benches {
		b.Run(c.name, func(b *testing.B) {
			src := benchSource(c.n, c.parent)
			before := heap()
			o := NewOutline(src, Default, nil)
			perNode := float64(heap()-before) / float64(c.n)
			runtime.KeepAlive(o)
			for b.Loop() {
				NewOutline(src, Default, nil)
			}
			b.ReportMetric(perNode, "B/node")
		})
	}
}

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// keys are what a user presses, each leaving the outline as it was after two.
var keys = []struct {
	name  string
	press func(o *Outline, i int)
}{
	{"up", func(o *Outline, _ int) { o.Up() }},
	{"page", func(o *Outline, i int) { o.Page(40 - 80*(i%2)) }},
	{"ends", func(o *Outline, i int) {
		if i%2 == 0 {
			o.Home()
		} else {
			o.End()
		}
	}},
	{"fold-root", func(o *Outline, i int) {
		if o.Home(); i%2 == 0 {
			o.FoldOrUp()
		} else {
			o.UnfoldOrDown()
		}
	}},
	{"fork", func(o *Outline, i int) {
		if i%2 == 0 {
			o.UnfoldOrDown()
		} else {
			o.PrevSibling()
		}
	}},
	{"turn", func(o *Outline, i int) {
		if i%2 == 0 {
			o.PrevTurn()
		} else {
			o.NextTurn()
		}
	}},
	{"filter", func(o *Outline, i int) { o.SetFilter(Filter(i % 5)) }},
}

func BenchmarkOutlineKey(b *testing.B) {
	for _, key := range keys {
		b.Run(key.name, func(b *testing.B) {
			each(b, func(b *testing.B, o *Outline) {
				for i := 0; b.Loop(); i++ {
					key.press(o, i)
				}
			})
		})
	}
}

func BenchmarkOutlineFrame(b *testing.B) {
	each(b, func(b *testing.B, o *Outline) {
		for b.Loop() {
			o.Rows(o.Window(50), 50, 120)
		}
	})
}

// An entry is added at the leaf, as in a running turn.
func BenchmarkOutlineUpdate(b *testing.B) {
	for _, c := range benches {
		b.Run(c.name, func(b *testing.B) {
			src := benchSource(c.n, c.parent)
			var f Forest
			f.Grow(2 * c.n)
			for n := Node(0); int(n) < c.n; n++ {
				f.Add(src.View.Parent(n), src.View.Time(n))
			}
			o := NewOutline(src, Default, nil)
			for b.Loop() {
				src.Leaf = f.Add(src.Leaf, 0)
				src.View = f.View()
				o.Update(src)
			}
		})
	}
}

func BenchmarkOutlineIndex(b *testing.B) {
	src := benchSource(100_000, forking(100))
	for b.Loop() {
		x := new(Index)
		x.Fill(src.Text, 100_000, 100_000)
		b.ReportMetric(float64(x.Bytes())/100_000, "B/node")
	}
}

func BenchmarkOutlineSearch(b *testing.B) {
	queries := []struct{ name, before, query string }{
		{"first-letter", "", "e"},
		{"rare-word", "", "zebra"},
		{"three-words", "", "quick manager says"},
		{"narrowing", "manage", "manager"},
		{"regexp", "", "re:man.ger"},
	}
	for _, q := range queries {
		b.Run(q.name, func(b *testing.B) {
			for _, c := range benches[:3] {
				b.Run(c.name, func(b *testing.B) {
					o := NewOutline(benchSource(c.n, c.parent), All, nil)
					o.IndexSome(c.n)
					for b.Loop() {
						b.StopTimer()
						o.Search(q.before)
						b.StartTimer()
						o.Search(q.query)
					}
				})
			}
		})
	}
}
