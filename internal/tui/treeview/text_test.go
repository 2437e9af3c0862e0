package treeview

import (
	"testing"

	"banyan/internal/llm"
)

func TestSubjects(t *testing.T) {
	for args, want := range map[string]string{
		`{"path":"/w/a.go","offset":10,"limit":31}`:                  ": a.go:10-40",
		`{"command":"go test"}`:                                      ": go test",
		`{"pattern":"x","path":"in"}`:                                ": x in in",
		`{"description":"look around","prompt":"p"}`:                 ": look around",
		`{"description":"look around","prompt":"p","agent":"scout"}`: ": scout: look around",
		`{"fact":"x"}`: `: {"fact":"x"}`, `{"path":7}`: `: {"path":7}`, `{}`: "", `broken`: "",
	} {
		if got := subject(llm.ToolCall{Arguments: []byte(args)}, "/w"); got != want {
			t.Errorf("%s: %q, want %q", args, got, want)
		}
	}
}
