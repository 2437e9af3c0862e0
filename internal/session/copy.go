package session

import (
	"fmt"

	"banyan/internal/store"
)

// Copy makes a session of a project in a store out of one that is a file, or in
// the store of the options: the same lines, byte for byte, under the same id. A
// torn last line stays behind. It fails with [fs.ErrExist] where the session is
// there already. It returns the copy's path.
func Copy(path string, from Options, to store.Store, project string) (string, error) {
	from.ReadOnly = true
	m, err := Open(path, from)
	if err != nil {
		return "", err
	}
	defer m.Close()
	return m.copy(to, store.Place{Project: project, ID: m.header.ID, Time: m.header.Time})
}

func (m *Manager) copy(to store.Store, at store.Place) (string, error) {
	path, err := to.Write(at, store.Lines(m.log))
	if err != nil {
		return "", fmt.Errorf("copying %s: %w", m.path, err)
	}
	return path, nil
}
