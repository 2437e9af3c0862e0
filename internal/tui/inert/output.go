package inert

import "strings"

// maxSequence is how far an escape sequence is followed, in bytes; one that
// does not end by then is shown, so it cannot swallow what comes after it.
const maxSequence = 4096

// Output makes a program's output inert. It is [Text], but well-formed escape
// sequences are dropped, because programs colour and pace their output with
// them, and a carriage return begins a new line, so that what it would have
// overwritten is seen.
func Output(s string) string {
	if strings.IndexByte(s, '\x1b') < 0 && strings.IndexByte(s, '\r') < 0 {
		return Text(s)
	}
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); {
		switch s[i] {
		case '\x1b':
			if n := sequence(s[i:]); n > 0 {
				i += n
				continue
			}
			b.WriteByte(s[i])
		case '\r':
			for i+1 < len(s) && s[i+1] == '\r' {
				i++
			}
			if i+1 < len(s) && s[i+1] != '\n' {
				b.WriteByte('\n')
			}
		default:
			b.WriteByte(s[i])
		}
		i++
	}
	return Text(b.String())
}

// sequence is the length of the complete escape sequence that s begins with, 0
// if there is none: CSI, a string (OSC, DCS, APC, PM, SOS) that ends within its
// line, or ESC with intermediates and a final byte (ECMA-48, 5.3 to 5.6).
func sequence(s string) int {
	if len(s) < 2 {
		return 0
	}
	switch s[1] {
	case '[':
		return final(s, 2, 0x20, 0x3f, 0x40)
	case ']', 'P', '_', '^', 'X':
		for i := 2; i < len(s) && i < maxSequence; i++ {
			switch {
			case s[i] == '\a':
				return i + 1
			case s[i] == '\x1b' && i+1 < len(s) && s[i+1] == '\\':
				return i + 2
			case s[i] == '\n' || s[i] == '\x1b':
				return 0
			}
		}
		return 0
	}
	return final(s, 1, 0x20, 0x2f, 0x30)
}

// final finds the final byte of a sequence whose earlier bytes from i on lie
// between lo and hi, and gives the length up to it.
func final(s string, i int, lo, hi, end byte) int {
	for ; i < len(s) && i < maxSequence; i++ {
		if s[i] >= lo && s[i] <= hi {
			continue
		}
		if s[i] >= end && s[i] <= 0x7e {
			return i + 1
		}
		return 0
	}
	return 0
}
