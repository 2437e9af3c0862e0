package session

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"banyan/internal/jsonl"
	"banyan/internal/store"
)

// Open opens a session, in a file or in the store of the options. It never
// changes it. Errors name the path and what to do: see [NotSessionError],
// [jsonl.LockedError]. What can be read but not written (no permission, a symbolic link, a newer version, a
// damaged header) is opened read-only, and [Snapshot.ReadOnly] says why.
func Open(path string, o Options) (*Manager, error) {
	o = o.withDefaults()
	log, why, err := openLog(path, o)
	if err != nil {
		return nil, err
	}
	m := &Manager{o: o, store: o.storeOf(path), log: log, path: log.Path(), readOnly: why, begun: true}
	if err := m.load(); err != nil {
		log.Close()
		return nil, err
	}
	if why == "" && m.readOnly != "" {
		// Give the lock back: another program may be able to write this.
		if err := m.reopenReadOnly(); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// lookingOnly is why a session is read-only whose file may be well.
const lookingOnly = "it was opened for looking only"

// openLog opens the file, for writing if it can be written.
func openLog(path string, o Options) (log store.Log, why string, err error) {
	if !o.ReadOnly {
		log, err = o.storeOf(path).Open(path, false)
		if err == nil {
			return log, "", nil
		}
		switch {
		case errors.Is(err, jsonl.ErrSymlink):
			why = "it is a symbolic link, which is read but not written through"
		case errors.Is(err, fs.ErrPermission):
			why = "its permissions do not allow writing"
		case isReadOnlyDisk(err):
			why = "its disk is read-only"
		default:
			return nil, "", openError(path, err)
		}
	} else {
		why = lookingOnly
	}
	log, err = o.storeOf(path).Open(path, true)
	if err != nil {
		return nil, "", openError(path, err)
	}
	return log, why, nil
}

func openError(path string, err error) error {
	if errors.Is(err, jsonl.ErrNotRegular) {
		return &NotSessionError{Path: path, Reason: "not a regular file", Hint: "Give the path of a session file"}
	}
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("there is no session file %s; list the sessions to find the one you mean: %w", path, err)
	}
	if errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("the session file %s cannot be read; check its permissions: %w", path, err)
	}
	return fmt.Errorf("opening a session: %w", err)
}

func (m *Manager) reopenReadOnly() error {
	if err := m.log.Close(); err != nil {
		return fmt.Errorf("opening a session: %w", err)
	}
	log, err := m.store.Open(m.path, true)
	if err != nil {
		return openError(m.path, err)
	}
	if err := log.Scan(func(jsonl.Line) bool { return true }); err != nil {
		return openError(m.path, err)
	}
	m.use(log)
	return nil
}

// load reads the file, once unless an id stands in it twice.
func (m *Manager) load() error {
	l, err := m.scan(true)
	if err == nil && m.fold.twice {
		l, err = m.scan(false)
	}
	if err != nil {
		return err
	}
	if tail := m.log.Tail(); tail.Len > 0 {
		m.fold.problem(tail.Off, problemTorn, fmt.Sprintf("the last line is torn (%d bytes): it was being written when the writer died. It is kept aside at the next append", tail.Len))
		m.fold.bytes = max(m.fold.bytes, tail.Off+int64(tail.Len))
	}
	m.header = l.header
	m.leaf = m.fold.leaf
	if l.migrate != nil {
		m.old, m.version, m.origin = l.migrate.lines, l.header.Version, l.migrate.origin
	}
	m.number()
	m.sealed = l.readOnly
	if m.sealed != "" {
		m.readOnly = m.sealed
	}
	return nil
}

// scan reads all lines into a new fold.
func (m *Manager) scan(lazy bool) (*loader, error) {
	m.fold = newFold(m.log.ReadAt)
	m.fold.lazy = lazy
	l := &loader{fold: m.fold, path: m.path, size: m.log.Extent()}
	if err := m.log.Scan(l.line); err != nil {
		return nil, openError(m.path, err)
	}
	m.fold.settle()
	if m.fold.twice {
		return l, nil
	}
	return l, l.finish()
}

// number gives the problems that have none yet the numbers of their lines.
func (m *Manager) number() {
	f := m.fold
	if f.hidden > 0 && f.problems[len(f.problems)-1].Kind != problemMore {
		f.problems = append(f.problems, Problem{Kind: problemMore, Text: fmt.Sprintf("and %d more problems like these", f.hidden)})
		f.where = append(f.where, f.where[len(f.where)-1])
	}
	counter := lineCounter{read: f.read}
	for i := range f.problems {
		if off, ok := m.inFile(f.where[i]); ok && f.problems[i].Line == 0 {
			f.problems[i].Line = counter.at(off)
		}
	}
}

// inFile is the offset of a line in the file as it was opened; false for lines
// that were not there.
func (m *Manager) inFile(off int64) (int64, bool) {
	if off >= 0 {
		return off, true
	}
	if i := int(-off - 1); i < len(m.origin) {
		return m.origin[i], true
	}
	return 0, false
}

// isReadOnlyDisk tells a file system that is mounted read-only.
func isReadOnlyDisk(err error) bool { return errors.Is(err, syscall.EROFS) }
