package database_test

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	_ "github.com/ncruces/go-sqlite3/driver"

	"banyan/internal/store"
	"banyan/internal/store/database"
	"banyan/internal/store/pgtest"
	"banyan/internal/store/storetest"
)

func openStore(t testing.TB, name string) store.Store {
	t.Helper()
	s, err := database.Open(name, os.Getenv("DATABASE_CACHE"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func TestSQLiteSuite(t *testing.T) {
	storetest.Run(t, func(t testing.TB) storetest.Fixture {
		path := filepath.Join(t.TempDir(), "a folder", "sessions.db")
		return storetest.Fixture{
			Open: func(t testing.TB) store.Store { return openStore(t, "sqlite:"+path) },
			Fail: hog(t, path),
		}
	})
}

// hog locks an SQLite file as another program may that does not let go.
func hog(t testing.TB, path string) func(bool) {
	var conn *sql.Conn
	exec := func(query string) {
		t.Helper()
		if _, err := conn.ExecContext(context.Background(), query); err != nil {
			t.Fatal(err)
		}
	}
	return func(fail bool) {
		t.Helper()
		if !fail {
			exec("ROLLBACK")
			return
		}
		if conn == nil {
			db, err := sql.Open("sqlite3", "file:"+path)
			if err != nil {
				t.Fatal(err)
			}
			if conn, err = db.Conn(context.Background()); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { conn.Close(); db.Close() })
		}
		exec("BEGIN IMMEDIATE")
	}
}

func TestPostgresSuite(t *testing.T) {
	server := pgtest.Start(t, "-c", "fsync=off")
	var n atomic.Int64
	storetest.Run(t, func(t testing.TB) storetest.Fixture {
		url := server.Database(fmt.Sprint("suite", n.Add(1)))
		way := newProxy(t, server.Addr())
		url = strings.Replace(url, server.Addr(), way.addr(), 1)
		url = strings.Replace(url, "banyan@", "banyan:secret@", 1)
		return storetest.Fixture{
			Open: func(t testing.TB) store.Store { return openStore(t, url) },
			Fail: way.fail,
			Lose: way.lose,
		}
	})
}

// testStore is an empty store and a way around it.
type testStore struct {
	name string
	exec func(query string)
}

// stores are one of each kind; without a server, only SQLite.
func stores(t *testing.T) map[string]testStore {
	path := filepath.Join(t.TempDir(), "s.db")
	all := map[string]testStore{"sqlite": {"sqlite:" + path, func(query string) {
		t.Helper()
		db, err := sql.Open("sqlite3", "file:"+path)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		if _, err := db.Exec(query); err != nil {
			t.Fatal(err)
		}
	}}}
	if !pgtest.Installed() {
		t.Log("PostgreSQL is not installed, so it is left out")
		return all
	}
	server := pgtest.Start(t, "-c", "fsync=off")
	all["postgres"] = testStore{server.Database("one"), func(query string) { t.Helper(); server.Query("one", query) }}
	return all
}
