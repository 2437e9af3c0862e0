package tui

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"banyan/internal/engine"
	"banyan/internal/llm"
	"banyan/internal/session"

	tea "charm.land/bubbletea/v2"
)

// exportBranch writes the path to an entry into a file: /export-branch <id> [file].
func (m *Model) exportBranch(text string) tea.Cmd {
	name, file, _ := strings.Cut(text, " ")
	if name == "" {
		m.refuse("Name the branch to export: /export-branch <id or label of its end> [file]. /branches lists them")
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
	return m.exportTo(id, strings.TrimSpace(file), false)
}

// export writes this conversation into a file: /export [file]. As .jsonl it is
// the whole session with all its branches, as .md the active path.
func (m *Model) export(file string) tea.Cmd {
	if m.session.Leaf() == "" {
		m.refuse("There is nothing to export yet")
		return nil
	}
	if file == "" {
		file = "session-" + shortID(m.session.Header().ID) + ".md"
	}
	return m.exportTo(m.session.Leaf(), file, true)
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
		Title: "Write the path to " + m.named(id) + " to", Hint: ".md for reading, .jsonl for going on", Text: "branch-" + string(id) + ".md",
		Chosen: func(file string) tea.Cmd { return m.exportTo(id, file, false) },
	})
	return nil
}

// exportTo writes a path, or as a session all of it, into a file that does not
// exist yet.
func (m *Model) exportTo(id session.ID, file string, all bool) tea.Cmd {
	if file == "" {
		file = "branch-" + string(id) + ".md"
	}
	path := file
	if !filepath.IsAbs(path) {
		path = filepath.Join(m.opts.Cwd, path)
	}
	s := m.session
	return func() tea.Msg { return exportedMsg{path, exportPath(s, id, path, all)} }
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

// exportPath writes the path to an entry as what the file's name says: JSON
// Lines, which is a session again, or Markdown.
func exportPath(s session.Snapshot, id session.ID, path string, all bool) error {
	var out bytes.Buffer
	var err error
	switch ext := filepath.Ext(path); ext {
	case ".jsonl":
		switch {
		case !all:
			err = s.ExportPath(&out, id, session.Options{})
		case s.Path() == "":
			err = errors.New("this session has no file yet; /save <file> makes one")
		default:
			err = s.Export(&out)
		}
	case ".md", ".markdown":
		err = writeMarkdown(&out, s, id)
	default:
		err = fmt.Errorf("%q says no format; take .md for Markdown or .jsonl for a session", ext)
	}
	if err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(out.Bytes())
	return errors.Join(err, f.Close())
}

// writeMarkdown writes the conversation up to an entry for people.
func writeMarkdown(out *bytes.Buffer, s session.Snapshot, id session.ID) error {
	if name := s.Name(); name != "" {
		fmt.Fprintf(out, "# %s\n\n", name)
	}
	for _, id := range s.PathIDs(id) {
		e, _, err := s.Entry(id)
		if err != nil {
			return err
		}
		switch d := e.Data.(type) {
		case session.Message:
			markdownMessage(out, d)
		case session.Command:
			fmt.Fprintf(out, "## You ran\n\n%s\n\n", fenced("$ "+d.Command+"\n"+d.Output))
		case session.BranchSummary:
			fmt.Fprintf(out, "## Summary of a branch\n\n%s\n\n", d.Summary)
		case session.Compaction:
			fmt.Fprintf(out, "## Summary\n\n%s\n\n", d.Summary)
		}
	}
	return nil
}

func markdownMessage(out *bytes.Buffer, d session.Message) {
	switch d.Role {
	case llm.User:
		fmt.Fprintf(out, "## You\n\n%s\n\n", d.Text())
	case llm.ToolResult:
		fmt.Fprintf(out, "%s\n\n", fenced(d.Text()))
	case llm.Assistant:
		if text := d.Text(); text != "" {
			fmt.Fprintf(out, "## Agent\n\n%s\n\n", text)
		}
		for _, c := range d.Calls() {
			fmt.Fprintf(out, "**%s** `%s`\n\n", c.Name, c.Arguments)
		}
	}
}

// fenced is a block of text, with a fence that does not occur in it.
func fenced(text string) string {
	fence := "```"
	for _, line := range slices.Collect(strings.Lines(text)) {
		if marks := len(line) - len(strings.TrimLeft(line, "`")); marks >= len(fence) {
			fence = strings.Repeat("`", marks+1)
		}
	}
	return fence + "\n" + strings.TrimRight(text, "\n") + "\n" + fence
}
