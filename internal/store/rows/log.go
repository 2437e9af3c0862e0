package rows

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"math"
	"slices"
	"sync/atomic"

	"banyan/internal/jsonl"
)

// Log is a store's log on a table.
type Log struct {
	table    Table
	path     string
	readOnly bool
	known    bool         // the log was scanned, or is new
	end      atomic.Int64 // behind the last line that is known; Wait reads it too

	pending [][]byte    // not in the table, oldest first
	untold  []jsonl.Pos // of lines that were pending: for the next Flush
	notices []string
	closing bool // Close has failed once to write what is pending
	closed  bool

	read *window
}

// NewLog makes a log of a table. A new one has no rows yet. It keeps so many
// bytes of the newest lines in memory.
func NewLog(table Table, path string, readOnly, isNew bool, keep int64) *Log {
	return &Log{table: table, path: path, readOnly: readOnly, known: isNew, read: &window{table: table, most: keep}}
}

func (l *Log) Path() string { return l.path }

func (l *Log) Size() int64 { return l.end.Load() }

func (l *Log) Extent() int64 {
	size, err := l.table.Size()
	if err != nil {
		return 0
	}
	return size
}

// Tail is none: rows are whole.
func (l *Log) Tail() jsonl.Pos { return jsonl.Pos{} }

func (l *Log) Scan(f func(jsonl.Line) bool) error {
	if l.known && l.end.Load() == 0 {
		return nil // it is not there yet
	}
	end, stopped, err := l.pass(0, f)
	if err != nil {
		return fmt.Errorf("read %s: %w", l.path, err)
	}
	l.end.Store(end)
	l.known = !stopped
	return nil
}

// pass reads the rows from an offset on, which must follow each other.
func (l *Log) pass(from int64, f func(jsonl.Line) bool) (end int64, stopped bool, err error) {
	end = from
	gap := false
	err = l.table.Rows(from, math.MaxInt64, func(at int64, line []byte) bool {
		if gap = at != end; gap {
			return false
		}
		end = at + int64(len(line)) + 1
		l.read.add(at, line)
		stopped = !jsonl.Report(line, at, f)
		return !stopped
	})
	if err == nil && gap {
		err = fmt.Errorf("the row at %d is missing or of another length: the table was changed by another program", end)
	}
	return end, stopped, err
}

func (l *Log) ReadAt(p jsonl.Pos) ([]byte, error) {
	b, err := l.read.at(p)
	if err != nil {
		return nil, fmt.Errorf("read a line at %d in %s: %w", p.Off, l.path, err)
	}
	return b, nil
}

func (l *Log) writable() error {
	switch {
	case l.closed:
		return fs.ErrClosed
	case l.readOnly:
		return jsonl.ErrReadOnly
	}
	return nil
}

func (l *Log) Append(lines ...[]byte) ([]jsonl.Pos, error) {
	if err := l.writable(); err != nil {
		return nil, fmt.Errorf("append to %s: %w", l.path, err)
	}
	for _, line := range lines {
		if len(bytes.TrimLeft(line, " \t\r")) == 0 || bytes.IndexByte(line, '\n') >= 0 {
			return nil, fmt.Errorf("append to %s: not one line: %.40q", l.path, line)
		}
	}
	if len(lines) == 0 {
		return nil, nil
	}
	l.pending = append(l.pending, lines...)
	if err := l.flush(); err != nil {
		if _, grown := errors.AsType[*jsonl.GrownError](err); grown {
			l.pending = l.pending[:len(l.pending)-len(lines)]
		}
		return nil, err
	}
	before := len(l.untold) - len(lines)
	pos := slices.Clone(l.untold[before:])
	l.untold = l.untold[:before]
	return pos, nil
}

func (l *Log) Flush() ([]jsonl.Pos, error) {
	var err error
	if len(l.pending) > 0 {
		err = l.flush()
	}
	told := l.untold
	l.untold = nil
	return told, err
}

