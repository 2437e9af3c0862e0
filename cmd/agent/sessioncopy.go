package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/spf13/cobra"

	"banyan/internal/session"
	"banyan/internal/store"
	"banyan/internal/tui/inert"
)

// copyFlags are where sessions come from and go to.
func copyFlags(cmd *cobra.Command, f *sessionFlags) {
	cmd.Flags().StringVar(&f.from, "from", "", "the store that has them (default: as --store)")
	cmd.Flags().StringVar(&f.to, "to", "", "the store to copy them to")
	cmd.Flags().BoolVar(&f.all, "all", false, "copy all sessions of all folders")
}

// copied is what is said of one copy.
type copied struct {
	From string `json:"from"`
	To   string `json:"to"`
	How  string `json:"how"` // "copied", or "there" where it was already
}

// runCopy copies sessions with their tasks. What is there already stays as it is.
func runCopy(r *sessionRun, args []string) (err error) {
	switch {
	case r.to == "":
		return usagef("say where to: --to files, files:FOLDER, sqlite:PATH or postgres://HOST/DATABASE")
	case r.all == (len(args) > 0):
		return usagef("give sessions, or --all")
	}
	if r.from != "" {
		from, err := storeOf(r.from, r.paths)
		if err != nil {
			return usageError{fmt.Errorf("--from: %w", err)}
		}
		old := r.store
		r.store = from // which is closed when all is done
		if err := old.Close(); err != nil {
			return err
		}
	}
	to, err := storeOf(r.to, r.paths)
	if err != nil {
		return usageError{fmt.Errorf("--to: %w", err)}
	}
	defer func() { err = errors.Join(err, to.Close()) }()
	paths, err := r.chosen(args)
	if err != nil {
		return err
	}
	all := []copied{}
	for _, path := range paths {
		c, err := r.copyOne(path, to, r.all || len(paths) > 1)
		if err != nil {
			return err
		}
		all = append(all, c)
	}
	return r.print(all, func(w io.Writer) {
		for _, c := range all {
			fmt.Fprintf(w, "%s: %s\n", inert.Line(c.To), c.How)
		}
	})
}

// chosen are the paths of the sessions that are named, or of all.
func (r *sessionRun) chosen(args []string) (paths []string, err error) {
	for _, text := range args {
		path, err := session.Find(r.store, text)
		if err != nil {
			return nil, err
		}
		paths = append(paths, path)
	}
	if !r.all {
		return paths, nil
	}
	infos, err := r.store.List("")
	for _, in := range infos {
		paths = append(paths, in.Path)
	}
	return paths, err
}

// copyOne copies a session. With several, one that is there already is no error.
func (r *sessionRun) copyOne(path string, to store.Store, several bool) (copied, error) {
	o := session.Options{Store: r.store, ReadOnly: true}
	m, err := session.Open(path, o)
	if err != nil {
		return copied{}, err
	}
	h := m.Snapshot().Header()
	if err := m.Close(); err != nil {
		return copied{}, err
	}
	cwd := h.Cwd
	if cwd == "" {
		cwd = r.cwd
	}
	at, err := session.Copy(path, o, to, session.Project(cwd))
	if several && errors.Is(err, fs.ErrExist) {
		place := store.Place{Project: session.Project(cwd), ID: h.ID, Time: h.Time}
		return copied{path, to.Path(place), "there"}, nil
	}
	return copied{path, at, "copied"}, err
}
