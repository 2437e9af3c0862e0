package session

import (
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"

	"banyan/internal/jsonl"
	"banyan/internal/llm"
	"banyan/internal/slip"
	"banyan/internal/store"
	"banyan/internal/tree"
)

// Header is a session's first line.
type Header struct {
	ID      string
	Version int // as in the file
	Time    time.Time
	Cwd     string
	Parent  string  // parentSession
	Task    *Origin // nil unless it is the session of a task
}

// Snapshot is a session as it was at one moment: immutable, safe to read
// anywhere. Bodies of entries are read and decoded when asked for. The zero
// value is an empty session.
type Snapshot struct{ s *state }

// state is what a snapshot sees: a fold's arrays up to a length, and its maps,
// which are not changed any more.
type state struct {
	header   Header
	path     string
	store    store.Store
	ref      string
	readOnly string
	leaf     tree.Node

	view     tree.View
	ids      idView
	pos      []jsonl.Pos
	class    []class
	kinds    []string
	mem      memory
	read     func(jsonl.Pos) ([]byte, error)
	marks    marks
	name     string
	problems []Problem
	bytes    int64
}

// state is the fold as it is now, in O(1).
func (f *fold) state() *state {
	f.shared = true
	return &state{
		leaf: f.leaf,
		view: f.forest.View(), ids: f.ids.view(), pos: f.pos, class: f.class, kinds: f.kinds,
		mem: f.mem, read: f.read, marks: f.marks, name: f.name, problems: f.problems, bytes: f.bytes,
	}
}

var emptyState = newFold(nil).state()

func (s Snapshot) state() *state {
	if s.s == nil {
		return emptyState
	}
	return s.s
}

// Header is the session's header.
func (s Snapshot) Header() Header { return s.state().header }

// Path names the session in its store: its file, which may not exist yet. Empty
// in memory.
func (s Snapshot) Path() string { return s.state().path }

// Ref is how another session's header names this one as its parent: the path of
// its file, or its id where it is in a database or in memory.
func (s Snapshot) Ref() string { return s.state().ref }

// Name is the session's name, empty if it has none.
func (s Snapshot) Name() string { return s.state().name }

// Problems were found on opening.
func (s Snapshot) Problems() []Problem { return s.state().problems }

// ReadOnly says why the session cannot be written, empty if it can.
func (s Snapshot) ReadOnly() string { return s.state().readOnly }

// Bytes is the size of the file.
func (s Snapshot) Bytes() int64 { return s.state().bytes }

// Leaf is where the next entry goes; zero before the first.
func (s Snapshot) Leaf() ID { return s.ID(s.state().leaf) }

// Len is the number of entries; position records do not count.
func (s Snapshot) Len() int { return s.state().view.Len() }

// Entry finds an entry. The error is for bodies that can no longer be read.
func (s Snapshot) Entry(id ID) (Entry, bool, error) {
	n := s.Node(id)
	if n == tree.None {
		return Entry{}, false, nil
	}
	e, err := s.EntryAt(n)
	return e, true, err
}

// EntryAt is the entry of a node, which must be one.
func (s Snapshot) EntryAt(n tree.Node) (Entry, error) {
	st := s.state()
	line, err := st.line(n)
	if err != nil {
		return Entry{}, err
	}
	h, _ := readHead(line)
	e := Entry{ID: st.ids.id(n), Time: entryTime(h)}
	if p := st.view.Parent(n); p != tree.None {
		e.Parent = st.ids.id(p)
	}
	kind, _ := unquote(h.kind)
	e.Data = decodeData(kind, line, e.Time)
	return e, nil
}

// Raw is the line of an entry as it stands in the file.
func (s Snapshot) Raw(n tree.Node) ([]byte, error) { return s.state().line(n) }

// line reads an entry's line and makes sure that it still is that entry's:
// another program may have written over the file.
func (st *state) line(n tree.Node) ([]byte, error) {
	line, inMemory := st.mem.at(st.pos[n])
	if inMemory {
		return line, nil
	}
	line, err := st.read(st.pos[n])
	if err != nil {
		return nil, fmt.Errorf("reading entry %s: %w", clip([]byte(st.ids.id(n))), err)
	}
	h, _ := readHead(line)
	if id, ok := unquote(h.id); !ok || ID(id) != st.fileID(n) {
		return nil, fmt.Errorf("reading entry %s of %s: the file was changed by another program; open it again", clip([]byte(st.ids.id(n))), st.path)
	}
	return line, nil
}

// fileID is the id of a node in the file.
func (st *state) fileID(n tree.Node) ID {
	if id, ok := st.marks.fileID[n]; ok {
		return id
	}
	return st.ids.id(n)
}

