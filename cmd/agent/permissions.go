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
			policy, err := opts.policyAlone()
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(cmd, verdict(policy, args[0]))
			}
			_, err = fmt.Fprint(cmd.OutOrStdout(), inert.Text(policy.Explain(args[0])))
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().StringVar(&mode, "permission-mode", "", "judge in this mode")
	return cmd
}

// policyAlone is the policy that a chat with these flags would have.
func (o chatOptions) policyAlone() (*permission.Policy, error) {
	s := &setup{opts: o}
	if err := s.readConfig(); err != nil {
		return nil, err
	}
	var err error
	if s.env, err = tool.NewEnv(s.Cwd); err != nil {
		return nil, err
	}
	defer s.Close()
	return s.policy(sandbox.None)
}

func verdict(policy *permission.Policy, command string) verdictLine {
	args, err := json.Marshal(map[string]string{"command": command})
	if err != nil {
		panic(err) // text always marshals
	}
	v := policy.Decide(permission.Call{Tool: "bash", Access: tool.Execute, Args: args})
	l := verdictLine{Verdict: v.Action.String(), Rule: v.Rule, Source: v.Source, Reason: v.Reason}
	for _, p := range v.Parts {
		l.Parts = append(l.Parts, verdictPart{p.Text, p.Action.String(), p.Rule, p.Source})
	}
	return l
}
