package tui_test

import (
	"testing"

	"banyan/internal/session"
	"banyan/internal/tui"
	"banyan/internal/tui/tuitest"
)

func TestRulesSayWhichWereAdded(t *testing.T) {
	d := tuitest.New(t, func(o *tui.Options) {
		o.Rules = func(contextT) ([]tui.Fact, error) {
			return []tui.Fact{{Name: "no-panic", Text: "panic"}, {Name: "no-todo", Text: "TODO"}}, nil
		}
	}).Open().Append(user("q"), session.RuleInjection{Rules: []string{"no-todo"}}, answer("a"))
	d.Type("/rules").Press("enter").Sees("no-panic  panic", "no-todo   added on this branch · TODO")
}
