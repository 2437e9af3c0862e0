// Package treeview is a session drawn as a tree: rows with connectors, filters,
// a search, folds, labels that are edited in place, and a preview of the
// selected entry where there is room.
//
// The data: a [session.Snapshot], the [tree.Outline] of it, and the texts of the
// rows that were seen. Which rows there are, what stands before them and where a
// key leads is the outline's; what entries say is in text.go; how it looks is in
// view.go. A frame costs the rows that are seen. The texts that searches look in
// are read beside the screen, slice by slice, and handed over as values.
//
// It changes no session and knows no engine: what is chosen, labelled and asked
// for it says through the functions of its [Options].
package treeview
