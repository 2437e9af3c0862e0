// Package session is a conversation that is a tree, in an append-only file:
// entry kinds and their encoding, the [Manager] that owns one session,
// snapshots of it, the context that a model sees at a leaf, forks, migration of
// older versions, and finding, listing, checking and mending sessions.
//
// The data at rest is described in docs/session-format.md. Every line but the
// header is an [Entry]; its Data says what kind it is. What we do not know
// stays as it is, byte for byte.
//
// The data in memory is the fold of the lines: an index of some 60 bytes an
// entry, without bodies. A scan, our own appends and what other programs append
// go through the same code, so the session in memory is the one that a reader
// of the file will see.
//
//	Append ─▶ encode ─▶ jsonl ─▶ disk          Snapshot ─▶ Branch, Context, …
//	                      │                       ▲   reads bodies when asked
//	         lines ◀──────┴──▶ fold ──O(1)──▶ state
//
// Where to look: kinds.go and wire.go for the shapes, scan.go and fold.go for
// the index, quick.go for its short way through usual lines, open.go and
// migrate.go for what files may be, context.go for what holds at a leaf,
// messages.go for what a provider is sent.
//
// It draws nothing, runs nothing and talks to no model.
package session
