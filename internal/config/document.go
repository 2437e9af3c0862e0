package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"unicode/utf8"

	"github.com/tidwall/jsonc"
)

// maxFile is how large a file of settings or trust may be, in bytes.
const maxFile = 1 << 20

// document is a file of JSON with comments and trailing commas.
type document struct {
	text []byte // as it stands in the file, with its byte order mark
	// json is text with everything that plain JSON does not have made blank:
	// as long, with the same lines.
	json []byte
}

// member is one member of a JSON object; offsets are in the document.
type member struct {
	key        string
	start      int // of the key
	value      []byte
	valueStart int
}

func (m member) end() int { return m.valueStart + len(m.value) }

var byteOrderMark = []byte("\xef\xbb\xbf")

// parse takes a file apart. The error names the line.
func parse(text []byte) (document, error) {
	if bytes.HasPrefix(text, []byte("\xff\xfe")) || bytes.HasPrefix(text, []byte("\xfe\xff")) {
		return document{}, errors.New("it is UTF-16; save it as UTF-8")
	}
	d := document{text: text, json: jsonc.ToJSON(text)}
	if bytes.HasPrefix(text, byteOrderMark) {
		copy(d.json, "   ")
	}
	if len(bytes.TrimSpace(d.json)) == 0 {
		d.json = nil
		return d, nil // nothing is set
	}
	var whole json.RawMessage
	if err := json.Unmarshal(d.json, &whole); err != nil {
		var bad *json.SyntaxError
		if errors.As(err, &bad) {
			return document{}, fmt.Errorf("line %d: it is not JSON: %w", d.line(int(bad.Offset)-1), err)
		}
		return document{}, fmt.Errorf("it is not JSON: %w", err)
	}
	if whole[0] != '{' {
		return document{}, fmt.Errorf("it must be an object, { … }, not %s", short(whole))
	}
	if !utf8.Valid(text) {
		return document{}, errors.New("it is not UTF-8")
	}
	return d, nil
}

// root is where the document's object begins.
func (d document) root() int { return bytes.IndexByte(d.json, '{') }

// line is the number of the line that an offset is in, counted from 1.
func (d document) line(offset int) int {
	offset = min(max(offset, 0), len(d.text))
	return 1 + bytes.Count(d.text[:offset], []byte("\n"))
}

// members are those of the object that begins at an offset, in order, with
// those that stand twice; end is the offset of its closing brace. The document
// is valid JSON, so nothing can fail.
func (d document) members(object int) (list []member, end int) {
	dec := json.NewDecoder(bytes.NewReader(d.json[object:]))
	if _, err := dec.Token(); err != nil {
		return nil, object
	}
	for dec.More() {
		// The offset before a key is that of the end of what stood before it.
		before := object + int(dec.InputOffset())
		key, err := dec.Token()
		if err != nil {
			return list, object
		}
		m := member{start: before + bytes.IndexByte(d.json[before:], '"')}
		m.key, _ = key.(string)
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return list, object
		}
		m.value = value
		m.valueStart = object + int(dec.InputOffset()) - len(value)
		list = append(list, m)
	}
	if _, err := dec.Token(); err != nil {
		return list, object
	}
	return list, object + int(dec.InputOffset()) - 1
}

// openPlain opens a file for reading without ever waiting for it: a FIFO has no
// effect, and the caller's check that it is a regular file comes next.
func openPlain(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
}

// readSmall reads a whole regular file of at most maxFile bytes, and closes it.
func readSmall(f *os.File) ([]byte, error) {
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("it is not a regular file")
	}
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxFile {
		return nil, fmt.Errorf("it is larger than %d KB", maxFile>>10)
	}
	return data, nil
}
