// Package summary decides what to cut, keep and say when a path is compacted or
// a branch is left: which entries are summarised, in which pieces, with which
// prompt, and which files they touched.
//
// Pure: it asks no model and writes nothing. A [Job] gives one request after
// another; whoever runs it hands the answers back.
package summary
