// Package rows is a log as rows of a table: what memory and the databases have
// in common. A row is a line and the offset that it would have in a file; a
// [Table] reads and adds them in transactions, and [Log] makes a store's log of
// that: what is pending, what is ours after a lost answer, what others added.
package rows
