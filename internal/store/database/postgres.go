package database

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"net"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"

	"banyan/internal/jsonl"
	"banyan/internal/store/rows"
)

// postgres is a database of a server. Passwords come from the URL, from
// PGPASSWORD or from ~/.pgpass, as with all of PostgreSQL's programs.
type postgres struct{ config *pgx.ConnConfig }

func openPostgres(text string) (*Store, error) {
	config, err := pgx.ParseConfig(text)
	if err != nil {
		return nil, fmt.Errorf("the PostgreSQL URL %s makes no sense: %w", Mask(text), errors.Unwrap(err))
	}
	if config.Database == "" {
		return nil, fmt.Errorf("the PostgreSQL URL %s names no database: give postgres://HOST/DATABASE", Mask(text))
	}
	if config.ConnectTimeout == 0 {
		config.ConnectTimeout = patience / 2
	}
	host, _ := os.Hostname()
	set := func(name, value string) {
		if _, given := config.RuntimeParams[name]; !given {
			config.RuntimeParams[name] = value
		}
	}
	set("application_name", fmt.Sprintf("banyan pid %d on %s", os.Getpid(), host))
	// So that the server finds out within a minute about who is gone without a
	// word, and gives the lock back.
	set("tcp_keepalives_idle", "30")
	set("tcp_keepalives_interval", "10")
	set("tcp_keepalives_count", "3")
	where := config.Host
	if !strings.HasPrefix(where, "/") {
		where = net.JoinHostPort(where, strconv.Itoa(int(config.Port)))
	}
	return &Store{dialect: &postgres{config}, name: "postgres://" + where + "/" + config.Database}, nil
}

func (d *postgres) load() {}

func (d *postgres) schema() schema {
	return schema{goose.DialectPostgres, "postgres", `SELECT to_regclass('` + versions + `') IS NULL`}
}

func (d *postgres) open(ctx context.Context, _ bool) (*sql.DB, error) {
	db := stdlib.OpenDB(*d.config)
	db.SetConnMaxIdleTime(time.Minute)
	if err := db.PingContext(ctx); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// lockKey is the advisory lock of a log: they have numbers, not names.
func lockKey(id string) int64 {
	h := fnv.New64a()
	h.Write([]byte("banyan:" + id))
	return int64(h.Sum64())
}

func (d *postgres) alone(ctx context.Context, db *sql.DB, f func() error) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	key := lockKey("")
	if _, err := conn.ExecContext(ctx, `SELECT pg_advisory_lock($1)`, key); err != nil {
		return err
	}
	err = f()
	_, unlockErr := conn.ExecContext(ctx, `SELECT pg_advisory_unlock($1)`, key)
	return errors.Join(err, unlockErr)
}

// tryLock takes the lock, and makes sure that on this connection an answer means
// durable, also where a server is set up otherwise.
const tryLock = `SELECT pg_try_advisory_lock($1),
	set_config('synchronous_commit', CASE current_setting('synchronous_commit') WHEN 'off' THEN 'on' ELSE current_setting('synchronous_commit') END, false)`

const lockOwner = `SELECT coalesce(a.application_name, '') FROM pg_locks l JOIN pg_stat_activity a USING (pid)
	WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 1 AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
	AND l.classid::bigint = (($1::bigint >> 32) & 4294967295) AND l.objid::bigint = ($1::bigint & 4294967295)`

func (d *postgres) lock(ctx context.Context, conn *sql.Conn, path, id string) (func(), error) {
	key := lockKey(id)
	var got bool
	var ignored string
	if err := conn.QueryRowContext(ctx, tryLock, key).Scan(&got, &ignored); err != nil {
		return nil, err
	}
	if !got {
		var owner string
		if err := conn.QueryRowContext(ctx, lockOwner, key).Scan(&owner); err != nil || owner == "" {
			owner = "the server does not say which"
		}
		return nil, &jsonl.LockedError{Path: path, Owner: strings.TrimPrefix(owner, "banyan ")}
	}
	return func() {
		ctx, done := context.WithTimeout(context.Background(), patience)
		defer done()
		if _, err := conn.ExecContext(ctx, `SELECT pg_advisory_unlock($1)`, key); err != nil {
			// What is not given back goes with the connection.
			_ = conn.Raw(func(any) error { return driver.ErrBadConn })
		}
	}, nil
}

