// Package export writes a session, or a part of it, for somebody else: as JSON
// Lines, which are a session again, as Markdown, or as one HTML page that needs
// nothing but itself.
//
//	Snapshot + Part ──▶ outline (who hangs below whom, strands) ──▶ entry by entry ──▶ Writer
//
// The data: an outline holds the entries that somebody said something in, some
// twenty bytes each, re-linked so that bookkeeping leaves no gaps. Bodies are read one at a time and
// written at once, so the memory does not grow with what was said.
//
// In the page everything from outside goes through one function, see page.put:
// no markup, no script, no address that a browser would run, and no character
// that hides or reorders others comes out of it. The page's own script and style
// are named by their hashes in its content security policy; nothing else runs.
//
// It changes no session, follows no links and loads nothing.
package export
