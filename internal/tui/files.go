package tui

import (
	"context"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"banyan/internal/tui/editor"
	"banyan/internal/tui/fuzzy"

	tea "charm.land/bubbletea/v2"
)

// mentionAt: a file's name is being written after an @ that begins a word.
func mentionAt(_ int, before string) (int, bool) {
	at := strings.LastIndexByte(before, '@')
	if at < 0 || strings.ContainsFunc(before[at:], unicode.IsSpace) {
		return 0, false
	}
	if r, _ := utf8.DecodeLastRuneInString(before[:at]); at > 0 && !unicode.IsSpace(r) && r != '(' {
		return 0, false
	}
	return at + 1, true
}

// wordAt: there is a word that could be the beginning of a file's name.
func wordAt(_ int, before string) (int, bool) {
	at := strings.LastIndexFunc(before, unicode.IsSpace) + 1
	return at, at < len(before)
}

// fileRows is how many files are offered.
const fileRows = 50

// completeFile looks for files. They are listed once, when the first one is
// asked for, and again with the next @.
func (m *Model) completeFile(query string) func() []editor.Candidate {
	if list := m.opts.Files; m.listing == nil || query == "" {
		m.listing = sync.OnceValue(func() []string {
			if list == nil {
				return nil
			}
			files, _ := list(context.Background()) // what could be listed is better than nothing
			return files
		})
	}
	listing := m.listing
	return func() []editor.Candidate {
		files := listing()
		var found []editor.Candidate
		for _, match := range fuzzy.Rank(query, len(files), func(i int) string { return files[i] }, fileRows) {
			path := files[match.Index]
			found = append(found, editor.Candidate{Text: path + " ", Label: path})
		}
		return found
	}
}

// branchMsg is the branch of version control.
type branchMsg string

func (msg branchMsg) apply(m *Model) tea.Cmd { m.branch = string(msg); return nil }

// findBranch looks for it: at the start, and after each turn.
func (m *Model) findBranch() tea.Cmd {
	find := m.opts.Branch
	if find == nil {
		return nil
	}
	return func() tea.Msg { return branchMsg(find(context.Background())) }
}
