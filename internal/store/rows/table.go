package rows

import (
	"context"
	"errors"
	"iter"
)

// Table is the rows of one log. All but Add and Replace may be called beside
// each other. A log that is not there is an [fs.ErrNotExist].
type Table interface {
	// Size is the bytes of all rows with their line ends: where the next one goes.
	Size() (int64, error)
	// Rows calls f with each row that stands before to, in order, from the one on
	// that has the byte at from, until f returns false. The bytes are valid
	// during the call only.
	Rows(from, to int64, f func(at int64, line []byte) bool) error
	// Add adds rows behind the first size bytes, all in one transaction, and is
	// durable when it returns. Where the log has another size it does nothing and
	// fails with ErrMoved; a log that is new is made, and must not be there.
	// ErrLost says that the database may or may not have done it.
	Add(size int64, lines [][]byte) error
	// Replace puts other rows in the place of all, in one transaction, and keeps
	// the old ones as a log of their own, whose id has the suffix.
	Replace(suffix string, lines iter.Seq2[[]byte, error]) (size int64, err error)
	// Wait returns when the log may have another size, or is gone, or the context
	// ends, whose error it returns. Only one at a time.
	Wait(ctx context.Context, size int64) error
	// Close gives the lock back.
	Close() error
}

var (
	// ErrMoved: the log does not end where it was thought to.
	ErrMoved = errors.New("the log has another size")
	// ErrLost: the connection went away before the answer came.
	ErrLost = errors.New("the connection was lost")
)
