package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"banyan/internal/extension"
	"banyan/internal/tui/inert"
)

// extensionsCommand is what can be done with extensions without running any.
func extensionsCommand(o *chatOptions) *cobra.Command {
	with := func(do func(cmd *cobra.Command, args []string, s *setup, found []extension.Found) error) func(*cobra.Command, []string) error {
		return func(cmd *cobra.Command, args []string) error {
			s := &setup{opts: *o}
			if err := s.readConfig(); err != nil {
				return err
			}
			found, faults := s.findExtensions()
			for _, err := range faults {
				fmt.Fprintln(cmd.ErrOrStderr(), inert.Line(err.Error()))
			}
			return do(cmd, args, s, found)
		}
	}
	cmd := &cobra.Command{
		Use: "extensions", Short: "List the extensions that there are", Args: cobra.NoArgs,
		RunE: with(func(cmd *cobra.Command, _ []string, s *setup, found []extension.Found) error {
			for _, f := range found {
				fmt.Fprintln(cmd.OutOrStdout(), inert.Line(s.extensionLine(f)))
			}
			return nil
		}),
	}
	cmd.PersistentFlags().BoolVar(&o.trust, "trust", false, "trust this folder for this run")
	change := func(use, short, done string, do func(s *setup, f extension.Found) error) *cobra.Command {
		return &cobra.Command{
			Use: use + " <name>…", Short: short, Args: cobra.MinimumNArgs(1),
			RunE: with(func(cmd *cobra.Command, args []string, s *setup, found []extension.Found) error {
				for _, name := range args {
					i := slices.IndexFunc(found, func(f extension.Found) bool { return f.Name == name && f.Project != "" })
					if i < 0 {
						return usagef("this project has no extension %q that is trusted; agent extensions lists those that there are", name)
					}
					if err := do(s, found[i]); err != nil {
						return err
					}
					fmt.Fprintf(cmd.OutOrStdout(), "%s: %s\n", done, inert.Line(found[i].Path))
				}
				return nil
			}),
		}
	}
	cmd.AddCommand(
		change("approve", "Let an extension of this project run, as it is now", "approved", (*setup).approveFiles),
		change("revoke", "Take that back", "does not run any more", func(s *setup, f extension.Found) error {
			return s.trust().RevokeItem(extensionKind, f.Project, f.Name)
		}),
	)
	return cmd
}

// extensionLine is an extension in one line: name, whether it would run, where it is.
func (s *setup) extensionLine(f extension.Found) string {
	state := "runs"
	if err := s.extensionAllowed(f); err != nil {
		state = err.Error()
	}
	return strings.Join([]string{f.Name, state, f.From, f.Path}, "  ")
}
