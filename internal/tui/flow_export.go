package tui

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"banyan/internal/engine"
	"banyan/internal/export"
	"banyan/internal/session"

	tea "charm.land/bubbletea/v2"
)

// exportBranch writes the branch that an entry names into a file:
// /export-branch <id> [file]. That is the entry with all below it or, where
// nothing is, the path that ends there.
func (m *Model) exportBranch(text string) tea.Cmd {
	name, file, _ := strings.Cut(text, " ")
	if name == "" {
		m.refuse("Name the branch to export: /export-branch <id or label> [file]. /branches lists them")
		return nil
	}
	id, err := m.session.Resolve(text) // a label may have blanks
	if err == nil {
		file = ""
	} else {
		var cmd tea.Cmd
		var ok bool
		if id, cmd, ok = m.resolve(name); !ok {
			return cmd
		}
	}
	if file = strings.TrimSpace(file); file == "" {
		file = "branch-" + string(id) + ".md"
	}
	if len(m.session.Children(id)) == 0 {
		return m.exportTo(export.PathTo(id), file)
	}
	return m.exportTo(export.Below(id), file)
}

// export writes this conversation into a file: /export [file]. As .jsonl and
// .html it is the whole session with all its branches, as .md the active path.
func (m *Model) export(file string) tea.Cmd {
	if m.session.Leaf() == "" {
		m.refuse("There is nothing to export yet")
		return nil
	}
	if file == "" {
		file = "session-" + shortID(m.session.Header().ID) + ".md"
	}
	if f, err := export.FormatOf(file); err == nil && f == export.Markdown {
		return m.exportTo(export.PathTo(m.session.Leaf()), file)
	}
	return m.exportTo(export.Part{}, file)
}

// importSession takes a session file in and opens it: /import <file>.
func (m *Model) importSession(file string) tea.Cmd {
	take := m.opts.Import
	switch {
	case take == nil:
		m.refuse("Sessions cannot be taken in here")
		return nil
	case file == "":
		m.prompt(promptOptions{Title: "Take in the session", Hint: "a session file, which stays as it is", Chosen: func(file string) tea.Cmd {
			if file == "" {
				return nil
			}
			return m.importSession(file)
		}})
		return nil
	}
	return func() tea.Msg {
		path, err := take(context.Background(), file)
		if err != nil {
			return failedMsg{fmt.Errorf("nothing was taken in: %w", err)}
		}
		return importedMsg(path)
	}
}

// importedMsg is the path of a session that was taken in.
type importedMsg string

func (msg importedMsg) apply(m *Model) tea.Cmd {
	m.opts.Engine.Send(engine.Open{Path: string(msg)})
	m.hint("Taken in as " + string(msg))
	return nil
}

// exportEntry asks for the file.
func (m *Model) exportEntry(id session.ID) tea.Cmd {
	m.prompt(promptOptions{
		Title: "Write the path to " + m.named(id) + " to", Hint: ".md or .html for reading, .jsonl for going on", Text: "branch-" + string(id) + ".md",
		Chosen: func(file string) tea.Cmd { return m.exportTo(export.PathTo(id), file) },
	})
	return nil
}

// exportTo writes a part of the session, in the format that its name says, into
// a file that does not exist yet.
func (m *Model) exportTo(part export.Part, path string) tea.Cmd {
	f, err := export.FormatOf(path)
	if err != nil {
		m.refuse("Nothing was exported: " + err.Error())
		return nil
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(m.opts.Cwd, path)
	}
	m.hint("Writing " + path + " …")
	s := m.session
	return func() tea.Msg { return exportedMsg{path, export.File(path, s, part, f)} }
}

// exportedMsg is an export that was made, or was not.
type exportedMsg struct {
	path string
	err  error
}

func (msg exportedMsg) apply(m *Model) tea.Cmd {
	switch {
	case errors.Is(msg.err, fs.ErrExist):
		m.refuse("There is a file " + msg.path + " already; name another one")
	case msg.err != nil:
		m.refuse("Nothing was exported: " + msg.err.Error())
	default:
		m.hint("Exported to " + msg.path)
	}
	return nil
}
