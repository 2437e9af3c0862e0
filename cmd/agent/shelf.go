package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"banyan/internal/config"
	"banyan/internal/llm"
	"banyan/internal/session"
	"banyan/internal/store"
	"banyan/internal/tui"
)

// shelf is what can be done with sessions that are not open.
type shelf struct {
	store store.Store
	paths config.Paths
}

func (s shelf) open(path string, readOnly bool) (*session.Manager, error) {
	return session.Open(path, session.Options{Store: s.store, ReadOnly: readOnly})
}

// trash moves a session to the desktop's trash, or where there is none to a
// folder of our own in the same form: nobody is asked twice, so nothing is gone.
func (s shelf) trash(path string) error {
	if !isFile(s.store, path) {
		return s.trashRows(path)
	}
	err := session.Trash(path, s.paths.TrashDir())
	if !errors.Is(err, session.ErrNoTrash) {
		return err
	}
	own := filepath.Join(s.paths.Data, "trash")
	if err := os.MkdirAll(own, 0o700); err != nil {
		return fmt.Errorf("make a trash: %w", err)
	}
	return session.Trash(path, own)
}

// trashRows deletes a session of a database and puts a copy in our own trash.
func (s shelf) trashRows(path string) error {
	o := session.Options{Store: s.store}
	own := store.Files{Dir: filepath.Join(s.paths.Data, "trash")}
	if _, err := session.Copy(path, o, own, "files"); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("it was not deleted, because it could not be put into the trash first: %w", err)
	}
	return session.Delete(path, o)
}

// rename names a session; an empty name takes it away.
func (s shelf) rename(path, name string) error {
	m, err := s.open(path, false)
	if err != nil {
		return err
	}
	_, err = m.Append(session.Info{Name: name})
	return errors.Join(err, m.Close())
}

// take copies a file's session into a project's sessions and gives its path, of
// several the first. It never overwrites.
func (s shelf) take(project, cwd, file string) (string, error) {
	if project == "" {
		return "", errors.New("sessions are kept in memory only (--no-session)")
	}
	took, err := takeAll(context.Background(), s.store, s.paths.Cache, project, cwd, file)
	if errors.Is(err, fs.ErrExist) {
		return "", fmt.Errorf("this session is here already: /resume opens it (%w)", err)
	}
	if err != nil {
		return "", err
	}
	if len(took) == 0 {
		return "", fmt.Errorf("%s has no session in it", file)
	}
	return took[0].To, nil
}

const (
	previewMessages = 8
	previewBytes    = 2 << 10 // of one message
)

// preview is the end of a session's active path: what was said last.
func (s shelf) preview(path string) ([]tui.Said, error) {
	m, err := s.open(path, true)
	if err != nil {
		return nil, err
	}
	defer m.Close()
	snap := m.Snapshot()
	var said []tui.Said
	for _, id := range slices.Backward(snap.PathIDs(snap.Leaf())) {
		if c := snap.Class(snap.Node(id)); c.Role != llm.User && !c.HasText {
			continue // nothing that is shown: its body is not read
		}
		e, _, err := snap.Entry(id)
		if err != nil {
			return nil, err
		}
		msg, ok := e.Data.(session.Message)
		if !ok {
			continue
		}
		text := msg.Text()
		if len(text) > previewBytes {
			text = strings.ToValidUTF8(text[:previewBytes], "")
		}
		who := "Agent"
		if msg.Role == llm.User {
			who = "You"
		}
		if said = append(said, tui.Said{Who: who, Text: text}); len(said) == previewMessages {
			break
		}
	}
	slices.Reverse(said)
	return said, nil
}
