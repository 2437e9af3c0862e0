package session

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"banyan/internal/slip"
	"banyan/internal/store"
)

// Find is the path of the session that a text names: a path, an id, or the
// beginning of one that no other session of the store has. Errors list the
// candidates, or the nearest ids.
func Find(st store.Store, text string) (string, error) {
	if text == "" {
		return "", fmt.Errorf("an empty name is no session; give a path, an id or the beginning of one")
	}
	if looksLikePath(text) {
		return text, nil // opening it tells what is wrong with it
	}
	if info, err := os.Stat(text); err == nil && !info.IsDir() {
		return text, nil
	}
	files, err := st.List("")
	if err != nil {
		return "", fmt.Errorf("looking for the session %q: %w", text, err)
	}
	matches := matching(files, text, func(in store.Info) string { return in.ID })
	if len(matches) == 0 {
		// The file may have been given another name.
		matches = matching(files, text, func(in store.Info) string {
			h, _ := peek(st, in.Path)
			return h.ID
		})
	}
	if len(matches) == 0 {
		tasks, err := st.Children("")
		if err != nil {
			return "", fmt.Errorf("looking for the session %q: %w", text, err)
		}
		matches = matching(tasks, text, func(in store.Info) string { return in.ID })
	}
	switch len(matches) {
	case 1:
		return matches[0], nil
	case 0:
		return "", fmt.Errorf("no session %q %s%s", text, below(st), nearestSessions(files, text))
	}
	return "", fmt.Errorf("%q may be any of %s; give more of the id", text, strings.Join(few(matches), ", "))
}

// below says where one looked.
func below(st store.Store) string {
	if files, ok := st.(store.Files); ok {
		return "below " + files.Dir
	}
	return "in " + st.Name()
}

func looksLikePath(text string) bool {
	return strings.ContainsRune(text, filepath.Separator) || strings.ContainsRune(text, '/') || filepath.Ext(text) == store.Extension
}

// matching are the paths whose id is a text, else those whose id begins with it.
func matching(files []store.Info, text string, id func(store.Info) string) []string {
	var begins []string
	for _, f := range files {
		switch got := id(f); {
		case got == text:
			return []string{f.Path}
		case strings.HasPrefix(got, text):
			begins = append(begins, f.Path)
		}
	}
	return begins
}

func nearestSessions(files []store.Info, text string) string {
	var ids []string
	for _, f := range files {
		// The end of a UUIDv7 tells sessions apart; people type the beginning.
		id := f.ID
		ids = append(ids, id[:min(len(id), max(len(text), 8))])
	}
	slices.Sort(ids)
	if best := slip.Near(text, slices.Compact(ids), nearNames); len(best) > 0 {
		return "; did you mean " + strings.Join(best, ", ") + "?"
	}
	return "; `agent session list --all` lists them"
}

func few(paths []string) []string {
	const most = 8
	if len(paths) > most {
		return append(slices.Clone(paths[:most]), fmt.Sprintf("%d more", len(paths)-most))
	}
	return paths
}
