package main

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"banyan/internal/session"
)

// The proofs of what the program promises when things go wrong: they run the
// real binary, kill it, hang up on it, feed it attacks, and look at what is left
// on the disk, on the screen and among the processes. Each logs one line of
// figures, which `make prove` shows as a table.

// times is how often a proof is repeated: a few times as a test, more often for
// `make prove` (PROVE=1), and very often for its long form (LONG=1). KILLS
// overrides them all.
func times(few, quick, long int) int {
	if n, err := strconv.Atoi(os.Getenv("KILLS")); err == nil {
		return n
	}
	switch {
	case os.Getenv("LONG") == "1":
		return long
	case os.Getenv("PROVE") == "1":
		return quick
	}
	return few
}

// sessions are the session files of a home.
func (h home) sessions(t testing.TB) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(h.dir, ".local/share/banyan/sessions/*/*.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// read opens a session as the program would and gives its problems and the raw
// lines of the path to its leaf.
func read(t testing.TB, file string) (problems []session.Problem, path string) {
	t.Helper()
	m, err := session.Open(file, session.Options{ReadOnly: true})
	if err != nil {
		t.Fatalf("%s cannot be opened: %v", file, err)
	}
	defer m.Close()
	s := m.Snapshot()
	entries, err := s.Branch(s.Leaf())
	if err != nil {
		t.Fatalf("%s: the path to the leaf: %v", file, err)
	}
	var lines strings.Builder
	for _, e := range entries {
		raw, err := s.Raw(s.Node(e.ID))
		if err != nil {
			t.Fatalf("%s: entry %s: %v", file, e.ID, err)
		}
		lines.Write(raw)
		lines.WriteByte('\n')
	}
	return s.Problems(), lines.String()
}
