package database_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"banyan/internal/jsonl"
	"banyan/internal/store"
	"banyan/internal/store/pgtest"
	"banyan/internal/store/rows"
)

// benchLine is a line of a usual length.
var benchLine = append([]byte(`{"type":"message","text":"`), append(bytes.Repeat([]byte("x"), 900), `"}`...)...)

// benchStores runs a benchmark at each store. The server syncs, as servers do.
func benchStores(b *testing.B, f func(*testing.B, store.Store)) {
	b.Run("memory", func(b *testing.B) { f(b, rows.NewMemory()) })
	b.Run("files", func(b *testing.B) { f(b, store.Files{Dir: b.TempDir()}) })
	b.Run("sqlite", func(b *testing.B) { f(b, openStore(b, "sqlite:"+filepath.Join(b.TempDir(), "s.db"))) })
	b.Run("postgres", func(b *testing.B) { f(b, openStore(b, pgtest.Start(b).Database("bench"))) })
}

// BenchmarkAppend measures one durable line, against a write and a sync of a
// file that is open, which is as fast as a disk can be.
func BenchmarkAppend(b *testing.B) {
	b.Run("floor", func(b *testing.B) {
		f, err := os.Create(filepath.Join(b.TempDir(), "f"))
		if err != nil {
			b.Fatal(err)
		}
		defer f.Close()
		for b.Loop() {
			if _, err := f.Write(benchLine); err != nil {
				b.Fatal(err)
			}
			if err := f.Sync(); err != nil {
				b.Fatal(err)
			}
		}
	})
	benchStores(b, func(b *testing.B, s store.Store) {
		l, err := s.Create(place("a"))
		if err != nil {
			b.Fatal(err)
		}
		defer l.Close()
		for b.Loop() {
			if _, err := l.Append(benchLine); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkOpen measures opening a log of 10,000 lines and reading all of it,
// against reading the same bytes from a file.
func BenchmarkOpen(b *testing.B) {
	const lines = 10_000
	all := func(yield func([]byte, error) bool) {
		for range lines {
			if !yield(benchLine, nil) {
				return
			}
		}
	}
	b.Run("floor", func(b *testing.B) {
		path := filepath.Join(b.TempDir(), "f")
		if err := os.WriteFile(path, bytes.Repeat(append(benchLine, '\n'), lines), 0o600); err != nil {
			b.Fatal(err)
		}
		for b.Loop() {
			if _, err := os.ReadFile(path); err != nil {
				b.Fatal(err)
			}
		}
	})
	benchStores(b, func(b *testing.B, s store.Store) {
		path, err := s.Write(place("a"), all)
		if err != nil {
			b.Fatal(err)
		}
		for b.Loop() {
			l, err := s.Open(path, true)
			if err != nil {
				b.Fatal(err)
			}
			n := 0
			if err := l.Scan(func(jsonl.Line) bool { n++; return true }); err != nil || n != lines {
				b.Fatal(n, err)
			}
			if err := l.Close(); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkFirst measures what a program pays that asks for a database: loading
// SQLite, connecting, looking at the schema.
func BenchmarkFirst(b *testing.B) {
	for name, url := range map[string]func(*testing.B) string{
		"sqlite":   func(b *testing.B) string { return "sqlite:" + filepath.Join(b.TempDir(), "s.db") },
		"postgres": func(b *testing.B) string { return pgtest.Start(b).Database("bench") },
	} {
		b.Run(name, func(b *testing.B) {
			url := url(b)
			for i := 0; b.Loop(); i++ {
				s := openStore(b, url)
				if _, err := s.Create(place(fmt.Sprint(i))); err != nil {
					b.Fatal(err)
				}
				if err := s.Close(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
