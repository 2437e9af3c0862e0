package jsonl_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"banyan/internal/jsonl"
	"golang.org/x/sys/unix"
)

// TestFullDisk fills a real small file system, frees it, and goes on.
func TestFullDisk(t *testing.T) {
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=1m"); err != nil {
		t.Skip("cannot mount a small file system:", err)
	}
	defer unix.Unmount(dir, unix.MNT_DETACH)
	ballast := filepath.Join(dir, "ballast")
	if err := os.WriteFile(ballast, make([]byte, 300<<10), 0o600); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "s.jsonl")
	l := create(t, nil, path)
	defer l.Close()
	var said []string
	refused := 0
	for i := 0; refused < 30; i++ {
		line := fmt.Sprintf(`{"n":%d,"text":"%s"}`, i, strings.Repeat("x", 5000))
		said = append(said, line)
		switch _, err := l.Append([]byte(line)); {
		case err == nil && refused > 0:
			t.Fatal("a later line was taken before an earlier one")
		case err == nil:
		case errors.Is(err, syscall.ENOSPC):
			refused++
		default:
			t.Fatal(err)
		}
	}
	if len(l.Pending()) != refused {
		t.Fatalf("%d pending, %d refused", len(l.Pending()), refused)
	}
	wantFile(t, nil, path, said[:len(said)-refused]...)
	// Elsewhere there is room.
	elsewhere, err := jsonl.Open(path, jsonl.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := elsewhere.SaveAs(filepath.Join(t.TempDir(), "s.jsonl")); err != nil {
		t.Fatal(err)
	}
	elsewhere.Close()
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	pos, err := l.Flush()
	if err != nil || len(pos) != refused {
		t.Fatalf("flush with room: %d positions, %v", len(pos), err)
	}
	add(t, l, "last")
	wantFile(t, nil, path, append(said, "last")...)
}
