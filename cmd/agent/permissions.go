package main

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"banyan/internal/permission"
	"banyan/internal/sandbox"
	"banyan/internal/tool"
	"banyan/internal/tui/inert"
)

func permissionsCommand(o *chatOptions) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "permissions",
		Short: "See what may be done without asking",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(permissionsTestCommand(o))
	return cmd
}

// verdictLine is the output of `agent permissions test --json`.
type verdictLine struct {
	Verdict string        `json:"verdict"` // allow, ask or deny
	Rule    string        `json:"rule,omitempty"`
	Source  string        `json:"source"`
	Reason  string        `json:"reason"`
	Parts   []verdictPart `json:"parts,omitempty"`
}

type verdictPart struct {
	Command string `json:"command"`
	Verdict string `json:"verdict"`
	Rule    string `json:"rule,omitempty"`
	Source  string `json:"source"`
}

func permissionsTestCommand(o *chatOptions) *cobra.Command {
	var asJSON bool
	mode := ""
	cmd := &cobra.Command{
		Use:   "test COMMAND",
		Short: "Print the verdict on a shell command: allow, ask or deny, and by which rule",
		Long: `Print the verdict on a shell command, as its first word: allow, ask or deny;
then the rule that decided and the file that it stands in. Nothing is run.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			opts := *o
			opts.permission = mode
			v, err := opts.judge(args[0])
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(cmd, line(v))
			}
			return printVerdict(cmd, v)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().StringVar(&mode, "permission-mode", "", "judge in this mode")
	return cmd
}

// judge decides on a command as a chat with these flags would.
func (o chatOptions) judge(command string) (permission.Verdict, error) {
	s := &setup{opts: o}
	if err := s.readConfig(); err != nil {
		return permission.Verdict{}, err
	}
	var err error
	if s.env, err = tool.NewEnv(s.Cwd); err != nil {
		return permission.Verdict{}, err
	}
	defer s.Close()
	policy, err := s.policy(sandbox.None)
	if err != nil {
		return permission.Verdict{}, err
	}
	args, err := json.Marshal(map[string]string{"command": command})
	if err != nil {
		return permission.Verdict{}, err
	}
	return policy.Decide(permission.Call{Tool: "bash", Access: tool.Execute, Args: args}), nil
}

func line(v permission.Verdict) verdictLine {
	l := verdictLine{Verdict: v.Action.String(), Rule: v.Rule, Source: v.Source, Reason: v.Reason}
	for _, p := range v.Parts {
		l.Parts = append(l.Parts, verdictPart{p.Text, p.Action.String(), p.Rule, p.Source})
	}
	return l
}

func printVerdict(cmd *cobra.Command, v permission.Verdict) error {
	out := cmd.OutOrStdout()
	fmt.Fprintf(out, "%s  %s\n", v.Action, inert.Line(by(v)))
	if v.Reason != "" {
		fmt.Fprintf(out, "  %s\n", inert.Line(v.Reason))
	}
	if len(v.Parts) > 1 {
		for _, p := range v.Parts {
			fmt.Fprintf(out, "  %-5s  %s  (%s)\n", p.Action, inert.Line(p.Text), inert.Line(by(p.Verdict)))
		}
	}
	return nil
}

// by is what decided, for people.
func by(v permission.Verdict) string {
	if v.Rule == "" {
		return v.Source
	}
	return v.Rule + " of " + v.Source
}
