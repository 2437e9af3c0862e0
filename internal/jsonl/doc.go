// Package jsonl is an append-only file of JSON lines that survives crashes,
// full disks, failed syncs and other programs.
//
// The data at rest: UTF-8, one JSON value a line, each ended by LF. One writer
// at a time, held by an advisory lock on the file itself. What the package
// promises is that a line whose [Log.Append] returned nil is on the disk, whole,
// and that opening a file never changes a byte of it.
//
// It knows nothing of sessions: it does not look inside a line beyond whether
// the last one is complete.
package jsonl
