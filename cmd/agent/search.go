package main

import (
	"context"
	"strings"
	"unicode/utf8"

	"banyan/internal/llm"
	"banyan/internal/session"
	"banyan/internal/tree"
	"banyan/internal/tui"
)

// search finds the entries of a session that have a text, whatever its
// case, on all branches. Bodies are read one at a time.
func (s shelf) search(ctx context.Context, path, text string) ([]tui.Found, error) {
	m, err := s.open(path, true)
	if err != nil {
		return nil, err
	}
	defer m.Close()
	snap := m.Snapshot()
	text = strings.ToLower(text)
	var found []tui.Found
	for n := range tree.Node(snap.Len()) {
		if ctx.Err() != nil {
			return found, nil // nobody looks at it any more
		}
		e, err := snap.EntryAt(n)
		if err != nil {
			continue // a damaged line is no reason to find nothing
		}
		who, said := saidBy(e.Data)
		if at := strings.Index(strings.ToLower(said), text); at >= 0 {
			found = append(found, tui.Found{Path: path, ID: e.ID, Who: who, Text: around(said, at)})
		}
	}
	return found, nil
}

// saidBy is what an entry says, and who says it; empty if it says nothing.
func saidBy(d session.Data) (who, text string) {
	switch d := d.(type) {
	case session.Message:
		switch d.Role {
		case llm.User:
			return "you", d.Text()
		case llm.ToolResult:
			return d.ToolName, d.Text()
		}
		return "agent", d.Text()
	case session.Command:
		return "command", d.Command + "\n" + d.Output
	case session.BranchSummary:
		return "summary", d.Summary
	case session.Compaction:
		return "summary", d.Summary
	}
	return "", ""
}

// around is a line of the text about a place in it. Lower case may be longer or
// shorter than the text, so the place is where it nearly is.
func around(text string, at int) string {
	const before, after = 30, 160
	from, to := max(0, min(at, len(text))-before), min(len(text), at+after)
	for from > 0 && from < len(text) && !utf8.RuneStart(text[from]) {
		from--
	}
	part := strings.Join(strings.Fields(strings.ToValidUTF8(text[from:max(from, to)], "")), " ")
	if from > 0 {
		part = "…" + part
	}
	return part
}
