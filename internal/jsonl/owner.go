package jsonl

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// A lock does not say who holds it, and the file itself is no place to say it.
// So the holder leaves a note in a folder of the user's that is not for keeping.
// It is only for the message: a note may be missing or stale, and the lock alone
// decides.

// ownerNote is where the note for a file is; empty where there is no place for one.
func ownerNote(id FileID) string {
	dir := os.Getenv("XDG_RUNTIME_DIR")
	if dir == "" {
		var err error
		if dir, err = os.UserCacheDir(); err != nil {
			return ""
		}
	}
	return filepath.Join(dir, "banyan", "owners", fmt.Sprintf("%x-%x", id.Dev, id.Ino))
}

func writeOwner(note string) {
	if note == "" || os.MkdirAll(filepath.Dir(note), 0o700) != nil {
		return
	}
	host, _ := os.Hostname()
	text := fmt.Sprintf("pid %d on %s since %s", os.Getpid(), host, time.Now().Format("2006-01-02 15:04"))
	// By a new name, so that no reader meets half of it and no link is followed.
	tmp := fmt.Sprintf("%s.%d", note, os.Getpid())
	if os.WriteFile(tmp, []byte(text), 0o600) == nil {
		os.Rename(tmp, note)
	}
}

func readOwner(note string) string {
	text, err := os.ReadFile(note)
	if err != nil || len(text) == 0 || len(text) > 400 {
		return "it does not say which"
	}
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, string(text))
}
