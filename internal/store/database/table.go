package database

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"sync/atomic"
	"time"

	"banyan/internal/jsonl"
	"banyan/internal/store"
	"banyan/internal/store/rows"
)

// table is the rows of one log. Its owner writes through one connection, which
// holds the lock; everybody reads through the others.
type table struct {
	store  *Store
	path   string
	id     string
	place  store.Place  // of a log that is made by its first lines
	n      atomic.Int64 // the log's number; 0 before it is there
	writes bool

	conn   *sql.Conn // of the owner, with the lock; nil until it is needed, or when it was lost
	unlock func()
	had    bool // it has had the lock
	begun  bool // its first lines were given to the database, and perhaps taken
}

// writer is the connection that holds the lock. One that was lost is made anew;
// the server may need a moment to see that the old one is gone.
func (t *table) writer(ctx context.Context) (*sql.Conn, error) {
	if t.conn != nil {
		return t.conn, nil
	}
	for tries := 10; ; tries-- {
		err := t.take(ctx)
		_, locked := errors.AsType[*jsonl.LockedError](err)
		switch again := errors.Is(err, rows.ErrLost) || locked && t.had; {
		case err == nil:
			t.had = true
			return t.conn, nil
		case !again || tries == 0:
			return nil, err
		}
		if err := pause(ctx, 20*time.Millisecond); err != nil {
			return nil, err
		}
	}
}

// take takes the lock, on a connection that is kept for it.
func (t *table) take(ctx context.Context) error {
	db, err := t.store.connect(ctx, true)
	if err != nil {
		return err
	}
	conn, err := db.Conn(ctx)
	if err != nil {
		return t.store.dialect.fault(err)
	}
	unlock, err := t.store.dialect.lock(ctx, conn, t.path, t.id)
	if err != nil {
		if err = t.store.dialect.fault(err); errors.Is(err, rows.ErrLost) {
			_ = conn.Raw(func(any) error { return driver.ErrBadConn }) // not to be used again
		}
		return errors.Join(err, ignoreDone(conn.Close()))
	}
	t.conn, t.unlock = conn, unlock
	return nil
}

// ignoreDone drops the error of closing what is closed.
func ignoreDone(err error) error {
	if errors.Is(err, sql.ErrConnDone) {
		return nil
	}
	return err
}

// drop gives up a connection, and its lock with it.
func (t *table) drop() error {
	if t.conn == nil {
		return nil
	}
	t.unlock()
	conn := t.conn
	t.conn = nil
	return ignoreDone(conn.Close())
}

func (t *table) Size() (int64, error) {
	ctx, done := t.store.within(patience)
	defer done()
	return t.size(ctx)
}

func (t *table) size(ctx context.Context) (size int64, err error) {
	err = t.store.ask(ctx, func(db *sql.DB) error {
		return db.QueryRowContext(ctx, `SELECT size FROM banyan_session WHERE n = $1 AND id = $2`, t.n.Load(), t.id).Scan(&size)
	})
	return size, err
}

// selectRows begins with the row that has the byte at $2, or the first behind it.
const selectRows = `SELECT at, body FROM banyan_line WHERE session = $1
	AND at >= coalesce((SELECT max(at) FROM banyan_line WHERE session = $1 AND at <= $2), 0)
	AND at + length(body) >= $2 AND at < $3 ORDER BY at`

func (t *table) Rows(from, to int64, f func(at int64, line []byte) bool) error {
	ctx, done := t.store.within(longPatience)
	defer done()
	// What was given to f is not given again.
	return t.store.ask(ctx, func(db *sql.DB) error {
		found, err := db.QueryContext(ctx, selectRows, t.n.Load(), from, to)
		if err != nil {
			return err
		}
		defer found.Close()
		for found.Next() {
			var at int64
			var body sql.RawBytes
			if err := found.Scan(&at, &body); err != nil {
				return err
			}
			if !f(at, body) {
				return nil
			}
			from = at + int64(len(body)) + 1
		}
		return found.Err()
	})
}

func (t *table) Add(size int64, lines [][]byte) error {
	ctx, done := t.store.within(patience)
	defer done()
	conn, err := t.writer(ctx)
	if err != nil {
		return err
	}
	fits := true
	if t.n.Load() == 0 {
		fits, err = t.begin(ctx, conn, lines)
	} else {
		fits, err = t.store.dialect.add(ctx, conn, t.n.Load(), size, lines)
	}
	switch {
	case err != nil:
		if err = t.store.dialect.fault(err); errors.Is(err, rows.ErrLost) {
			_ = t.drop() // it is dead; the next call makes another
		}
		return err
	case !fits:
		return rows.ErrMoved
	}
	return nil
}

// begin adds the first lines. What is there already may be ours, if an answer
// was lost.
func (t *table) begin(ctx context.Context, conn *sql.Conn, lines [][]byte) (fits bool, err error) {
	maybe := t.begun
	t.begun = true
	n, err := t.store.dialect.begin(ctx, conn, newRow(t.place), lines)
	if err != nil || n != 0 {
		t.n.Store(n)
		return true, err
	}
	if !maybe {
		t.begun = false
		return false, fs.ErrExist
	}
	n, err = t.store.find(ctx, t.id)
	t.n.Store(n)
	return false, err
}

// Replace gives the rows another session's name and puts the new ones in a new
// session under the old name.
func (t *table) Replace(suffix string, lines iter.Seq2[[]byte, error]) (size int64, err error) {
	ctx, done := t.store.within(longPatience)
	defer done()
	conn, err := t.writer(ctx)
	if err != nil {
		return 0, err
	}
	tx, err := conn.BeginTx(ctx, nil)
	if err != nil {
		return 0, t.store.dialect.fault(err)
	}
	defer tx.Rollback()
	n, err := t.setAside(ctx, tx, suffix)
	if err == nil {
		size, err = t.store.fill(ctx, tx, n, lines)
	}
	if err == nil {
		err = tx.Commit()
	}
	if err != nil {
		return 0, t.store.dialect.fault(err)
	}
	t.n.Store(n)
	return size, nil
}

// setAside renames the log to one that is free, and makes an empty one in its place.
func (t *table) setAside(ctx context.Context, tx *sql.Tx, suffix string) (n int64, err error) {
	name := t.id + suffix
	for i := 2; ; i++ {
		var taken int
		if err := tx.QueryRowContext(ctx, `SELECT count(*) FROM banyan_session WHERE id = $1`, name).Scan(&taken); err != nil {
			return 0, err
		}
		if taken == 0 {
			break
		}
		name = fmt.Sprintf("%s%s-%d", t.id, suffix, i)
	}
	var l newLog
	err = tx.QueryRowContext(ctx, `UPDATE banyan_session SET id = $1, older = 1 WHERE n = $2 RETURNING project, parent, created, changed`,
		name, t.n.Load()).Scan(&l.project, &l.parent, &l.created, &l.now)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, fs.ErrNotExist
	}
	if err == nil {
		err = tx.QueryRowContext(ctx, insertSession, t.id, l.project, l.parent, l.created, l.now).Scan(&n)
	}
	return n, err
}

func (t *table) Wait(ctx context.Context, size int64) error {
	changed := func() bool {
		now, err := t.size(ctx)
		return err != nil || now != size
	}
	db, err := t.store.connect(ctx, false)
	if err != nil {
		return pause(ctx, retryAfter)
	}
	return t.store.dialect.wait(ctx, db, t.n.Load(), changed)
}

func (t *table) Close() error { return t.drop() }
