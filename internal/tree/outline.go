package tree

import "fmt"

// Source is what an [Outline] shows: a view, where its leaf is, and what the
// caller knows of a node. The outline asks Class once for each node when it is
// built, and Text once for each node when its [Index] gets there.
type Source struct {
	View View
	Leaf Node // [None]: no branch is the active one
	// Class says what kind of node this is.
	Class func(Node) Class
	// Text is what a search looks in: label, role, text, tool name and arguments,
	// summary, parted by blanks. nil: no search finds anything.
	Text func(Node) string
}

// Class says what filters look at, as bits.
type Class uint8

const (
	// User is a turn of the user.
	User Class = 1 << iota
	// ToolResult is the result of a tool call.
	ToolResult
	// Bookkeeping is what changes no conversation: labels, names, changes of
	// model, thinking level and mode, data of extensions.
	Bookkeeping
	// Labelled has a label.
	Labelled
	// Silent is an answer without text that did not fail. It is hidden by every
	// filter unless it is the leaf. What a user should see all the same, because it
	// has a label, say, is not to have it.
	Silent

	// present is every node: what is not one is a free position.
	present

	classes = iota
)

// Filter says which nodes have rows. None of them shows what is [Silent].
type Filter uint8

const (
	Default     Filter = iota // all but Bookkeeping
	NoTools                   // nor results of tools
	UserOnly                  // turns of the user
	LabeledOnly               // what is Labelled
	All                       // everything
)

// filters: a node has a row if it has need, which is one bit, and nothing of veto.
var filters = [...]struct {
	name string
	need Class
	veto Class
}{
	Default:     {"default", present, Bookkeeping},
	NoTools:     {"no-tools", present, Bookkeeping | ToolResult},
	UserOnly:    {"user-only", User, 0},
	LabeledOnly: {"labeled-only", Labelled, 0},
	All:         {"all", present, 0},
}

// String is the filter's name in settings and on the screen.
func (f Filter) String() string { return filters[f].name }

// ParseFilter is the reverse of String.
func ParseFilter(name string) (Filter, error) {
	for f, row := range filters {
		if row.name == name {
			return Filter(f), nil
		}
	}
	return Default, fmt.Errorf("no tree filter %q: take default, no-tools, user-only, labeled-only or all", name)
}

// Next is the filter that comes by steps (negative: backwards) after f, round and round.
func (f Filter) Next(by int) Filter {
	n := len(filters)
	return Filter(((int(f)+by)%n + n) % n)
}

// Outline is a forest as it is drawn: one row for each node that the filter and
// the search let through and no fold hides. One goroutine owns it.
//
// How it is quick. Nodes are numbered by position: depth first, the active
// branch first, so every subtree is a range of positions and the active path is
// the first of them. What has a row is a set of positions, a bit each, and so is
// what a fold hides; a filter or a fold is a few operations on words, and the
// r-th row is found by counting bits. What is drawn in front of a row follows
// from the strand it is on (see strands.go), of which there are as many as there
// are branches, not as there are nodes.
//
// Costs: n nodes, b branches, r rows asked for. Built: n. Filter or search set:
// n/64 + b (and the texts). Fold, Update at the leaf: n/64. Any other key, and
// finding a row: log n, or n/64 where rows in between are hidden. A frame:
// r · (log b + levels that fit in the width).
type Outline struct {
	src    Source
	filter Filter
	order

	class [classes]bits // by position
	vis   ranked        // passes filter and search
	shown ranked        // vis, and not hidden by a fold
	// folded are strand heads; a subset of vis.
	folded bits
	strands

	// selected is always the node of a row, except while there are no rows: then it
	// is remembered for when there are.
	selected Node

	index  *Index
	query  query
	match  bits // nodes that the query finds, by position; nil without a query
	tested int  // nodes before this one have been looked at by the query
	// seeking: the search began before the index was full. With every find it then
	// selects again, from what was selected when it began (sought), unless its choice
	// (settled) has been left. So it ends where it would have ended with a full index.
	seeking         bool
	sought, settled Node
}

// NewOutline makes the outline of a source with the leaf selected. The index may
// be one that was filled elsewhere, of the same forest; nil makes a new one. O(n).
func NewOutline(src Source, f Filter, x *Index) *Outline {
	if x == nil {
		x = new(Index)
	}
	o := &Outline{src: src, filter: f, index: x, selected: src.Leaf}
	o.build()
	o.apply()
	return o
}

// Filter is the filter that is set.
func (o *Outline) Filter() Filter { return o.filter }