func entryTime(h head) time.Time {
	ms, ok := parseTime(h.time)
	if !ok {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}

// Branch is the path from a root to an entry, root first; empty for the zero
// ID. It is the specification's getBranch. Bodies are decoded.
func (s Snapshot) Branch(id ID) ([]Entry, error) {
	path := s.nodes(id)
	entries := make([]Entry, len(path))
	for i, n := range path {
		e, err := s.EntryAt(n)
		if err != nil {
			return nil, err
		}
		entries[i] = e
	}
	return entries, nil
}

// PathIDs is Branch without bodies.
func (s Snapshot) PathIDs(id ID) []ID { return s.idsOf(s.nodes(id)) }

// Children are an entry's children, oldest first; the roots for the zero ID.
func (s Snapshot) Children(id ID) []ID {
	n := s.Node(id)
	if n == tree.None && id != "" {
		return nil
	}
	return s.idsOf(s.state().view.Children(n))
}

func (s Snapshot) nodes(id ID) []tree.Node { return s.state().view.Path(s.Node(id)) }

func (s Snapshot) idsOf(nodes []tree.Node) []ID {
	ids := make([]ID, len(nodes))
	for i, n := range nodes {
		ids[i] = s.ID(n)
	}
	return ids
}

// Label is an entry's label, empty if it has none.
func (s Snapshot) Label(id ID) string { return s.state().marks.labels[s.Node(id)].text }

// LabelTime is when an entry's label was set; zero if it has none.
func (s Snapshot) LabelTime(id ID) time.Time {
	m, ok := s.state().marks.labels[s.Node(id)]
	if !ok {
		return time.Time{}
	}
	return time.UnixMilli(s.state().view.Time(m.by)).UTC()
}

// Labels are all labelled entries.
func (s Snapshot) Labels() map[ID]string {
	labels := make(map[ID]string, len(s.state().marks.labels))
	for n, m := range s.state().marks.labels {
		labels[s.ID(n)] = m.text
	}
	return labels
}

// Tree is the shape of the session, for outlines. Node and ID translate.
func (s Snapshot) Tree() tree.View { return s.state().view }

// Node is the node of an entry; [tree.None] for the zero ID and unknown ones.
func (s Snapshot) Node(id ID) tree.Node {
	if id == "" {
		return tree.None
	}
	return s.state().ids.find(id)
}

// ID is the id of a node, zero for [tree.None].
func (s Snapshot) ID(n tree.Node) ID {
	if n == tree.None {
		return ""
	}
	return s.state().ids.id(n)
}

// Class is what the index knows of an entry without its body.
func (s Snapshot) Class(n tree.Node) Class {
	st := s.state()
	c := st.class[n]
	return Class{
		Kind: st.kinds[c.kind], Role: roleNames[c.role],
		HasText: c.flags&hasText != 0, Failed: c.flags&failed != 0,
	}
}

// Class is what the index knows of an entry without its body.
type Class struct {
	Kind string   // entry type
	Role llm.Role // of a message; also "bashExecution", "custom"
	// The following are for assistant messages.
	HasText bool
	Failed  bool // stop reason other than stop and toolUse
}

// Resolve finds the one entry whose id or label begins with text; an id or
// label that is the text wins. "root" is the zero ID. The error lists the
// candidates, or the nearest names where there are none.
func (s Snapshot) Resolve(text string) (ID, error) {
	if text == Root {
		return "", nil
	}
	if text == "" {
		return "", fmt.Errorf("an empty id names no entry")
	}
	if n := s.Node(ID(text)); n != tree.None {
		return ID(text), nil
	}
	var exact, begins []string
	for n, m := range s.state().marks.labels {
		switch {
		case m.text == text:
			exact = append(exact, string(s.ID(n)))
		case strings.HasPrefix(m.text, text):
			begins = append(begins, string(s.ID(n)))
		}
	}
	for n := range tree.Node(s.Len()) {
		if id := string(s.ID(n)); strings.HasPrefix(id, text) {
			begins = append(begins, id)
		}
	}
	for _, found := range [][]string{exact, begins} {
		sort.Strings(found)
		found = slices.Compact(found)
		if len(found) == 1 {
			return ID(found[0]), nil
		}
		if len(found) > 1 {
			return "", fmt.Errorf("%q may be any of %s; give more of it", text, s.list(found))
		}
	}
	return "", fmt.Errorf("no entry has the id or label %q%s", text, s.nearest(text))
}

// list names a few entries, with their labels.
func (s Snapshot) list(ids []string) string {
	const most = 8
	var b strings.Builder
	for i, id := range ids[:min(len(ids), most)] {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(clip([]byte(id)))
		if l := s.Label(ID(id)); l != "" {
			fmt.Fprintf(&b, " [%s]", clip([]byte(l)))
		}
	}
	if len(ids) > most {
		fmt.Fprintf(&b, " and %d more", len(ids)-most)
	}
	return b.String()
}

// nearNames is how many names an error names.
const nearNames = 3

// nearest is a hint at the names most like a text.
func (s Snapshot) nearest(text string) string {
	var names []string
	for _, m := range s.state().marks.labels {
		names = append(names, m.text)
	}
	for n := s.Len() - 1; n >= 0 && len(names) < 10_000; n-- {
		names = append(names, string(s.ID(tree.Node(n))))
	}
	best := slip.Near(text, names, nearNames)
	if len(best) == 0 {
		return "; see the tree for the ids that there are"
	}
	return "; did you mean " + strings.Join(best, ", ") + "?"
}
