package extension

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
)

// headBytes is how much is kept of a line that is too long: enough to see whose
// answer it is.
const headBytes = 4096

// lines reads lines of at most max bytes, their ends included. Of a longer one only
// the head is kept.
type lines struct {
	r   *bufio.Reader
	max int
}

// next is the next line without its end, and whether it is the head of one that
// is too long. At the end of the input what stands there is a line.
func (l lines) next() (line []byte, long bool, err error) {
	for {
		piece, err := l.r.ReadSlice('\n')
		if !long {
			line = append(line, piece...)
			if len(line) > l.max {
				line, long = bytes.Clone(line[:headBytes]), true
			}
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err == io.EOF && len(line) > 0:
			return bytes.TrimSpace(line), long, nil
		case err != nil:
			return nil, false, err
		}
		return bytes.TrimSpace(line), long, nil
	}
}

// headID is the id that stands at the top of a line that was cut; nil if none
// comes before what is long.
func headID(head []byte) json.RawMessage {
	dec := json.NewDecoder(bytes.NewReader(head))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil
	}
	for {
		name, err := dec.Token()
		if err != nil {
			return nil
		}
		var value json.RawMessage
		if dec.Decode(&value) != nil {
			return nil
		}
		if name == "id" {
			return value
		}
	}
}

// tail keeps the last bytes that were written to it. It belongs to one goroutine.
type tail struct {
	max int
	b   []byte
}

func (t *tail) Write(p []byte) (int, error) {
	if t.b = append(t.b, p...); len(t.b) > 2*t.max {
		t.b = bytes.Clone(t.b[len(t.b)-t.max:])
	}
	return len(p), nil
}

func (t *tail) String() string { return string(t.b[max(0, len(t.b)-t.max):]) }
