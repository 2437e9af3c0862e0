package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"banyan/internal/config"
	"banyan/internal/llm"
	"banyan/internal/session"
	"banyan/internal/tui"
)

// What can be done with sessions that are not open.

// trash moves a session to the desktop's trash, or where there is none to a
// folder of our own in the same form: nobody is asked twice, so nothing is gone.
func trash(paths config.Paths, path string) error {
	err := session.Trash(path, paths.TrashDir())
	if !errors.Is(err, session.ErrNoTrash) {
		return err
	}
	own := filepath.Join(paths.Data, "trash")
	if err := os.MkdirAll(own, 0o700); err != nil {
		return fmt.Errorf("make a trash: %w", err)
	}
	return session.Trash(path, own)
}

// rename names a session; an empty name takes it away.
func rename(path, name string) error {
	m, err := session.Open(path, session.Options{})
	if err != nil {
		return err
	}
	_, err = m.Append(session.Info{Name: name})
	return errors.Join(err, m.Close())
}

// importSession copies a session file into a folder of sessions, byte for byte.
// A relative name is one in cwd. It never overwrites.
func importSession(dir, cwd, file string) (string, error) {
	if dir == "" {
		return "", errors.New("sessions are kept in memory only (--no-session)")
	}
	if !filepath.IsAbs(file) {
		file = filepath.Join(cwd, file)
	}
	m, err := session.Open(file, session.Options{ReadOnly: true})
	if err != nil {
		return "", err
	}
	defer m.Close()
	h := m.Snapshot().Header()
	path := filepath.Join(dir, session.FileName(h.Time, h.ID))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	from, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer from.Close()
	to, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return "", fmt.Errorf("this session is here already: /resume %s opens it", h.ID)
	} else if err != nil {
		return "", err
	}
	_, err = io.Copy(to, from)
	if err = errors.Join(err, to.Sync(), to.Close()); err != nil {
		os.Remove(path) // half a session is none
		return "", fmt.Errorf("copy %s: %w", file, err)
	}
	return path, nil
}

const (
	previewMessages = 8
	previewBytes    = 2 << 10 // of one message
)

// previewSession is the end of a session's active path: what was said last.
func previewSession(path string) ([]tui.Said, error) {
	m, err := session.Open(path, session.Options{ReadOnly: true})
	if err != nil {
		return nil, err
	}
	defer m.Close()
	s := m.Snapshot()
	var said []tui.Said
	for _, id := range slices.Backward(s.PathIDs(s.Leaf())) {
		if c := s.Class(s.Node(id)); c.Role != llm.User && !c.HasText {
			continue // nothing that is shown: its body is not read
		}
		e, _, err := s.Entry(id)
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
