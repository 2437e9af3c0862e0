package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"banyan/internal/slip"
)

// suggestFlag adds the nearest flag's name to the error about an unknown one.
func suggestFlag(cmd *cobra.Command, err error) error {
	_, rest, ok := strings.Cut(err.Error(), "unknown flag: --")
	if !ok {
		return err
	}
	name, _, _ := strings.Cut(strings.Fields(rest)[0], "=")
	var flags []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			flags = append(flags, f.Name)
		}
	})
	if near := slip.Near(name, flags, 1); len(near) > 0 {
		return fmt.Errorf("%w; did you mean --%s?", err, near[0])
	}
	return err
}

// slippedCommand says that what looks like a prompt is a subcommand with a slip in
// its name. Only what is a command line to the end counts, with a subcommand of
// that command and the right number of arguments: a prompt is never refused for
// what it begins with.
func slippedCommand(root *cobra.Command, args []string) error {
	if len(args) < 2 {
		return nil
	}
	for _, cmd := range root.Commands() {
		if slip.Distance(args[0], cmd.Name()) > (len(cmd.Name())-1)/3 {
			continue
		}
		for _, sub := range cmd.Commands() {
			if sub.Name() == args[1] && (sub.Args == nil || sub.Args(sub, args[2:]) == nil) {
				return usagef("there is no agent %s; did you mean %s? In quotes it is a prompt", args[0], sub.CommandPath())
			}
		}
	}
	return nil
}

// sayUsage makes wrong arguments of a command, and of those below it, errors that
// say how it is written.
func sayUsage(cmd *cobra.Command) {
	if check := cmd.Args; check != nil {
		cmd.Args = func(cmd *cobra.Command, args []string) error {
			if check(cmd, args) == nil {
				return nil
			}
			return usageError{wrongArguments(cmd, args)}
		}
	}
	for _, c := range cmd.Commands() {
		sayUsage(c)
	}
}

func wrongArguments(cmd *cobra.Command, args []string) error {
	if !cmd.HasSubCommands() {
		_, takes, _ := strings.Cut(cmd.Use, " ")
		if takes == "" {
			return fmt.Errorf("%s takes no arguments", cmd.CommandPath())
		}
		return fmt.Errorf("it is written: %s %s", cmd.CommandPath(), takes)
	}
	var names []string
	for _, c := range cmd.Commands() {
		names = append(names, c.Name())
	}
	err := fmt.Errorf("there is no %s %s", cmd.CommandPath(), args[0])
	if near := slip.Near(args[0], names, 1); len(near) > 0 {
		return fmt.Errorf("%w; did you mean %s %s?", err, cmd.CommandPath(), near[0])
	}
	return err
}