// SetFilter chooses which nodes have rows. Folds are undone.
func (o *Outline) SetFilter(f Filter) {
	if f == o.filter {
		return
	}
	o.filter = f
	clear(o.folded)
	o.apply()
}

// Update shows a newer view of the same forest, or another leaf. Filter, search,
// folds and selection stay. Nodes that were added below the leaf, one below the
// other, with the last one the new leaf, are taken in as they are; anything else
// builds the outline anew, in O(n).
//
// Nodes that had been there are taken to be what they were: see [Outline.Changed].
func (o *Outline) Update(src Source) {
	old := o.src
	o.src = src
	switch {
	case old.Leaf == src.Leaf && old.View.Len() == src.View.Len():
	case o.continues(old):
		o.extend(old)
	default:
		o.rebuild()
	}
}

// Changed says that the class or text of a node is another one now (it got a
// label, or lost it). Folds stay.
func (o *Outline) Changed(n Node) {
	if !o.has(n) {
		return
	}
	p := o.pos[n]
	o.classify(p)
	if int(n) < o.index.Len() {
		o.index.replace(n, o.src.text(n))
	}
	if o.match != nil && int(n) < o.tested {
		o.match.put(p, o.query.matches(o.index.at(n)))
	}
	o.apply()
}

func (s Source) text(n Node) string {
	if s.Text == nil {
		return ""
	}
	return s.Text(n)
}

// classify asks what the node at a position is.
func (o *Outline) classify(p int32) {
	c := o.src.Class(o.node[p]) | present
	for i := range o.class {
		o.class[i].put(p, c&(1<<i) != 0)
	}
}

// rebuild is build and apply, with folds and matches taken along.
func (o *Outline) rebuild() {
	folds, matches := o.nodes(o.folded), o.nodes(o.match)
	searching := o.match != nil
	o.build()
	for _, n := range folds {
		o.folded.set(o.pos[n])
	}
	if searching {
		o.match = newBits(len(o.node))
		for _, n := range matches {
			o.match.set(o.pos[n])
		}
	}
	o.apply()
}

// nodes are the nodes at some positions.
func (o *Outline) nodes(b bits) []Node {
	var ns []Node
	for p := b.next(0); p >= 0; p = b.next(p + 1) {
		ns = append(ns, o.node[p])
	}
	return ns
}

// build makes order, classes and empty sets for the source.
func (o *Outline) build() {
	o.order = newOrder(o.src.View, o.src.Leaf)
	size := len(o.node)
	for i := range o.class {
		o.class[i] = newBits(size)
	}
	for p, n := range o.node {
		if n == None {
			continue
		}
		w, bit := p>>6, uint64(1)<<(p&63)
		c := o.src.Class(n) | present
		for i := range o.class {
			if c&(1<<i) != 0 {
				o.class[i][w] |= bit
			}
		}
	}
	o.vis, o.shown, o.folded = newRanked(size), newRanked(size), newBits(size)
}

// apply works out what has a row, from filter and search on.
func (o *Outline) apply() {
	row := filters[o.filter]
	for i, set := range o.class {
		if row.need == 1<<i {
			copy(o.vis.bits, set)
		}
	}
	for i, set := range o.class {
		if (row.veto|Silent)&(1<<i) != 0 {
			o.vis.without(set)
		}
	}
	if o.match != nil {
		o.vis.only(o.match)
	}
	if o.leaf >= 0 {
		o.vis.put(o.leaf, o.passes(o.leaf))
	}
	o.vis.count()
	o.weave()
	o.show()
}

// passes says whether one position passes filter and search.
func (o *Outline) passes(p int32) bool {
	var c Class
	for i := range o.class {
		if o.class[i].has(p) {
			c |= 1 << i
		}
	}
	if p == o.leaf {
		c &^= Silent
	}
	row := filters[o.filter]
	return c&row.need != 0 && c&(row.veto|Silent) == 0 && (o.match == nil || o.match.has(p))
}

// show works out what folds hide, and selects again. Folds of nodes that are not
// foldable any more are forgotten.
func (o *Outline) show() {
	copy(o.shown.bits, o.vis.bits)
	hidden := int32(0) // up to here
	for p := o.folded.next(0); p >= 0; p = o.folded.next(p + 1) {
		if !o.foldable(p) {
			o.folded.clear(p)
			continue
		}
		if p >= hidden {
			hidden = o.end(p)
			o.shown.clearRange(p+1, hidden)
		}
	}
	o.shown.count()
	o.reselect()
}
