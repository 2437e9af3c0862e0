// Package database keeps sessions in a database: SQLite, one file, or
// PostgreSQL, for many people and machines.
//
// Both have the same two tables, a row a session and a row a line, and the same
// code on database/sql; what they do differently is a dialect each. A session
// has one writer, who holds a lock outside of any transaction: in PostgreSQL an
// advisory lock of the connection that writes, beside an SQLite file a locked
// file. Both are given back by whoever dies.
//
// An append is one transaction that also checks where the log ends. So what is
// tried again after a lost answer is never there twice, and a writer who has lost
// the lock without knowing cannot write over another's lines.
//
// Nothing is connected before it is needed, and a connection that has failed is
// made anew by the next call.
package database
