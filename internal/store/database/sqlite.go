package database

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/driver"
	_ "github.com/ncruces/go-sqlite3/embed" // SQLite itself
	"github.com/pressly/goose/v3"
	"github.com/tetratelabs/wazero"

	"banyan/internal/jsonl"
)

// sqlite is a database in one file. Several processes may use it: SQLite's own
// locks guard the transactions, and ours, in files beside it that are there as
// long as they are held, say who writes a session.
type sqlite struct{ path, cache string }

// load prepares SQLite itself, which is WebAssembly: once a process, as the
// library does with it.
var loaded sync.Once

func (d *sqlite) load() {
	loaded.Do(func() {
		if d.cache != "" {
			kept, err := wazero.NewCompilationCacheWithDir(filepath.Join(d.cache, "sqlite"))
			if err == nil { // else each process prepares it anew
				sqlite3.RuntimeConfig = wazero.NewRuntimeConfig().WithCompilationCache(kept)
			}
		}
		_ = sqlite3.Initialize() // opening tells
	})
}

// Each transaction is synced before it counts. Writers wait for each other a
// little; whoever keeps the file locked for longer is told of.
const sqliteSettings = "_pragma=busy_timeout(1500)&_pragma=journal_mode(wal)&_pragma=synchronous(full)&_pragma=foreign_keys(on)&_txlock=immediate"

func (d *sqlite) schema() schema {
	return schema{goose.DialectSQLite3, "sqlite", `SELECT count(*) = 0 FROM sqlite_master WHERE name = '` + versions + `'`}
}

