package jsonl_test

import (
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"banyan/internal/jsonl"
)

// A log that was closed can be opened again at once, also while another
// goroutine still reads through the closed one.
func TestClosedLogIsFreeAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.jsonl")
	l, err := jsonl.Create(path, jsonl.Options{})
	if err != nil {
		t.Fatal(err)
	}
	pos, err := l.Append([]byte(`{"text":"` + strings.Repeat("x", 1<<20) + `"}`))
	if err != nil {
		t.Fatal(err)
	}
	for range 200 {
		var readers sync.WaitGroup
		stop := make(chan struct{})
		for range 4 {
			readers.Go(func() {
				for {
					select {
					case <-stop:
						return
					default:
						l.ReadAt(pos[0]) // it may fail once the log is closed
					}
				}
			})
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		next, err := jsonl.Open(path, jsonl.Options{})
		close(stop)
		readers.Wait()
		if err != nil {
			t.Fatal(err)
		}
		l = next
	}
	l.Close()
}
