package main

import (
	"context"
	"strings"

	"banyan/internal/engine"
	"banyan/internal/rule"
	"banyan/internal/tui"
)

// streamRules are what is watched for in what models write.
func (s *setup) streamRules() []*rule.Rule {
	var all []*rule.Rule
	for _, r := range s.taught().Rules {
		all = append(all, r.Rule)
	}
	return all
}

// ruleFacts are what /rules shows.
func (s *setup) ruleFacts(e *engine.Engine) func(context.Context) ([]tui.Fact, error) {
	return func(context.Context) ([]tui.Fact, error) {
		var facts []tui.Fact
		l := s.lookAgain(e)
		for _, r := range l.Rules {
			about := []string{strings.Join(r.Patterns, "  "), "in " + strings.Join(r.Scope, ", ")}
			if r.Description != "" {
				about = append([]string{r.Description}, about...)
			}
			facts = append(facts, tui.Fact{Name: r.Name, Text: strings.Join(about, " · ") + from(r.Source)})
		}
		if len(facts) == 0 {
			facts = []tui.Fact{{Name: "none", Text: "rules are files in .agents/rules; docs/rules.md says how to write one" + s.ifUntrusted()}}
		}
		return facts, nil
	}
}
