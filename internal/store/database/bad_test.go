package database_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"banyan/internal/jsonl"
	"banyan/internal/store/database"
	"banyan/internal/store/pgtest"
)

func TestBadNames(t *testing.T) {
	for name, want := range map[string]string{
		"":                                 "is no database",
		"mysql://host/db":                  "is no database",
		"sqlite:":                          "needs the path",
		"sqlite:a#b":                       "cannot have a #",
		"postgres://u:secret@host:port/db": "makes no sense",
		"postgres://u:secret@%zz/db":       "makes no sense",
		"postgres://h/db?sslmode=secret":   "makes no sense",
		"postgres://h/db?password=secret&connect_timeout=x": "makes no sense",
	} {
		_, err := database.Open(name, os.Getenv("DATABASE_CACHE"))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", name, err, want)
		}
		if err != nil && strings.Contains(err.Error(), "u:secret") || err != nil && strings.Contains(err.Error(), "password=secret") {
			t.Errorf("a password is shown: %v", err)
		}
	}
}

func TestPasswordsAreNotInNames(t *testing.T) {
	for url, want := range map[string]string{
		"postgres://u:secret@h.example:77/db":      "postgres://h.example:77/db",
		"postgresql://h/db?user=u&password=secret": "postgres://h:5432/db",
	} {
		s, err := database.Open(url, "")
		if err != nil {
			t.Fatal(err)
		}
		if s.Name() != want {
			t.Errorf("%s is called %s, want %s", url, s.Name(), want)
		}
		if m := database.Mask(url); strings.Contains(m, "secret") {
			t.Errorf("masked: %s", m)
		}
	}
}

// TestBadPlaces opens what is no store: a clear error and nothing changed.
func TestBadPlaces(t *testing.T) {
	dir := t.TempDir()
	text := filepath.Join(dir, "text.db")
	if err := os.WriteFile(text, []byte(strings.Repeat("This is no database.\n", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		dir:                          "not a regular file",
		"/dev/null":                  "not a regular file",
		text:                         "not an SQLite database",
		filepath.Join(text, "below"): "not a directory",
	} {
		s := openStore(t, "sqlite:"+path)
		if _, err := s.List(""); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("List in %s: %v, want %q", path, err, want)
		}
		if _, err := s.Create(place("a")); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Create in %s: %v, want %q", path, err, want)
		}
	}
	if b, _ := os.ReadFile(text); !strings.HasPrefix(string(b), "This is no") || len(b) != 2100 {
		t.Error("the file was changed")
	}
	// Looking makes nothing.
	s := openStore(t, "sqlite:"+filepath.Join(dir, "none", "none.db"))
	if infos, err := s.List(""); err != nil || len(infos) > 0 {
		t.Errorf("%v, %v", infos, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "none")); !os.IsNotExist(err) {
		t.Errorf("looking made a folder: %v", err)
	}
}

func TestServerThatIsNotThere(t *testing.T) {
	s := openStore(t, "postgres://u:secret@127.0.0.1:1/db?sslmode=disable")
	_, err := s.List("")
	if err == nil || !strings.Contains(err.Error(), "does not answer") || strings.Contains(err.Error(), "secret") {
		t.Errorf("%v", err)
	}
	if _, err := s.Create(place("a")); err == nil {
		t.Error("a session begins at a server that was never there")
	}
}

