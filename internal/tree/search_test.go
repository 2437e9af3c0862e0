package tree

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// textOutline is a chain of nodes with these texts.
func textOutline(texts ...string) *Outline {
	var f Forest
	for i := range texts {
		f.Add(Node(i-1), 0)
	}
	return NewOutline(Source{
		View: f.View(), Leaf: Node(len(texts) - 1),
		Class: func(Node) Class { return 0 },
		Text:  func(n Node) string { return texts[n] },
	}, Default, nil)
}

func rowNodes(o *Outline) []Node {
	var ns []Node
	for _, r := range o.Rows(0, o.Len(), 80) {
		ns = append(ns, r.Node)
	}
	return ns
}

func TestSearch(t *testing.T) {
	o := textOutline(
		"user: Fix the\n\tparser,  please",
		"tool bash go test ./...",
		"assistant: The parser is FIXED",
		"ÜBER straße Ω",
	)
	o.IndexSome(4)
	for _, c := range []struct {
		query string
		want  []Node
	}{
		{"", []Node{0, 1, 2, 3}},
		{" \t", []Node{0, 1, 2, 3}},
		{"re:", []Node{0, 1, 2, 3}},
		{`""`, []Node{0, 1, 2, 3}},
		{"fix", []Node{0, 2}},
		{"PARSER fix", []Node{0, 2}},
		{"parser fix please", []Node{0}},
		{`"the parser"`, []Node{0, 2}},
		{`"parser the"`, nil},
		{`"the   parser`, []Node{0, 2}},
		{`fix"the parser"please`, []Node{0}},
		{"./...", []Node{1}},
		{"über STRASSE", nil},
		{"über STRAßE ω", []Node{3}},
		{"re:fix(ed)?$", []Node{2}},
		{"re:^(user|tool)", []Node{0, 1}},
		{"re:FIX THE", []Node{0}},
		{"re:[A-F]IX", []Node{0, 2}},
		{"re:Ü.*Ω", []Node{3}},
		{" re:x", []Node{0, 2}},
		{"re:q|bash", []Node{1}},
	} {
		if err := o.Search(c.query); err != nil {
			t.Errorf("%q: %v", c.query, err)
		}
		if got := rowNodes(o); !slices.Equal(got, c.want) {
			t.Errorf("%q finds %v, want %v", c.query, got, c.want)
		}
	}
}

