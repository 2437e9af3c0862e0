// Package jsonl is an append-only file of JSON lines that survives crashes,
// full disks, failed syncs and other programs.
//
// The data at rest: UTF-8, one JSON value a line, each ended by LF. One writer
// at a time, held by an advisory lock on the file itself. What the package
// promises is that a line whose [Log.Append] returned nil is on the disk, whole,
// and that opening a file never changes a byte of it.
//
// A write goes one of two ways. In place, for nearly all: look that the file is
// still ours and as long as we left it, append with one write, sync. Anew, where
// the file cannot be trusted (a sync failed) or is not there (a first line, a
// deletion): the whole log goes to "<path>.tmp", is synced and renamed to its
// place. Either way the file is, after a crash at any moment:
//
//	in place   the lines before · perhaps a torn tail, which the next writer
//	           saves to "<path>.torn-<time>" and cuts off
//	anew       the old file or the new one, whole · perhaps a stale "<path>.tmp",
//	           which no one locks and the next writer removes
//
// A line's position never changes, whichever way later ones are written: only
// [Log.Replace] gives new ones.
//
// It knows nothing of sessions: it does not look inside a line beyond whether
// the last one is complete. It starts no goroutine, keeps no index, and never
// decides to give a line up: what the disk refuses stays in memory, in order.
package jsonl