// A begin or an add is one statement, which is a transaction and one way to the
// server and back.
const (
	beginLog = `WITH s AS (
		INSERT INTO banyan_session (id, project, parent, created, changed, size) VALUES ($1, $2, $3, $4, $5, $6)
		ON CONFLICT (id) DO NOTHING RETURNING n
	), l AS (
		INSERT INTO banyan_line (session, at, body) SELECT s.n, l.at, l.body FROM s, unnest($7::bigint[], $8::bytea[]) AS l (at, body)
	) SELECT n FROM s`
	addLines = `WITH s AS (
		UPDATE banyan_session SET size = $1, changed = $2 WHERE n = $3 AND size = $4 RETURNING n
	), l AS (
		INSERT INTO banyan_line (session, at, body) SELECT s.n, l.at, l.body FROM s, unnest($5::bigint[], $6::bytea[]) AS l (at, body)
	) SELECT n FROM s`
	insertLines = `INSERT INTO banyan_line (session, at, body) SELECT $1, l.at, l.body FROM unnest($2::bigint[], $3::bytea[]) AS l (at, body)`
)

// offsets are where lines stand, the first at an offset.
func offsets(at int64, lines [][]byte) []int64 {
	all := make([]int64, len(lines))
	for i, line := range lines {
		all[i] = at
		at += int64(len(line)) + 1
	}
	return all
}

func (d *postgres) begin(ctx context.Context, conn *sql.Conn, l newLog, lines [][]byte) (n int64, err error) {
	err = conn.QueryRowContext(ctx, beginLog, l.id, l.project, l.parent, l.created, l.now, length(lines), offsets(0, lines), lines).Scan(&n)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, nil
	}
	return n, err
}

func (d *postgres) add(ctx context.Context, conn *sql.Conn, n, size int64, lines [][]byte) (bool, error) {
	err := conn.QueryRowContext(ctx, addLines, size+length(lines), time.Now().UnixMilli(), n, size, offsets(size, lines), lines).Scan(&n)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil, err
}

func (d *postgres) insert(ctx context.Context, tx *sql.Tx, n, at int64, lines [][]byte) error {
	_, err := tx.ExecContext(ctx, insertLines, n, offsets(at, lines), lines)
	return err
}

// wait listens to what the server tells of a log. Who begins to listen looks
// first: what was told before is not told again.
func (d *postgres) wait(ctx context.Context, db *sql.DB, n int64, changed func() bool) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return pause(ctx, retryAfter)
	}
	defer conn.Close()
	if _, err := conn.ExecContext(ctx, fmt.Sprintf(`LISTEN banyan_%d`, n)); err != nil {
		return pause(ctx, retryAfter)
	}
	if changed() {
		return ctx.Err()
	}
	_ = conn.Raw(func(c any) error {
		_, err = c.(*stdlib.Conn).Conn().WaitForNotification(ctx)
		return driver.ErrBadConn // nobody else is to hear what this one listens to
	})
	if err != nil && ctx.Err() == nil {
		return pause(ctx, retryAfter)
	}
	return ctx.Err()
}

// postgresFaults are what the server's errors mean for who uses the program, by
// the beginnings of their codes.
var postgresFaults = []struct {
	code, says string
	is         error // besides; may be nil
}{
	{"28", "the server does not let this user in; check user and password (PGPASSWORD, ~/.pgpass)", nil},
	{"3D", "the server has no such database; make it with createdb", nil},
	{"42501", "this user may not write here", fs.ErrPermission},
	{"25006", "the server takes no writes (it is a standby, or read-only)", fs.ErrPermission},
	{"53100", "the server's disk is full; what was not saved is tried again", nil},
	{"53", "the server has no room at the moment; what was not saved is tried again", nil},
	{"57P0", "the server is shutting down or starting; what was not saved is tried again", rows.ErrLost},
	{"08", "the connection to the server was lost; what was not saved is tried again", rows.ErrLost},
}

func (d *postgres) fault(err error) error {
	if errors.As(err, new(*fault)) {
		return err
	}
	if answer, ok := errors.AsType[*pgconn.PgError](err); ok {
		for _, f := range postgresFaults {
			if strings.HasPrefix(answer.Code, f.code) {
				return &fault{f.says, f.is, answer}
			}
		}
		return err
	}
	if _, connecting := errors.AsType[*pgconn.ConnectError](err); connecting {
		return &fault{"the server does not answer; what was not saved is tried again", nil, err}
	}
	if lost(err) {
		return &fault{"the connection to the server was lost; what was not saved is tried again", rows.ErrLost, err}
	}
	return err
}

// lost tells the errors of connections from all others.
func lost(err error) bool {
	_, network := errors.AsType[net.Error](err)
	return network || errors.Is(err, driver.ErrBadConn) || errors.Is(err, sql.ErrConnDone) ||
		errors.Is(err, context.DeadlineExceeded) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || pgconn.SafeToRetry(err)
}