func TestBadExpression(t *testing.T) {
	o := textOutline("a", "b")
	o.IndexSome(2)
	for _, query := range []string{"re:(", "re:a**", "re:[z-a]", `re:\`} {
		err := o.Search(query)
		if err == nil || !strings.Contains(err.Error(), query) {
			t.Errorf("the error of %s is %v", query, err)
		}
		if again := o.Search(query); again != err {
			t.Errorf("the second time it is %v", again)
		}
		if o.Len() != 0 || o.Selected() != None || o.Row() != -1 {
			t.Errorf("%s: %d rows, %d selected", query, o.Len(), o.Selected())
		}
		// What can be pressed without rows does nothing.
		for _, press := range goldenKeys {
			press(o)
		}
	}
	if err := o.Search(""); err != nil || o.Selected() != 1 {
		t.Errorf("afterwards: %v, %d selected, want the leaf", err, o.Selected())
	}
}

// Rows come as the index gets to them, and stay where the query only gets longer.
func TestSearchWhileIndexing(t *testing.T) {
	o := textOutline("goat", "go", "goat", "goat")
	if o.Search("g"); o.Len() != 0 {
		t.Errorf("%d rows before anything was indexed", o.Len())
	}
	for _, c := range []struct {
		query string
		done  bool
		want  []Node
	}{
		{"g", false, []Node{0}},
		{"go", false, []Node{0, 1}},
		{"goat", false, []Node{0, 2}},
		{"goat", true, []Node{0, 2, 3}},
	} {
		if o.Search(c.query); o.Query() != c.query {
			t.Errorf("the query is %q, want %q", o.Query(), c.query)
		}
		if done := o.IndexSome(1); done != c.done {
			t.Errorf("done after %d: %v", o.Indexed(), done)
		}
		if got := rowNodes(o); !slices.Equal(got, c.want) {
			t.Errorf("%q with %d indexed: %v, want %v", c.query, o.Indexed(), got, c.want)
		}
	}
}

// A search that begins before the index is full ends as if it had been full,
// unless the user moves meanwhile.
func TestSearchEndsTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := newPair(t, 30)
		q := rapid.SampledFrom([]string{"g", "go", "foo", "ö", "re:a", "zzz"}).Draw(t, "query")
		from := p.node(t)
		early := NewOutline(p.source(), p.m.filter, nil)
		for _, o := range []*Outline{p.o, early} {
			o.Select(from)
			o.Search(q)
		}
		for !early.IndexSome(rapid.IntRange(1, 5).Draw(t, "budget")) {
		}
		if early.Selected() != p.o.Selected() || !slices.Equal(rowNodes(early), rowNodes(p.o)) {
			t.Fatalf("%d of %v selected, want %d of %v", early.Selected(), rowNodes(early), p.o.Selected(), rowNodes(p.o))
		}
	})
}

func TestSearchLeavesAMoveAlone(t *testing.T) {
	o := textOutline("x", "x", "x", "x", "x")
	o.Search("x")
	o.IndexSome(3)
	if o.Selected() != 2 {
		t.Errorf("%d selected, want the nearest ancestor of the leaf so far", o.Selected())
	}
	o.Up()
	o.IndexSome(5)
	if o.Selected() != 1 {
		t.Errorf("%d selected after a move to 1", o.Selected())
	}
}

// An index that was filled elsewhere is taken as it is.
func TestIndexMadeElsewhere(t *testing.T) {
	asked := 0
	text := func(Node) string { asked++; return "x" }
	x := new(Index)
	for !x.Fill(text, 5, 2) {
	}
	o := textOutline("a", "b", "c", "d", "e")
	src := o.src
	src.Text = text
	o = NewOutline(src, All, x)
	o.Search("x")
	if !o.IndexSome(10) || o.Len() != 5 || asked != 5 {
		t.Errorf("%d rows, %d texts asked for, want 5 and 5", o.Len(), asked)
	}
}

func TestIndexLimit(t *testing.T) {
	text := strings.Repeat("aäΩ😀 \n", 40_000)
	for _, c := range []struct{ limit, nodes, want int }{
		{1, 3, 1},
		{2, 3, 2},
		{3, 3, 3},
		{10, 3, 10},
		{100, 3, 100},
		{maxLimit, 3, maxLimit},
		{maxLimit + 100, 3, maxLimit},
		{0, 1, 8 << 10},
		{0, 20_000, 3355},
		{0, 1_000_000, 256},
		{-1, 1, 8 << 10},
	} {
		x := &Index{Limit: c.limit}
		x.Fill(func(Node) string { return text }, c.nodes, 100)
		for n := range Node(x.Len()) {
			got := x.at(n)
			if len(got) > c.want || len(got) < c.want-3 || !utf8.Valid(got) {
				t.Fatalf("limit %d of %d nodes keeps %d bytes, valid: %v", c.limit, c.nodes, len(got), utf8.Valid(got))
			}
		}
		if least := min(c.nodes, 100) * (c.want - 3); x.Bytes() < least {
			t.Errorf("%d bytes do not hold %d", x.Bytes(), least)
		}
	}
}

func TestSpans(t *testing.T) {
	o := textOutline("x")
	for _, c := range []struct {
		query, text string
		want        []string
	}{
		{"", "abc", nil},
		{"re:(", "abc", nil},
		{"B", "abcb", []string{"b", "b"}},
		{"ab bc", "xabcx", []string{"abc"}},
		{`"a b"`, "xA \n\tBx", []string{"A \n\tB"}},
		{"ö", "ÖÖ-ö", []string{"ÖÖ", "ö"}},
		{"re:b+.", "aBBc b", []string{"BBc"}},
		{"re:bc", "abCc", []string{"bC"}},
		{"re:x*", "axa", []string{"x"}},
		{"ab", "Kelvin \u212aab", []string{"ab"}},
	} {
		o.Search(c.query)
		var got []string
		for _, s := range o.Spans(c.text) {
			got = append(got, c.text[s.From:s.To])
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%q in %q: %q, want %q", c.query, c.text, got, c.want)
		}
	}
}

// Whatever is typed and whatever a text is: no panic, and the parts found are
// parts, in order. What the index finds in a text is there to be shown.
func FuzzSearch(f *testing.F) {
	f.Add("go re", "Go Reads")
	f.Add(`"a b`, "A \xff\tb")
	f.Add("re:a*|ß$", "AAẞß\u2028İ")
	f.Fuzz(func(t *testing.T, query, text string) {
		o := textOutline(text)
		o.IndexSome(1)
		err := o.Search(query)
		if err != nil && o.Len() != 0 {
			t.Fatalf("%v, but %d rows", err, o.Len())
		}
		end := 0
		spans := o.Spans(text)
		for _, s := range spans {
			if s.From < end || s.From >= s.To || s.To > len(text) {
				t.Fatalf("%q in %q: %v", query, text, spans)
			}
			end = s.To
		}
		if o.Len() == 1 && len(o.query.words) > 0 && len(spans) == 0 {
			t.Fatalf("%q is found in %q, but not shown", query, text)
		}
	})
}
