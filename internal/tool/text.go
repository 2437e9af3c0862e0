package tool

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"banyan/internal/llm"
)

// encoding is how a file's text is stored.
type encoding uint8

const (
	bytesAsTheyAre encoding = iota // UTF-8 as a rule; whatever is not is kept
	utf16LE
	utf16BE
)

// A document is a text file taken apart, so that it can be put together again
// with nothing changed that was not meant to be. Its text has no byte order
// mark; its line ends are as they were.
type document struct {
	text []byte // UTF-8, or as it is for bytesAsTheyAre
	bom  []byte
	enc  encoding
}

var (
	bomUTF8    = []byte{0xEF, 0xBB, 0xBF}
	bomUTF16LE = []byte{0xFF, 0xFE}
	bomUTF16BE = []byte{0xFE, 0xFF}
)

var errBinary = errors.New("not text")

// parse takes a file apart. It fails with errBinary for what is not text.
func parse(data []byte) (document, error) {
	switch {
	case bytes.HasPrefix(data, bomUTF8):
		return plain(data[len(bomUTF8):], bomUTF8)
	case bytes.HasPrefix(data, bomUTF16LE):
		return wide(data, bomUTF16LE, utf16LE)
	case bytes.HasPrefix(data, bomUTF16BE):
		return wide(data, bomUTF16BE, utf16BE)
	}
	return plain(data, nil)
}

func plain(text, bom []byte) (document, error) {
	if isBinary(text) {
		return document{}, errBinary
	}
	return document{text: text, bom: bom}, nil
}

// wide decodes UTF-16, if encoding it again gives the same bytes.
func wide(data, bom []byte, enc encoding) (document, error) {
	body := data[len(bom):]
	if len(body)%2 != 0 {
		return document{}, errBinary
	}
	units := make([]uint16, len(body)/2)
	for i := range units {
		units[i] = enc.order().Uint16(body[2*i:])
	}
	d := document{text: []byte(string(utf16.Decode(units))), bom: bom, enc: enc}
	if !bytes.Equal(d.join(), data) {
		return document{}, errBinary
	}
	return d, nil
}

func (e encoding) order() binary.ByteOrder {
	if e == utf16BE {
		return binary.BigEndian
	}
	return binary.LittleEndian
}

// join is the file's content: parse's inverse.
func (d document) join() []byte {
	out := append([]byte{}, d.bom...)
	if d.enc == bytesAsTheyAre {
		return append(out, d.text...)
	}
	var unit [2]byte
	for _, u := range utf16.Encode([]rune(string(d.text))) {
		d.enc.order().PutUint16(unit[:], u)
		out = append(out, unit[:]...)
	}
	return out
}

// isBinary guesses by the first 8 KB: a NUL byte, or more than a tenth of bytes
// that text does not have.
func isBinary(data []byte) bool {
	const look = 8 << 10
	head := data[:min(len(data), look)]
	if bytes.IndexByte(head, 0) >= 0 {
		return true
	}
	return oddBytes(head)*10 > len(head)
}

// oddBytes counts what text does not have: control characters and what is not
// UTF-8. A character that is cut at the end counts for nothing.
func oddBytes(text []byte) int {
	odd := 0
	if utf8.Valid(text) { // as a rule, and told fast
		for _, b := range text {
			if b < ' ' && !isSpace(rune(b)) {
				odd++
			}
		}
		return odd
	}
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRune(text[i:])
		if r == utf8.RuneError && n == 1 && utf8.FullRune(text[i:]) || r < ' ' && !isSpace(r) {
			odd++
		}
		i += n
	}
	return odd
}

func isSpace(r rune) bool { return r == '\n' || r == '\r' || r == '\t' || r == '\f' || r == '\v' }

// What models are given of anything long, and no more.
const (
	maxLines   = 2000
	maxBytes   = 50 << 10
	maxColumns = 2000 // bytes of one line
)

// cutLine cuts a line that is too long and says so.
func cutLine(line string) string {
	if len(line) <= maxColumns {
		return line
	}
	return fmt.Sprintf("%s… [%d more bytes in this line]", strings.ToValidUTF8(line[:maxColumns], ""), len(line)-maxColumns)
}

// countLines counts lines; a last one without a line end counts.
func countLines(text []byte) int {
	n := bytes.Count(text, []byte{'\n'})
	if len(text) > 0 && text[len(text)-1] != '\n' {
		n++
	}
	return n
}

// bytesText is a size for people: 512 B, 3.4 KB, 2.1 GB.
func bytesText(n int64) string {
	if n < 1000 {
		return fmt.Sprintf("%d B", n)
	}
	size, unit := float64(n), 0
	for size >= 999.5 && unit < 4 {
		size /= 1000
		unit++
	}
	return fmt.Sprintf("%.3g %s", size, [...]string{"B", "KB", "MB", "GB", "TB"}[unit])
}

// plural is "1 line", "2 lines", "2 processes".
func plural(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	if strings.HasSuffix(one, "s") {
		one += "e"
	}
	return fmt.Sprintf("%d %ss", n, one)
}

// cutText cuts a text to what models are given, keeping its beginning and its
// end, and says what is left out.
func cutText(text string) string {
	if fits(text) {
		return text
	}
	head, tail, lines, size := ends(text)
	return fmt.Sprintf("%s[… %s, %s left out …]\n%s", head, plural(lines, "line"), bytesText(int64(size)), tail)
}

// ends are the beginning (a third) and the end (the rest) of a text that is too
// long, in whole lines where lines are of ordinary length, and how much is
// between them.
func ends(text string) (head, tail string, lines, size int) {
	head = firstPart(text, maxLines/3, maxBytes/3)
	tail = lastPart(text[len(head):], maxLines-maxLines/3, maxBytes-maxBytes/3)
	between := text[len(head) : len(text)-len(tail)]
	if head != "" && !strings.HasSuffix(head, "\n") {
		head += "\n"
	}
	return head, tail, strings.Count(between, "\n"), len(between)
}

// firstPart is at most so many lines and bytes from the start of text.
func firstPart(text string, lines, size int) string {
	n := 0
	for line := range strings.Lines(text) {
		if lines--; lines < 0 || n+len(line) > size {
			break
		}
		n += len(line)
	}
	if n == 0 && text != "" { // one endless line
		return strings.ToValidUTF8(text[:min(size, len(text))], "")
	}
	return text[:n]
}

// lastPart is at most so many lines and bytes from the end of text.
func lastPart(text string, lines, size int) string {
	at := len(text)
	for ; lines > 0 && at > 0; lines-- {
		start := strings.LastIndexByte(text[:at-1], '\n') + 1
		if len(text)-start > size {
			break
		}
		at = start
	}
	if at == len(text) && text != "" { // one endless line
		at = max(len(text)-size, 0)
		for at < len(text) && !utf8.RuneStart(text[at]) {
			at++
		}
	}
	return text[at:]
}

// withNote adds a line to what the model is told.
func withNote(r Result, note string) Result {
	r.Content = append(r.Content, llm.Text{Text: note})
	return r
}
