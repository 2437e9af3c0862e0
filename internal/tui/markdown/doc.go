// Package markdown draws Markdown as rows of cells.
//
// The data: goldmark parses, a renderer of ours turns the blocks into
// [rich.Row] values that know which bytes of the source they stand for, and
// chroma colours code with lexers that are read when first needed. A [Stream]
// draws a text while it is being written: blocks that are closed are drawn once.
//
// Source is made inert before it is parsed. It follows no links, loads no
// pictures, runs no HTML (it is shown), and knows nothing of messages.
package markdown
