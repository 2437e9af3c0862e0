package session

import (
	"bytes"
	"strconv"

	"banyan/internal/jsonl"
	"banyan/internal/llm"
)

// Nearly every line of a session is a message, written by us or by pi in one
// order of members, below the line before it. Opening takes such lines by
// comparing what stands at fixed places, and all others through fold.headed.
// This file knows nothing that fold.go does not: what a line is comes out the
// same on both ways, and a test holds them against each other.

// quick takes the next line if it is of the usual form. It says no to anything
// else, and then has done nothing.
func (f *fold) quick(b []byte, pos jsonl.Pos) bool {
	if !f.lazy || len(f.lastID) == 0 || b[len(b)-1] != '}' {
		return false
	}
	key, ok := plainHead(b)
	if !ok || string(b[parentAt+1:parentAt+9]) != string(f.lastID) {
		return false
	}
	role, flags, ok := quickClass(b[headEnd:])
	if !ok {
		return false
	}
	ms, ok := f.clock.parse(b[timeAt:headEnd])
	if !ok {
		return false
	}
	id := b[idAt+1 : idAt+9]
	f.ids.pushKey(key)
	if len(f.marks.alias) > 0 {
		f.unalias(ID(id))
	}
	n := f.forest.Add(f.last, ms)
	f.pos = append(f.pos, pos)
	f.class = append(f.class, class{kind: f.kindNumber(kindMessage), role: role, flags: flags})
	f.bytes = max(f.bytes, pos.Off+int64(pos.Len)+1)
	f.leaf, f.last, f.lastTime = n, n, ms
	f.lastID = append(f.lastID[:0], id...)
	f.damaged, f.lastPos = false, pos
	return true
}

var kindMessage = []byte(Message{}.kind())

// quickClass is the role and flags of a message, from the text behind the head
// of its line; not ok where that is not of the usual form.
func quickClass(rest []byte) (role, flags uint8, ok bool) {
	const (
		lead   = `,"message":{"role":"`
		answer = `assistant","content":[`
	)
	if !hasPrefix(rest, lead) {
		return 0, 0, false
	}
	rest = rest[len(lead):]
	switch {
	case hasPrefix(rest, `user"`):
		return roleUser, 0, true
	case hasPrefix(rest, `toolResult"`):
		return roleResult, 0, true
	case !hasPrefix(rest, answer):
		return 0, 0, false
	}
	flags, _, ok = quickReason(rest)
	if !ok {
		return 0, 0, false
	}
	says, ok := quickText(rest[len(answer):])
	if says {
		flags |= hasText
	}
	return roleAssistant, flags, ok
}

var (
	roleUser      = roleNumber([]byte(llm.User))
	roleAssistant = roleNumber([]byte(llm.Assistant))
	roleResult    = roleNumber([]byte(llm.ToolResult))
)

// quickReason is what the stop reason says, where it and a time are the last of
// an answer and of its line, and where the comma before it stands. Of what is
// between them and the line's end, nothing nests, so they are the message's own.
func quickReason(line []byte) (flags uint8, at int, ok bool) {
	const (
		key  = `,"stopReason":"`
		time = `,"timestamp":`
		tail = len(time) + len(`1795159144120}}`)
	)
	at = len(line) - tail
	if at < 0 || !hasPrefix(line[at:], time) || !hasSuffix(line, "}}") {
		return 0, 0, false
	}
	for _, c := range line[at+len(time) : len(line)-2] {
		if c < '0' || c > '9' {
			return 0, 0, false
		}
	}
	before := line[:at]
	for _, r := range reasons {
		if hasSuffix(before, r.text) {
			at -= len(key) + len(r.text)
			return r.flags, at, at >= 0 && hasPrefix(line[at:], key)
		}
	}
	return 0, 0, false
}

// reasons are the stop reasons that there are, the usual ones first.
var reasons = []struct {
	text  string
	flags uint8
}{
	{string(llm.StopToolUse) + `"`, 0},
	{string(llm.StopEnd) + `"`, 0},
	{string(llm.StopAborted) + `"`, failed},
	{string(llm.StopError) + `"`, failed},
	{string(llm.StopLength) + `"`, failed},
}

