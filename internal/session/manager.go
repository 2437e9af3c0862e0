package session

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"github.com/google/uuid"

	"banyan/internal/jsonl"
	"banyan/internal/store"
	"banyan/internal/store/rows"
	"banyan/internal/tree"
)

// Options say how a session is made or opened. The zero value is for the real world.
type Options struct {
	Store    store.Store      // where new sessions are kept; nil for files
	FS       jsonl.FS         // of those files; nil for the real one
	Now      func() time.Time // nil for time.Now
	NewID    func() string    // nil for random ids
	ReadOnly bool             // look, do not lock, never write
	Parent   string           // parentSession of a new session: path or id
	SessID   string           // id of a new session; empty for a fresh UUIDv7
	Task     *Origin          // of a new session that is a task's; see [Snapshot.OpenTask]
}

// Manager owns one session: its log, tree, leaf and labels. It is not safe for
// concurrent use: one goroutine owns it and hands out [Snapshot] values.
//
// Where an entry is, by its state:
//
//	held     in memory, given to the log with the first entry that makes the
//	         session worth a file (the first message)
//	pending  in memory, the disk has refused it; the log tries again
//	saved    in the file, durable
type Manager struct {
	o        Options
	store    store.Store
	log      store.Log
	inMemory bool // the store is its own, and has no name for it
	header   Header
	path     string
	readOnly string // why it cannot be written
	sealed   string // the part of that which a copy of the file would share

	fold *fold
	leaf tree.Node // where the next entry goes; fold.leaf is where an opening would put it

	held    [][]byte // lines for the log, in order; the header first while there is no file
	refused error    // why held lines are held although they should be in the file
	begun   bool     // the file exists, or should
	old     [][]byte // lines of the migrated form, until it is written
	version int      // of the file while old is not nil
	origin  []int64  // where the lines of old stood in the file, by place in fold.mem
	givenUp bool     // a Close has failed; the next one closes whatever is lost
	closed  bool

	snap *state // the current state, nil after a change
}

// New makes a session for a working directory. It comes into being in its store
// with the first message: as a file in dir, or among the sessions of the project
// that dir names. An empty dir keeps it in memory.
func New(dir, cwd string, o Options) (*Manager, error) {
	if o.SessID == "" {
		o.SessID = o.newSessionID()
	}
	o = o.withDefaults()
	if dir == "" {
		return begin(store.Place{}, cwd, o)
	}
	return begin(store.Place{Project: dir, ID: o.SessID, Time: o.now()}, cwd, o)
}

// begin makes a session that will be at a place in its store; at none, in memory.
func begin(at store.Place, cwd string, o Options) (*Manager, error) {
	if at.Time.IsZero() {
		at.Time = o.now()
	}
	m := &Manager{o: o, store: o.Store, leaf: tree.None}
	m.fold = newFold(nil)
	m.header = Header{ID: o.SessID, Version: Version, Time: at.Time, Cwd: cwd, Parent: o.Parent, Task: o.Task}
	line, err := encodeHeader(m.header)
	if err != nil {
		return nil, fmt.Errorf("beginning a session: %w", err)
	}
	m.held = [][]byte{line}
	if m.inMemory = at.ID == ""; m.inMemory {
		m.store, at.ID = rows.NewMemory(), o.SessID
	}
	log, err := m.store.Create(at)
	if err != nil {
		return nil, fmt.Errorf("beginning a session: %w", err)
	}
	if !m.inMemory {
		m.path = log.Path()
	}
	m.use(log)
	return m, nil
}

// use makes a log the session's. Snapshots keep the one that they were taken
// with: they are read in other goroutines.
func (m *Manager) use(log store.Log) { m.log, m.fold.read = log, log.ReadAt }

func (o Options) withDefaults() Options {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Store == nil {
		o.Store = store.Files{FS: o.FS}
	}
	return o
}

// storeOf is the store that has a path: what is none of a database is a file's.
func (o Options) storeOf(path string) store.Store {
	if o.Store.Has(path) {
		return o.Store
	}
	return store.Files{FS: o.FS}
}

// now is the time as the file can hold it.
func (o Options) now() time.Time { return o.Now().UTC().Truncate(time.Millisecond) }

func (o Options) newSessionID() string {
	id, err := uuid.NewV7()
	if err != nil {
		id = uuid.New()
	}
	return id.String()
}

