package session

import (
	"bytes"
	"encoding/json"
	"time"
)

// object walks the members of a JSON object without decoding them: opening a
// session looks at the first few members of each line, and a line may be 100 MB.
//
// It trusts the text to be JSON. Of text that is not it may report anything,
// but it never reads beyond it and always ends. Whoever decodes a line finds
// out whether it is JSON.
type object struct {
	b   []byte
	i   int  // where the next key may stand; while value is due, where it begins
	due bool // the value of the last key was not taken yet
}

// newObject is false where the text does not begin as an object.
func newObject(b []byte) (object, bool) {
	i := skipSpace(b, 0)
	if i >= len(b) || b[i] != '{' {
		return object{}, false
	}
	return object{b: b, i: i + 1}, true
}

// key is the next member's key as it is written, without its quotes; nil at the end.
func (o *object) key() []byte {
	if o.due {
		o.value()
	}
	i := skipSpace(o.b, o.i)
	if i < len(o.b) && o.b[i] == ',' {
		i = skipSpace(o.b, i+1)
	}
	if i >= len(o.b) || o.b[i] != '"' {
		o.i = len(o.b)
		return nil
	}
	end := skipString(o.b, i)
	colon := skipSpace(o.b, end)
	if colon >= len(o.b) || o.b[colon] != ':' {
		o.i = len(o.b)
		return nil
	}
	o.i, o.due = skipSpace(o.b, colon+1), true
	return o.b[i+1 : end-1]
}

// value is the text of the last key's value.
func (o *object) value() []byte {
	from := o.i
	o.i, o.due = skipValue(o.b, from), false
	return o.b[from:o.i]
}

// rest is the text from the last key's value on, for walking into it without
// looking for its end.
func (o *object) rest() []byte { return o.b[o.i:] }

// member finds a key of an object; nil where it is absent. The last of several
// wins, as in encoding/json.
func member(b []byte, name string) []byte {
	o, _ := newObject(b)
	var found []byte
	for k := o.key(); k != nil; k = o.key() {
		if string(k) == name {
			found = o.value()
		}
	}
	return found
}

func skipSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\t' || b[i] == '\n' || b[i] == '\r') {
		i++
	}
	return i
}

// skipString is the place after the string whose opening quote stands at i.
// There is always a byte between i and the result.
func skipString(b []byte, i int) int {
	for j := i + 1; ; {
		q := bytes.IndexByte(b[min(j, len(b)):], '"')
		if q < 0 {
			return max(len(b), i+1)
		}
		j += q + 1
		backslashes := 0
		for k := j - 2; k > i && b[k] == '\\'; k-- {
			backslashes++
		}
		if backslashes%2 == 0 {
			return j
		}
	}
}

// skipValue is the place after the value that begins at i. It counts brackets
// and does not recurse, so nesting has no limit.
func skipValue(b []byte, i int) int {
	if i >= len(b) {
		return len(b)
	}
	switch b[i] {
	case '"':
		return skipString(b, i)
	case '{', '[':
		for depth := 0; i < len(b); {
			switch b[i] {
			case '"':
				i = skipString(b, i)
				continue
			case '{', '[':
				depth++
			case '}', ']':
				if depth--; depth == 0 {
					return i + 1
				}
			}
			i++
		}
		return len(b)
	}
	for i < len(b) && b[i] != ',' && b[i] != '}' && b[i] != ']' && b[i] > ' ' {
		i++
	}
	return i
}

// elements calls f with each element of an array until it returns false. f
// gets the text from the element on; the end is found only if f goes on.
func elements(b []byte, f func(rest []byte) bool) {
	i := skipSpace(b, 0)
	if i >= len(b) || b[i] != '[' {
		return
	}
	for i = skipSpace(b, i+1); i < len(b) && b[i] != ']'; i = skipSpace(b, i) {
		if b[i] == ',' {
			i++
			continue
		}
		if !f(b[i:]) {
			return
		}
		next := skipValue(b, i)
		if next == i { // a stray bracket: not JSON
			return
		}
		i = next
	}
}

// unquote is the string that a JSON string stands for; false for other values.
func unquote(value []byte) (string, bool) {
	if len(value) < 2 || value[0] != '"' || value[len(value)-1] != '"' {
		return "", false
	}
	inner := value[1 : len(value)-1]
	if bytes.IndexByte(inner, '\\') < 0 {
		return string(inner), true
	}
	var s string
	if json.Unmarshal(value, &s) != nil {
		return "", false
	}
	return s, true
}

// head is what every line of a session has. The texts are JSON values as they
// stand in the line, nil where the key is absent.
type head struct {
	kind, id, parent, time []byte
	rest                   object // after the last of them
}

