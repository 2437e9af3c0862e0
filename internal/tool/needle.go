package tool

import (
	"bytes"
	"regexp/syntax"
	"strings"
	"unicode/utf8"
)

// needle is a text that every match of a pattern contains.
type needle struct {
	text []byte // empty if there is none
	fold bool   // in lower case, and found in any: ASCII only
}

// required is the longest text that every match of a pattern contains, as far as
// can be seen without looking hard.
func required(re *syntax.Regexp) needle {
	switch re.Op {
	case syntax.OpLiteral:
		return literal(string(re.Rune), re.Flags&syntax.FoldCase != 0)
	case syntax.OpCapture, syntax.OpPlus:
		return required(re.Sub[0])
	case syntax.OpConcat:
		var best needle
		for _, sub := range re.Sub {
			if n := required(sub); len(n.text) > len(best.text) {
				best = n
			}
		}
		return best
	}
	return needle{}
}

func literal(text string, fold bool) needle {
	if strings.ContainsAny(text, "\n\r") || strings.ContainsRune(text, utf8.RuneError) { // which also stands for what is not UTF-8
		return needle{}
	}
	if !fold {
		return needle{text: []byte(text)}
	}
	for _, r := range text {
		if r >= utf8.RuneSelf {
			return needle{}
		}
	}
	return needle{text: []byte(strings.ToLower(text)), fold: true}
}

// in gives the text in which the needle is to be found at the places where it is
// in piece, and false if it is not to be found that way.
func (n needle) in(piece []byte) ([]byte, bool) {
	if len(n.text) == 0 {
		return nil, false
	}
	if !n.fold {
		return piece, true
	}
	// Two letters outside of ASCII are k and s in another case.
	if bytes.Contains(piece, []byte("\u212a")) || bytes.Contains(piece, []byte("\u017f")) {
		return nil, false
	}
	lower := make([]byte, len(piece))
	for i, b := range piece {
		if 'A' <= b && b <= 'Z' {
			b += 'a' - 'A'
		}
		lower[i] = b
	}
	return lower, true
}
