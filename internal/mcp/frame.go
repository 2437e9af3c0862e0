package mcp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// What is taken of a server.
const (
	maxFrame   = 8 << 20  // bytes of one message; what is longer goes to the disk
	maxSpill   = 64 << 20 // bytes of it there
	maxGarbage = 4 << 20  // bytes that are no message before the server is given up
	maxBurst   = 5_000    // messages at once, likewise,
	maxRate    = 200      // and in a second
	headOfLong = 16 << 10 // bytes of a long message that are shown
)

// codeTooLong is the code of the error that takes the place of an answer that is
// too long. Its data is a longAnswer.
const codeTooLong = -32050

// longAnswer is what is known of an answer that was not taken.
type longAnswer struct {
	Bytes int64  `json:"bytes"`
	Path  string `json:"path"` // where the first Kept bytes of it are, as the server sent them; empty: nowhere
	Kept  int64  `json:"kept"`
	Head  string `json:"head"` // its beginning
}

var (
	errGarbage = errors.New("what it writes is not the protocol")
	errFlood   = errors.New("it floods us with messages")
)

// filter stands between a server and the SDK: it lets messages through, each in
// a line of its own or in a line of an event stream, and nothing else. Long ones
// never get into memory.
type filter struct {
	in     *bufio.Reader
	prefix []byte // "data:" in an event stream, whose other lines pass as they are
	log    *tail
	keep   func() (*os.File, error) // makes a file for a long message

	garbage int64
	room    float64 // messages that may come now
	counted time.Time
	ready   []byte                // what is still to be handed over
	why     atomic.Pointer[error] // it gave up
}

func newFilter(in io.Reader, prefix string, log *tail, keep func() (*os.File, error)) *filter {
	return &filter{in: bufio.NewReaderSize(in, 64<<10), prefix: []byte(prefix), log: log, keep: keep, room: maxBurst, counted: time.Now()}
}

// Read implements [io.Reader].
func (f *filter) Read(p []byte) (int, error) {
	for len(f.ready) == 0 {
		if err := f.next(); err != nil {
			return 0, err
		}
	}
	n := copy(p, f.ready)
	f.ready = f.ready[n:]
	return n, nil
}

// next makes the next line ready, if it is to be handed over.
func (f *filter) next() error {
	line, err := f.line()
	if len(line) == 0 && err != nil {
		return err
	}
	body, of := bytes.CutPrefix(line, f.prefix)
	switch body = bytes.TrimSpace(body); {
	case !of: // another line of an event stream
		f.ready = line
		return nil
	case len(body) == 0:
		return nil
	}
	// In an event stream a message may take several lines.
	if _, bad := jsonrpc.DecodeMessage(body); len(f.prefix) == 0 && (bad != nil || body[0] != '{') {
		return f.refuse(body)
	}
	if f.flooded(time.Now()) {
		return f.giveUp(errFlood)
	}
	f.ready = line
	if line[len(line)-1] != '\n' {
		f.ready = append(line, '\n')
	}
	return nil
}

// flooded counts a message, and says whether it is one too many.
func (f *filter) flooded(now time.Time) bool {
	f.room = min(maxBurst, f.room+maxRate*now.Sub(f.counted).Seconds())
	f.counted = now
	f.room--
	return f.room < 0
}

func (f *filter) giveUp(err error) error {
	f.why.Store(&err)
	return err
}

// refuse leaves out what is no message; too much of it ends the connection.
func (f *filter) refuse(body []byte) error {
	f.log.line(string(body[:min(len(body), 2000)]))
	if f.garbage += int64(len(body)); f.garbage > maxGarbage {
		return f.giveUp(errGarbage)
	}
	return nil
}

// line reads a line, with its end if it has one. In the place of one that is too
// long comes an error for whoever waits for it.
func (f *filter) line() ([]byte, error) {
	var line []byte
	for {
		part, err := f.in.ReadSlice('\n')
		if len(line)+len(part) > maxFrame {
			return f.long(append(line, part...), err)
		}
		line = append(line, part...)
		if err != bufio.ErrBufferFull {
			return line, err
		}
	}
}