// readHead finds a line's head, in any order of keys. It stops at the fourth,
// so it costs the same for a line of 100 bytes and one of 100 MB that was
// written in the usual order. The dialect's uuid and parentUuid are read too.
func readHead(line []byte) (head, bool) {
	if h, ok := readPlainHead(line); ok {
		return h, true
	}
	return walkHead(line)
}

// Where things stand in the head of a message as we and pi write nearly all of
// them: `{"type":"message","id":"00000000","parentId":"00000000","timestamp":"…"`.
const (
	kindAt   = len(`{"type":`)
	idAt     = len(`{"type":"message","id":`)
	parentAt = idAt + len(`"00000000","parentId":`)
	timeAt   = parentAt + len(`"00000000","timestamp":`)
	headEnd  = timeAt + len(`"2026-11-20T07:19:00.001Z"`)
)

// plainHead tells whether a line begins so, by comparing what stands at these
// places, and gives the value of the id. Of the time, only the end is looked at.
func plainHead(line []byte) (id uint64, ok bool) {
	if len(line) <= headEnd ||
		string(line[:idAt+1]) != `{"type":"message","id":"` ||
		string(line[idAt+9:parentAt+1]) != `","parentId":"` ||
		string(line[parentAt+9:timeAt+1]) != `","timestamp":"` ||
		string(line[headEnd-2:headEnd]) != `Z"` {
		return 0, false
	}
	if _, ok := hexKey(line[parentAt+1 : parentAt+9]); !ok {
		return 0, false
	}
	return hexKey(line[idAt+1 : idAt+9])
}

// readPlainHead reads such a head. It says no to anything else.
func readPlainHead(line []byte) (head, bool) {
	if _, ok := plainHead(line); !ok || bytes.IndexByte(line[timeAt+1:headEnd-1], '"') >= 0 {
		return head{}, false
	}
	return head{
		kind: line[kindAt : idAt-len(`,"id":`)], id: line[idAt : idAt+10],
		parent: line[parentAt : parentAt+10], time: line[timeAt:headEnd],
		rest: object{b: line, i: headEnd},
	}, true
}

// walkHead is readHead for any line.
func walkHead(line []byte) (head, bool) {
	o, ok := newObject(line)
	if !ok {
		return head{}, false
	}
	var h head
	for found := 0; found < 4; {
		k := o.key()
		if k == nil {
			break
		}
		var to *[]byte
		switch string(k) {
		case "type":
			to = &h.kind
		case "id", "uuid":
			to = &h.id
		case "parentId", "parentUuid":
			to = &h.parent
		case "timestamp":
			to = &h.time
		default:
			continue
		}
		if *to == nil {
			found++
			*to = o.value()
		}
	}
	h.rest = o
	return h, true
}

// object of the whole line where a key may stand before the head's last.
func field(line []byte, h head, name string) []byte {
	for k := h.rest.key(); k != nil; k = h.rest.key() {
		if string(k) == name {
			return h.rest.value()
		}
	}
	return member(line, name)
}

// parseTime reads an RFC 3339 time as Unix ms. The form that everybody writes,
// "2026-11-20T07:19:00.001Z", takes the short way.
func parseTime(value []byte) (ms int64, ok bool) {
	if len(value) == 26 && value[0] == '"' && value[20] == '.' && string(value[24:]) == `Z"` {
		if ms, ok := parsePlainTime(value[1:24]); ok {
			return ms, true
		}
	}
	s, ok := unquote(value)
	if !ok {
		return 0, false
	}
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		return 0, false
	}
	return t.UnixMilli(), true
}

// parsePlainTime reads "2026-11-20T07:19:00.001".
func parsePlainTime(b []byte) (int64, bool) {
	if b[4] != '-' || b[7] != '-' || b[10] != 'T' || b[13] != ':' || b[16] != ':' || b[19] != '.' {
		return 0, false
	}
	digits := true
	two := func(i int) int {
		tens, ones := b[i]-'0', b[i+1]-'0'
		digits = digits && tens <= 9 && ones <= 9
		return int(tens)*10 + int(ones)
	}
	year, month, day := two(0)*100+two(2), two(5), two(8)
	hour, minute, second, ms := two(11), two(14), two(17), two(20)*10+two(21)%10
	if !digits || month < 1 || month > 12 || day < 1 || day > 28 || hour > 23 || minute > 59 || second > 59 {
		return 0, false // the ends of months are rare enough for the long way
	}
	return (daysSince1970(year, month, day)*86400+int64(hour*3600+minute*60+second))*1000 + int64(ms), true
}

// daysSince1970 counts days in the proleptic Gregorian calendar, years from
// March so that the leap day comes last.
func daysSince1970(year, month, day int) int64 {
	if month <= 2 {
		year--
		month += 12
	}
	days := 365*year + year/4 - year/100 + year/400 + (153*(month-3)+2)/5 + day - 1
	return int64(days) - 719468
}
