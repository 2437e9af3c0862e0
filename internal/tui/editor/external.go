package editor

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	tea "charm.land/bubbletea/v2"
)

// externalMsg is the end of an external editor.
type externalMsg struct {
	id   int64
	text string
	err  error
}

// Failed is what an editor reports to its owner when it could not do what a key asked for.
type Failed struct{ Err error }

// External hands the text to the user's own editor and takes it back when that ends.
func (m *Model) External() tea.Cmd {
	if m.opts.Secret {
		return nil // secrets are not written to files
	}
	command := strings.Fields(firstOf(m.opts.Command, os.Getenv("VISUAL"), os.Getenv("EDITOR"), "vi"))
	text, _ := m.expand(m.buf.text())
	dir, err := os.MkdirTemp("", "banyan-prompt-")
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "prompt.md"), []byte(text), 0o600)
	}
	if err != nil {
		err = fmt.Errorf("writing the prompt for %s: %w", command[0], err)
		return func() tea.Msg { return Failed{err} }
	}
	path, id := filepath.Join(dir, "prompt.md"), m.id
	cmd := exec.Command(command[0], append(command[1:], path)...)
	return tea.ExecProcess(cmd, func(err error) tea.Msg {
		defer func() { _ = os.RemoveAll(dir) }()
		if err != nil {
			return externalMsg{id: id, err: fmt.Errorf("%s: %w; set $VISUAL to another editor", command[0], err)}
		}
		written, err := os.ReadFile(path)
		return externalMsg{id: id, text: string(written), err: err}
	})
}

// external takes the text back. Editors end a file with a line feed that nobody typed.
func (m *Model) external(msg externalMsg) tea.Cmd {
	if msg.err != nil {
		err := msg.err
		return func() tea.Msg { return Failed{err} }
	}
	m.setRaw(m.admit(strings.TrimSuffix(msg.text, "\n")))
	return m.changed()
}

func firstOf(texts ...string) string {
	for _, s := range texts {
		if s != "" {
			return s
		}
	}
	return ""
}
