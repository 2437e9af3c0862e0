package config

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestHistory(t *testing.T) {
	h := History{filepath.Join(t.TempDir(), "state", "history.jsonl")}
	if got, err := h.Read(); err != nil || len(got) > 0 {
		t.Fatalf("before the first: %v, %v", got, err)
	}
	want := []string{"one", "two\nlines", "drei → ⟨3⟩"}
	for _, p := range want {
		if err := h.Add(p); err != nil {
			t.Fatal(err)
		}
	}
	f, _ := os.OpenFile(h.Path, os.O_APPEND|os.O_WRONLY, 0)
	f.WriteString("{torn")
	f.Close()
	if got, err := h.Read(); err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v", got, err)
	}
	if info, _ := os.Stat(h.Path); info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v", info.Mode())
	}
}

func TestDrafts(t *testing.T) {
	d := Drafts{filepath.Join(t.TempDir(), "drafts")}
	if err := d.Save("s1", "half a thought"); err != nil {
		t.Fatal(err)
	}
	if got := d.Load("s1"); got != "half a thought" {
		t.Errorf("%q", got)
	}
	if err := d.Save("../../escape", "x"); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(d.Dir, "escape.txt")); err != nil {
		t.Errorf("an id led out of the folder: %v", err)
	}
	for range 2 {
		if err := d.Save("s1", ""); err != nil {
			t.Fatal(err)
		}
	}
	if got := d.Load("s1"); got != "" {
		t.Errorf("%q", got)
	}
}
