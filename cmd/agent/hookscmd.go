package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"banyan/internal/hook"
	"banyan/internal/tui/inert"
)

// hooksCommand is what /hooks does, without a screen.
func hooksCommand(o *chatOptions) *cobra.Command {
	with := func(do func(cmd *cobra.Command, args []string, r *hook.Runner, problems []string) error) func(*cobra.Command, []string) error {
		return func(cmd *cobra.Command, args []string) error {
			s := &setup{opts: *o}
			if err := s.readConfig(); err != nil {
				return err
			}
			r, _ := s.findHooks()
			defer r.Close()
			return do(cmd, args, r, s.hookProblems)
		}
	}
	cmd := &cobra.Command{
		Use: "hooks", Short: "List the commands that run when something happens", Args: cobra.NoArgs,
		RunE: with(func(cmd *cobra.Command, _ []string, r *hook.Runner, problems []string) error {
			printHooks(cmd, r, problems)
			return nil
		}),
	}
	cmd.PersistentFlags().BoolVar(&o.trust, "trust", false, "trust this folder for this run")
	change := func(use, short, done string, do func(*hook.Runner, hook.Hook) error) *cobra.Command {
		return &cobra.Command{
			Use: use + " <number>…", Short: short, Args: cobra.MinimumNArgs(1),
			RunE: with(func(cmd *cobra.Command, args []string, r *hook.Runner, _ []string) error {
				list := r.List()
				for _, arg := range args {
					n, err := strconv.Atoi(arg)
					if err != nil || n < 1 || n > len(list) {
						return usagef("there is no hook %q; agent hooks lists them with their numbers", arg)
					}
					h := list[n-1].Hook
					if !h.Source.Asks {
						return usagef("hook %d is of your own settings: it needs no approval", n)
					}
					if err := do(r, h); err != nil {
						return err
					}
					fmt.Fprintf(cmd.OutOrStdout(), "%s: %s\n", done, inert.Line(h.Command))
				}
				return nil
			}),
		}
	}
	cmd.AddCommand(
		change("approve", "Let a hook run, as it is now", "approved", (*hook.Runner).Approve),
		change("revoke", "Take that back", "does not run any more", (*hook.Runner).Revoke),
	)
	return cmd
}

// printHooks prints all hooks, with all that decides what they do.
func printHooks(cmd *cobra.Command, r *hook.Runner, problems []string) {
	out := cmd.OutOrStdout()
	for i, h := range r.List() {
		item := hookItem(r, h)
		fmt.Fprintf(out, "%d  %s\n", i+1, inert.Line(item.Title))
		for line := range strings.SplitSeq(strings.TrimRight(item.Text, "\n"), "\n") {
			fmt.Fprintf(out, "   %s\n", inert.Line(line))
		}
	}
	for _, p := range problems {
		fmt.Fprintf(out, "-  not used: %s\n", inert.Line(p))
	}
}