// TestStoreThatGoesAway begins logs while the server is away that was there.
func TestStoreThatGoesAway(t *testing.T) {
	server := pgtest.Start(t, "-c", "fsync=off")
	s := openStore(t, server.Database("away"))
	before, err := s.Create(place("before"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := before.Append([]byte("1")); err != nil {
		t.Fatal(err)
	}
	server.Kill()
	during, err := s.Create(place("during"))
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range []interface {
		Append(...[]byte) ([]jsonl.Pos, error)
		Pending() [][]byte
	}{before, during} {
		if _, err := l.Append([]byte("2")); err == nil || len(l.Pending()) != 1 || !strings.Contains(err.Error(), "tried again") {
			t.Errorf("%v, pending %q", err, l.Pending())
		}
	}
	server.Restart()
	for _, l := range []interface{ Flush() ([]jsonl.Pos, error) }{before, during} {
		if pos, err := l.Flush(); err != nil || len(pos) != 1 {
			t.Errorf("%v, %v", pos, err)
		}
	}
	if err := errors.Join(before.Close(), during.Close()); err != nil {
		t.Error(err)
	}
}

// TestServerIsFull has the server refuse lines as one does whose disk is full.
func TestServerIsFull(t *testing.T) {
	server := pgtest.Start(t, "-c", "fsync=off")
	s := openStore(t, server.Database("crowded"))
	l, err := s.Create(place("a"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.Append([]byte("1")); err != nil {
		t.Fatal(err)
	}
	server.Query("crowded", `CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'no space left' USING ERRCODE = '53100'; END $$`)
	server.Query("crowded", `CREATE TRIGGER full_disk BEFORE INSERT ON banyan_line FOR EACH ROW EXECUTE FUNCTION full_disk()`)
	if _, err := l.Append([]byte("2")); err == nil || !strings.Contains(err.Error(), "disk is full") || len(l.Pending()) != 1 {
		t.Errorf("%v, pending %q", err, l.Pending())
	}
	server.Query("crowded", `DROP TRIGGER full_disk ON banyan_line`)
	if pos, err := l.Flush(); err != nil || len(pos) != 1 {
		t.Errorf("there is room again: %v, %v", pos, err)
	}
	if size, err := s.List(""); err != nil || len(size) != 1 || size[0].Size != l.Size() {
		t.Errorf("%v, %v", size, err)
	}
}

// TestNewerSchema refuses what a newer version of the program has made.
func TestNewerSchema(t *testing.T) {
	for name, store := range stores(t) {
		s := openStore(t, store.name)
		l, err := s.Create(place("a"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := l.Append([]byte("1")); err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(l.Close(), s.Close()); err != nil {
			t.Fatal(err)
		}
		store.exec("INSERT INTO banyan_schema (version_id, is_applied) VALUES (99, TRUE)")
		again := openStore(t, store.name)
		if _, err := again.List(""); !errors.As(err, new(*database.NewerError)) || !strings.Contains(err.Error(), "update this program") {
			t.Errorf("%s: %v", name, err)
		}
		store.exec("DELETE FROM banyan_schema WHERE version_id = 99")
		if infos, err := again.List(""); err != nil || len(infos) != 1 {
			t.Errorf("%s: %v, %v", name, infos, err)
		}
	}
}

// TestLockIsLost has a connection ended by the server's owner and the log taken
// by another: who had it is told, keeps what is not saved, and goes on after.
func TestLockIsLost(t *testing.T) {
	server := pgtest.Start(t, "-c", "fsync=off")
	url := server.Database("lost")
	first, second := openStore(t, url), openStore(t, url)
	mine, err := first.Create(place("a"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := mine.Append([]byte("1")); err != nil {
		t.Fatal(err)
	}
	server.Query("postgres", "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'lost'")
	theirs, err := second.Open(mine.Path(), false)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := theirs.Append([]byte("theirs")); err != nil {
		t.Fatal(err)
	}
	if _, err := mine.Append([]byte("2")); !errors.As(err, new(*jsonl.LockedError)) || len(mine.Pending()) != 1 {
		t.Errorf("who has lost the lock writes: %v, pending %q", err, mine.Pending())
	}
	if err := theirs.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := mine.Flush(); !errors.As(err, new(*jsonl.GrownError)) {
		t.Errorf("what came in between is not seen: %v", err)
	}
	var came []string
	if err := mine.Grown(func(l jsonl.Line) bool { came = append(came, string(l.Bytes)); return true }); err != nil || len(came) != 1 || came[0] != "theirs" {
		t.Errorf("%q, %v", came, err)
	}
	if _, err := mine.Flush(); err != nil {
		t.Error(err)
	}
	if err := mine.Close(); err != nil {
		t.Error(err)
	}
}
