package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"banyan/internal/config"
	"banyan/internal/llm"
	"banyan/internal/tui/inert"
)

// modelLine is a model in the output of `agent models --json`. Sizes are in
// tokens, prices in USD per million tokens.
type modelLine struct {
	Provider   string              `json:"provider"`
	ID         string              `json:"id"`
	Name       string              `json:"name"`
	Configured bool                `json:"configured"` // its provider can be asked
	Context    int                 `json:"context,omitempty"`
	Output     int                 `json:"output,omitempty"`
	Images     bool                `json:"images"`
	Levels     []llm.ThinkingLevel `json:"thinking,omitempty"`
	Local      bool                `json:"local"`
	Price      *llm.Price          `json:"price,omitempty"` // absent if it is not known
}

func modelsCommand() *cobra.Command {
	var asJSON, all bool
	cmd := &cobra.Command{
		Use:   "models [filter]",
		Short: "List models: their names, windows and prices",
		Long: `List the models of the providers that are configured: those with a key in the
environment or from "agent login", and local servers that answer. The filter's
words must all occur in a line.`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			paths, err := config.FindPaths()
			if err != nil {
				return err
			}
			r := newRoster(paths.Config, false, 0, nil)
			r.probe(cmd.Context())
			lines := r.lines(all, args)
			if asJSON {
				return printJSON(cmd, lines)
			}
			return printModels(cmd, lines, all)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().BoolVar(&all, "all", false, "of every known provider, configured or not")
	return cmd
}

// lines are the models whose line has all the words.
func (r *roster) lines(all bool, words []string) []modelLine {
	c := r.catalog.Load()
	lines := []modelLine{}
	for m := range c.Table().All() {
		l := modelLine{m.Provider, m.ID, m.Name, c.Configured(m.Provider), m.Context, m.Output, m.Images, m.Levels, m.Local, m.Price}
		text := strings.ToLower(l.Provider + "/" + l.ID + " " + l.Name)
		wanted := all || l.Configured
		for _, w := range words {
			wanted = wanted && strings.Contains(text, strings.ToLower(w))
		}
		if wanted {
			lines = append(lines, l)
		}
	}
	return lines
}

func printModels(cmd *cobra.Command, lines []modelLine, all bool) error {
	if len(lines) == 0 {
		hint := `No provider with such a model is configured. Set a key such as ANTHROPIC_API_KEY, run "agent login", or see "agent models --all".`
		if all {
			hint = "No known model has all these words in its name."
		}
		cmd.PrintErrln(hint)
		return nil
	}
	w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
	for _, l := range lines {
		mark := ""
		if !l.Configured {
			mark = "no key"
		}
		fmt.Fprintf(w, "%s/%s\t%s\t%s\t%s\n", inert.Line(l.Provider), inert.Line(l.ID), inert.Line(l.Name),
			detail(llm.Model{Context: l.Context, Local: l.Local, Price: l.Price}), mark)
	}
	return w.Flush()
}

func printJSON(cmd *cobra.Command, v any) error {
	e := json.NewEncoder(cmd.OutOrStdout())
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}
