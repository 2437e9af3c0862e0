// Package sandbox runs a command so that nothing of it gets away and, in a [Box],
// so that it touches only what it may.
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
// A box is made by the keeper, around itself, before it starts the command: in
// namespaces of its own where the kernel allows that, and with Landlock; else
// with Landlock and seccomp. None of it needs privileges or other programs. What
// is asked for is had or the command is not run; whether it can be had is known
// before: [Available].
//
// The package takes over the process in its init function if the process is a
// keeper, before anything else of the program is initialised: that is what
// makes a keeper cost milliseconds. So a program only has to import it.
//
// It knows no shell, no rules and no tools, and reads no output.
package sandbox