// flush writes what is pending. A lost connection is tried once more at once:
// one that was idle for long is often dead, and the server there.
func (l *Log) flush() error {
	if !l.known {
		if err := l.Scan(func(jsonl.Line) bool { return true }); err != nil {
			return err
		}
	}
	for tries := 3; len(l.pending) > 0; tries-- {
		err := l.table.Add(l.end.Load(), l.pending)
		switch {
		case err == nil:
			l.written(len(l.pending))
		case errors.Is(err, ErrMoved) && tries > 0:
			if err := l.reconcile(); err != nil {
				return err
			}
		case errors.Is(err, ErrLost) && tries == 3:
			// Once more, over a new connection.
		case errors.Is(err, fs.ErrNotExist) && l.end.Load() > 0:
			return fmt.Errorf("append to %s: %w", l.path, jsonl.ErrGone)
		default:
			return fmt.Errorf("append to %s: %w", l.path, err)
		}
	}
	return nil
}

// reconcile finds out why the log is longer than we left it. What stands there
// and is what was pending is ours: it was added, and the answer was lost.
func (l *Log) reconcile() error {
	ours, others := 0, false
	end := l.end.Load()
	err := l.table.Rows(l.end.Load(), math.MaxInt64, func(at int64, line []byte) bool {
		others = ours == len(l.pending) || at != end || !bytes.Equal(line, l.pending[ours])
		if !others {
			ours++
			end += int64(len(line)) + 1
		}
		return !others
	})
	if err != nil {
		return fmt.Errorf("append to %s: %w", l.path, err)
	}
	l.written(ours)
	if others {
		return &jsonl.GrownError{Path: l.path}
	}
	if ours > 0 {
		return nil
	}
	switch size, err := l.table.Size(); {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("append to %s: %w", l.path, jsonl.ErrGone)
	case err != nil:
		return fmt.Errorf("append to %s: %w", l.path, err)
	case size < l.end.Load():
		return fmt.Errorf("append to %s: %w", l.path, jsonl.ErrShrunk)
	}
	return nil
}

// written makes the first n pending lines known.
func (l *Log) written(n int) {
	for _, line := range l.pending[:n] {
		l.read.add(l.end.Load(), line)
		l.untold = append(l.untold, jsonl.Pos{Off: l.end.Load(), Len: len(line)})
		l.end.Add(int64(len(line)) + 1)
	}
	l.pending = slices.Clone(l.pending[n:])
}

func (l *Log) Pending() [][]byte { return l.pending }

func (l *Log) Grown(f func(jsonl.Line) bool) error {
	if l.known && l.end.Load() == 0 {
		return nil
	}
	end, _, err := l.pass(l.end.Load(), f)
	if err == nil && end == l.end.Load() {
		var size int64
		if size, err = l.table.Size(); err == nil && size < l.end.Load() {
			err = jsonl.ErrGone
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = jsonl.ErrGone
	}
	if err != nil {
		return fmt.Errorf("watch %s: %w", l.path, err)
	}
	l.end.Store(end)
	return nil
}

func (l *Log) Wait(ctx context.Context) error { return l.table.Wait(ctx, l.end.Load()) }

func (l *Log) Replace(suffix string, lines iter.Seq2[[]byte, error]) error {
	if err := l.writable(); err != nil {
		return fmt.Errorf("rewrite %s: %w", l.path, err)
	}
	size, err := l.table.Replace(suffix, lines)
	if err != nil {
		return fmt.Errorf("rewrite %s: %w", l.path, err)
	}
	l.end.Store(size)
	l.known = true
	l.read.clear()
	return nil
}

func (l *Log) Notices() []string {
	told := l.notices
	l.notices = nil
	return told
}

// Notice tells a person something, once.
func (l *Log) Notice(text string) { l.notices = append(l.notices, text) }

func (l *Log) Close() error {
	if l.closed {
		return nil
	}
	var lost error
	if len(l.pending) > 0 {
		if err := l.lastFlush(); err != nil {
			lost = &jsonl.PendingError{Path: l.path, Count: len(l.pending), Err: err}
			if !l.closing {
				l.closing = true
				return lost
			}
		}
	}
	l.closed = true
	return errors.Join(lost, l.table.Close())
}

// lastFlush is a flush for which nobody will call Grown.
func (l *Log) lastFlush() error {
	for {
		err := l.flush()
		if _, grown := errors.AsType[*jsonl.GrownError](err); !grown {
			return err
		}
		if err := l.Grown(func(jsonl.Line) bool { return true }); err != nil {
			return err
		}
	}
}
