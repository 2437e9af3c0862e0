package tool

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"
)

// clean makes what a program wrote readable text: without the sequences that
// steer terminals, with only the last state of lines that were overwritten, and
// with control characters as pictures. What is not text is described instead.
// This is for models; whoever draws it must still make it inert.
func clean(raw []byte) string {
	if looksBinary(raw) {
		return fmt.Sprintf("[binary output, %s]\n", bytesText(int64(len(raw))))
	}
	var out strings.Builder
	out.Grow(len(raw))
	bad := 0
	for rest := string(raw); rest != ""; {
		r, n := utf8.DecodeRuneInString(rest)
		switch {
		case r == utf8.RuneError && n == 1:
			bad++
			out.WriteRune(utf8.RuneError)
		case r == '\x1b':
			n = sequence(rest)
		case r == '\n' || r == '\t' || r == '\r':
			out.WriteRune(r)
		case r < ' ':
			out.WriteRune('␀' + r)
		case r == 0x7f:
			out.WriteRune('␡')
		case 0x80 <= r && r < 0xa0:
			out.WriteRune(utf8.RuneError)
		default:
			out.WriteString(rest[:n])
		}
		rest = rest[n:]
	}
	text := overwritten(out.String())
	if bad > 0 {
		text += fmt.Sprintf("[%s not UTF-8]\n", plural(bad, "byte"))
	}
	return text
}

// looksBinary tells whether more than a tenth is neither text nor what steers a
// terminal.
func looksBinary(raw []byte) bool {
	steering := bytes.Count(raw, []byte{'\x1b'}) + bytes.Count(raw, []byte{'\b'}) + bytes.Count(raw, []byte{'\a'})
	return (oddBytes(raw)-steering)*10 > len(raw)
}

// sequence is the length of the escape sequence that text begins with. One that
// has no end is one escape character: it must not hide what follows.
func sequence(text string) int {
	if len(text) < 2 {
		return len(text)
	}
	const most = 4096
	body := text[2:min(len(text), most)]
	switch text[1] {
	case '[': // parameters, then a final byte
		for i := range len(body) {
			switch c := body[i]; {
			case 0x40 <= c && c <= 0x7e:
				return 2 + i + 1
			case c < 0x20 || c > 0x3f:
				return 2 + i
			}
		}
	case ']', 'P', 'X', '^', '_': // a string, up to BEL or ESC \
		for i := range len(body) {
			switch {
			case body[i] == '\a':
				return 2 + i + 1
			case body[i] == '\x1b' && i+1 < len(body) && body[i+1] == '\\':
				return 2 + i + 2
			case body[i] == '\n':
				return 1
			}
		}
	case '(', ')', '*', '+', '#', '%', ' ':
		return min(len(text), 3)
	default:
		if text[1] >= 0x30 && text[1] < 0x7f {
			return 2
		}
	}
	return 1
}

// overwritten keeps the last state of each line that carriage returns began
// anew, such as a progress bar.
func overwritten(text string) string {
	if !strings.Contains(text, "\r") {
		return text
	}
	var out strings.Builder
	for line := range strings.Lines(text) {
		body, end := strings.CutSuffix(line, "\n")
		body = strings.TrimRight(body, "\r")
		out.WriteString(body[strings.LastIndexByte(body, '\r')+1:])
		if end {
			out.WriteByte('\n')
		}
	}
	return out.String()
}
