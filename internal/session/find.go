package session

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"banyan/internal/slip"
)

// Find is the path of the session that a text names: a path, an id, or the
// beginning of one that no other session below the folder has. Errors list the
// candidates, or the nearest ids.
func Find(sessions, text string) (string, error) {
	if text == "" {
		return "", fmt.Errorf("an empty name is no session; give a path, an id or the beginning of one")
	}
	if looksLikePath(text) {
		return text, nil // opening it tells what is wrong with it
	}
	if info, err := os.Stat(text); err == nil && !info.IsDir() {
		return text, nil
	}
	files, err := sessionFiles(sessions, "")
	if err != nil {
		return "", fmt.Errorf("looking for the session %q: %w", text, err)
	}
	matches := matching(files, text, func(p place) string { return idOfFile(p.path) })
	if len(matches) == 0 {
		// The file may have been given another name.
		matches = matching(files, text, func(p place) string {
			h, _ := peek(p.path)
			return h.ID
		})
	}
	if len(matches) == 0 {
		matches = matching(taskFiles(sessions), text, func(p place) string { return idOfFile(p.path) })
	}
	switch len(matches) {
	case 1:
		return matches[0], nil
	case 0:
		return "", fmt.Errorf("no session %q below %s%s", text, sessions, nearestSessions(files, text))
	}
	return "", fmt.Errorf("%q may be any of %s; give more of the id", text, strings.Join(few(matches), ", "))
}

// taskFiles are the files of all tasks below a folder of sessions.
func taskFiles(sessions string) (files []place) {
	_ = filepath.WalkDir(sessions, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && filepath.Ext(path) == Extension && strings.HasSuffix(filepath.Dir(path), tasksSuffix) {
			files = append(files, place{path: path})
		}
		return nil // what cannot be listed has nothing that is found
	})
	return files
}

func looksLikePath(text string) bool {
	return strings.ContainsRune(text, filepath.Separator) || strings.ContainsRune(text, '/') || filepath.Ext(text) == Extension
}

// matching are the paths whose id is a text, else those whose id begins with it.
func matching(files []place, text string, id func(place) string) []string {
	var begins []string
	for _, f := range files {
		switch got := id(f); {
		case got == text:
			return []string{f.path}
		case strings.HasPrefix(got, text):
			begins = append(begins, f.path)
		}
	}
	return begins
}

func nearestSessions(files []place, text string) string {
	var ids []string
	for _, f := range files {
		// The end of a UUIDv7 tells sessions apart; people type the beginning.
		id := idOfFile(f.path)
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
