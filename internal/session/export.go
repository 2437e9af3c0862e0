package session

import (
	"fmt"
	"io"

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
	scratch := &Manager{o: o, fold: newFold(nil)}
	lines, err := s.forked(leaf, o.now(), func() ID {
		for {
			if id := scratch.newID(nil); s.Node(id) == tree.None {
				return id
			}
		}
	})
	if err != nil {
		return fmt.Errorf("exporting %s: %w", describeSession(s), err)
	}
	for line := range allLines([][]byte{header}, lines) {
		if _, err := w.Write(append(line[:len(line):len(line)], '\n')); err != nil {
			return fmt.Errorf("exporting %s: %w", describeSession(s), err)
		}
	}
	return nil
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
