package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"banyan/internal/headless"
	"banyan/internal/tui/inert"
)

// Exit codes, as documented in --help.
const (
	exitDone        = 0
	exitError       = 1
	exitUsage       = 2
	exitRefused     = 3
	exitLimit       = 4
	exitInterrupted = 130
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// run is the program without its process.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	root := rootCommand()
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		return exitDone
	}
	fmt.Fprintf(stderr, "%s: %s\n", root.Name(), inert.Text(err.Error()))
	code := exitCode(err)
	if code == exitUsage {
		fmt.Fprintf(stderr, "See %s --help.\n", cmd.CommandPath())
	}
	return code
}

// usageError is a command line that makes no sense.
type usageError struct{ error }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

func exitCode(err error) int {
	var usage usageError
	switch {
	case errors.As(err, &usage):
		return exitUsage
	case errors.Is(err, headless.ErrRefused):
		return exitRefused
	case errors.Is(err, headless.ErrLimit):
		return exitLimit
	case errors.Is(err, context.Canceled):
		return exitInterrupted
	}
	return exitError
}

// rootCommand builds the command tree anew, so that runs in tests share nothing.
func rootCommand() *cobra.Command {
	var o chatOptions
	root := &cobra.Command{
		Use:   "agent [prompt]",
		Short: "A terminal coding agent whose conversations are trees",
		Long: `Banyan is a terminal coding agent whose conversations are trees. Without
arguments it opens a chat in this folder. Without a model provider it answers
with the embedded offline model; agent login, or a key in ANTHROPIC_API_KEY and
the like, connects a real one.

Exit codes: 0 done, 1 error, 2 usage, 3 refused by permissions, 4 turns or
budget reached, 130 interrupted.`,
		Example: `  agent                            chat in this folder
  agent -c                         go on with its newest session
  agent -p "read go.mod"           print one answer
  git diff | agent -p "review it"  with standard input appended`,
		Args:          cobra.ArbitraryArgs,
		Version:       version(),
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := slippedCommand(cmd, args); err != nil {
				return err
			}
			return chat(cmd, args, o)
		},
	}
	root.SetVersionTemplate("{{.Name}} {{.Version}}\n")
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usageError{suggestFlag(cmd, err)}
	})
	o.flags(root)
	root.AddCommand(sessionCommand(), modelsCommand(), statsCommand(), loginCommand(), logoutCommand(), permissionsCommand(&o), hooksCommand(&o), extensionsCommand(&o), mcpCommand(&o), doctorCommand(&o), versionCommand())
	sayUsage(root)
	return root
}
