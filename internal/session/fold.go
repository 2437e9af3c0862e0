package session

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"
	"unicode"

	"banyan/internal/jsonl"
	"banyan/internal/llm"
	"banyan/internal/tree"
)

// fold is what the lines of a session say so far. Lines come in the order of
// the file, from a scan and from our own appends alike, so that what is in
// memory is what a reader of the file will see.
//
// It grows at the end only: a [state] taken from it stays as it is. The maps in
// marks are copied before they are changed if a state has them.
type fold struct {
	forest tree.Forest
	ids    idSet
	pos    []jsonl.Pos // by node: in the file, or see memory
	class  []class
	kinds  []string // by class.kind
	mem    memory
	read   func(jsonl.Pos) ([]byte, error)

	marks    marks
	shared   bool // a state has marks
	name     string
	problems []Problem
	where    []int64 // by problem: its line's offset
	hidden   int     // problems that are not listed because there are too many
	bytes    int64   // of the file, as far as it was read

	leaf tree.Node // as an opening of the file would set it

	// lazy: ids are settled when one is looked for that is not among the youngest,
	// and at the end. Where one then turns out to stand twice, the lines must be
	// read again, not lazily.
	lazy, twice bool

	// Of the line just before, for linking what it damaged.
	last     tree.Node // the last readable entry
	lastID   []byte    // its id as in the line
	lastTime int64
	clock    clock
	lastPos  jsonl.Pos
	damaged  bool // the line could not be read
}

// memory is lines that are not (or not yet, or in another form) in the file. A
// position with a negative offset is a place in it.
type memory [][]byte

func (m *memory) add(line []byte) jsonl.Pos {
	*m = append(*m, line)
	return jsonl.Pos{Off: -int64(len(*m)), Len: len(line)}
}

func (m memory) at(p jsonl.Pos) ([]byte, bool) {
	if p.Off >= 0 {
		return nil, false
	}
	return m[-p.Off-1], true
}

// marks are what lines say of other lines.
type marks struct {
	labels map[tree.Node]mark
	// alias is what an id means that names no entry (a position record, a line
	// that was lost), or that was given again to a later entry.
	alias map[ID]tree.Node
	// fileID is the id in the file of entries that have another one here.
	fileID map[tree.Node]ID
}

// mark is a label and the entry that set it.
type mark struct {
	text string
	by   tree.Node
}

// class is what is known of an entry without its body.
type class struct {
	kind  uint8 // place in fold.kinds
	role  uint8 // place in roleNames
	flags uint8
}

const (
	hasText = 1 << iota
	failed
)

// roleNames are the roles that class tells apart.
var roleNames = []llm.Role{"", llm.User, llm.Assistant, llm.ToolResult, roleCommand, roleCustom}

func newFold(read func(jsonl.Pos) ([]byte, error)) *fold {
	return &fold{
		read: read, leaf: tree.None, last: tree.None,
		marks: marks{labels: map[tree.Node]mark{}, alias: map[ID]tree.Node{}, fileID: map[tree.Node]ID{}},
	}
}

// grow makes room for n more entries at once, which saves copying.
func (f *fold) grow(n int) {
	f.forest.Grow(n)
	f.ids.keys = slices.Grow(f.ids.keys, n)
	f.pos = slices.Grow(f.pos, n)
	f.class = slices.Grow(f.class, n)
}

// line takes the next line into account; it is not the header. The bytes are
// not kept.
func (f *fold) line(b []byte, pos jsonl.Pos) {
	h, ok := readHead(b)
	f.headed(b, h, ok, pos)
}

// headed is line where the head was read already.
func (f *fold) headed(b []byte, h head, ok bool, pos jsonl.Pos) {
	f.bytes = max(f.bytes, pos.Off+int64(pos.Len)+1)
	if !ok || !closed(b) {
		f.lost(pos, problemDamaged, "the line is not a JSON object")
		return
	}
	id, ok := idBytes(h.id)
	if !ok {
		f.lost(pos, problemNoID, "the entry has no id")
		return
	}
	kind, ok := unquoteBytes(h.kind)
	if !ok {
		f.lost(pos, problemNoType, "the entry has no type")
		return
	}
	parent := f.parent(h, pos)
	if string(kind) == "custom" {
		if custom, _ := unquote(field(b, h, "customType")); custom == PositionType {
			f.position(ID(id), parent, pos)
			return
		}
	}
	f.entry(b, h, id, kind, parent, pos)
}

