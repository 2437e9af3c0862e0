package tree

import (
	"bytes"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Index holds what searches look in: each node's text, lower-cased, with runs of
// white space as one blank, and cut. It is filled in order of addition and in
// steps, so that its owner can go on drawing meanwhile, or elsewhere before it is
// given to an outline. It may outlive outlines. One goroutine owns it at a time.
type Index struct {
	// Limit is how much of a text is kept, in bytes, at most 64 KB. 0 means an even
	// share of 64 MB, but between 256 bytes and 8 KB: all of nearly every text in
	// sessions of usual size, its beginning in those of a million entries.
	Limit int

	// Texts stand in pages, none over two of them. A ref is page, offset and
	// length, 24, 20 and 20 bits.
	refs  []uint64
	pages [][]byte
}

const (
	pageSize  = 1 << 18
	maxLimit  = 1 << 16
	allTexts  = 64 << 20
	minShare  = 256
	mostShare = 8 << 10
)

// Len is the number of nodes whose text is in the index.
func (x *Index) Len() int { return len(x.refs) }

// Bytes is the memory that the index takes.
func (x *Index) Bytes() int { return len(x.pages)*pageSize + 8*cap(x.refs) }

// Fill takes in the texts of at most budget more nodes, until there are upTo of
// them, and says whether there are.
func (x *Index) Fill(text func(Node) string, upTo, budget int) (done bool) {
	for range min(budget, upTo-len(x.refs)) {
		x.refs = append(x.refs, x.store(text(Node(len(x.refs))), x.limit(upTo)))
	}
	return len(x.refs) >= upTo
}

// limit is how much of a text is kept where there are n.
func (x *Index) limit(n int) int {
	if x.Limit > 0 {
		return min(x.Limit, maxLimit)
	}
	return min(max(allTexts/n, minShare), mostShare)
}

// replace takes in a node's text again. The old one stays behind in its page.
func (x *Index) replace(n Node, text string) { x.refs[n] = x.store(text, x.limit(len(x.refs))) }

// store puts a text on the last page.
func (x *Index) store(text string, limit int) uint64 {
	if n := len(x.pages); n == 0 || len(x.pages[n-1])+limit > pageSize {
		x.pages = append(x.pages, make([]byte, 0, pageSize))
	}
	last := len(x.pages) - 1
	from := len(x.pages[last])
	x.pages[last], _ = appendFolded(x.pages[last], nil, text, from+limit)
	return uint64(last)<<40 | uint64(from)<<20 | uint64(len(x.pages[last])-from)
}

// at is the text of a node.
func (x *Index) at(n Node) []byte {
	ref := x.refs[n]
	from := ref >> 20 & (1<<20 - 1)
	return x.pages[ref>>40][from : from+ref&(1<<20-1)]
}

// appendFolded appends a text as the index has it while dst does not get longer
// than limit. If from is not nil it gets, for each byte that is appended, where in
// the text the character began that it stands for.
func appendFolded(dst []byte, from []int, text string, limit int) ([]byte, []int) {
	blank := true // no white space at the start
	for i, size := 0, 0; i < len(text); i += size {
		size = 1
		r := rune(foldedASCII[text[i]&0x7f])
		if text[i] >= utf8.RuneSelf {
			if r, size = utf8.DecodeRuneInString(text[i:]); unicode.IsSpace(r) {
				r = ' '
			}
			r = unicode.ToLower(r)
		}
		if r == ' ' && blank {
			continue
		}
		blank = r == ' '
		if len(dst)+utf8.RuneLen(r) > limit {
			break
		}
		dst = utf8.AppendRune(dst, r)
		for from != nil && len(from) < len(dst) {
			from = append(from, i)
		}
	}
	return dst, from
}

// foldedASCII is what ASCII becomes in the index.
var foldedASCII = func() (table [utf8.RuneSelf]byte) {
	for c := range table {
		table[c] = byte(unicode.ToLower(rune(c)))
		if unicode.IsSpace(rune(c)) {
			table[c] = ' '
		}
	}
	return table
}()

// fold is a whole text as the index has it.
func fold(text string) []byte {
	dst, _ := appendFolded(nil, nil, text, int(^uint(0)>>1))
	return dst
}

// query is what a user looks for.
type query struct {
	text  string
	words [][]byte       // folded; all must occur
	re    *regexp.Regexp // must match too; nil for none
	err   error
}

// parseQuery reads words, "phrases", or re: and a regular expression. A phrase
// that is still open ends at the end.
func parseQuery(text string) query {
	q := query{text: text}
	if expr, ok := strings.CutPrefix(strings.TrimSpace(text), "re:"); ok {
		if expr == "" {
			return q
		}
		if q.re, q.words, q.err = parseRegexp(expr); q.err != nil {
			q.err = fmt.Errorf("search %s: %w", text, q.err)
		}
		return q
	}
	for i, part := range strings.Split(text, `"`) {
		words := strings.Fields(part)
		if phrase := i%2 == 1; phrase && len(words) > 0 {
			words = []string{strings.Join(words, " ")}
		}
		for _, w := range words {
			q.words = append(q.words, fold(w))
		}
	}
	return q
}

// parseRegexp reads an expression for folded texts, and finds words without which
// it cannot match: most texts are then turned down without running it. Case is
// taken out of the expression, as it is out of the texts, which makes it run
// several times faster than ignoring case would.
func parseRegexp(expr string) (*regexp.Regexp, [][]byte, error) {
	tree, err := syntax.Parse(expr, syntax.Perl|syntax.FoldCase)
	if err != nil {
		return nil, nil, err
	}
	parts := []*syntax.Regexp{tree}
	if tree.Op == syntax.OpConcat {
		parts = tree.Sub
	}
	lowerLiterals(tree)
	var words [][]byte
	for _, part := range parts {
		if part.Op == syntax.OpLiteral {
			words = append(words, []byte(string(part.Rune)))
		}
	}
	re, err := regexp.Compile(tree.String())
	return re, words, err
}

// lowerLiterals makes an expression one for lower-case texts. Its classes hold
// both cases already.
func lowerLiterals(tree *syntax.Regexp) {
	for todo := []*syntax.Regexp{tree}; len(todo) > 0; {
		re := todo[len(todo)-1]
		todo = append(todo[:len(todo)-1], re.Sub...)
		if re.Op == syntax.OpLiteral {
			re.Flags &^= syntax.FoldCase
			for i, r := range re.Rune {
				re.Rune[i] = unicode.ToLower(r)
			}
		}
	}
}

// empty: there is nothing to look for.
func (q *query) empty() bool { return len(q.words) == 0 && q.re == nil && q.err == nil }

// matches says whether a folded text is found.
func (q *query) matches(text []byte) bool {
	for _, w := range q.words {
		if !bytes.Contains(text, w) {
			return false
		}
	}
	return q.re == nil || q.re.Match(text)
}

// narrows says that whatever q finds, old finds too.
func (q *query) narrows(old *query) bool {
	if q.re != nil || old.re != nil || q.err != nil || len(old.words) == 0 {
		return false
	}
	for _, w := range old.words {
		if !slices.ContainsFunc(q.words, func(longer []byte) bool { return bytes.Contains(longer, w) }) {
			return false
		}
	}
	return true
}

// Search leaves rows only to nodes in whose text all words of a query occur, in
// any case: words, "phrases", or re: and a regular expression. A blank query is
// none. Folds are undone. An expression that does not parse finds nothing and is
// the error; ^ and $ are the ends of a node's whole text. Only what has been
// indexed is found: see [Outline.IndexSome].
//
// A query that only says more than the one before looks only at what that found.
func (o *Outline) Search(text string) error {
	old := o.query
	if text == old.text {
		return old.err
	}
	if !o.seeking || o.selected != o.settled {
		o.sought = o.selected
	}
	o.query = parseQuery(text)
	q := &o.query
	switch {
	case q.empty():
		o.match = nil
	case q.narrows(&old):
		for p := o.match.next(0); p >= 0; p = o.match.next(p + 1) {
			if !q.matches(o.index.at(o.node[p])) {
				o.match.clear(p)
			}
		}
	default:
		o.match = newBits(len(o.node))
		o.tested = 0
	}
	o.test()
	clear(o.folded)
	o.apply()
	o.settled = o.selected
	o.seeking = o.Indexed() < o.src.View.Len()
	return q.err
}

// test looks at the nodes that have been indexed since it last did.
func (o *Outline) test() (found bool) {
	from := o.tested
	o.tested = o.index.Len()
	if o.match == nil || o.query.err != nil {
		return false
	}
	for n := from; n < o.tested; n++ {
		if o.query.matches(o.index.at(Node(n))) {
			o.match.set(o.pos[n])
			found = true
		}
	}
	return found
}

// Query is what was given to Search.
func (o *Outline) Query() string { return o.query.text }

// IndexSome takes in the texts of at most budget more nodes and says whether
// those of all are in. The rows of a search become more as it goes on.
func (o *Outline) IndexSome(budget int) (done bool) {
	done = o.index.Fill(o.src.text, o.src.View.Len(), budget)
	if o.test() {
		if o.seeking && o.selected == o.settled {
			o.selected = o.sought
		}
		o.apply()
		o.settled = o.selected
	}
	o.seeking = o.seeking && !done
	return done
}

// Indexed is the number of nodes whose text is in the index, to be compared with
// the view's Len.
func (o *Outline) Indexed() int { return o.index.Len() }

// Span is a part of a text, in bytes.
type Span struct{ From, To int }

// Spans are the parts of a text that the query finds, in order, none overlapping.
func (o *Outline) Spans(text string) []Span {
	if o.query.empty() || o.query.err != nil {
		return nil
	}
	folded, from := appendFolded(nil, []int{}, text, int(^uint(0)>>1))
	from = append(from, len(text))
	var found []Span
	if o.query.re != nil {
		for _, m := range o.query.re.FindAllIndex(folded, -1) {
			found = append(found, Span{from[m[0]], from[m[1]]})
		}
	}
	for _, w := range o.query.words {
		if o.query.re != nil {
			break // they are part of what it matches
		}
		for at := 0; ; at += len(w) {
			i := bytes.Index(folded[at:], w)
			if i < 0 {
				break
			}
			at += i
			found = append(found, Span{from[at], from[at+len(w)]})
		}
	}
	return mergeSpans(found)
}

// mergeSpans sorts spans, joins what overlaps or touches and drops empty ones.
func mergeSpans(spans []Span) []Span {
	slices.SortFunc(spans, func(a, b Span) int { return a.From - b.From })
	out := spans[:0]
	for _, s := range spans {
		switch last := len(out) - 1; {
		case s.From >= s.To:
		case last >= 0 && s.From <= out[last].To:
			out[last].To = max(out[last].To, s.To)
		default:
			out = append(out, s)
		}
	}
	return out
}
