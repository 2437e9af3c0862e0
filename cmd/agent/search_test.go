package main

import (
	"context"
	"strings"
	"testing"

	"banyan/internal/store"
)

func TestSearchSession(t *testing.T) {
	path := keptSession(t, t.TempDir(), "fix the Parser "+strings.Repeat("世界 ", 100)+"needle", "nothing here")
	for text, want := range map[string]int{"parser": 2, "NEEDLE": 2, "re: nothing": 1, "absent": 0} {
		found, err := shelf{store: store.Files{}}.search(context.Background(), path, text)
		if err != nil || len(found) != want {
			t.Errorf("%q: %d found, want %d (%v)", text, len(found), want, err)
		}
		for _, f := range found {
			if f.Path != path || f.ID == "" || f.Who == "" || !strings.Contains(strings.ToLower(f.Text), strings.ToLower(text)) {
				t.Errorf("%q: %+v", text, f)
			}
		}
	}
}
