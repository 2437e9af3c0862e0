package session_test

import (
	"path/filepath"
	"testing"

	"banyan/internal/session"
)

// When a session was made is said once, and stays, whatever is saved later.
func TestWhenItWasMadeStays(t *testing.T) {
	m := newOnDisk(t)
	made := m.Snapshot().Header().Time
	add(t, m, user("a"))
	path := m.Snapshot().Path()
	closed(t, m)
	m, err := session.Open(path, session.Options{})
	if err != nil {
		t.Fatal(err)
	}
	add(t, m, answer("b"))
	elsewhere := filepath.Join(t.TempDir(), "copy.jsonl")
	if err := m.SaveAs(elsewhere); err != nil {
		t.Fatal(err)
	}
	closed(t, m)
	for _, file := range []string{path, elsewhere} {
		m, err := session.Open(file, session.Options{ReadOnly: true})
		if err != nil {
			t.Fatal(err)
		}
		if at := m.Snapshot().Header().Time; !at.Equal(made) {
			t.Errorf("%s was made at %v, not %v", file, at, made)
		}
		m.Close()
	}
}
