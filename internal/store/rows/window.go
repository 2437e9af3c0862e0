package rows

import (
	"slices"
	"sync"

	"banyan/internal/jsonl"
)

// window reads spans of a log's bytes and keeps the last of what it read: the
// lines of a conversation are read one by one, and each question to a server
// takes its time. What is known of a log never changes, so nothing goes stale.
type window struct {
	table Table

	mu    sync.Mutex
	spans []span // the one used last comes last
}

type span struct {
	off   int64
	bytes []byte
}

func (s span) has(p jsonl.Pos) bool {
	return s.off <= p.Off && p.Off+int64(p.Len) <= s.off+int64(len(s.bytes))
}

const (
	blockSize = 64 << 10 // read at a time, bytes
	spansKept = 16
	spanMost  = 1 << 20 // larger ones are not kept
)

func newWindow(t Table) *window { return &window{table: t} }

func (w *window) clear() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.spans = nil
}

// at is a copy of the bytes of a span of the log.
func (w *window) at(p jsonl.Pos) ([]byte, error) {
	if b := w.kept(p); b != nil {
		return b, nil
	}
	from := p.Off - p.Off%blockSize
	to := max(from+blockSize, p.Off+int64(p.Len))
	s := span{off: -1}
	err := w.table.Rows(from, to, func(at int64, line []byte) bool {
		if s.off < 0 {
			s.off = at
		}
		if at == s.off+int64(len(s.bytes)) { // else a row is missing, and the span ends before it
			s.bytes = append(append(s.bytes, line...), '\n')
		}
		return true
	})
	if err != nil {
		return nil, err
	}
	if s.off < 0 || !s.has(p) {
		return nil, jsonl.ErrShrunk
	}
	if len(s.bytes) <= spanMost {
		w.keep(s)
	}
	return s.part(p), nil
}

func (s span) part(p jsonl.Pos) []byte {
	return slices.Clone(s.bytes[p.Off-s.off:][:p.Len])
}

func (w *window) kept(p jsonl.Pos) []byte {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i, s := range slices.Backward(w.spans) {
		if s.has(p) {
			w.spans = append(slices.Delete(w.spans, i, i+1), s)
			return s.part(p)
		}
	}
	return nil
}

func (w *window) keep(s span) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.spans) == spansKept {
		w.spans = slices.Delete(w.spans, 0, 1)
	}
	w.spans = append(w.spans, s)
}