// closed tells whether a line ends as an object does.
func closed(b []byte) bool {
	return b[len(b)-1] == '}' || bytes.HasSuffix(bytes.TrimRight(b, " \t"), []byte("}"))
}

// lost notes a line that cannot be an entry.
func (f *fold) lost(pos jsonl.Pos, kind, text string) {
	f.problem(pos.Off, kind, text)
	f.damaged, f.lastPos = true, pos
}

// position takes a position record: not an entry; its id means its parent.
func (f *fold) position(id ID, parent tree.Node, pos jsonl.Pos) {
	f.own()
	f.marks.alias[id] = parent
	f.leaf, f.last = parent, parent
	f.lastID = append(f.lastID[:0], id...)
	f.damaged, f.lastPos = false, pos
}

// parent finds the node that an entry hangs below. Only what stands above
// counts, so there are no cycles.
func (f *fold) parent(h head, pos jsonl.Pos) tree.Node {
	if h.parent == nil || string(h.parent) == "null" || string(h.parent) == `""` {
		return tree.None
	}
	raw, ok := idBytes(h.parent)
	if ok && len(f.lastID) > 0 && bytes.Equal(raw, f.lastID) {
		return f.last
	}
	if ok {
		if n, ok := f.resolve(ID(raw)); ok {
			return n
		}
	}
	lost := f.damaged
	if !lost && !f.lastIsJSON() {
		lost = true
		f.problem(f.lastPos.Off, problemDamaged, "the line begins as an entry but is not JSON")
	}
	if lost {
		f.problem(pos.Off, problemRecovered, "the parent of the entry was lost; it hangs below the last readable entry above")
		if ok {
			f.own()
			f.marks.alias[ID(raw)] = f.last
		}
		return f.last
	}
	f.problem(pos.Off, problemOrphan, fmt.Sprintf("no entry above has the id %s of the parent; the entry is a root", clip(h.parent)))
	return tree.None
}

// lastIsJSON checks the line just before in full: its head alone was read.
func (f *fold) lastIsJSON() bool {
	if f.last == tree.None {
		return true
	}
	line, err := f.raw(f.lastPos)
	return err == nil && json.Valid(line)
}

// resolve is the node that an id means at this point of the file.
func (f *fold) resolve(id ID) (tree.Node, bool) {
	if n, ok := f.marks.alias[id]; ok {
		return n, true
	}
	if f.lazy {
		n, all := f.ids.recent(id)
		if n != tree.None {
			return n, true
		}
		if !all && !f.ids.settle() {
			f.twice = true
		}
	}
	n := f.ids.view().find(id)
	return n, n != tree.None
}

// entry adds an entry to the tree.
func (f *fold) entry(b []byte, h head, id, kind []byte, parent tree.Node, pos jsonl.Pos) {
	defer func() { f.damaged, f.lastPos = false, pos }()
	f.lastID = append(f.lastID[:0], id...)
	if f.lazy {
		f.ids.push(id)
	} else if taken, ok := f.ids.add(id); !ok {
		if f.repeats(taken, ID(id), b) {
			f.problem(pos.Off, problemRepeated, "the line stands in the file twice")
			return
		}
		f.problem(pos.Off, problemDuplicate, fmt.Sprintf("another entry above has the id %s", clip(h.id)))
		f.redefine(ID(id))
	}
	f.unalias(ID(id))
	ms, ok := f.clock.parse(h.time)
	if !ok {
		ms = f.lastTime
	}
	f.lastTime = ms
	n := f.forest.Add(parent, ms)
	f.pos = append(f.pos, pos)
	f.class = append(f.class, f.classify(b, h, kind))
	f.leaf, f.last = n, n
	f.mark(b, kind, n, pos)
}

// unalias takes the id of the entry that comes next from a position record: the
// entry is what the id means now.
func (f *fold) unalias(id ID) {
	if n, ok := f.marks.alias[id]; ok && int(n) != f.forest.Len() {
		f.own()
		delete(f.marks.alias, id)
	}
}

// settle ends being lazy.
func (f *fold) settle() {
	if f.lazy && !f.ids.settle() {
		f.twice = true
	}
	f.lazy = false
}