func (d *sqlite) open(ctx context.Context, make bool) (*sql.DB, error) {
	info, err := os.Stat(d.path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && make:
		if err := d.create(); err != nil {
			return nil, err
		}
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, errors.New("it is not a regular file; give the path of an SQLite file, or of one to be made")
	}
	name := url.URL{Scheme: "file", Path: filepath.ToSlash(d.path), OmitHost: true, RawQuery: sqliteSettings}
	db, err := driver.Open(name.String())
	if err != nil {
		return nil, err
	}
	if err := db.PingContext(ctx); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// create makes the file before SQLite does: for its owner only. SQLite gives
// those beside it the same mode.
func (d *sqlite) create() error {
	if err := os.MkdirAll(filepath.Dir(d.path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(d.path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

func (d *sqlite) alone(ctx context.Context, _ *sql.DB, f func() error) error {
	for {
		unlock, err := d.lockFile("schema")
		if err == nil {
			defer unlock()
			return f()
		}
		if _, held := errors.AsType[*jsonl.HeldError](err); !held {
			return err
		}
		if err := pause(ctx, 20*time.Millisecond); err != nil {
			return err
		}
	}
}

func (d *sqlite) lock(_ context.Context, _ *sql.Conn, path, id string) (func(), error) {
	sum := sha256.Sum256([]byte(id))
	unlock, err := d.lockFile(hex.EncodeToString(sum[:10]))
	if held, ok := errors.AsType[*jsonl.HeldError](err); ok {
		return nil, &jsonl.LockedError{Path: path, Owner: held.Owner}
	}
	if err != nil {
		return nil, fmt.Errorf("lock it: %w", err)
	}
	return unlock, nil
}

// lockFile locks a file beside the database, which it makes. Who unlocks it
// removes it first, so whoever has waited for that looks for a new one.
func (d *sqlite) lockFile(name string) (unlock func(), err error) {
	dir := d.path + "-locks"
	path := filepath.Join(dir, name)
	for range 1000 {
		f, err := jsonl.OS.Open(path, true)
		if errors.Is(err, fs.ErrNotExist) {
			if err := os.MkdirAll(dir, 0o700); err != nil {
				return nil, err
			}
			f, err = jsonl.OS.Create(path)
		}
		if errors.Is(err, fs.ErrExist) || errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if err := f.Lock(); err != nil && !errors.Is(err, jsonl.ErrNoLock) {
			return nil, errors.Join(err, f.Close())
		}
		mine, err := f.Stat()
		if now, gone := jsonl.OS.Stat(path); err == nil && gone == nil && now.ID == mine.ID {
			return func() {
				_ = jsonl.OS.Remove(path)
				_ = f.Close()
				_ = os.Remove(dir) // where it is empty by now
			}, nil
		}
		if err := errors.Join(err, f.Close()); err != nil {
			return nil, err
		}
	}
	return nil, fmt.Errorf("%s changes all the time", path)
}

func (d *sqlite) begin(ctx context.Context, conn *sql.Conn, l newLog, lines [][]byte) (n int64, err error) {
	tx, err := conn.BeginTx(ctx, nil)
	if err != nil {
		return 0, err
	}
	defer tx.Rollback()
	err = tx.QueryRowContext(ctx, insertSession, l.id, l.project, l.parent, l.created, l.now).Scan(&n)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, nil
	}
	if err == nil {
		_, err = d.extend(ctx, tx, n, 0, lines)
	}
	if err == nil {
		err = tx.Commit()
	}
	if err != nil {
		return 0, err
	}
	return n, nil
}

func (d *sqlite) add(ctx context.Context, conn *sql.Conn, n, size int64, lines [][]byte) (bool, error) {
	tx, err := conn.BeginTx(ctx, nil)
	if err != nil {
		return false, err
	}
	defer tx.Rollback()
	fits, err := d.extend(ctx, tx, n, size, lines)
	if err != nil || !fits {
		return false, err
	}
	return true, tx.Commit()
}

// extend adds lines to a log if it has this size.
func (d *sqlite) extend(ctx context.Context, tx *sql.Tx, n, size int64, lines [][]byte) (bool, error) {
	done, err := tx.ExecContext(ctx, `UPDATE banyan_session SET size = $1, changed = $2 WHERE n = $3 AND size = $4`,
		size+length(lines), time.Now().UnixMilli(), n, size)
	if err != nil {
		return false, err
	}
	if rows, err := done.RowsAffected(); err != nil || rows == 0 {
		return false, err
	}
	return true, d.insert(ctx, tx, n, size, lines)
}

func (d *sqlite) insert(ctx context.Context, tx *sql.Tx, n, at int64, lines [][]byte) error {
	insert, err := tx.PrepareContext(ctx, `INSERT INTO banyan_line (session, at, body) VALUES ($1, $2, $3)`)
	if err != nil {
		return err
	}
	defer insert.Close()
	for _, line := range lines {
		if _, err := insert.ExecContext(ctx, n, at, line); err != nil {
			return err
		}
		at += int64(len(line)) + 1
	}
	return nil
}

// length is how many bytes lines have with their line ends.
func length(lines [][]byte) (size int64) {
	for _, line := range lines {
		size += int64(len(line)) + 1
	}
	return size
}

// wait looks again and again, as one does with a file.
func (d *sqlite) wait(ctx context.Context, _ *sql.DB, _ int64, changed func() bool) error {
	for !changed() {
		if err := pause(ctx, 100*time.Millisecond); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// faults are what SQLite's errors mean for who uses the program.
var sqliteFaults = []struct {
	code sqlite3.ErrorCode
	says string
	is   error // besides; may be nil
}{
	{sqlite3.BUSY, "another program has locked the file; what was not saved is tried again", nil},
	{sqlite3.LOCKED, "another program has locked the file; what was not saved is tried again", nil},
	{sqlite3.FULL, "the disk is full; free some space", nil},
	{sqlite3.READONLY, "the file cannot be written; check its permissions and its folder's", fs.ErrPermission},
	{sqlite3.PERM, "the file cannot be used; check its permissions", fs.ErrPermission},
	{sqlite3.CANTOPEN, "the file cannot be opened; check it and its folder", nil},
	{sqlite3.NOTADB, "the file is not an SQLite database; give another path", nil},
	{sqlite3.CORRUPT, "the file is damaged; SQLite's .recover can save what there is", nil},
}

func (d *sqlite) fault(err error) error {
	if errors.As(err, new(*fault)) {
		return err
	}
	for _, f := range sqliteFaults {
		if errors.Is(err, f.code) {
			return &fault{f.says, f.is, err}
		}
	}
	return err
}