// newID makes an id that is not in the session, nor in entries that are about to be.
func (m *Manager) newID(coming []Entry) ID {
	taken := func(id ID) bool {
		return slices.ContainsFunc(coming, func(e Entry) bool { return e.ID == id })
	}
	for {
		var id ID
		if m.o.NewID != nil {
			id = ID(m.o.NewID())
		} else {
			id = ID(uuid.NewString()[:8])
		}
		if _, ok := m.fold.resolve(id); !ok && !taken(id) {
			return id
		}
	}
}

// Append adds an entry below the leaf and moves the leaf to it. When it returns
// the entry is durable; if it returns an [*UnsavedError] the entry is in the
// session all the same, in memory, and Unsaved counts it. Kinds that name
// another entry (the target of a Label, the first kept of a Compaction) fail
// where that does not exist.
func (m *Manager) Append(d Data) (Entry, error) {
	entries, err := m.AppendAll(d)
	if len(entries) == 0 {
		return Entry{}, err
	}
	return entries[0], err
}

// AppendAll is Append of several entries in a chain with one sync.
func (m *Manager) AppendAll(ds ...Data) ([]Entry, error) {
	if err := m.writable(); err != nil || len(ds) == 0 {
		return nil, err
	}
	entries, lines, err := m.encode(ds)
	if err != nil {
		return nil, err
	}
	return entries, m.commit(lines, worthAFile(ds))
}

func (m *Manager) writable() error {
	if m.closed {
		return fmt.Errorf("%s: the session is closed: %w", m.path, fs.ErrClosed)
	}
	if m.readOnly != "" {
		return fmt.Errorf("%s cannot be written: %s; fork it to go on in a file of its own: %w", m.path, m.readOnly, jsonl.ErrReadOnly)
	}
	if n, ok := m.fold.resolve(m.fileID(m.leaf)); m.leaf != tree.None && (!ok || n != m.leaf) {
		return fmt.Errorf("entry %s has the id of a later entry of the file, so nothing can be hung below it; fork it to go on there", clip([]byte(m.idOf(m.leaf))))
	}
	return nil
}

// worthAFile tells whether entries are more than the state that a session
// begins with: an empty session leaves no file.
func worthAFile(ds []Data) bool {
	for _, d := range ds {
		switch d.(type) {
		case Message, Command, CustomMessage, BranchSummary, Compaction:
			return true
		}
	}
	return false
}

// encode makes entries in a chain below the leaf, and their lines.
func (m *Manager) encode(ds []Data) ([]Entry, [][]byte, error) {
	entries, lines := make([]Entry, len(ds)), make([][]byte, len(ds))
	parent, inFile := m.idOf(m.leaf), m.fileID(m.leaf)
	now := m.o.now()
	for i, d := range ds {
		id := m.newID(entries[:i])
		d, err := m.complete(d, parent, now)
		if err != nil {
			return nil, nil, err
		}
		entries[i] = Entry{ID: id, Parent: parent, Time: now, Data: d}
		line, err := encodeEntry(Entry{ID: id, Parent: inFile, Time: now, Data: d})
		if err != nil {
			return nil, nil, err
		}
		lines[i] = line
		parent, inFile = id, id
	}
	return entries, lines, nil
}

// complete fills in what an entry takes from its place, and checks what it names.
func (m *Manager) complete(d Data, parent ID, now time.Time) (Data, error) {
	switch d := d.(type) {
	case Message:
		if d.Time.IsZero() {
			d.Time = now
		}
		return d, nil
	case Command:
		if d.Time.IsZero() {
			d.Time = now
		}
		return d, nil
	case BranchSummary:
		if d.From == "" {
			d.From = parent
		}
		return d, nil
	case Label:
		n := m.Snapshot().Node(d.Target)
		if n == tree.None {
			return nil, notFound(m.Snapshot(), d.Target)
		}
		if again, _ := m.fold.resolve(m.fileID(n)); again != n {
			return nil, fmt.Errorf("entry %s has the id of a later entry of the file, so it cannot be labelled", clip([]byte(d.Target)))
		}
		d.Target = m.fileID(n)
		return d, nil
	case Compaction:
		if d.FirstKept == "" {
			return d, nil
		}
		n := m.Snapshot().Node(d.FirstKept)
		if n == tree.None || m.fold.forest.View().Common(n, m.leaf) != n {
			return nil, fmt.Errorf("a compaction cannot keep from entry %s on: it is not on the active path", clip([]byte(d.FirstKept)))
		}
		d.FirstKept = m.fileID(n)
		return d, nil
	}
	return d, nil
}

func notFound(s Snapshot, id ID) error {
	return fmt.Errorf("entry %s not found%s", clip([]byte(id)), s.nearest(string(id)))
}

