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
