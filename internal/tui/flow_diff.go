package tui

import (
	"fmt"
	"slices"

	"banyan/internal/llm"
	"banyan/internal/session"
	"banyan/internal/tool"
	"banyan/internal/tree"
	"banyan/internal/tui/theme"
	"banyan/internal/tui/transcript"

	tea "charm.land/bubbletea/v2"
)

// changedFile are the changes to a file, oldest first.
type changedFile struct {
	path           string
	added, removed int // lines, of all changes together
	changes        []tool.Diff
}

// diffMsg are the files that were changed, the one that was changed last first.
type diffMsg struct {
	files []changedFile
	err   error
}

// showDiff shows what tools changed in files on the active path. What a command
// changed is not known.
func (m *Model) showDiff(string) tea.Cmd {
	if !m.opened {
		m.refuse("The session is not open yet")
		return nil
	}
	s := m.session
	return func() tea.Msg {
		files, err := changesOn(s)
		return diffMsg{files, err}
	}
}

// changesOn reads the results of tools on the active path, and nothing else.
func changesOn(s session.Snapshot) ([]changedFile, error) {
	at := map[string]int{}
	var files []changedFile
	for n := s.Node(s.Leaf()); n != tree.None; n = s.Tree().Parent(n) {
		if s.Class(n).Role != llm.ToolResult {
			continue
		}
		e, err := s.EntryAt(n)
		if err != nil {
			return nil, fmt.Errorf("read the results of tools: %w", err)
		}
		msg, ok := e.Data.(session.Message)
		d, is := tool.DecodeView(msg.Details).(tool.Diff)
		if !ok || !is || msg.IsError {
			continue
		}
		i, known := at[d.Path]
		if !known {
			i = len(files)
			at[d.Path] = i
			files = append(files, changedFile{path: d.Path})
		}
		f := &files[i]
		f.added, f.removed, f.changes = f.added+d.Added, f.removed+d.Removed, append(f.changes, d)
	}
	for _, f := range files {
		slices.Reverse(f.changes)
	}
	return files, nil
}

func (msg diffMsg) apply(m *Model) tea.Cmd {
	switch {
	case msg.err != nil:
		m.refuse(upper(msg.err.Error()))
		return nil
	case len(msg.files) == 0:
		m.refuse("No tool has changed a file on this branch")
		return nil
	}
	var drawn []string
	var width int
	var th theme.Theme
	m.page("Changes on this branch, in "+number(len(msg.files), "file", "files"), func(w int) []string {
		if w != width || th != m.theme { // long diffs take their time
			drawn, width, th = m.drawChanges(msg.files, w), w, m.theme
		}
		return drawn
	})
	return nil
}

// drawChanges draws files and their changes, one below the other.
func (m *Model) drawChanges(files []changedFile, w int) []string {
	var lines []string
	for i, f := range files {
		if i > 0 {
			lines = append(lines, "")
		}
		lines = append(lines, m.wrapped(fmt.Sprintf("%s  +%d −%d", f.path, f.added, f.removed), m.theme.Strong, w)...)
		for j, d := range f.changes {
			if n := len(f.changes); n > 1 {
				lines = append(lines, m.theme.Dim.Paint(fmt.Sprintf("  change %d of %d", j+1, n)))
			}
			for _, line := range transcript.Draw(d, w-3, m.theme) {
				lines = append(lines, "  "+line)
			}
		}
	}
	return lines
}
