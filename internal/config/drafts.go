package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Drafts are what was typed and not sent, a file a session id, so that a crash
// loses none of it.
type Drafts struct{ Dir string }

// Save keeps a session's draft; an empty text takes it away.
func (d Drafts) Save(session, text string) error {
	path := d.path(session)
	if text == "" {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove the draft: %w", err)
		}
		return nil
	}
	if err := os.MkdirAll(d.Dir, 0o700); err != nil {
		return fmt.Errorf("save the draft: %w", err)
	}
	tmp, err := os.CreateTemp(d.Dir, ".draft-")
	if err != nil {
		return fmt.Errorf("save the draft: %w", err)
	}
	_, err = tmp.WriteString(text)
	if err = errors.Join(err, tmp.Close()); err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil {
		os.Remove(tmp.Name())
		return fmt.Errorf("save the draft: %w", err)
	}
	return nil
}

// Load is a session's draft, empty if there is none.
func (d Drafts) Load(session string) string {
	data, err := os.ReadFile(d.path(session))
	if err != nil {
		return ""
	}
	return string(data)
}

// path takes the last part of the id only: ids come from files of others.
func (d Drafts) path(session string) string {
	return filepath.Join(d.Dir, filepath.Base(filepath.Clean("/"+session))+".txt")
}
