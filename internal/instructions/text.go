package instructions

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Text is the files as they go into a system prompt, each with its path; empty
// if there is nothing to say.
func Text(files []File) string {
	var b strings.Builder
	for _, f := range files {
		if f.Err != nil || f.Text == "" {
			continue
		}
		if b.Len() == 0 {
			b.WriteString(head)
		}
		fmt.Fprintf(&b, "\n<instructions path=%q>\n%s\n", f.Path, strings.ReplaceAll(f.Text, endTag, `<\/instructions>`))
		if f.Cut {
			fmt.Fprintf(&b, "[Cut here: the file has %d bytes. Read it if the rest matters.]\n", f.Bytes)
		}
		b.WriteString(endTag + "\n")
	}
	return b.String()
}

const (
	head = `The user and the project have written down what you are to do, from the general to the specific. Where two of these files disagree, the later one counts. What the user says in the conversation counts more than any of them.
`
	endTag = "</instructions>"
)

// cleanCut is where to cut data so that at most n bytes stay: after a line, if
// that does not cost the half of it, else between two characters.
func cleanCut(data []byte, n int) int {
	if line := bytes.LastIndexByte(data[:n], '\n') + 1; line > n/2 {
		return line
	}
	for n > 0 && !utf8.RuneStart(data[n]) {
		n--
	}
	return n
}

// Plain is text as a model is told it: UTF-8 with LF, without a byte order mark,
// and without anything that a person who reads the file would not see. Characters
// that hide text from people or turn it round are spelt out: an instruction that
// only the model can read is an attack.
func Plain(data []byte) (string, error) {
	if bytes.IndexByte(data, 0) >= 0 {
		return "", errors.New("it is not text")
	}
	text := strings.ToValidUTF8(string(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))), "\uFFFD")
	text = strings.ReplaceAll(text, "\r\n", "\n")
	if strings.ContainsFunc(text, hidden) {
		var b strings.Builder
		for _, r := range text {
			if hidden(r) {
				fmt.Fprintf(&b, "⟨U+%04X⟩", r)
			} else {
				b.WriteRune(r)
			}
		}
		text = b.String()
	}
	return strings.TrimSpace(text), nil
}

// hidden: controls, direction marks, tags, and what else has no shape. Joiners
// stay, which words and emoji are made with.
func hidden(r rune) bool {
	switch {
	case ' ' <= r && r <= '~': // nearly all there is, without a look at the tables
		return false
	case r == '\n' || r == '\t' || r == '\u200C' || r == '\u200D' || r == '\u00AD':
		return false
	case r >= 0xE0100 && r <= 0xE01EF: // variation selectors that carry data
		return true
	}
	return unicode.Is(unicode.Cc, r) || unicode.Is(unicode.Cf, r) && !unicode.Is(unicode.Prepended_Concatenation_Mark, r)
}

// imported are the names that stand after an @, in the order of the text, outside
// of code.
func imported(text string) []string {
	var names []string
	fence := ""
	for line := range strings.Lines(text) {
		trimmed := strings.TrimLeft(line, " ")
		if mark := fenceOf(trimmed); fence == "" && mark != "" {
			fence = mark
			continue
		} else if fence != "" {
			if strings.HasPrefix(trimmed, fence) {
				fence = ""
			}
			continue
		}
		for i, part := range strings.Split(line, "`") {
			if i%2 == 1 {
				continue // between two backticks
			}
			for _, word := range strings.Fields(part) {
				if name, ok := strings.CutPrefix(word, "@"); ok {
					if name = strings.TrimRight(name, ".,;:!?)\"'"); name != "" {
						names = append(names, name)
					}
				}
			}
		}
	}
	return names
}

// fenceOf is the mark that a line of code begins or ends with, empty if none.
func fenceOf(line string) string {
	for _, mark := range []string{"```", "~~~"} {
		if strings.HasPrefix(line, mark) {
			return mark
		}
	}
	return ""
}
