package session

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"

	"banyan/internal/jsonl"
	"banyan/internal/tree"
)

// Open opens a session file. It never changes the file. Errors name the path
// and what to do: see [NotSessionError], [jsonl.LockedError]. A file that can be
// read but not written (no permission, a symbolic link, a newer version, a
// damaged header) is opened read-only, and [Snapshot.ReadOnly] says why.
func Open(path string, o Options) (*Manager, error) {
	o = o.withDefaults()
	log, why, err := openLog(path, o)
	if err != nil {
		return nil, err
	}
	m := &Manager{o: o, log: log, path: log.Path(), readOnly: why, begun: true}
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

// openLog opens the file, for writing if it can be written.
func openLog(path string, o Options) (log *jsonl.Log, why string, err error) {
	if !o.ReadOnly {
		log, err = jsonl.Open(path, jsonl.Options{FS: o.FS})
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
		why = "it was opened for looking only"
	}
	log, err = jsonl.Open(path, jsonl.Options{FS: o.FS, ReadOnly: true})
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
	log, err := jsonl.Open(m.path, jsonl.Options{FS: m.o.FS, ReadOnly: true})
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
	if m.readOnly == "" {
		m.readOnly = m.sealed
	}
	return nil
}

// size is the file's size as far as that can be told without opening it.
func (m *Manager) size() int64 {
	fsys := m.o.FS
	if fsys == nil {
		fsys = jsonl.OS
	}
	info, err := fsys.Stat(m.path)
	if err != nil {
		return 0
	}
	return info.Size
}

func (m *Manager) scan(lazy bool) (*loader, error) {
	m.fold = newFold(m.log.ReadAt)
	m.fold.lazy = lazy
	l := &loader{fold: m.fold, path: m.path, size: m.size()}
	if err := m.log.Scan(l.line); err != nil {
		return nil, openError(m.path, err)
	}
	m.fold.settle()
	if m.fold.twice {
		return l, nil
	}
	return l, l.finish()
}

// loader takes the lines of a file, from its first on: title, header, entries.
type loader struct {
	fold *fold
	path string
	size int64 // of the file in bytes, 0 where it is not known

	header   Header
	found    bool // the header, or an entry that must do without one
	readOnly string
	count    int // lines so far
	lost     int // of them unreadable, before anything was found
	last     lastLine
	migrate  *migration // nil where the file is as we would write it
	title    []byte     // oh-my-pi's title line
}

type lastLine struct {
	pos   jsonl.Pos
	entry bool
}

// sample is after how many lines the number of all lines is estimated.
const sample = 512

// hopeless is after how many lines without a session in them a file is given up.
const hopeless = 1000

func (l *loader) line(in jsonl.Line) bool {
	if l.fold.twice {
		return false
	}
	l.count++
	if l.count == sample {
		// The lines so far tell how many there will be, about.
		l.fold.grow(int(min(l.size/(in.Off/sample+1), 1<<20)) * 21 / 20)
	}
	l.last = lastLine{in.Pos, l.found}
	if l.found {
		l.entry(in)
		return true
	}
	if l.count == 1 {
		if title, ok := readTitle(in.Bytes); ok {
			l.fold.name = strings.TrimSpace(title)
			l.title = append([]byte(nil), in.Bytes...)
			return true
		}
	}
	if h, title, flaws, ok := readHeader(in.Bytes); ok {
		l.begin(h, in, flaws)
		if title = strings.TrimSpace(title); title != "" {
			l.fold.name = title
		}
		return true
	}
	if version, ok := entryVersion(in.Bytes); ok {
		l.begin(Header{Version: version}, in, []string{"the file has no header before its first entry"})
		l.entry(in)
		return true
	}
	l.lost++
	l.fold.lost(in.Pos, problemDamaged, "the line is neither a header nor an entry")
	return l.lost < hopeless
}

// begin takes the header. A session whose header has flaws can be read, not
// written: it is not certain what else is wrong.
func (l *loader) begin(h Header, in jsonl.Line, flaws []string) {
	l.found = true
	l.fold.bytes = in.Off + int64(in.Len) + 1
	if l.lost > 0 {
		flaws = append(flaws, "lines stand before the header that are not a session's")
	}
	for _, flaw := range flaws {
		l.fold.problem(in.Off, problemHeader, flaw)
	}
	switch {
	case h.Version > Version:
		l.readOnly = "it was written by a newer version of the format; update this program"
	case len(flaws) > 0:
		l.readOnly = "its header is damaged (" + strings.Join(flaws, "; ") + "); `agent session repair` writes a mended copy"
	}
	if h.ID == "" {
		h.ID = idOfFile(l.path)
	}
	l.header = h
	if h.Version < Version || dialect(in.Bytes) {
		l.migrate = newMigration(h, l.fold, l.title, in.Bytes)
	}
}

// entry takes a line after the header.
func (l *loader) entry(in jsonl.Line) {
	head, ok := readHead(in.Bytes)
	switch {
	case ok && string(head.kind) == `"session"` && isHeader(in.Bytes):
		l.fold.problem(in.Off, problemHeader2, "another header stands in the middle of the file")
		if l.migrate != nil {
			l.migrate.skip(in.Bytes)
		}
	case l.migrate != nil:
		l.migrate.entry(in)
	default:
		l.fold.headed(in.Bytes, head, ok, in.Pos)
	}
}

func isHeader(line []byte) bool {
	_, _, _, ok := readHeader(line)
	return ok
}

// entryVersion tells whether a line is an entry, of which version, for files
// that have lost their header: any JSON with a type and a time might be
// anybody's, so the type must be ours.
func entryVersion(line []byte) (int, bool) {
	h, ok := readHead(line)
	kind, _ := unquote(h.kind)
	if _, known := kinds[kind]; !ok || !known || !json.Valid(line) {
		return 0, false
	}
	if h.id == nil {
		return 1, true
	}
	return Version, true
}

// finish looks at the file as a whole.
func (l *loader) finish() error {
	if !l.found {
		reason, hint := "it is empty", "Start a new session, or give another file"
		if l.count > 0 {
			reason, hint = "no line of it is a session's header or entry", "Give the path of a session file"
		}
		return &NotSessionError{Path: l.path, Reason: reason, Hint: hint}
	}
	if l.last.entry && l.migrate == nil && l.fold.last != tree.None {
		if line, err := l.fold.raw(l.last.pos); err == nil && !json.Valid(line) && !l.fold.damaged {
			l.fold.problem(l.last.pos.Off, problemDamaged, "the last line begins as an entry but is not JSON")
		}
	}
	return nil
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