// quickText tells whether there is text that is not blank in the blocks of a
// content; b begins behind its bracket.
func quickText(b []byte) (says, ok bool) {
	const (
		text     = `{"type":"text","text":"`
		thinking = `{"type":"thinking","thinking":"`
		call     = `{"type":"toolCall","id":"`
	)
	if hasPrefix(b, "]") {
		return false, true
	}
	for {
		switch {
		case hasPrefix(b, text):
			b = b[len(text):]
			return true, len(b) > 0 && b[0] != '"' && b[0] != '\\' && b[0] != ' '
		case hasPrefix(b, thinking):
			b = b[skipString(b, len(thinking)-1):]
			b = skipMember(b, `,"thinkingSignature":"`)
		case hasPrefix(b, call):
			b = b[skipString(b, len(call)-1):]
			b = skipMember(b, `,"name":"`)
			const arguments = `,"arguments":{`
			if !hasPrefix(b, arguments) {
				return false, false
			}
			b = b[skipValue(b, len(arguments)-1):]
		default:
			return false, false
		}
		switch {
		case hasPrefix(b, "}]"):
			return false, true
		case !hasPrefix(b, "},{"):
			return false, false
		}
		b = b[len("},"):]
	}
}

// quickUsage reads the usage of an answer's line, where it stands before the
// stop reason as we and pi write it. It looks at the end of the line alone.
func quickUsage(line []byte) (llm.Usage, bool) {
	_, end, ok := quickReason(line)
	if !ok {
		return llm.Usage{}, false
	}
	const key, longest = `,"usage":`, 500
	from := max(0, end-longest)
	i := bytes.LastIndex(line[from:end], []byte(key))
	if i < 0 {
		return llm.Usage{}, false
	}
	n := numbers{b: line[from+i+len(key) : end], ok: true}
	u := llm.Usage{
		Input: n.count(`{"input":`), Output: n.count(`,"output":`), CacheRead: n.count(`,"cacheRead":`),
		CacheWrite: n.count(`,"cacheWrite":`), Total: n.count(`,"totalTokens":`),
		Cost: llm.Cost{
			Input: n.amount(`,"cost":{"input":`), Output: n.amount(`,"output":`), CacheRead: n.amount(`,"cacheRead":`),
			CacheWrite: n.amount(`,"cacheWrite":`), Total: n.amount(`,"total":`),
		},
	}
	return u, n.ok && string(n.b) == "}}"
}

// numbers reads members with numbers, one after the other. It stops being ok
// where another comes, or one that is not plain.
type numbers struct {
	b  []byte
	ok bool
}

func (n *numbers) count(key string) int {
	v, err := strconv.ParseUint(string(n.next(key)), 10, 31)
	n.ok = n.ok && err == nil
	return int(v)
}

func (n *numbers) amount(key string) float64 {
	v, err := strconv.ParseFloat(string(n.next(key)), 64)
	n.ok = n.ok && err == nil
	return v
}

// next is the text of the number that follows a key.
func (n *numbers) next(key string) []byte {
	if n.ok = n.ok && hasPrefix(n.b, key); !n.ok {
		return nil
	}
	b, end := n.b[len(key):], 0
	for end < len(b) && (b[end] >= '0' && b[end] <= '9' || b[end] == '.' || b[end] == '-' || b[end] == 'e') {
		end++
	}
	n.b = b[end:]
	return b[:end]
}

// skipMember skips a member with a string, if it comes next. The text given is
// all before that string's content.
func skipMember(b []byte, key string) []byte {
	if !hasPrefix(b, key) {
		return b
	}
	return b[skipString(b, len(key)-1):]
}

func hasPrefix(b []byte, s string) bool { return len(b) >= len(s) && string(b[:len(s)]) == s }
func hasSuffix(b []byte, s string) bool { return len(b) >= len(s) && string(b[len(b)-len(s):]) == s }

// clock reads times that mostly are in the same minute as the one before.
type clock struct {
	minute []byte // how that minute is written: `"2026-11-20T07:19:`
	ms     int64  // its beginning, Unix ms
}

// parse is parseTime.
func (c *clock) parse(value []byte) (ms int64, ok bool) {
	const minute, length = len(`"2026-11-20T07:19:`), len(`"2026-11-20T07:19:00.001Z"`)
	plain := len(value) == length && value[minute+2] == '.' && string(value[length-2:]) == `Z"`
	if plain && string(value[:minute]) == string(c.minute) {
		s10, s1 := value[minute]-'0', value[minute+1]-'0'
		m100, m10, m1 := value[minute+3]-'0', value[minute+4]-'0', value[minute+5]-'0'
		if s10 < 6 && s1 < 10 && m100 < 10 && m10 < 10 && m1 < 10 {
			return c.ms + (int64(s10)*10+int64(s1))*1000 + int64(m100)*100 + int64(m10)*10 + int64(m1), true
		}
	}
	ms, ok = parseTime(value)
	if plain && ok {
		c.minute = append(c.minute[:0], value[:minute]...)
		c.ms = ms - (ms%60_000+60_000)%60_000
	}
	return ms, ok
}
