package httpx

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"unicode/utf8"
)

// maxEvent limits the bytes of one event, so that a server cannot fill the memory.
const maxEvent = 64 << 20

// errTooLong says that an event is larger than maxEvent.
var errTooLong = errors.New("an event of the stream is larger than 64 MB")

// Event is one server-sent event.
type Event struct {
	Name string
	Data []byte // valid UTF-8, until the next call of Next
	// Cut says that the stream ended before the blank line that ends an event.
	Cut bool
}

// Reader reads server-sent events as the WHATWG specification has them: lines
// end in LF, CR or CRLF, wherever the bytes are split; a byte order mark,
// comments and unknown fields are skipped; data lines are joined.
type Reader struct {
	r       *bufio.Reader
	line    []byte
	data    []byte // of the event so far, each line with an LF
	name    string
	afterCR bool // an LF that follows belongs to the line before
	begun   bool // the first line was read
	err     error
}

// NewReader reads the events of a body.
func NewReader(r io.Reader) *Reader {
	return &Reader{r: bufio.NewReaderSize(r, 16<<10)}
}

// Next returns the next event that has data. At the end it returns io.EOF, or
// what the body returned.
func (r *Reader) Next() (Event, error) {
	if r.err != nil {
		return Event{}, r.err
	}
	r.data, r.name = r.data[:0], ""
	for {
		err := r.readLine()
		if err != nil {
			r.err = err
			r.field(r.line)
			if err == io.EOF && len(r.data) > 1 {
				return r.event(true), nil
			}
			return Event{}, err
		}
		if len(r.line) > 0 {
			r.field(r.line)
			if len(r.data) > maxEvent {
				r.err = errTooLong
				return Event{}, r.err
			}
			continue
		}
		if len(r.data) > 1 {
			return r.event(false), nil
		}
		r.data, r.name = r.data[:0], ""
	}
}

func (r *Reader) event(cut bool) Event {
	data := bytes.TrimSuffix(r.data, []byte("\n"))
	if !utf8.Valid(data) {
		data = bytes.ToValidUTF8(data, []byte("\uFFFD"))
	}
	return Event{Name: r.name, Data: data, Cut: cut}
}

// field takes a line that is not empty.
func (r *Reader) field(line []byte) {
	name, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(name) {
	case "event":
		r.name = string(value)
	case "data":
		r.data = append(append(r.data, value...), '\n')
	}
}

// readLine puts the next line, without its end, into r.line. With an error,
// r.line holds what came before it.
func (r *Reader) readLine() error {
	r.line = r.line[:0]
	for {
		if _, err := r.r.Peek(1); err != nil {
			return err
		}
		chunk, _ := r.r.Peek(r.r.Buffered())
		if r.afterCR {
			r.afterCR = false
			if chunk[0] == '\n' {
				r.discard(1)
				continue
			}
		}
		end := lineEnd(chunk)
		if end < 0 {
			r.line = append(r.line, chunk...)
			r.discard(len(chunk))
			if len(r.line) > maxEvent {
				return errTooLong
			}
			continue
		}
		r.line = append(r.line, chunk[:end]...)
		r.afterCR = chunk[end] == '\r'
		r.discard(end + 1)
		if !r.begun {
			r.begun = true
			r.line = bytes.TrimPrefix(r.line, []byte("\xEF\xBB\xBF"))
		}
		return nil
	}
}

// lineEnd is the place of the first CR or LF, or -1.
func lineEnd(b []byte) int {
	lf := bytes.IndexByte(b, '\n')
	if lf >= 0 {
		b = b[:lf]
	}
	if cr := bytes.IndexByte(b, '\r'); cr >= 0 {
		return cr
	}
	return lf
}

// discard drops bytes that are in the buffer, which cannot fail.
func (r *Reader) discard(n int) { _, _ = r.r.Discard(n) }
