package main

import (
	"errors"
	"fmt"
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
