package transcript

import (
	"fmt"
	"testing"
	"time"

	"banyan/internal/session"
	"banyan/internal/tui/theme"
)

// A session read from its file is drawn as it was when its entries came.
func TestSessionOnDiskIsDrawnTheSame(t *testing.T) {
	dir := t.TempDir()
	at := time.Unix(1_790_000_000, 0)
	m, err := session.New(dir, dir, session.Options{Now: func() time.Time { return at }})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	came := New(theme.Must("dark", theme.TrueColor))
	came.SetSize(80, 24)
	for _, e := range demo() {
		e, err := m.Append(e.Data)
		if err != nil {
			t.Fatal(err)
		}
		came.Append(EntryBlock(e))
	}
	s := m.Snapshot()
	read := New(theme.Must("dark", theme.TrueColor))
	read.SetSize(80, 24)
	read.Reset(Path(s, s.Leaf()))
	for range 12 {
		if a, b := came.View(), read.View(); a != b {
			t.Fatalf("as it came:\n%s\nas it is read:\n%s", text(a), text(b))
		}
		came.Page(-1)
		read.Page(-1)
	}
	for i := range came.items.len() {
		a, b := came.items.at(i), read.items.at(i)
		if a.block.ID != b.block.ID || a.visible() != b.visible() || isTurn(a.block.Class) != isTurn(b.block.Class) ||
			isAnswer(a.block.Class) != isAnswer(b.block.Class) || isResult(a.block.Class) != isResult(b.block.Class) {
			t.Errorf("item %d is %+v as it came, %+v as it is read", i, a.block, b.block)
		}
	}
	for i := range 100 { // what nobody is shown is not in the way
		if _, err := m.Append(session.Custom{Type: fmt.Sprint("x", i)}); err != nil {
			t.Fatal(err)
		}
	}
	if s := m.Snapshot(); Path(s, s.Leaf()).Len() != came.items.len() {
		t.Errorf("%d items, want %d", Path(s, s.Leaf()).Len(), came.items.len())
	}
}
