package treeview

import (
	"iter"

	"banyan/internal/session"
	"banyan/internal/tree"
)

// Filtered are the rows of a session that a filter shows, for those who have no
// screen: in the order of [session.Snapshot.Rows], each below the nearest one
// above it that is shown.
func Filtered(s session.Snapshot, f tree.Filter) iter.Seq2[session.Row, error] {
	m := &Model{session: s, labels: labelsOf(s)}
	outline := tree.NewOutline(m.source(), f, nil)
	return func(yield func(session.Row, error) bool) {
		view := s.Tree()
		depth := make([]int32, view.Len())
		for row, err := range s.Rows() {
			if err != nil {
				yield(row, err)
				return
			}
			n := s.Node(row.ID)
			if outline.RowOf(n) < 0 {
				continue
			}
			row.Parent, row.Depth = nil, 0
			for above := view.Parent(n); above != tree.None; above = view.Parent(above) {
				if outline.RowOf(above) >= 0 {
					id := s.ID(above)
					depth[n] = depth[above] + 1
					row.Parent, row.Depth = &id, int(depth[n])
					break
				}
			}
			if !yield(row, nil) {
				return
			}
		}
	}
}
