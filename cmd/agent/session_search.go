package main

import (
	"errors"
	"fmt"
	"io"

	"banyan/internal/session"
	"banyan/internal/tui/inert"
)

// hit is an entry that has a text.
type hit struct {
	Path    string     `json:"path"`
	Session string     `json:"session"` // its id
	Entry   session.ID `json:"entry"`
	Who     string     `json:"who"`  // said it: you, agent, command, summary, or a tool's name
	Text    string     `json:"text"` // around what was found, one line
}

// runSearch finds a text, whatever its case, in the sessions of a folder, newest
// first. What cannot be read is named on standard error, and passed over.
func runSearch(r *sessionRun, args []string) error {
	if args[0] == "" {
		return usagef("there is no text to search for")
	}
	cwd := r.cwd
	if r.all {
		cwd = ""
	}
	files, err := session.List(r.store, cwd, r.paths.Cache)
	if err != nil {
		return fmt.Errorf("list the sessions: %w", err)
	}
	hits := []hit{}
	for _, f := range files {
		found, err := shelf{r.store, r.paths}.search(r.cmd.Context(), f.Path, args[0])
		if err != nil {
			fmt.Fprintf(r.cmd.ErrOrStderr(), "%s: %s\n", inert.Line(f.Path), inert.Line(err.Error()))
		}
		for _, at := range found {
			hits = append(hits, hit{f.Path, f.ID, at.ID, at.Who, at.Text})
		}
	}
	if err := r.print(hits, func(w io.Writer) { printHits(w, hits) }); err != nil {
		return err
	}
	switch {
	case len(hits) > 0:
		return r.cmd.Context().Err()
	case r.all:
		return errors.New("no session has this text")
	}
	return fmt.Errorf("no session of %s has this text; --all searches those of all folders", r.cwd)
}

func printHits(w io.Writer, hits []hit) {
	for _, h := range hits {
		fmt.Fprintf(w, "%s  %s  %-7s  %s\n", shortID(h.Session), inert.Line(string(h.Entry)), inert.Line(h.Who), inert.Line(h.Text))
	}
}
