// Package tree is a forest that only grows, and how to look at it.
//
// The data: a [Forest] is a set of append-only arrays indexed by [Node], a
// small integer that counts up in the order of addition. A node's parent always
// has a smaller number, so there are no cycles and no walk can loop. A [View]
// is a forest as it was at one moment; it costs nothing to take and is safe to
// read while the forest goes on growing.
//
// An [Outline] is how a forest is drawn: rows with indent, connectors, gutters
// and fold marks, the active branch first, filtered, folded and searched, asked
// for by viewport. What nodes are it is told as bits ([Class]), what they say as
// texts, which an [Index] keeps for searches. It is as quick at a million nodes
// as at a hundred; how is told at [Outline], in order.go and in strands.go.
//
//	Forest ──View──▶ order ──runs──▶ strands ──▶ rows
//	                   ▲    filter, search ▲  folds ▲
//	                  leaf              (sets of positions)
//
// Pure: no files, no sessions, no models, no screen, and no recursion, so depth
// has no limit.
package tree
