package session_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"banyan/internal/session"
)

// FuzzOpen: any file is opened or refused within bounds, unchanged, and what is
// opened can be read, sent to a model, verified and continued.
func FuzzOpen(f *testing.F) {
	for _, b := range badFiles() {
		if len(b.text) < 4096 {
			f.Add([]byte(b.text))
		}
	}
	for _, old := range oldFiles {
		f.Add([]byte(strings.Join(old.lines, "\n")))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		path := writeBytes(t, data)
		m, err := session.Open(path, testOptions())
		if err != nil {
			return
		}
		defer m.Close()
		s := m.Snapshot()
		for row, err := range s.Rows() {
			if err != nil {
				t.Fatal(err)
			}
			c, err := s.Context(row.ID)
			if err != nil {
				t.Fatal(err)
			}
			if err := acceptable(c.Messages()); err != nil {
				t.Fatalf("at %q: %v", row.ID, err)
			}
		}
		if now, _ := os.ReadFile(path); string(now) != string(data) {
			t.Fatal("opening changed the file")
		}
		if v := s.Header().Version; v <= session.Version {
			checkRepair(t, path, bad{})
		}
		if s.ReadOnly() != "" {
			return
		}
		leaf := s.Leaf()
		before := fmt.Sprint(texts(t, s, leaf))
		e, err := m.Append(user("next"))
		if err != nil {
			if strings.Contains(err.Error(), "same id") || strings.Contains(err.Error(), "later entry") {
				return
			}
			t.Fatal(err)
		}
		again := look(t, path)
		if again.Len() != s.Len()+1 || again.Leaf() != e.ID || fmt.Sprint(texts(t, again, again.PathIDs(e.ID)[len(again.PathIDs(e.ID))-1])) == before && leaf != "" {
			t.Fatalf("%d entries, leaf %q; want %d, %q", again.Len(), again.Leaf(), s.Len()+1, e.ID)
		}
	})
}
