// Package session is a conversation that is a tree, in an append-only file:
// entry kinds and their encoding, the [Manager] that owns one session,
// snapshots of it, the context that a model sees at a leaf, forks, migration of
// older versions, and finding and listing sessions.
//
// The data at rest is described in docs/session-format.md. Every line but the
// header is an [Entry]; its Data says what kind it is. What we do not know
// stays as it is, byte for byte.
//
// It draws nothing, runs nothing and talks to no model.
package session
