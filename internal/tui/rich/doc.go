// Package rich is text on its way to the screen: runs of one style that still
// know which bytes of the source they stand for, wrapped into rows of cells.
//
// The data: a [Span] is a run of text in one style, a line is a slice of spans,
// a [Row] is a line as it is drawn, with the marks that lead from its cells
// back to the source, so that what is selected on the screen can be copied as
// it was written.
//
// It expects inert text (see package inert), parses nothing and knows no
// meaning, no terminal and no position on a screen.
package rich
