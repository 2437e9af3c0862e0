// Package sandbox runs a command so that nothing of it gets away.
//
// A command is not started by us but by a keeper: this same program, executed
// again, which the kernel makes the parent of every process that the command
// leaves behind, daemons included. The keeper reports when the command ends and
// what still runs then, ends the whole tree when it is told to, and also when
// we are gone, killed with -9 or not, because it notices that our end of a pipe
// is closed.
//
//	we ──control pipe──▶ keeper ──starts, adopts, kills──▶ command and its tree
//	we ◀──status pipe─── keeper
//	we ◀─────────────── output ──────────────────────────── command and its tree
//
// The package takes over the process in its init function if the process is a
// keeper, before anything else of the program is initialised: that is what
// makes a keeper cost milliseconds. So a program only has to import it.
//
// It knows no shell, no rules and no tools, and reads no output.
package sandbox
