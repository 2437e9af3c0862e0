package session

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"iter"

	"banyan/internal/store"
)

// Copy makes a session of a project in a store out of one that is a file, or in
// the store of the options: the same lines, byte for byte, under the same id,
// and so those of its tasks, children first. A torn last line stays behind. It
// returns the copy's path.
//
// It fails with [fs.ErrExist] where the session is there already; tasks that an
// earlier try has copied stay as they are.
func Copy(path string, from Options, to store.Store, project string) (string, error) {
	from.ReadOnly = true
	m, err := Open(path, from)
	if err != nil {
		return "", err
	}
	defer m.Close()
	return m.copyTo(to, store.Place{Project: project, ID: m.header.ID, Time: m.header.Time})
}

func (m *Manager) copyTo(to store.Store, at store.Place) (string, error) {
	for _, child := range m.Snapshot().children() {
		o := m.o
		o.ReadOnly = true
		c, err := Open(child, o)
		if _, torn := errors.AsType[*NotSessionError](err); torn {
			continue // it was torn when it was begun: nobody was promised it
		}
		if err != nil {
			return "", err
		}
		_, err = c.copyTo(to, store.Place{Parent: to.Path(at), ID: c.header.ID})
		if errors.Is(err, fs.ErrExist) {
			err = c.sameAs(to, to.Path(store.Place{Parent: to.Path(at), ID: c.header.ID}))
		}
		if err := errors.Join(err, c.Close()); err != nil {
			return "", err
		}
	}
	path, err := to.Write(at, store.Lines(m.log))
	if err != nil {
		return "", fmt.Errorf("copying %s: %w", m.path, err)
	}
	return path, nil
}

// sameAs makes sure that a log begins with all lines of this session.
func (m *Manager) sameAs(st store.Store, path string) error {
	other, err := Open(path, Options{Store: st, ReadOnly: true})
	if err != nil {
		return err
	}
	defer other.Close()
	next, stop := iter.Pull2(store.Lines(other.log))
	defer stop()
	for line, err := range store.Lines(m.log) {
		there, thereErr, more := next()
		if err := errors.Join(err, thereErr); err != nil {
			return err
		}
		if !more || !bytes.Equal(line, there) {
			return fmt.Errorf("copying %s: %s is another session: %w", m.path, path, fs.ErrExist)
		}
	}
	return nil
}
