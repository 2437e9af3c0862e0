package main

import (
	"path/filepath"
	"testing"
)

// The open session is left, closed and moved to the trash; the prompt that /undo
// brought back is no part of the command.
func TestSessionDeletedInTheChat(t *testing.T) {
	h := newHome(t)
	kept := func(where string) []string {
		files, _ := filepath.Glob(filepath.Join(h.dir, ".local/share/banyan", where))
		return files
	}
	tm := start(t, h, 100, 30, "--offline")
	tm.see("offline")
	tm.send("say hello" + enter)
	tm.see("To connect a real model", "Ask, or /")
	tm.send("/undo" + enter)
	tm.see("› say hello")
	tm.send("/delete" + enter)
	tm.see("Delete say hello", "Keep it")
	if len(kept("sessions/*/*.jsonl")) != 1 {
		t.Fatal("it is gone before it was confirmed")
	}
	tm.send("\x1b[B" + enter)
	tm.see("The session is in the trash")
	if left, there := kept("sessions/*/*.jsonl"), kept("trash/files/*.jsonl"); len(left) != 0 || len(there) != 1 {
		t.Errorf("left are %q, in the trash %q", left, there)
	}
}
