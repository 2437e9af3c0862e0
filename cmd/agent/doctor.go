package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"banyan/internal/tui"
	"banyan/internal/tui/inert"
	"banyan/internal/tui/termcap"
)

// check looks at one thing that the program needs. It changes nothing, says
// what it found, and what to do about what is not as it could be.
type check struct {
	about string
	look  func(*doctor) []tui.Finding
}

// checks is what there is to look at, in the order of the report. A new part of
// the program adds a row.
func checks() []check {
	return []check{
		{"terminal", (*doctor).terminal},
		{"settings", (*doctor).configuration},
		{"models", (*doctor).models},
		{"local servers", (*doctor).servers},
		{"sandbox", (*doctor).sandbox},
		{"sessions", (*doctor).sessions},
		{"tools", (*doctor).tools},
		{"trust", (*doctor).trusted},
		{"skills", (*doctor).skills},
		{"hooks", (*doctor).hooked},
		{"extensions", (*doctor).extended},
		{"MCP servers", (*doctor).serving},
	}
}

// doctor is an examination.
type doctor struct {
	*setup
	ctx  context.Context
	caps termcap.Caps
}

func good(format string, args ...any) tui.Finding {
	return tui.Finding{State: tui.Good, Text: fmt.Sprintf(format, args...)}
}

// limited and broken are a state with what to do about it.
func limited(do, format string, args ...any) tui.Finding {
	return tui.Finding{State: tui.Limited, Text: fmt.Sprintf(format, args...), Do: do}
}

func broken(do, format string, args ...any) tui.Finding {
	return tui.Finding{State: tui.Broken, Text: fmt.Sprintf(format, args...), Do: do}
}

// examine looks at everything, as a chat with these flags would find it if it
// began now.
func examine(ctx context.Context, o chatOptions, caps termcap.Caps) ([]tui.Finding, error) {
	s := &setup{opts: o}
	if err := s.readConfig(); err != nil {
		return nil, err
	}
	defer s.Close()
	s.roster = newRoster(s.paths.Config, o.offline, 0, nil)
	d := &doctor{setup: s, ctx: ctx, caps: caps}
	var all []tui.Finding
	for _, c := range checks() {
		for _, f := range c.look(d) {
			f.About = c.about
			all = append(all, f)
		}
	}
	return all, nil
}

func doctorCommand(o *chatOptions) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Look at what agent needs, and say what to do",
		Long: `Look at the terminal, settings, keys, local servers, the sandbox, the folder of
sessions, tools, trust, skills, hooks, extensions and MCP servers. Nothing is
changed, nothing is started, and no key is printed. The exit code is 1 if there
is a problem.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			caps := termcap.FromEnv(os.Getenv)
			if in, ok := cmd.InOrStdin().(*os.File); ok && !asJSON {
				caps, _ = termcap.Ask(cmd.Context(), caps, in, os.Stdout) // without a terminal there is nothing to ask
			}
			all, err := examine(cmd.Context(), *o, caps)
			if err != nil {
				return err
			}
			return report(cmd, all, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// report prints findings, and fails if one is a problem.
func report(cmd *cobra.Command, all []tui.Finding, asJSON bool) error {
	problems := 0
	for _, f := range all {
		if f.State == tui.Broken {
			problems++
		}
	}
	if asJSON {
		if err := printJSON(cmd, all); err != nil {
			return err
		}
	} else {
		printFindings(cmd.OutOrStdout(), all)
	}
	switch problems {
	case 0:
		return nil
	case 1:
		return fmt.Errorf("there is 1 problem")
	}
	return fmt.Errorf("there are %d problems", problems)
}

func printFindings(w io.Writer, all []tui.Finding) {
	about := ""
	for _, f := range all {
		if f.About != about {
			about = f.About
			fmt.Fprintf(w, "%s\n", about)
		}
		fmt.Fprintf(w, "  %s %s\n", f.State.Sign(), inert.Line(f.Text))
		if f.Do != "" {
			fmt.Fprintf(w, "    → %s\n", inert.Line(f.Do))
		}
	}
}
