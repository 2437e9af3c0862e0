package database

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"time"

	"github.com/ncruces/go-sqlite3/driver"
)

// Record is a session in another program's SQLite file: its key there, and its
// data as that program's JSON.
type Record struct {
	Key  string
	Data []byte
}

// Records reads the sessions of an SQLite file of Flue's (flue_sessions, with or
// without flue_session_entries) or PyFlue's (session_state, messages, sessions),
// which is not changed. The cache folder is as for [Open].
func Records(ctx context.Context, path, cacheDir string) ([]Record, error) {
	lite := &sqlite{cache: cacheDir}
	lite.load()
	name := url.URL{Scheme: "file", Path: filepath.ToSlash(path), OmitHost: true, RawQuery: "mode=ro&_pragma=busy_timeout(1500)"}
	db, err := driver.Open(name.String())
	if err != nil {
		return nil, err
	}
	defer db.Close()
	tables, err := column(ctx, db, `SELECT name FROM sqlite_master WHERE type = 'table'`)
	if err != nil {
		return nil, lite.fault(err)
	}
	has := func(name string) bool { return slices.Contains(tables, name) }
	var records []Record
	switch {
	case has("flue_sessions"):
		records, err = flueRecords(ctx, db, has("flue_session_entries"))
	case has("session_state"):
		records, err = pyflueRecords(ctx, db, path, has("messages"))
	case has("sessions"):
		records, err = pairs(ctx, db, `SELECT key, data FROM sessions ORDER BY rowid`)
	case has("messages"):
		records, err = messages(ctx, db, path)
	default:
		return nil, errors.New("it is an SQLite file, but none of Flue's or PyFlue's: no table of theirs is in it")
	}
	return records, lite.fault(err)
}

// column is the texts of a question's only column.
func column(ctx context.Context, db *sql.DB, query string, args ...any) (all []string, err error) {
	found, err := db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer found.Close()
	for found.Next() {
		var s string
		if err := found.Scan(&s); err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, found.Err()
}

func pairs(ctx context.Context, db *sql.DB, query string) (records []Record, err error) {
	found, err := db.QueryContext(ctx, query)
	if err != nil {
		return nil, err
	}
	defer found.Close()
	for found.Next() {
		var r Record
		if err := found.Scan(&r.Key, &r.Data); err != nil {
			return nil, err
		}
		records = append(records, r)
	}
	return records, found.Err()
}

// flueRecords puts the entries, where they have rows of their own, into the data.
func flueRecords(ctx context.Context, db *sql.DB, apart bool) ([]Record, error) {
	records, err := pairs(ctx, db, `SELECT id, data FROM flue_sessions ORDER BY rowid`)
	if err != nil || !apart {
		return records, err
	}
	for i, r := range records {
		entries, err := column(ctx, db, `SELECT data FROM flue_session_entries WHERE session_id = $1 ORDER BY position`, r.Key)
		if err != nil {
			return nil, err
		}
		var data map[string]json.RawMessage
		if err := json.Unmarshal(r.Data, &data); err != nil {
			return nil, fmt.Errorf("the record %s: %w", r.Key, err)
		}
		all := []json.RawMessage{}
		for _, e := range entries {
			all = append(all, json.RawMessage(e))
		}
		if len(all) == 0 && data["entries"] != nil {
			continue
		}
		if data["entries"], err = json.Marshal(all); err != nil {
			return nil, fmt.Errorf("the entries of the record %s: %w", r.Key, err)
		}
		if records[i].Data, err = json.Marshal(data); err != nil {
			return nil, err
		}
	}
	return records, nil
}

// pyflueRecords is the one session of a file of PyFlue's; an old one has messages only.
func pyflueRecords(ctx context.Context, db *sql.DB, path string, flat bool) ([]Record, error) {
	states, err := column(ctx, db, `SELECT data FROM session_state`)
	if err != nil || len(states) == 0 && !flat {
		return nil, err
	}
	if len(states) == 0 {
		return messages(ctx, db, path)
	}
	return []Record{{"pyflue:" + filepath.Base(path), []byte(states[0])}}, nil
}

// messages makes a line of a conversation out of a flat list.
func messages(ctx context.Context, db *sql.DB, path string) ([]Record, error) {
	found, err := db.QueryContext(ctx, `SELECT role, content FROM messages ORDER BY id`)
	if err != nil {
		return nil, err
	}
	defer found.Close()
	type entry struct {
		Type    string            `json:"type"`
		ID      string            `json:"id"`
		Parent  *string           `json:"parentId"`
		Time    string            `json:"timestamp"`
		Message map[string]string `json:"message"`
	}
	entries := []entry{}
	var parent *string
	for found.Next() {
		var role, content string
		if err := found.Scan(&role, &content); err != nil {
			return nil, err
		}
		id := fmt.Sprintf("%08x", len(entries)+1)
		entries = append(entries, entry{
			"message", id, parent, time.Unix(int64(len(entries)), 0).UTC().Format(time.RFC3339),
			map[string]string{"role": role, "content": content},
		})
		parent = &id
	}
	if err := found.Err(); err != nil {
		return nil, err
	}
	data, err := json.Marshal(map[string]any{"version": 2, "entries": entries, "leafId": parent})
	return []Record{{"pyflue:" + filepath.Base(path), data}}, err
}
