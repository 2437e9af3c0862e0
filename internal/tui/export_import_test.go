package tui_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"banyan/internal/engine"
	"banyan/internal/session"
	"banyan/internal/tui"
	"banyan/internal/tui/tuitest"
)

func TestExport(t *testing.T) {
	dir := t.TempDir()
	d := tuitest.New(t, func(o *tui.Options) { o.Cwd = dir }).Open()
	run(d, "/export").Sees("There is nothing to export yet")
	forked(d)
	run(d, "/export all.jsonl").Sees("this session has no file yet; /save <file> makes one")
	kept, err := session.New(filepath.Join(dir, "sessions"), dir, session.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer kept.Close()
	if _, err := kept.AppendAll(user("a"), answer("b")); err != nil {
		t.Fatal(err)
	}
	kept.ResetLeaf()
	if _, err := kept.AppendAll(user("c"), answer("d")); err != nil {
		t.Fatal(err)
	}
	d.Emit(engine.Opened{Session: kept.Snapshot()})
	run(d, "/export all.jsonl").Sees("Exported to")
	m, err := session.Open(filepath.Join(dir, "all.jsonl"), session.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	if got, want := m.Snapshot().Len(), kept.Snapshot().Len(); got != want {
		t.Errorf("%d of %d entries: all branches are exported", got, want)
	}
	run(d, "/export all.jsonl").Sees("There is a file ")
	run(d, "/export").Sees("Exported to")
	found, _ := filepath.Glob(filepath.Join(dir, "session-*.md"))
	if len(found) != 1 {
		t.Fatalf("%q", found)
	}
	if text, _ := os.ReadFile(found[0]); !strings.Contains(string(text), "## You") {
		t.Errorf("%s", text)
	}
}

func TestImport(t *testing.T) {
	var fails error
	d := tuitest.New(t, func(o *tui.Options) {
		o.Import = func(_ contextT, file string) (string, error) { return "/s/" + file, fails }
	}).Open()
	run(d, "/import old.jsonl").Sees("Taken in as /s/old.jsonl").WasSent(engine.Open{Path: "/s/old.jsonl"})
	run(d, "/import").Sees("Take in the session").Type("x").Press("enter").WasSent(engine.Open{Path: "/s/x"})
	fails = errors.New("it is no session")
	run(d, "/import y").WasSent().Sees("nothing was taken in: it is no session")
}
