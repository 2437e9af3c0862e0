package session

import (
	"fmt"
	"iter"
	"path/filepath"
	"time"

	"banyan/internal/jsonl"
	"banyan/internal/tree"
)

// CreateBranchedSession writes the path to an entry into a new file in dir
// whose parent is this session, and returns it opened. A session in memory
// gives one in memory. The zero ID gives an empty session, which has no file
// until its first message.
//
// Entries keep their ids and bytes. Labels are left out of the path, and
// labels of entries on it are written afresh at its end.
func (m *Manager) CreateBranchedSession(dir string, leaf ID) (*Manager, error) {
	s := m.Snapshot()
	if leaf != "" && s.Node(leaf) == tree.None {
		return nil, notFound(s, leaf)
	}
	o := m.o
	o.SessID, o.ReadOnly, o.Parent, o.Task = "", false, s.Header().ID, nil
	if m.log == nil {
		dir = ""
	} else if m.begun {
		o.Parent = absolute(m.path)
	}
	fork, err := New(dir, s.Header().Cwd, o)
	if err != nil || leaf == "" {
		return fork, err
	}
	lines, err := s.forked(leaf, m.o.now(), func() ID { return m.newID(nil) })
	if err != nil {
		return nil, fmt.Errorf("forking %s: %w", describeSession(s), err)
	}
	if fork.log == nil {
		return fork, fork.commit(lines, true)
	}
	path := fork.path
	if err := jsonl.WriteFile(o.FS, path, allLines(fork.held[0], lines)); err != nil {
		return nil, fmt.Errorf("forking %s: %w", describeSession(s), err)
	}
	return Open(path, o)
}

// describeSession names a session in errors.
func describeSession(s Snapshot) string {
	if s.Path() != "" {
		return s.Path()
	}
	return "the session " + s.Header().ID
}

func absolute(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}

func allLines(header []byte, lines [][]byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		if !yield(header) {
			return
		}
		for _, line := range lines {
			if !yield(line) {
				return
			}
		}
	}
}

// forked is the path to an entry as the lines of a session of its own.
func (s Snapshot) forked(leaf ID, now time.Time, newID func() ID) ([][]byte, error) {
	st := s.state()
	var lines [][]byte
	var kept []tree.Node
	path := st.view.Path(s.Node(leaf))
	for i, n := range path {
		if s.Class(n).Kind == (Label{}).kind() {
			continue
		}
		line, err := st.line(n)
		if err != nil {
			return nil, err
		}
		var parent ID
		if len(kept) > 0 {
			parent = st.fileID(kept[len(kept)-1])
		}
		if line = relink(line, parent); s.Class(n).Kind == (Compaction{}).kind() {
			line = s.keepFrom(line, path, i)
		}
		lines, kept = append(lines, line), append(kept, n)
	}
	if len(kept) == 0 {
		return lines, nil
	}
	parent := st.fileID(kept[len(kept)-1])
	for _, n := range kept {
		mark, ok := st.marks.labels[n]
		if !ok {
			continue
		}
		e := Entry{ID: newID(), Parent: parent, Time: now, Data: Label{Target: st.fileID(n), Text: mark.text}}
		line, err := encodeEntry(e)
		if err != nil {
			return nil, err
		}
		lines, parent = append(lines, line), e.ID
	}
	return lines, nil
}

// relink hangs an entry's line below an entry, unless it hangs there already.
func relink(line []byte, parent ID) []byte {
	h, _ := readHead(line)
	if id, _ := unquote(h.parent); ID(id) == parent {
		return line
	}
	value, _ := marshal(parent)
	if parent == "" {
		value = []byte("null")
	}
	return setMember(line, "parentId", value)
}

// keepFrom maps the first kept entry of a compaction, at i on the path, to one
// that the fork has: the first at or after it, so that the fork's context is the
// original's. Where there is none, or it never was on the path, nothing is kept.
func (s Snapshot) keepFrom(line []byte, path []tree.Node, i int) []byte {
	id, ok := unquote(member(line, "firstKeptEntryId"))
	if !ok || id == "" {
		return line
	}
	w := walk{s: s, path: path}
	at := w.firstKept(i, ID(id))
	for at < i && s.Class(path[at]).Kind == (Label{}).kind() {
		at++
	}
	to := s.state().fileID(path[at])
	if to == ID(id) {
		return line
	}
	value, _ := marshal(to)
	return setMember(line, "firstKeptEntryId", value)
}

// SaveAs writes the whole session, unsaved entries included, to a new file and
// goes on there, writing. It is for full disks, and for sessions in memory.
func (m *Manager) SaveAs(path string) error {
	if m.sealed != "" {
		return fmt.Errorf("%s cannot be gone on with in a copy: %s", m.path, m.sealed)
	}
	var err error
	if m.log != nil && m.begun && m.old == nil {
		err = m.log.SaveAs(path)
	} else {
		err = m.saveCopy(path)
	}
	if err != nil {
		return fmt.Errorf("saving the session as %s: %w", path, err)
	}
	m.path, m.readOnly, m.begun, m.snap = m.log.Path(), "", true, nil
	return nil
}

// saveCopy writes what is in memory: the held lines, the migrated form, or a
// session that never had a file.
func (m *Manager) saveCopy(path string) error {
	lines := append(m.old[:len(m.old):len(m.old)], m.held...)
	if m.log == nil {
		lines = append(lines, m.fold.mem...)
	}
	err := jsonl.WriteFile(m.o.FS, path, func(yield func([]byte) bool) {
		for _, line := range lines {
			if !yield(line) {
				return
			}
		}
	})
	if err != nil {
		return err
	}
	log, err := jsonl.Open(path, jsonl.Options{FS: m.o.FS})
	if err != nil {
		return err
	}
	if err := log.Scan(func(jsonl.Line) bool { return true }); err != nil {
		log.Close()
		return err
	}
	if m.log != nil {
		m.log.Close()
	}
	m.use(log)
	m.old, m.held, m.refused = nil, nil, nil
	return nil
}
