// Package store is where sessions are kept: the interface behind which files,
// memory and databases stand, and the guarantees that each of them gives.
//
// A [Store] holds logs, one a session. A [Log] is lines that are only ever
// added to, and it reads like a file: each line is followed by one LF, a
// position is an offset and a length in bytes, and any span of what is known
// can be read. So a log has the same positions wherever it is kept, and moves
// between stores byte for byte.
//
//	session.Manager ─▶ Log ─┬─ Files: internal/jsonl, the default
//	                        └─ rows.Log ─┬─ rows.Memory: nothing is kept
//	                                     └─ database: SQLite, PostgreSQL
//
// What a store promises is written at [Store] and [Log]; package storetest holds
// every one of them to it. No package here knows what is in a line.
package store
