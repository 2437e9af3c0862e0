package session

import (
	"fmt"
	"iter"
	"path/filepath"
	"time"

	"banyan/internal/jsonl"
	"banyan/internal/store"
	"banyan/internal/tree"
)

// CreateBranchedSession writes the path to an entry into a new session whose
// parent is this one, and returns it opened; dir is as for [New]. A session in
// memory gives one in memory. The zero ID gives an empty session, which is
// nowhere until its first message.
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
	if m.inMemory {
		dir = ""
	} else if m.begun {
		o.Parent = s.Ref()
	}
	fork, err := New(dir, s.Header().Cwd, o)
	if err != nil || leaf == "" {
		return fork, err
	}
	lines, err := s.forked(leaf, m.o.now(), func() ID { return m.newID(nil) })
	if err != nil {
		return nil, fmt.Errorf("forking %s: %w", describeSession(s), err)
	}
	if fork.inMemory {
		return fork, fork.commit(lines, true)
	}
	at := store.Place{Project: dir, ID: fork.header.ID, Time: fork.header.Time}
	path, err := o.Store.Write(at, allLines(fork.held, lines))
	if err != nil {
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

// allLines are the lines of several parts, one after the other.
func allLines(parts ...[][]byte) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for _, part := range parts {
			for _, line := range part {
				if !yield(line, nil) {
					return
				}
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
			line = s.keepFrom(line, path, i, 0)
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
// that the copy has, which begins at from on the path: the first at or after it,
// so that the copy's context is the original's. Where there is none, or it never
// was on the path, nothing is kept.
func (s Snapshot) keepFrom(line []byte, path []tree.Node, i, from int) []byte {
	id, ok := unquote(member(line, "firstKeptEntryId"))
	if !ok || id == "" {
		return line
	}
	w := walk{s: s, path: path}
	at := max(w.firstKept(i, ID(id)), from)
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
	if log, ok := m.log.(interface{ SaveAs(path string) error }); ok && m.begun && m.old == nil {
		err = log.SaveAs(path)
	} else {
		err = m.saveCopy(path)
	}
	if err != nil {
		return fmt.Errorf("saving the session as %s: %w", path, err)
	}
	m.inMemory = false
	m.store, m.path, m.readOnly, m.begun, m.snap = store.Files{FS: m.o.FS}, m.log.Path(), "", true, nil
	return nil
}

// saveCopy writes what is known of a session that has no file, or none in the
// present form.
func (m *Manager) saveCopy(path string) error {
	lines := allLines(m.old, m.held)
	if m.begun && m.old == nil {
		lines = store.Lines(m.log, m.log.Pending(), m.held)
	}
	if err := jsonl.WriteFile(m.o.FS, path, lines); err != nil {
		return err
	}
	log, err := store.Files{FS: m.o.FS}.Open(path, false)
	if err != nil {
		return err
	}
	if err := log.Scan(func(jsonl.Line) bool { return true }); err != nil {
		log.Close()
		return err
	}
	if m.log.Close() != nil {
		m.log.Close() // what it could not save is saved here
	}
	m.use(log)
	m.old, m.held, m.refused = nil, nil, nil
	return nil
}
