package rule

import (
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// escapes takes the escapes out of the strings of a JSON text that comes in
// pieces, so that patterns see a file's content as it will be. Everything else
// stays as it is. The zero value is before the first byte.
type escapes struct {
	inString bool
	pending  []byte // an escape that is not complete, with its backslash
	high     rune   // the first half of a surrogate pair
}

// simple are the escapes of one letter.
var simple = map[byte]byte{'n': '\n', 't': '\t', 'r': '\r', 'b': '\b', 'f': '\f'}

// decode appends the next piece to out.
func (e *escapes) decode(out []byte, more string) []byte {
	for i := range len(more) {
		c := more[i]
		switch {
		case len(e.pending) > 0:
			out = e.escaped(out, c)
		case c == '\\' && e.inString:
			e.pending = append(e.pending, c)
		default:
			if c == '"' {
				e.inString = !e.inString
			}
			out = append(e.lone(out), c)
		}
	}
	return out
}

// escaped takes the next byte of an escape.
func (e *escapes) escaped(out []byte, c byte) []byte {
	e.pending = append(e.pending, c)
	if e.pending[1] != 'u' {
		e.pending = e.pending[:0]
		if plain, ok := simple[c]; ok {
			c = plain
		}
		return append(e.lone(out), c)
	}
	if len(e.pending) < len(`\u0000`) {
		return out
	}
	n, err := strconv.ParseUint(string(e.pending[2:]), 16, 16)
	e.pending = e.pending[:0]
	if err != nil {
		n = utf8.RuneError
	}
	r := rune(n)
	switch {
	case e.high != 0:
		pair := utf16.DecodeRune(e.high, r)
		e.high = 0
		return utf8.AppendRune(out, pair)
	case utf16.IsSurrogate(r):
		e.high = r
		return out
	}
	return utf8.AppendRune(out, r)
}

// lone writes half a pair that nothing followed.
func (e *escapes) lone(out []byte) []byte {
	if e.high == 0 {
		return out
	}
	e.high = 0
	return utf8.AppendRune(out, utf8.RuneError)
}
