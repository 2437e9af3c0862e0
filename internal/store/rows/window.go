package rows

import (
	"slices"
	"sort"
	"sync"

	"banyan/internal/jsonl"
)

// window is the newest part of a log in memory, all of most logs: what was
// scanned, what was appended, what others added. A conversation is read line by
// line, again and again, and each question to a server takes its time; and it
// must go on while the server is away. What is known of a log never changes, so
// nothing goes stale.
type window struct {
	table Table
	most  int64 // bytes that are kept

	mu    sync.Mutex
	parts []span // without gaps, oldest first
	size  int64  // bytes of all parts
	older span   // what was read last of what is not kept
}

// span is bytes of a log and where they stand.
type span struct {
	off   int64
	bytes []byte
}

func (s span) end() int64 { return s.off + int64(len(s.bytes)) }

func (s span) has(p jsonl.Pos) bool { return s.off <= p.Off && p.Off+int64(p.Len) <= s.end() }

// blockSize is how many bytes are together in a part, about.
const blockSize = 64 << 10

func (w *window) clear() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.parts, w.size, w.older = nil, 0, span{}
}

// add keeps a line that was scanned or appended.
func (w *window) add(at int64, line []byte) {
	if w.most == 0 {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	end := int64(-1)
	if n := len(w.parts); n > 0 {
		end = w.parts[n-1].end()
	}
	switch {
	case at < end:
		return // it is here, or was
	case at > end:
		w.parts, w.size = nil, 0
	}
	if n := len(w.parts); n == 0 || len(w.parts[n-1].bytes) > blockSize {
		w.parts = append(w.parts, span{off: at})
	}
	last := &w.parts[len(w.parts)-1]
	last.bytes = append(append(last.bytes, line...), '\n')
	w.size += int64(len(line)) + 1
	for w.size > w.most && len(w.parts) > 1 {
		w.size -= int64(len(w.parts[0].bytes))
		w.parts = slices.Delete(w.parts, 0, 1)
	}
}

// at is a copy of the bytes of a span of the log.
func (w *window) at(p jsonl.Pos) ([]byte, error) {
	if b := w.kept(p); b != nil {
		return b, nil
	}
	from := p.Off - p.Off%blockSize
	s := span{off: -1}
	err := w.table.Rows(from, max(from+blockSize, p.Off+int64(p.Len)), func(at int64, line []byte) bool {
		if s.off < 0 {
			s.off = at
		}
		if at == s.end() { // else a row is missing, and the span ends before it
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
	w.mu.Lock()
	defer w.mu.Unlock()
	w.older = s
	return slices.Clone(s.bytes[p.Off-s.off:][:p.Len]), nil
}

// kept is a copy of a span that is in memory; nil where it is not.
func (w *window) kept(p jsonl.Pos) []byte {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.older.has(p) && w.most > 0 {
		return slices.Clone(w.older.bytes[p.Off-w.older.off:][:p.Len])
	}
	end := p.Off + int64(p.Len)
	if len(w.parts) == 0 || p.Off < w.parts[0].off || end > w.parts[len(w.parts)-1].end() {
		return nil
	}
	b := make([]byte, 0, p.Len)
	for i := sort.Search(len(w.parts), func(i int) bool { return w.parts[i].end() > p.Off }); int64(len(b)) < int64(p.Len); i++ {
		part := w.parts[i]
		from := p.Off + int64(len(b)) - part.off
		b = append(b, part.bytes[from:min(int64(len(part.bytes)), end-part.off)]...)
	}
	return b
}