// repeats tells whether a line is the same as the one that defined its id last,
// and makes that one the last entry again.
func (f *fold) repeats(first tree.Node, id ID, b []byte) bool {
	if n, ok := f.marks.alias[id]; ok && n != tree.None {
		first = n
	}
	line, err := f.raw(f.pos[first])
	if err != nil || !bytes.Equal(line, b) {
		return false
	}
	f.leaf, f.last = first, first
	return true
}

// redefine gives the next node an id of ours, and its own to it from here on.
func (f *fold) redefine(id ID) {
	f.own()
	n := tree.Node(len(f.ids.keys))
	for i := 2; ; i++ {
		if _, ok := f.ids.add(fmt.Appendf(nil, "%s~%d", id, i)); ok {
			break
		}
	}
	f.marks.alias[id] = n
	f.marks.fileID[n] = id
}

// classify finds what is known of an entry without its body.
func (f *fold) classify(b []byte, h head, kind []byte) class {
	c := class{kind: f.kindNumber(kind)}
	if string(kind) != "message" {
		return c
	}
	for k := h.rest.key(); k != nil; k = h.rest.key() {
		if string(k) == "message" {
			c.role, c.flags = classifyMessage(h.rest.rest())
			return c
		}
	}
	if m := member(b, "message"); m != nil {
		c.role, c.flags = classifyMessage(m)
	}
	return c
}

// kindNumber is the place of a type in kinds. A file with more types than fit
// is not a session of anybody's; the rest share the last place.
func (f *fold) kindNumber(kind []byte) uint8 {
	for i, k := range f.kinds {
		if k == string(kind) || i == math.MaxUint8 {
			return uint8(i)
		}
	}
	f.kinds = append(f.kinds, string(kind))
	return uint8(len(f.kinds) - 1)
}

// classifyMessage looks into a message; the text may go on after its end.
func classifyMessage(rest []byte) (role, flags uint8) {
	o, ok := newObject(rest)
	if !ok {
		return 0, 0
	}
	inOrder := true // the role comes first, as everybody writes it
	for k := o.key(); k != nil; k = o.key() {
		if string(k) == "role" {
			name, _ := unquoteBytes(o.value())
			role = roleNumber(name)
			break
		}
		inOrder = false
	}
	if roleNames[role] != llm.Assistant {
		return role, 0
	}
	if !inOrder {
		o, _ = newObject(rest)
	}
	for k := o.key(); k != nil; k = o.key() {
		switch string(k) {
		case "content":
			if saysText(o.rest()) {
				flags |= hasText
			}
			if reason, ok := lastStopReason(rest); ok {
				return role, flags | failure(reason)
			}
		case "stopReason":
			reason, _ := unquoteBytes(o.value())
			flags |= failure(reason)
		}
	}
	return role, flags
}

func roleNumber(name []byte) uint8 {
	if string(name) == roleHook {
		return roleNumber([]byte(roleCustom))
	}
	for i, r := range roleNames {
		if string(r) == string(name) {
			return uint8(i)
		}
	}
	return 0
}

func failure(reason []byte) uint8 {
	switch string(reason) {
	case "", string(llm.StopEnd), string(llm.StopToolUse):
		return 0
	}
	return failed
}

// lastStopReason finds the stop reason from the end of a line, where writers
// put it, without walking over the content. The text `"stopReason":"` cannot be
// inside a JSON string, and with nothing nested after it but the ends of message
// and entry it is the message's own.
func lastStopReason(b []byte) ([]byte, bool) {
	const key = `"stopReason":"`
	tail := b[max(0, len(b)-300):]
	i := bytes.LastIndex(tail, []byte(key))
	if i < 0 || !bytes.HasSuffix(tail, []byte("}}")) {
		return nil, false
	}
	tail = tail[i+len(key):]
	for _, c := range tail[:len(tail)-2] {
		if c == '{' || c == '}' || c == '[' || c == ']' {
			return nil, false
		}
	}
	q := bytes.IndexByte(tail, '"')
	return tail[:max(q, 0)], q >= 0
}

