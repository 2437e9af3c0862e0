package main

import (
	"fmt"
	"path/filepath"

	"banyan/internal/config"
	"banyan/internal/store"
	"banyan/internal/store/database"
)

// storeFlags say where sessions are.
type storeFlags struct {
	store string // --store
	dir   string // --session-dir
}

// open gives the store of the flags, else that of the user's settings: files
// unless they say otherwise. It connects to nothing.
func (f storeFlags) open(paths config.Paths, setting string) (store.Store, error) {
	switch {
	case f.store != "" && f.dir != "":
		return nil, usagef("--store and --session-dir both say where sessions are; give one")
	case f.dir != "":
		dir, err := filepath.Abs(f.dir)
		if err != nil {
			return nil, err
		}
		return store.Files{Dir: dir}, nil
	case f.store != "":
		s, err := storeOf(f.store, paths)
		if err != nil {
			return nil, usageError{fmt.Errorf("--store: %w", err)}
		}
		return s, nil
	}
	if err := database.NoPassword(setting); err != nil {
		return nil, fmt.Errorf("the setting store: %w", err)
	}
	s, err := storeOf(setting, paths)
	if err != nil {
		return nil, fmt.Errorf("the setting store: %w", err)
	}
	return s, nil
}

// storeOf is the store that a text names: files, files:FOLDER, sqlite:PATH or a
// URL of PostgreSQL.
func storeOf(text string, paths config.Paths) (store.Store, error) {
	const files = "files"
	switch {
	case text == "" || text == files:
		return store.Files{Dir: paths.Sessions}, nil
	case len(text) > len(files)+1 && text[:len(files)+1] == files+":":
		dir, err := filepath.Abs(text[len(files)+1:])
		return store.Files{Dir: dir}, err
	case database.Is(text):
		return database.Open(text, paths.Cache)
	}
	return nil, fmt.Errorf("%q is no store; there are files, files:FOLDER, sqlite:PATH and postgres://HOST/DATABASE", database.Mask(text))
}

// isFile tells whether a path of a session is a file's.
func isFile(s store.Store, path string) bool {
	_, files := s.(store.Files)
	return files || !s.Has(path)
}
