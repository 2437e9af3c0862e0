package theme

import (
	"strconv"
	"strings"
)

// Style is how a run of cells looks. The zero value is plain. Styles compare
// with ==.
type Style struct {
	Fg, Bg Color
	Attr   Attr
}

// Attr are the attributes of a style, a set of bits.
type Attr uint8

// The attributes.
const (
	Bold Attr = 1 << iota
	Faint
	Italic
	Underline
	Reverse
	Strike
)

// Color is a colour as the terminal is told it. The zero value is the
// terminal's own.
type Color struct {
	kind    colorKind
	r, g, b uint8 // r is the index where there is one
}

type colorKind uint8

const (
	noColor colorKind = iota
	indexed           // 0..15 the basic colours, 16..255 the palette
	rgb
)

// Reset ends any style.
const Reset = "\x1b[m"

// Paint gives text in the style: the sequence that begins it, the text, and the
// one that ends it. The text must be inert; empty text stays empty.
func (s Style) Paint(text string) string {
	if text == "" || s == (Style{}) {
		return text
	}
	return s.Open() + text + Reset
}

// Open is the sequence that begins the style after a [Reset]; empty for plain.
func (s Style) Open() string {
	if s == (Style{}) {
		return ""
	}
	b := make([]byte, 0, 48)
	b = append(b, "\x1b["...)
	for i, code := range attrCodes {
		if s.Attr&(1<<i) != 0 {
			b = append(b, code, ';')
		}
	}
	b = s.Fg.append(b, 30)
	b = s.Bg.append(b, 40)
	b[len(b)-1] = 'm' // the last separator
	return string(b)
}

// attrCodes are the SGR parameters in the order of the bits of [Attr].
var attrCodes = [...]byte{'1', '2', '3', '4', '7', '9'}

// append adds the colour's SGR parameters, each followed by a separator. Base
// is 30 for the foreground, 40 for the background.
func (c Color) append(b []byte, base int64) []byte {
	switch {
	case c.kind == noColor:
		return b
	case c.kind == rgb:
		b = strconv.AppendInt(b, base+8, 10)
		b = append(b, ";2;"...)
		b = strconv.AppendInt(b, int64(c.r), 10)
		b = append(b, ';')
		b = strconv.AppendInt(b, int64(c.g), 10)
		b = append(b, ';')
		b = strconv.AppendInt(b, int64(c.b), 10)
	case c.r < 8:
		b = strconv.AppendInt(b, base+int64(c.r), 10)
	case c.r < 16:
		b = strconv.AppendInt(b, base+60+int64(c.r)-8, 10)
	default:
		b = strconv.AppendInt(b, base+8, 10)
		b = append(b, ";5;"...)
		b = strconv.AppendInt(b, int64(c.r), 10)
	}
	return append(b, ';')
}

// On puts the style over another: what it does not say is taken from below.
func (s Style) On(below Style) Style {
	if s.Fg.kind == noColor {
		s.Fg = below.Fg
	}
	if s.Bg.kind == noColor {
		s.Bg = below.Bg
	}
	s.Attr |= below.Attr
	return s
}

// With adds attributes.
func (s Style) With(a Attr) Style {
	s.Attr |= a
	return s
}

// parseStyle reads a style as theme files write it: words separated by blanks,
// a colour for the foreground, "on" and a colour for the background, and
// attributes. A colour is "#rrggbb", an index from 0 to 255, or "default".
func parseStyle(text string, p Profile, names map[string]string) (Style, error) {
	var s Style
	words := strings.Fields(text)
	for i := 0; i < len(words); i++ {
		word := words[i]
		if a, ok := attrNames[word]; ok {
			s.Attr |= a
			continue
		}
		into := &s.Fg
		if word == "on" && i+1 < len(words) {
			into = &s.Bg
			i++
			word = words[i]
		}
		if named, ok := names[word]; ok {
			word = named
		}
		c, err := parseColor(word, p)
		if err != nil {
			return Style{}, err
		}
		*into = c
	}
	return s, nil
}

var attrNames = map[string]Attr{
	"bold": Bold, "faint": Faint, "italic": Italic,
	"underline": Underline, "reverse": Reverse, "strike": Strike,
}