// saysText tells whether a content has text that is not blank.
func saysText(content []byte) bool {
	if len(content) > 0 && content[0] == '"' {
		return !blank(content[:skipString(content, 0)])
	}
	// A text block as everybody writes it, that no call stands before: its
	// quotes cannot be inside a string, and nothing else in a content nests.
	const block = `{"type":"text","text":"`
	if i := bytes.Index(content, []byte(block)); i >= 0 && i+len(block) < len(content) && bytes.IndexByte([]byte("\"\\ "), content[i+len(block)]) < 0 &&
		!bytes.Contains(content[:i], []byte(`"toolCall"`)) {
		return true
	}
	found := false
	elements(content, func(rest []byte) bool {
		o, ok := newObject(rest)
		isText, says := false, false
		for k := o.key(); ok && k != nil; k = o.key() {
			switch string(k) {
			case "type":
				if isText = string(o.value()) == `"text"`; !isText {
					return true
				}
			case "text":
				says = !blank(o.value())
			}
		}
		found = isText && says
		return !found
	})
	return found
}

// blank tells whether a JSON string has nothing but white space.
func blank(value []byte) bool {
	for i := 1; i < len(value)-1; i++ {
		switch value[i] {
		case ' ':
		case '\\':
			if i++; bytes.IndexByte([]byte("nrtf"), value[i]) < 0 {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// mark takes what an entry says of the session or of other entries.
func (f *fold) mark(b, kind []byte, n tree.Node, pos jsonl.Pos) {
	switch string(kind) {
	case "label":
		d, err := decodeLabel(b, time.Time{})
		if err != nil {
			return
		}
		l := d.(Label)
		target, ok := f.resolve(l.Target)
		if !ok || target == tree.None {
			f.problem(pos.Off, problemLabel, fmt.Sprintf("the label names %q, which is no entry above", clip([]byte(l.Target))))
			return
		}
		f.own()
		delete(f.marks.labels, target)
		if l.Text != "" {
			f.marks.labels[target] = mark{text: l.Text, by: n}
		}
	case "session_info":
		if d, err := decodeInfo(b, time.Time{}); err == nil {
			f.name = strings.TrimSpace(d.(Info).Name)
		}
	case "title_change": // oh-my-pi
		if title, ok := unquote(member(b, "title")); ok {
			f.name = strings.TrimSpace(title)
		}
	}
}

// own makes marks ours to change.
func (f *fold) own() {
	if f.shared {
		f.marks = marks{maps.Clone(f.marks.labels), maps.Clone(f.marks.alias), maps.Clone(f.marks.fileID)}
		f.shared = false
	}
}

func (f *fold) problem(off int64, kind, text string) {
	if len(f.problems) >= maxProblems {
		f.hidden++
		return
	}
	f.problems = append(f.problems, Problem{Kind: kind, Text: text})
	f.where = append(f.where, off)
}

func (f *fold) raw(p jsonl.Pos) ([]byte, error) {
	if line, ok := f.mem.at(p); ok {
		return line, nil
	}
	return f.read(p)
}

// idBytes is the id in a JSON string; empty is none.
func idBytes(value []byte) ([]byte, bool) {
	id, ok := unquoteBytes(value)
	return id, ok && len(id) > 0
}

// unquoteBytes is unquote without a copy where there is nothing to decode.
func unquoteBytes(value []byte) ([]byte, bool) {
	if n := len(value); n >= 2 && value[0] == '"' && value[n-1] == '"' && bytes.IndexByte(value, '\\') < 0 {
		return value[1 : n-1], true
	}
	s, ok := unquote(value)
	return []byte(s), ok
}

// clip shortens what a message quotes, and makes it safe to print: ids and
// labels may hold anything.
func clip(b []byte) string {
	const most = 60
	text := string(b)
	if len(b) > most {
		text = string(b[:most]) + "…"
	}
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return unicode.ReplacementChar
		}
		return r
	}, text)
}

// lineCounter finds the numbers of lines from their offsets. Offsets rise, but
// for those that look back at the line before.
type lineCounter struct {
	read func(jsonl.Pos) ([]byte, error)
	off  int64 // bytes counted
	line int   // line ends before off
}

// at is the number, from 1, of the line that begins at an offset.
func (c *lineCounter) at(off int64) int {
	if off < c.off {
		c.off, c.line = 0, 0
	}
	for c.off < off {
		b, err := c.read(jsonl.Pos{Off: c.off, Len: int(min(off-c.off, 1<<18))})
		if err != nil {
			break
		}
		c.line += bytes.Count(b, []byte("\n"))
		c.off += int64(len(b))
	}
	return c.line + 1
}
