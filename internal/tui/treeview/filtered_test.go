package treeview_test

import (
	"fmt"
	"strings"
	"testing"

	"banyan/internal/tree"
	"banyan/internal/tui/treeview"
)

func TestFiltered(t *testing.T) {
	s := grown(t, forks).Snapshot()
	for filter, want := range map[tree.Filter]string{
		tree.UserOnly: `How should comments be parsed?
  by hand, no new dependency
    does it know strings?
    allow trailing commas
      then look ahead
      no, leave it
  use the library
    and the docs?
`,
		tree.LabeledOnly: "Done: a small state machine.\n",
	} {
		var got strings.Builder
		depth := map[string]int{}
		for row, err := range treeview.Filtered(s, filter) {
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&got, "%s%s\n", strings.Repeat("  ", row.Depth), row.Text)
			depth[string(row.ID)] = row.Depth
			if row.Parent == nil && row.Depth != 0 || row.Parent != nil && depth[string(*row.Parent)] != row.Depth-1 {
				t.Errorf("%s is at %d below %v", row.ID, row.Depth, row.Parent)
			}
		}
		if got.String() != want {
			t.Errorf("%s:\n%s", filter, got.String())
		}
	}
	all := 0
	for range treeview.Filtered(s, tree.All) {
		all++
	}
	if all != s.Len() {
		t.Errorf("all are %d of %d", all, s.Len())
	}
}
