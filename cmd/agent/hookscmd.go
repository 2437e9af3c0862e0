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
	asJSON := false
	cmd := &cobra.Command{
		Use: "hooks", Short: "List the commands that run when something happens", Args: cobra.NoArgs,
		RunE: with(func(cmd *cobra.Command, _ []string, r *hook.Runner, problems []string) error {
			if asJSON {
				return printJSON(cmd, hookRecords(r, problems))
			}
			printHooks(cmd, r, problems)
			return nil
		}),
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.PersistentFlags().BoolVar(&o.trust, "trust", false, "trust this folder for this run")
	change := func(use, short, done string, do func(*hook.Runner, hook.State) error) *cobra.Command {
		return &cobra.Command{
			Use: use + " <number>…", Short: short, Args: cobra.MinimumNArgs(1),
			RunE: with(func(cmd *cobra.Command, args []string, r *hook.Runner, _ []string) error {
				list := r.List()
				for _, arg := range args {
					n, err := strconv.Atoi(arg)
					if err != nil || n < 1 || n > len(list) {
						return usagef("there is no hook %q; agent hooks lists them with their numbers", arg)
					}
					h := list[n-1]
					if !h.Source.Asks {
						return usagef("hook %d is of your own settings: it needs no approval", n)
					}
					if err := do(r, h); err != nil {
						return err
					}
					fmt.Fprintf(cmd.OutOrStdout(), "%s: %s\n", done, inert.Line(h.Command))
					printText(cmd, h.Text)
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
		printText(cmd, item.Text)
	}
	for _, p := range problems {
		fmt.Fprintf(out, "-  not used: %s\n", inert.Line(p))
	}
}

// printText prints lines from anywhere, indented.
func printText(cmd *cobra.Command, text string) {
	for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		fmt.Fprintf(cmd.OutOrStdout(), "   %s\n", inert.Line(line))
	}
}

// hookRecord is a hook for other programs.
type hookRecord struct {
	Number  int      `json:"number,omitempty"` // for approve and revoke
	Event   string   `json:"event,omitempty"`
	Matcher string   `json:"matcher,omitempty"`
	Command string   `json:"command,omitempty"`
	Args    []string `json:"args,omitempty"`
	File    string   `json:"file,omitempty"`
	Runs    bool     `json:"runs"`              // it is the user's own, or approved as it is
	Changed bool     `json:"changed,omitempty"` // since it was approved
	Problem string   `json:"problem,omitempty"` // why it is not used
}

func hookRecords(r *hook.Runner, problems []string) []hookRecord {
	all := []hookRecord{}
	for i, h := range r.List() {
		record := hookRecord{
			Number: i + 1, Event: h.Event, Matcher: h.Matcher, Command: h.Command, Args: h.Args, File: h.Source.File,
			Runs: h.Approval.OK && h.Err == nil, Changed: h.Approval.Changed,
		}
		if h.Err != nil {
			record.Problem = h.Err.Error()
		}
		all = append(all, record)
	}
	for _, p := range problems {
		all = append(all, hookRecord{Problem: p})
	}
	return all
}
