package session

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"banyan/internal/store"
)

// ErrNoTrash says that this desktop has no trash to move a session to.
var ErrNoTrash = errors.New("there is no trash")

// Trash moves a session file and those of all its tasks, children first, to the
// desktop's trash, from where they can be restored. trash is the folder of the
// freedesktop.org specification, usually $XDG_DATA_HOME/Trash; the error is
// ErrNoTrash where it does not exist or is on another disk. Where a process has
// any of them open nothing is moved. The files that tasks worked on stay.
func Trash(path, trash string) error {
	if err := notInUse(path, Options{}); err != nil {
		return err
	}
	if info, err := os.Stat(trash); err != nil || !info.IsDir() {
		return ErrNoTrash
	}
	return eachOf(path, Options{}, func(path string) error {
		err := trashFile(path, trash)
		_ = os.Remove(store.TasksDir(path)) // where it is empty by now
		return err
	})
}

// eachOf does something with each file of a session's family if none is in use.
func eachOf(path string, o Options, take func(string) error) error {
	all, err := Family(path, o)
	if err != nil {
		return err
	}
	for _, file := range all {
		// What was torn when it was begun is no session, and nobody writes it.
		if err := notInUse(file, o); err != nil && (file == path || !errors.As(err, new(*NotSessionError))) {
			return err
		}
	}
	for _, file := range all {
		if err := take(file); err != nil {
			return err
		}
	}
	return nil
}

func trashFile(path, trash string) error {
	path, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	for _, sub := range []string{"files", "info"} {
		if err := os.MkdirAll(filepath.Join(trash, sub), 0o700); err != nil {
			return fmt.Errorf("moving %s to the trash: %w", path, err)
		}
	}
	for i := 1; ; i++ {
		name := filepath.Base(path)
		if i > 1 {
			name = fmt.Sprintf("%s.%d%s", name[:len(name)-len(store.Extension)], i, store.Extension)
		}
		err := trashAs(path, trash, name)
		if !errors.Is(err, os.ErrExist) {
			return err
		}
	}
}

// trashAs writes the note first, which reserves the name, as the specification asks.
func trashAs(path, trash, name string) error {
	note := filepath.Join(trash, "info", name+".trashinfo")
	f, err := os.OpenFile(note, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	from := (&url.URL{Path: path}).EscapedPath()
	_, err = fmt.Fprintf(f, "[Trash Info]\nPath=%s\nDeletionDate=%s\n", from, time.Now().Format("2006-01-02T15:04:05"))
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		if err = os.Rename(path, filepath.Join(trash, "files", name)); err == nil {
			return nil
		}
	}
	os.Remove(note)
	var link *os.LinkError
	if errors.As(err, &link) {
		return fmt.Errorf("%w on the disk of %s: %w", ErrNoTrash, path, err)
	}
	return fmt.Errorf("moving %s to the trash: %w", path, err)
}

// Delete removes a session and those of all its tasks for good, children first.
// Where a process has any of them open nothing is removed.
func Delete(path string, o Options) error {
	st := o.withDefaults().storeOf(path)
	return eachOf(path, o, func(path string) error {
		if err := st.Delete(path); err != nil {
			return fmt.Errorf("deleting a session: %w", err)
		}
		return nil
	})
}

// notInUse makes sure that a path is a session that nobody is writing.
func notInUse(path string, o Options) error {
	m, err := Open(path, o)
	if err != nil {
		return err
	}
	return m.Close()
}
