package database

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"strings"
	"sync"
	"time"

	"banyan/internal/jsonl"
	"banyan/internal/store"
	"banyan/internal/store/rows"
)

// Store is a database with sessions.
type Store struct {
	dialect dialect
	name    string

	mu  sync.Mutex
	db  *sql.DB // nil until there is a connection and the schema is right
	old bool    // there has been one
}

// dialect is what the databases do differently. Times are Unix ms.
type dialect interface {
	// load does what is done once a process, however long it takes.
	load()
	// open makes a pool of connections to the database, which is made if that is
	// asked for and possible, and tells whether it answers. Without one the error
	// is an [fs.ErrNotExist].
	open(ctx context.Context, make bool) (*sql.DB, error)
	// alone calls f while nobody else migrates.
	alone(ctx context.Context, db *sql.DB, f func() error) error
	schema() schema
	// lock takes the lock of a log's only writer, on the connection if it has
	// one, or fails with a [*jsonl.LockedError].
	lock(ctx context.Context, conn *sql.Conn, path, id string) (unlock func(), err error)
	// begin makes a log with its first lines, in one transaction; n is 0 where
	// there is one with this id.
	begin(ctx context.Context, conn *sql.Conn, l newLog, lines [][]byte) (n int64, err error)
	// add adds lines to a log of a size, in one transaction; false where it has another.
	add(ctx context.Context, conn *sql.Conn, n, size int64, lines [][]byte) (bool, error)
	// insert adds lines at an offset within a transaction.
	insert(ctx context.Context, tx *sql.Tx, n, at int64, lines [][]byte) error
	// wait returns when a log may have another size than it had.
	wait(ctx context.Context, db *sql.DB, n int64, changed func() bool) error
	// fault says what an error of the database means.
	fault(error) error
}

// newLog is what a row says of a log that is made.
type newLog struct {
	id, project, parent string
	created, now        int64
}

func newRow(at store.Place) newLog {
	l := newLog{id: at.ID, project: at.Project, created: at.Time.UnixMilli(), now: time.Now().UnixMilli()}
	if at.Parent != "" {
		l.parent, l.project = idIn(at.Parent), ""
	}
	if at.Time.IsZero() {
		l.created = l.now
	}
	return l
}

// keep is how many bytes of a session stay in memory while it is open: all of
// nearly every one, so that it can be gone on with while the server is away.
const keep = 64 << 20

// How long is waited for a database, so that one that hangs holds nobody up for
// ever: connecting and small questions, and reading or writing a whole log.
const (
	patience     = 10 * time.Second
	longPatience = 5 * time.Minute
)

func (s *Store) Name() string { return s.name }

func (s *Store) Has(path string) bool { return strings.HasPrefix(path, s.name+"#") }

func (s *Store) Keeps(path string) bool { return s.Has(path) }

func (s *Store) Path(at store.Place) string { return s.name + "#" + at.ID }

func idIn(path string) string { return path[strings.LastIndexByte(path, '#')+1:] }

// within gives one so much time, not counting what is done once a process.
func (s *Store) within(d time.Duration) (context.Context, context.CancelFunc) {
	s.dialect.load()
	return context.WithTimeout(context.Background(), d)
}

// connect gives the database, and brings its tables up to date if it is the
// first to look. Only with make is a file made that is not there.
func (s *Store) connect(ctx context.Context, make bool) (*sql.DB, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.db != nil {
		return s.db, nil
	}
	db, err := s.dialect.open(ctx, make)
	if err != nil {
		return nil, s.dialect.fault(err)
	}
	if err := s.migrate(ctx, db); err != nil {
		return nil, errors.Join(s.dialect.fault(err), db.Close())
	}
	s.db, s.old = db, true
	return db, nil
}

// ask asks the database something that changes nothing, again where a connection
// turns out to be dead: after a restart of the server all are that were idle.
func (s *Store) ask(ctx context.Context, question func(*sql.DB) error) error {
	for tries := 10; ; tries-- {
		db, err := s.connect(ctx, false)
		if err != nil {
			return err
		}
		err = question(db)
		if errors.Is(err, sql.ErrNoRows) {
			return fs.ErrNotExist
		}
		if err = s.dialect.fault(err); !errors.Is(err, rows.ErrLost) || tries == 0 {
			return err
		}
	}
}

// find looks for a log.
func (s *Store) find(ctx context.Context, id string) (n int64, err error) {
	err = s.ask(ctx, func(db *sql.DB) error {
		return db.QueryRowContext(ctx, `SELECT n FROM banyan_session WHERE id = $1`, id).Scan(&n)
	})
	return n, err
}

// describe says what was being done to which log, unless the error does.
func describe(doing, path string, err error) error {
	if _, locked := errors.AsType[*jsonl.LockedError](err); locked {
		return err
	}
	return fmt.Errorf("%s %s: %w", doing, path, err)
}

// Create makes a log. Where the database is away for the moment that is no
// obstacle: the first append will tell.
func (s *Store) Create(at store.Place) (store.Log, error) {
	ctx, done := s.within(patience)
	defer done()
	_, err := s.connect(ctx, true)
	if err == nil {
		_, err = s.find(ctx, at.ID)
	}
	switch {
	case err == nil:
		return nil, fmt.Errorf("create %s: %w", s.Path(at), fs.ErrExist)
	case !errors.Is(err, fs.ErrNotExist) && !s.wasThere():
		return nil, fmt.Errorf("create %s: %w", s.Path(at), err)
	}
	t := &table{store: s, path: s.Path(at), id: at.ID, place: at, writes: true}
	return rows.NewLog(t, s.Path(at), false, true, keep), nil
}

