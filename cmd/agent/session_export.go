package main

import (
	"github.com/spf13/cobra"

	"banyan/internal/export"
	"banyan/internal/session"
)

func exportFlags(cmd *cobra.Command, f *sessionFlags) {
	outFlag(cmd, f)
	cmd.Flags().StringVar(&f.leaf, "entry", "", "the path to this entry instead of the whole session")
	cmd.Flags().StringVar(&f.subtree, "subtree", "", "this entry and everything below it instead of the whole session")
	cmd.Flags().StringVar(&f.format, "format", "", "jsonl (a session again), md (Markdown), html (one page) or flue (Flue's SessionData, version 3); else as the file's name says, else jsonl")
	cmd.Flags().BoolVar(&f.html, "html", false, "the same as --format html")
}

func runExport(r *sessionRun, args []string) error {
	if r.format == flueFormat {
		return r.exportFlue(args[0])
	}
	format, err := r.exportFormat()
	if err != nil {
		return err
	}
	s, done, err := r.look(args[0])
	if err != nil {
		return err
	}
	defer done()
	part, err := r.exportPart(s)
	if err != nil {
		return err
	}
	if r.out == "" {
		return export.Write(r.cmd.OutOrStdout(), s, part, format)
	}
	return export.File(r.out, s, part, format)
}

// exportFormat is what --html or --format says, else the file's name, else JSON Lines.
func (r *sessionRun) exportFormat() (export.Format, error) {
	switch {
	case r.html && r.format != "" && r.format != string(export.HTML):
		return "", usagef("--html and --format %s say different things", r.format)
	case r.html:
		return export.HTML, nil
	case r.format != "":
		f, err := export.ParseFormat(r.format)
		if err != nil {
			return "", usageError{err}
		}
		return f, nil
	}
	if f, err := export.FormatOf(r.out); err == nil {
		return f, nil
	}
	return export.JSONL, nil
}

// exportPart is what --entry or --subtree names, else the whole session.
func (r *sessionRun) exportPart(s session.Snapshot) (export.Part, error) {
	if r.leaf != "" && r.subtree != "" {
		return export.Part{}, usagef("give either --entry, for the path to it, or --subtree, for all below it")
	}
	if r.leaf == "" && r.subtree == "" {
		return export.Part{}, nil
	}
	id, err := s.Resolve(r.leaf + r.subtree)
	switch {
	case err != nil:
		return export.Part{}, err
	case r.leaf != "":
		return export.PathTo(id), nil
	case id == "": // all that is below the root
		return export.Part{}, nil
	}
	return export.Below(id), nil
}
