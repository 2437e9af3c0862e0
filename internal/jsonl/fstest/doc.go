// Package fstest has file systems that behave badly on demand, for tests of
// what is built on [jsonl.FS].
//
// [Mem] is strict memory: it keeps apart what was written and what was synced,
// folder entries too, and [Mem.Crash] is the power cut. [Faults] lets the n-th
// call of a kind fail, once or for ever, in front of any file system.
// [Recorder] keeps the state after every change, so that a test can cut the
// power at each of them.
package fstest
