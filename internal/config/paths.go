package config

import (
	"os"
	"path/filepath"
)

// Paths are the folders of one user, absolute. None of them need exist; whoever
// writes makes them, with mode 0700.
type Paths struct {
	Config   string // settings, models.json, keys, themes
	Data     string // what must not be lost
	Sessions string // Data/sessions, unless it was moved
	State    string // history, drafts, trust
	Cache    string // may be deleted at any time
}

// TrashDir is the desktop's trash, beside Data as the freedesktop.org
// specification has it; it need not exist.
func (p Paths) TrashDir() string { return filepath.Join(filepath.Dir(p.Data), "Trash") }

// FindPaths follows the XDG base directory specification, with
// BANYAN_DATA_DIR for Data and BANYAN_CONFIG_DIR for Config.
func FindPaths() (Paths, error) { return findPaths(os.Getenv, os.UserHomeDir) }

func findPaths(env func(string) string, home func() (string, error)) (Paths, error) {
	dir := func(own, xdg, fallback string) (string, error) {
		if d := env(own); own != "" && d != "" {
			return filepath.Abs(d)
		}
		// A relative path there is invalid by the specification.
		if d := env(xdg); filepath.IsAbs(d) {
			return filepath.Join(d, "banyan"), nil
		}
		h, err := home()
		if err != nil {
			return "", err
		}
		return filepath.Join(h, fallback, "banyan"), nil
	}
	var p Paths
	var err error
	for _, d := range []struct {
		to                 *string
		own, xdg, fallback string
	}{
		{&p.Config, "BANYAN_CONFIG_DIR", "XDG_CONFIG_HOME", ".config"},
		{&p.Data, "BANYAN_DATA_DIR", "XDG_DATA_HOME", ".local/share"},
		{&p.State, "", "XDG_STATE_HOME", ".local/state"},
		{&p.Cache, "", "XDG_CACHE_HOME", ".cache"},
	} {
		if *d.to, err = dir(d.own, d.xdg, d.fallback); err != nil {
			return p, err
		}
	}
	p.Sessions = filepath.Join(p.Data, "sessions")
	return p, nil
}
