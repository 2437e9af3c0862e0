package store

import (
	"bytes"
	"iter"

	"banyan/internal/jsonl"
)

// readSize is how many bytes are read at once, about.
const readSize = 256 << 10

// Lines are all lines that are known of a log, byte for byte as they stand in
// it, blank ones too, and more behind them. The slices of the former are valid
// until the next.
func Lines(l Log, more ...[][]byte) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		var rest []byte
		for off := int64(0); off < l.Size(); {
			b, err := l.ReadAt(jsonl.Pos{Off: off, Len: int(min(l.Size()-off, readSize))})
			if err != nil {
				yield(nil, err)
				return
			}
			off += int64(len(b))
			rest = append(rest, b...)
			for {
				line, after, found := bytes.Cut(rest, []byte{'\n'})
				if !found {
					break
				}
				if !yield(line, nil) {
					return
				}
				rest = after
			}
		}
		if len(rest) > 0 && !yield(rest, nil) {
			return
		}
		for _, part := range more {
			for _, line := range part {
				if !yield(line, nil) {
					return
				}
			}
		}
	}
}
