// Package markdown draws Markdown as rows of cells.
//
//	source ──goldmark──▶ blocks ──▶ spans ──wrap──▶ rows
//
// The data: goldmark parses; what we add is how it looks on a terminal. Rows
// know which bytes of the source they stand for (package rich), so that a
// selection copies Markdown. A [Stream] draws a text while it is being written:
// blocks that are closed are drawn once, only the last is drawn again.
//
// Line breaks of the source are kept: models write lists of lines and mean it.
// Link targets are shown. It follows no links, loads no pictures, runs no HTML
// (it is shown as it is), and knows nothing of messages.
package markdown
