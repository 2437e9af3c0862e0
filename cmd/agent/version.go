package main

import (
	"fmt"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// release is set at link time for released builds.
var release = ""

// version is the release, else what the Go tool recorded of the build.
func version() string {
	if release != "" {
		return release
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}

func versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintln(cmd.OutOrStdout(), "agent", version())
			return err
		},
	}
}
