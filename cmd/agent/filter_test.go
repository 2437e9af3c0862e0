package main

import (
	"strings"
	"testing"

	"banyan/internal/session"
)

func TestSessionTreeFilter(t *testing.T) {
	path, ids := forest(t)
	rows := mustRun[[]session.Row](t, "tree", path, "--filter", "user-only")
	var got []string
	for _, r := range rows {
		got = append(got, strings.Repeat(".", r.Depth)+r.Text)
	}
	if want := "why <is> it & so?|.go on|..and then|.something else"; strings.Join(got, "|") != want {
		t.Errorf("prompts %q", got)
	}
	if p := rows[1].Parent; p == nil || *p != ids["u1"] {
		t.Errorf("the second prompt is below %v", p)
	}
	if _, errs, code := agentSession(t, "", "tree", path, "--filter", "mine"); code != exitUsage || !strings.Contains(errs, "labeled-only") {
		t.Errorf("%d: %s", code, errs)
	}
}
