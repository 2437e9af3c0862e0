// Package transcript shows a conversation: a virtual list of blocks whose work
// per frame is O(screen), whatever the conversation's length.
//
//	Source ──▶ items ──▶ drawn (cache) ──▶ window ──▶ View
//	Append ──▶   ▲                            ▲
//	Stream ──▶ live                        anchor
//
// The data: items are the entries of the active path, as a [Source] gives them
// when asked, then those appended since, with notices between, then the answer
// that is being written. An item is drawn once for a width, a theme and what is
// expanded, and stays drawn. Where the screen stands is an anchor, an item and a
// line of it, never a line number of the whole: heights above are not known and
// need not be.
//
// It is told everything: it asks no engine, reads no files and no clock, and
// sends nothing. What a click means for others comes back as a [Hit].
package transcript
