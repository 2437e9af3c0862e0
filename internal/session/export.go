package session

import (
	"fmt"
	"io"
	"slices"

	"banyan/internal/jsonl"
	"banyan/internal/tree"
)

// ExportPath writes the path to an entry as a session of its own, in JSON
// Lines: what a fork would be, under this session's id. Lines that need no new
// parent are copied byte for byte.
func (s Snapshot) ExportPath(w io.Writer, leaf ID, o Options) error {
	o = o.withDefaults()
	if leaf != "" && s.Node(leaf) == tree.None {
		return notFound(s, leaf)
	}
	header, err := encodeHeader(s.Header())
	if err != nil {
		return err
	}
	lines, err := s.forked(leaf, o.now(), s.newIDs(o))
	if err != nil {
		return fmt.Errorf("exporting %s: %w", describeSession(s), err)
	}
	for line := range allLines([][]byte{header}, lines) {
		if err := s.writeLine(w, line); err != nil {
			return err
		}
	}
	return nil
}

// newIDs makes ids that this session does not have.
func (s Snapshot) newIDs(o Options) func() ID {
	scratch := &Manager{o: o, fold: newFold(nil)}
	return func() ID {
		for {
			if id := scratch.newID(nil); s.Node(id) == tree.None {
				return id
			}
		}
	}
}

func (s Snapshot) writeLine(w io.Writer, line []byte) error {
	if _, err := w.Write(append(line[:len(line):len(line)], '\n')); err != nil {
		return fmt.Errorf("exporting %s: %w", describeSession(s), err)
	}
	return nil
}

// ExportSubtree writes an entry and everything below it as a session of its
// own, in JSON Lines, under this session's id. The entry becomes a root; a
// compaction that kept from above it keeps from it. Labels are written afresh at
// the end, where the leaf is: this session's, or the newest entry there is. It
// takes the memory of one line and a few bytes an entry.
func (s Snapshot) ExportSubtree(w io.Writer, top ID, o Options) error {
	o = o.withDefaults()
	first := s.Node(top)
	if first == tree.None {
		return notFound(s, top)
	}
	header, err := encodeHeader(s.Header())
	if err != nil {
		return err
	}
	if err := s.writeLine(w, header); err != nil {
		return err
	}
	sub := subtree{s: s, first: first, above: make([]tree.Node, s.Len()-int(first))}
	last := tree.None
	for n := range sub.nodes() {
		line, err := sub.line(n)
		if err != nil {
			return fmt.Errorf("exporting %s: %w", describeSession(s), err)
		}
		if err := s.writeLine(w, line); err != nil {
			return err
		}
		last = n
	}
	ends, err := sub.ends(last, o)
	if err != nil {
		return err
	}
	for _, line := range ends {
		if err := s.writeLine(w, line); err != nil {
			return err
		}
	}
	return nil
}

// subtree is a node and all below it, but for labels.
type subtree struct {
	s     Snapshot
	first tree.Node
	// above says of each node from first on what it hangs below here: one that is
	// no label, None for a root, outside for what does not belong here.
	above []tree.Node
}

const outside = tree.None - 1

// nodes are those of the subtree in order of addition, parents first.
func (t subtree) nodes() func(yield func(tree.Node) bool) {
	return func(yield func(tree.Node) bool) {
		view := t.s.Tree()
		for i := range t.above {
			n := t.first + tree.Node(i)
			t.above[i] = outside
			if n == t.first {
				t.above[i] = tree.None
			} else if p := view.Parent(n); p >= t.first {
				t.above[i] = t.kept(p)
			}
			if t.above[i] != outside && t.kept(n) == n && !yield(n) {
				return
			}
		}
	}
}

// kept is a node that stays, or what stays above it.
func (t subtree) kept(n tree.Node) tree.Node {
	above := t.above[n-t.first]
	if above != outside && t.s.Class(n).Kind != (Label{}).kind() {
		return n
	}
	return above
}

// line is a node's line as it stands in the export.
func (t subtree) line(n tree.Node) ([]byte, error) {
	st := t.s.state()
	line, err := st.line(n)
	if err != nil {
		return nil, err
	}
	line = relink(line, t.fileID(t.above[n-t.first]))
	if t.s.Class(n).Kind != (Compaction{}).kind() {
		return line, nil
	}
	path := st.view.Path(n)
	return t.s.keepFrom(line, path, len(path)-1, slices.Index(path, t.first)), nil
}

func (t subtree) fileID(n tree.Node) ID {
	if n == tree.None {
		return ""
	}
	return t.s.state().fileID(n)
}

// ends are the lines after the entries: the labels, and the leaf where that is
// not what stands last.
func (t subtree) ends(last tree.Node, o Options) ([][]byte, error) {
	st := t.s.state()
	leaf := st.leaf
	if leaf < t.first || t.above[leaf-t.first] == outside {
		leaf = st.view.Newest(t.first)
	}
	leaf = t.kept(leaf)
	newID, parent := t.s.newIDs(o), t.fileID(leaf)
	var lines [][]byte
	put := func(d Data) error {
		e := Entry{ID: newID(), Parent: parent, Time: o.now(), Data: d}
		line, err := encodeEntry(e)
		lines, parent = append(lines, line), e.ID
		return err
	}
	for i, above := range t.above {
		n := t.first + tree.Node(i)
		mark, ok := st.marks.labels[n]
		if !ok || above == outside || t.kept(n) != n {
			continue
		}
		if err := put(Label{Target: st.fileID(n), Text: mark.text}); err != nil {
			return nil, err
		}
	}
	if len(lines) == 0 && leaf != last {
		return lines, put(Custom{Type: PositionType})
	}
	return lines, nil
}

// Export copies the session's file, byte for byte.
func (s Snapshot) Export(w io.Writer) error {
	st := s.state()
	for off := int64(0); off < st.bytes; {
		b, err := st.read(jsonl.Pos{Off: off, Len: int(min(st.bytes-off, 1<<18))})
		if err != nil {
			return fmt.Errorf("exporting %s: %w", describeSession(s), err)
		}
		if _, err := w.Write(b); err != nil {
			return fmt.Errorf("exporting %s: %w", describeSession(s), err)
		}
		off += int64(len(b))
	}
	return nil
}
