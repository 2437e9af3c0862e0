package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// The first minute of a user without keys, and the next day.
func TestTerminalChatToolsQuitContinue(t *testing.T) {
	h := newHome(t)
	if err := os.WriteFile(filepath.Join(h.work, "go.mod"), []byte("module example\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	tm := start(t, h, 100, 30)
	tm.see("offline")
	tm.send("list ." + enter)
	tm.see("go.mod")
	tm.send("run sh -c 'echo from-the-shell'" + enter)
	tm.see("from-the-shell", "May this run?")
	approve(tm)
	tm.see("says: from-the-shell")
	tm.send("read go.mod" + enter)
	tm.see("module example")
	tm.send(ctrlD)
	if code := tm.end(); code != 0 {
		t.Fatalf("exit code %d:\n%s", code, tm.text())
	}
	if s := tm.text(); !strings.Contains(s, "agent --session") {
		t.Errorf("no hint how to go on:\n%s", s)
	}

	files, _ := filepath.Glob(filepath.Join(h.dir, ".local/share/banyan/sessions/*/*.jsonl"))
	if len(files) != 1 {
		t.Fatalf("sessions: %v", files)
	}
	if info, err := os.Stat(files[0]); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode of the session: %v, %v", info.Mode(), err)
	}

	again := start(t, h, 100, 60, "-c")
	again.see("list .", "run sh -c 'echo from-the-shell'", "read go.mod", "module example")
	again.send(ctrlD)
	if code := again.end(); code != 0 {
		t.Fatalf("exit code %d:\n%s", code, again.text())
	}
}

// approve says yes to the question on the screen, as a person does: not before
// it can have been read, because keys that come at once do not count.
func approve(tm *terminal) {
	tm.t.Helper()
	tm.see("May this run?")
	time.Sleep(500 * time.Millisecond)
	tm.send("y")
	tm.notSee("May this run?")
}