// long takes the rest of a line that is too long to the disk.
func (f *filter) long(begun []byte, err error) ([]byte, error) {
	body, ok := bytes.CutPrefix(begun, f.prefix)
	if !ok {
		return nil, errGarbage
	}
	s := newSpill(f.keep)
	s.write(body)
	for err == bufio.ErrBufferFull {
		var part []byte
		part, err = f.in.ReadSlice('\n')
		s.write(part)
	}
	if answer := s.answer(); answer != nil {
		return append(append(bytes.Clone(f.prefix), answer...), '\n'), err
	}
	f.log.line(fmt.Sprintf("(%d bytes that answer nothing)", s.size))
	return []byte("\n"), err
}

// spill takes a message that is too long: its beginning into memory, more of it
// onto the disk, and of all of it the id that it answers.
type spill struct {
	file *os.File // nil: nothing is kept
	size int64
	kept int64
	head []byte
	id   idFinder
}

func newSpill(keep func() (*os.File, error)) *spill {
	file, err := keep()
	if err != nil {
		file = nil
	}
	return &spill{file: file}
}

func (s *spill) write(p []byte) {
	s.size += int64(len(p))
	if room := headOfLong - len(s.head); room > 0 {
		s.head = append(s.head, p[:min(room, len(p))]...)
	}
	s.id.look(p)
	if s.file == nil {
		return
	}
	n, err := s.file.Write(p[:min(int64(len(p)), maxSpill-s.kept)])
	if s.kept += int64(n); err != nil {
		s.close(true)
	}
}

func (s *spill) close(drop bool) {
	if s.file == nil {
		return
	}
	s.file.Close()
	if drop {
		_ = os.Remove(s.file.Name())
	}
	s.file = nil
}

// answer is the error that takes the message's place; nil if nobody waits for it.
func (s *spill) answer() []byte {
	id := s.id.found()
	long := longAnswer{Bytes: s.size, Kept: s.kept, Head: string(bytes.ToValidUTF8(s.head, nil))}
	if s.file != nil {
		long.Path = s.file.Name()
	}
	s.close(id == nil)
	if id == nil {
		return nil
	}
	text, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": id, "error": map[string]any{
		"code": codeTooLong, "message": fmt.Sprintf("the answer has %d MB; more than %d MB are not taken", s.size>>20, maxFrame>>20), "data": long,
	}})
	if err != nil {
		return nil
	}
	return text
}

// idFinder finds the id of a message that it is shown in parts, which is an
// answer: an object with an "id" and no "method".
type idFinder struct {
	depth    int
	inText   bool
	escaped  bool
	key      []byte // the last text at depth 1
	value    []byte // of "id", as it stands there
	inID     bool
	isMethod bool
}

const maxID = 256 // bytes

func (f *idFinder) look(p []byte) {
	for _, c := range p {
		if f.inID && f.depth == 1 && (c == ',' || c == '}') && !f.inText {
			f.inID = false
		}
		if f.inID && len(f.value) < maxID {
			f.value = append(f.value, c)
		}
		if f.inText {
			f.text(c)
			continue
		}
		switch c {
		case '"':
			f.inText, f.key = true, f.key[:0]
		case ':':
			if f.depth == 1 {
				f.inID = string(f.key) == "id"
				f.isMethod = f.isMethod || string(f.key) == "method"
			}
		case '{', '[':
			f.depth++
		case '}', ']':
			f.depth--
		}
	}
}

func (f *idFinder) text(c byte) {
	switch {
	case f.escaped:
		f.escaped = false
	case c == '\\':
		f.escaped = true
	case c == '"':
		f.inText = false
	case f.depth == 1 && len(f.key) < maxID:
		f.key = append(f.key, c)
	}
}

// found is the id as JSON; nil if there is none.
func (f *idFinder) found() json.RawMessage {
	id := bytes.TrimSpace(f.value)
	if f.isMethod || len(id) == 0 || !json.Valid(id) || id[0] == 'n' {
		return nil
	}
	return id
}
