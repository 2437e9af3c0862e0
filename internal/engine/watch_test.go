package engine

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"banyan/internal/llm"
	"banyan/internal/llm/llmtest"
	"banyan/internal/session"
)

// A second window is told entry by entry what the first one says, and where it
// goes in the tree; and when the session is deleted.
func TestTwoWindowsOneWatches(t *testing.T) {
	dir := t.TempDir()
	writer, err := session.New(dir, "/w", session.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer writer.Close()
	say := func(text string) session.ID {
		t.Helper()
		e, err := writer.Append(session.Message{Message: llm.UserText(text, time.Time{})})
		if err != nil {
			t.Fatal(err)
		}
		return e.ID
	}
	first := say("first")
	path := writer.Snapshot().Path()
	w := &world{t: t, model: llmtest.Script(), dir: t.TempDir()}
	w.start(Config{Open: func() (*session.Manager, error) { return session.Open(path, session.Options{ReadOnly: true}) }})
	for i := range 3 {
		id := say(fmt.Sprint("more ", i))
		ev := w.until("what the other window says", func(ev Event) bool { _, ok := ev.(Appended); return ok }).(Appended)
		if ev.Entry.ID != id || ev.Session.Leaf() != id {
			t.Errorf("entry %s at leaf %s, want %s", ev.Entry.ID, ev.Session.Leaf(), id)
		}
	}
	if err := writer.Branch(first); err != nil {
		t.Fatal(err)
	}
	other := say("another way")
	if ev := w.moved(); ev.Session.Leaf() != other {
		t.Errorf("the leaf is %s, want %s", ev.Session.Leaf(), other)
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	if err := session.Delete(path, session.Options{}); err != nil {
		t.Fatal(err)
	}
	w.until("that it was deleted", func(ev Event) bool {
		n, ok := ev.(Notice)
		return ok && strings.Contains(n.Text, "deleted")
	})
	w.close()
}
