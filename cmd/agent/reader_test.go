package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The chat in lines, in a terminal that can do nothing: what is written is
// labelled, is written once, and moves no cursor.
func TestScreenReader(t *testing.T) {
	h := newHome(t)
	if err := os.WriteFile(filepath.Join(h.work, "go.mod"), []byte("module example\n\ngo 1.26\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	tm := h.launch(t, launch{cols: 80, rows: 50, env: []string{"TERM=dumb"}, args: []string{"--offline"}}) // there is no screen
	asked := func(label string) {                                                                          // waits until the program waits
		t.Helper()
		tm.wait(func(screen string) bool { return strings.HasSuffix(screen, "\n"+label) }, label)
	}
	tm.see("Banyan: a new session")
	asked("You:")
	tm.send("read go.mod\r")
	tm.see("Tool read go.mod: started", "Tool read go.mod: ok, ", "Assistant:")
	asked("You:")
	tm.send("run touch it\r")
	tm.see("Approval: may this run? bash", "Choices: y yes")
	asked("Answer:")
	tm.send("n\r")
	tm.see("failed, ")
	asked("You:")
	tm.send(ctrlC)
	tm.see("Control C again")
	asked("You:")
	tm.send("/quit\r")
	if code := tm.end(); code != exitDone {
		t.Errorf("exit code %d:\n%s", code, tm.text())
	}
	if _, err := os.Stat(filepath.Join(h.work, "it")); err == nil {
		t.Error("what was refused has run")
	}
	// ^C is the terminal's own echo; the program itself writes no control but
	// the line feed, which the terminal shows as CR LF.
	if i := bytes.IndexFunc(tm.written(), func(r rune) bool { return r < ' ' && r != '\n' && r != '\r' && r != '\t' }); i >= 0 {
		t.Errorf("there is a control character in %q", tm.written()[max(0, i-20):])
	}
}

// An interrupt ends what runs, and the chat goes on.
func TestScreenReaderInterrupts(t *testing.T) {
	h := newHome(t)
	tm := h.launch(t, launch{cols: 80, rows: 50, env: []string{"TERM=dumb"}, args: []string{"--screen-reader", "--offline", "--permission-mode", "auto", "--dangerously-skip-permissions"}})
	tm.see("You:")
	tm.send("run sleep 100\r")
	tm.see("Tool bash", ": started")
	tm.send(ctrlC)
	tm.see("Notice: interrupted")
	tm.send(ctrlD)
	if code := tm.end(); code != exitDone {
		t.Errorf("exit code %d:\n%s", code, tm.text())
	}
}
