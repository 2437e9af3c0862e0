package database_test

import (
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"banyan/internal/store/database"
)

// foreign are files of Flue and PyFlue, in all forms that they had, and what is
// read of them.
var foreign = map[string]struct {
	sql, keys, has, err string
}{
	"flue": {
		`CREATE TABLE flue_sessions (id TEXT PRIMARY KEY, data TEXT, updated_at INTEGER);
		INSERT INTO flue_sessions VALUES ('agent-session:["i","h","n"]', '{"version":3,"entries":[{"id":"a"}]}', 1)`,
		`agent-session:["i","h","n"]`, `"id":"a"`, "",
	},
	"flue with rows": {
		`CREATE TABLE flue_sessions (id TEXT PRIMARY KEY, data TEXT);
		CREATE TABLE flue_session_entries (session_id TEXT, entry_id TEXT, position INTEGER, data TEXT);
		INSERT INTO flue_sessions VALUES ('k', '{"version":3,"leafId":"b"}');
		INSERT INTO flue_session_entries VALUES ('k', 'b', 2, '{"id":"b"}'), ('k', 'a', 1, '{"id":"a"}'), ('other', 'c', 1, '{"id":"c"}')`,
		"k", `"entries":[{"id":"a"},{"id":"b"}]`, "",
	},
	"pyflue": {
		`CREATE TABLE messages (id integer primary key autoincrement, role text not null, content text not null);
		CREATE TABLE session_state (id integer primary key check (id = 1), data text not null);
		INSERT INTO session_state VALUES (1, '{"version":2,"entries":[]}')`,
		"pyflue:pyflue.sqlite3", `"version":2`, "",
	},
	"pyflue of old": {
		`CREATE TABLE messages (id integer primary key autoincrement, role text not null, content text not null);
		INSERT INTO messages (role, content) VALUES ('user', 'hello'), ('assistant', 'hi')`,
		"pyflue:pyflue of old.sqlite3", `"parentId":"00000001"`, "",
	},
	"pyflue's store": {
		`CREATE TABLE sessions (key TEXT PRIMARY KEY, data TEXT NOT NULL); INSERT INTO sessions VALUES ('a', '{}'), ('b', '{}')`,
		"a b", "{}", "",
	},
	"nobody's": {`CREATE TABLE t (a)`, "", "", "none of Flue's or PyFlue's"},
}

func TestRecords(t *testing.T) {
	for name, c := range foreign {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), name+".sqlite3")
			db, err := sql.Open("sqlite3", "file:"+path)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := db.Exec(c.sql); err != nil {
				t.Fatal(err)
			}
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			before, _ := os.ReadFile(path)
			records, err := database.Records(context.Background(), path, os.Getenv("DATABASE_CACHE"))
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Errorf("%v, want %q", err, c.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var keys []string
			for _, r := range records {
				keys = append(keys, r.Key)
			}
			if got := strings.Join(keys, " "); got != c.keys || !strings.Contains(string(records[0].Data), c.has) {
				t.Errorf("%s: %s, want %s with %s", got, records[0].Data, c.keys, c.has)
			}
			if after, _ := os.ReadFile(path); string(after) != string(before) {
				t.Error("the file was changed")
			}
		})
	}
}