// commit writes lines and takes them into the session, whatever the disk says.
func (m *Manager) commit(lines [][]byte, begins bool) error {
	pos, err := m.write(lines, begins)
	for i, line := range lines {
		if pos != nil {
			m.fold.line(line, pos[i])
		} else {
			m.fold.line(line, m.fold.mem.add(line))
		}
	}
	m.moveTo(m.fold.leaf)
	if err != nil {
		return &UnsavedError{Count: m.Unsaved(), Err: err}
	}
	return nil
}

// write gives lines to the log. No positions and no error: they are only in
// memory, as they should be.
func (m *Manager) write(lines [][]byte, begins bool) ([]jsonl.Pos, error) {
	if !m.begun && !begins {
		m.held = append(m.held, lines...)
		return nil, nil
	}
	m.begun = true
	m.held = append(m.held, lines...)
	pos, err := m.release()
	if err != nil || len(pos) < len(lines) {
		return nil, err
	}
	return pos[len(pos)-len(lines):], nil
}

// release gives the held lines to the log, which keeps what the disk refuses.
// Only what stands between them and the log leaves them held: a migration that
// fails.
func (m *Manager) release() ([]jsonl.Pos, error) {
	if m.refused = m.migrateFile(); m.refused != nil {
		return nil, m.refused
	}
	for {
		pos, err := m.log.Append(m.held...)
		if _, grown := errors.AsType[*jsonl.GrownError](err); grown {
			if err := m.takeIn(); err != nil {
				m.refused = err
				return nil, err
			}
			continue
		}
		m.held = nil
		return pos, err
	}
}

// takeIn reads what another program has appended. Our leaf stays where it is:
// we go on beside what came in.
func (m *Manager) takeIn() error {
	err := m.log.Grown(func(l jsonl.Line) bool {
		m.fold.line(l.Bytes, l.Pos)
		return true
	})
	m.number()
	m.snap = nil
	return err
}

// Refresh reads what another process has appended to a session that was opened
// read-only, and follows its leaf. It tells whether anything came in.
func (m *Manager) Refresh() (bool, error) {
	if m.readOnly == "" || m.old != nil {
		return false, nil
	}
	before := m.fold.bytes
	follow := m.leaf == m.fold.leaf
	err := m.takeIn()
	if follow {
		m.leaf = m.fold.leaf
	}
	return m.fold.bytes != before, err
}

// Waiter gives a function that returns when Refresh may have something, or with
// the context's error; nil where that can never be. It may be called in one other
// goroutine, until the session is closed or saved elsewhere.
func (m *Manager) Waiter() func(context.Context) error {
	if m.readOnly == "" || m.old != nil {
		return nil
	}
	return m.log.Wait
}

// ErrGone says that a session is not there any more, or another is in its place.
var ErrGone = jsonl.ErrGone

// Branch moves the leaf to an entry, which must exist. It writes nothing.
func (m *Manager) Branch(id ID) error {
	n := m.Snapshot().Node(id)
	if n == tree.None {
		return notFound(m.Snapshot(), id)
	}
	m.moveTo(n)
	return nil
}

// ResetLeaf moves the leaf before the first entry: the next one is a new root.
func (m *Manager) ResetLeaf() { m.moveTo(tree.None) }

func (m *Manager) moveTo(n tree.Node) { m.leaf, m.snap = n, nil }

// BranchWithSummary moves the leaf to an entry (zero: before the first) and
// appends a summary there. Its From is set. Where it fails the leaf stays.
func (m *Manager) BranchWithSummary(to ID, s BranchSummary) (Entry, error) {
	before := m.leaf
	if to == "" {
		m.ResetLeaf()
	} else if err := m.Branch(to); err != nil {
		return Entry{}, err
	}
	s.From = to
	e, err := m.Append(s)
	if e.ID == "" {
		m.moveTo(before)
	}
	return e, err
}

// RemoveLeafMessage moves the leaf from a message, if it is the leaf, to its
// parent: a failed answer stays in the file and leaves the context.
func (m *Manager) RemoveLeafMessage(id ID) bool {
	s := m.Snapshot()
	if m.leaf == tree.None || s.Leaf() != id || s.Class(m.leaf).Kind != (Message{}).kind() {
		return false
	}
	m.moveTo(m.fold.forest.View().Parent(m.leaf))
	return true
}