func (s *Store) wasThere() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.old
}

func (s *Store) Open(path string, readOnly bool) (store.Log, error) {
	ctx, done := s.within(patience)
	defer done()
	t := &table{store: s, path: path, id: idIn(path), writes: !readOnly}
	n, err := s.find(ctx, t.id)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	t.n.Store(n)
	if !readOnly {
		if _, err := t.writer(ctx); err != nil {
			return nil, describe("open", path, err)
		}
	}
	return rows.NewLog(t, path, readOnly, false, keep), nil
}

// Write puts a whole log into one transaction.
func (s *Store) Write(at store.Place, lines iter.Seq2[[]byte, error]) (string, error) {
	path := s.Path(at)
	ctx, done := s.within(longPatience)
	defer done()
	_, err := s.connect(ctx, true)
	var tx *sql.Tx
	if err == nil {
		err = s.ask(ctx, func(db *sql.DB) (err error) {
			tx, err = db.BeginTx(ctx, nil)
			return err
		})
	}
	if err != nil {
		return "", fmt.Errorf("write %s: %w", path, err)
	}
	defer tx.Rollback()
	l := newRow(at)
	var n int64
	err = tx.QueryRowContext(ctx, insertSession, l.id, l.project, l.parent, l.created, l.now).Scan(&n)
	if errors.Is(err, sql.ErrNoRows) {
		return "", fmt.Errorf("write %s: %w", path, fs.ErrExist)
	}
	if err == nil {
		_, err = s.fill(ctx, tx, n, lines)
	}
	if err == nil {
		err = tx.Commit()
	}
	if err != nil {
		return "", fmt.Errorf("write %s: %w", path, s.dialect.fault(err))
	}
	return path, nil
}

const insertSession = `INSERT INTO banyan_session (id, project, parent, created, changed)
	VALUES ($1, $2, $3, $4, $5) ON CONFLICT (id) DO NOTHING RETURNING n`

// fillSize is how many bytes of lines are given to the database at once, about.
const fillSize = 1 << 20

// fill puts all lines of a log that is empty into it, and returns its size.
func (s *Store) fill(ctx context.Context, tx *sql.Tx, n int64, lines iter.Seq2[[]byte, error]) (int64, error) {
	var some [][]byte
	var at, size int64
	put := func() error {
		err := s.dialect.insert(ctx, tx, n, at, some)
		some, at = nil, size
		return err
	}
	for line, err := range lines {
		if err != nil {
			return 0, err
		}
		some = append(some, append([]byte{}, line...))
		if size += int64(len(line)) + 1; size-at > fillSize {
			if err := put(); err != nil {
				return 0, err
			}
		}
	}
	if err := put(); err != nil {
		return 0, err
	}
	_, err := tx.ExecContext(ctx, `UPDATE banyan_session SET size = $1 WHERE n = $2`, size, n)
	return size, err
}

const selectInfo = `SELECT id, project, size, changed FROM banyan_session WHERE older = 0 AND `

func (s *Store) List(project string) ([]store.Info, error) {
	if project == "" {
		return s.infos(selectInfo + `parent = ''`)
	}
	return s.infos(selectInfo+`parent = '' AND (project = $1 OR project = '')`, project)
}

func (s *Store) Children(parent string) ([]store.Info, error) {
	if parent == "" {
		return s.infos(selectInfo + `parent <> ''`)
	}
	return s.infos(selectInfo+`parent = $1`, idIn(parent))
}

// infos asks for logs; a database that is not there has none.
func (s *Store) infos(query string, args ...any) (infos []store.Info, err error) {
	ctx, done := s.within(patience)
	defer done()
	err = s.ask(ctx, func(db *sql.DB) error {
		infos = nil
		found, err := db.QueryContext(ctx, query, args...)
		if err != nil {
			return err
		}
		defer found.Close()
		for found.Next() {
			var in store.Info
			var changed int64
			if err := found.Scan(&in.ID, &in.Project, &in.Size, &changed); err != nil {
				return err
			}
			in.Path, in.Changed = s.Path(store.Place{ID: in.ID}), time.UnixMilli(changed)
			infos = append(infos, in)
		}
		return found.Err()
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", s.name, err)
	}
	return infos, nil
}

// Delete removes a log under its lock.
func (s *Store) Delete(path string) error {
	ctx, done := s.within(patience)
	defer done()
	t := &table{store: s, path: path, id: idIn(path), writes: true}
	n, err := s.find(ctx, t.id)
	if err != nil {
		return fmt.Errorf("delete %s: %w", path, err)
	}
	conn, err := t.writer(ctx)
	if err != nil {
		return describe("delete", path, err)
	}
	defer t.Close()
	if _, err := conn.ExecContext(ctx, `DELETE FROM banyan_session WHERE n = $1`, n); err != nil {
		return fmt.Errorf("delete %s: %w", path, s.dialect.fault(err))
	}
	return nil
}

func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.db == nil {
		return nil
	}
	db := s.db
	s.db = nil
	return db.Close()
}
