package inert

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Text makes text of several lines inert. Line feeds and tabs stay, CR LF
// becomes LF; everything else that is not visible text becomes a visible sign:
// control pictures (␛), ⟨U+202E⟩, � for bytes that are not UTF-8. It is
// idempotent.
func Text(s string) string { return clean(s, false) }

// Line makes text inert and puts it on one line: a line feed becomes ⏎, a tab ⇥.
func Line(s string) string { return clean(s, true) }

// TitleLen is the most bytes that [Title] lets through.
const TitleLen = 80

// Title makes text fit for a window title or a notification, which terminals
// treat with less care than cells: printable ASCII, at most [TitleLen] bytes.
func Title(s string) string {
	var b strings.Builder
	for _, r := range s {
		if b.Len() == TitleLen {
			break
		}
		switch {
		case r >= ' ' && r <= '~':
			b.WriteByte(byte(r))
		case r == '\n' || r == '\t' || unicode.IsSpace(r):
			b.WriteByte(' ')
		case unicode.IsGraphic(r) && !unicode.Is(unicode.Mn, r):
			b.WriteByte('?')
		}
	}
	return strings.TrimSpace(b.String())
}

// maxMarks is how many combining marks may stand on one character; the most
// that living orthographies stack is below it.
const maxMarks = 8

// clean copies s from the first rune that has to change; s itself if none has.
func clean(s string, oneLine bool) string {
	var (
		out   strings.Builder
		kept  int // s[:kept] is in out, as it is or replaced
		dirty bool
		c     = cleaner{oneLine: oneLine}
	)
	for i := 0; i < len(s); {
		if b := s[i]; b >= ' ' && b < 0x7f || b == '\n' && !oneLine {
			c.prev, c.marks = rune(b), 0
			i++
			continue
		}
		sign, n := c.step(s[i:])
		if sign != same {
			dirty = true
			out.WriteString(s[kept:i])
			out.WriteString(sign)
			kept = i + n
		}
		i += n
	}
	if !dirty {
		return s
	}
	out.WriteString(s[kept:])
	return out.String()
}

// same is what step returns for text that may stay. It is no possible sign.
const same = "\x00"

// cleaner is what has to be remembered of the text before a rune.
type cleaner struct {
	oneLine bool
	prev    rune // the rune before; 0 at the start
	marks   int  // combining marks on the character before
}

// step looks at the first rune of s, or at the first few where they go
// together, and says what stands for it (same: itself) and how many bytes it is.
func (c *cleaner) step(s string) (sign string, n int) {
	r, n := utf8.DecodeRuneInString(s)
	prev := c.prev
	if mark(r) {
		return c.mark(s, r, n)
	}
	c.prev, c.marks = r, 0
	switch {
	case r == utf8.RuneError && n == 1:
		return "\uFFFD", 1
	case r == '\r' && strings.HasPrefix(s[1:], "\n"):
		c.prev = prev
		return "", 1 // the line feed is looked at next
	case r == '\t' && !c.oneLine:
		return same, n
	case r == '\t':
		return "⇥", n
	case r == '\n':
		return "⏎", n
	case r < ' ':
		return string(0x2400 + r), n
	case r == 0x7f:
		return "␡", n
	case (r == zwj || r == zwnj) && joins(prev, r, s[n:]):
		return same, n
	case r == 0xFE0E || r == 0xFE0F:
		if presentable(prev) {
			return same, n
		}
		return code(r), n
	case hidden(r):
		return code(r), n
	}
	return same, n
}

// mark deals with a combining mark: on nothing it gets a dotted circle, so that
// it cannot sit on what we draw before it; a pile of them becomes a count.
func (c *cleaner) mark(s string, r rune, n int) (string, int) {
	if c.marks == maxMarks {
		count := 0
		for n = 0; n < len(s); count++ {
			r, size := utf8.DecodeRuneInString(s[n:])
			if !mark(r) {
				break
			}
			n += size
		}
		c.prev, c.marks = '⟩', 0
		return fmt.Sprintf("⟨%d more marks⟩", count), n
	}
	c.marks++
	based := c.prev > ' ' && c.prev != 0x7f
	c.prev = r
	if !based {
		return "◌" + s[:n], n
	}
	return same, n
}

// code is the sign for a rune that has no picture.
func code(r rune) string { return fmt.Sprintf("⟨U+%04X⟩", r) }

const (
	zwnj = 0x200C
	zwj  = 0x200D
)

// mark says whether a rune is drawn on the character before it.
func mark(r rune) bool {
	if r < 0x300 || r >= 0x3400 && r < 0xA000 || r >= 0xAC00 && r < 0xD800 || variation(r) || r == 0x034F {
		return false
	}
	return unicode.In(r, unicode.Mn, unicode.Me)
}

func variation(r rune) bool {
	return r >= 0xFE00 && r <= 0xFE0F || r >= 0xE0100 && r <= 0xE01EF || r >= 0x180B && r <= 0x180F
}

// hidden says whether a rune is drawn as nothing, or changes how others are
// drawn: C1 controls, bidirectional controls, zero-width and filler characters,
// line separators, tags, variation selectors, and what is no character at all.
func hidden(r rune) bool {
	switch {
	case r < 0x80:
		return false
	case r < 0xA0:
		return true
	case r < 0x300:
		return r == 0xAD
	case r >= 0x3400 && r < 0xA000, r >= 0xAC00 && r < 0xD800:
		return false
	case r >= 0xE0000 && r < 0xE1000, r >= 0xFFF0 && r < 0xFFFC:
		return true
	case variation(r), r&0xFFFE == 0xFFFE, r >= 0xFDD0 && r <= 0xFDEF:
		return true
	}
	switch r {
	case 0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2028, 0x2029, 0x2065, 0x3164, 0xFFA0:
		return true
	}
	return unicode.Is(unicode.Cf, r)
}

// presentable says whether a variation selector after the rune chooses between
// text and emoji presentation; after anything else it only hides there.
func presentable(r rune) bool {
	switch r {
	case '#', '*', '‼', '⁉', '〰', '〽', 'ℹ':
		return true
	}
	return r >= '0' && r <= '9' || r >= 0xA0 && unicode.In(r, unicode.So, unicode.Sm)
}

// joins says whether a joiner does something that can be seen: ZWJ within an
// emoji, ZWNJ between Arabic letters, either after an Indic virama. (Names in
// domains follow the same rules, RFC 5892 appendix A.)
func joins(prev, joiner rune, rest string) bool {
	next, _ := utf8.DecodeRuneInString(rest)
	if viramas[prev] {
		return unicode.IsLetter(next)
	}
	if joiner == zwnj {
		return cursive(prev) && cursive(next)
	}
	emoji := prev == 0xFE0F || prev >= 0x1F3FB && prev <= 0x1F3FF || unicode.Is(unicode.So, prev)
	return emoji && next != utf8.RuneError && unicode.In(next, unicode.So, unicode.Sm)
}

func cursive(r rune) bool {
	return unicode.IsLetter(r) && unicode.In(r, unicode.Arabic, unicode.Syriac)
}

var viramas = map[rune]bool{
	0x094D: true, 0x09CD: true, 0x0A4D: true, 0x0ACD: true, 0x0B4D: true,
	0x0BCD: true, 0x0C4D: true, 0x0CCD: true, 0x0D4D: true, 0x0DCA: true,
}