// SavePosition writes a position record if an opening of the file would put the
// leaf elsewhere. It does nothing where there is no file or it cannot be written.
func (m *Manager) SavePosition() error {
	if m.inMemory || !m.begun || m.leaf == m.fold.leaf || m.writable() != nil {
		return nil
	}
	line, err := encodeEntry(Entry{
		ID:     m.newID(nil),
		Parent: m.fileID(m.leaf), Time: m.o.now(), Data: Custom{Type: PositionType},
	})
	if err != nil {
		return err
	}
	return m.commit([][]byte{line}, true)
}

// Unsaved is the number of entries that are only in memory because the disk refused them.
func (m *Manager) Unsaved() int {
	n := 0
	lines := m.log.Pending()
	if m.refused != nil {
		lines = append(lines[:len(lines):len(lines)], m.held...)
	}
	for _, line := range lines {
		if isEntry(line) {
			n++
		}
	}
	return n
}

// isEntry tells an entry's line from a header's and a position record's.
func isEntry(line []byte) bool {
	h, _ := readHead(line)
	if string(h.kind) != `"custom"` {
		return string(h.kind) != `"session"`
	}
	custom, _ := unquote(field(line, h, "customType"))
	return custom != PositionType
}

// Flush tries again to save them.
func (m *Manager) Flush() error {
	if m.Unsaved() == 0 {
		return nil
	}
	var err error
	if len(m.held) > 0 && m.begun {
		_, err = m.release()
	} else {
		err = m.flushLog()
	}
	if err != nil {
		return &UnsavedError{Count: m.Unsaved(), Err: err}
	}
	return nil
}

func (m *Manager) flushLog() error {
	for {
		_, err := m.log.Flush()
		if _, grown := errors.AsType[*jsonl.GrownError](err); !grown {
			return err
		}
		if err := m.takeIn(); err != nil {
			return err
		}
	}
}

// Notices are what happened to the file that a person should know and that no
// error says, e.g. that a torn last line was saved. Each is told once.
func (m *Manager) Notices() []string {
	return m.log.Notices()
}

// Close saves the position and gives the file back. Where entries cannot be
// saved the error is an [*UnsavedError] and the session stays open, so that
// [Manager.SaveAs] can still save them; a second Close gives them up.
func (m *Manager) Close() error {
	if m.closed || m.inMemory {
		return nil
	}
	_ = m.SavePosition() // a position that cannot be saved is no loss
	err := m.Flush()
	if err != nil && !m.givenUp {
		m.givenUp = true
		return fmt.Errorf("closing the session: %w", err)
	}
	m.closed = true
	closeErr := m.log.Close()
	if _, pending := errors.AsType[*jsonl.PendingError](closeErr); pending {
		closeErr = m.log.Close() // they are entries, which err tells of, or a position
		_, pending = errors.AsType[*jsonl.PendingError](closeErr)
		if pending {
			closeErr = nil
		}
	}
	if err = errors.Join(err, closeErr); err != nil {
		return fmt.Errorf("closing the session: %w", err)
	}
	return nil
}

// Snapshot is the session as it is now, in O(1).
func (m *Manager) Snapshot() Snapshot {
	if m.snap == nil {
		m.snap = m.fold.state()
		m.snap.store, m.snap.ref = m.store, m.ref()
		m.snap.header, m.snap.path, m.snap.readOnly, m.snap.leaf = m.header, m.path, m.readOnly, m.leaf
	}
	return Snapshot{m.snap}
}

// ref is the path of a file that there is, else the id.
func (m *Manager) ref() string {
	if _, file := m.store.(store.Files); file && m.begun {
		return absolute(m.path)
	}
	return m.header.ID
}

func (m *Manager) idOf(n tree.Node) ID {
	if n == tree.None {
		return ""
	}
	return m.fold.ids.view().id(n)
}

// fileID is the id of a node in the file.
func (m *Manager) fileID(n tree.Node) ID {
	if id, ok := m.fold.marks.fileID[n]; ok {
		return id
	}
	return m.idOf(n)
}

// UnsavedError says that the disk refused entries, which stay in memory.
type UnsavedError struct {
	Count int // entries that are only in memory
	Err   error
}

func (e *UnsavedError) Error() string {
	return fmt.Sprintf("%d entries are not saved yet: %v", e.Count, e.Err)
}

func (e *UnsavedError) Unwrap() error { return e.Err }

// NotSessionError says that a file cannot be opened as a session; it was not changed.
type NotSessionError struct {
	Path   string
	Reason string
	Hint   string
}

func (e *NotSessionError) Error() string {
	text := fmt.Sprintf("%s is not a session: %s", e.Path, e.Reason)
	if e.Hint != "" {
		text += ". " + e.Hint
	}
	return text
}
