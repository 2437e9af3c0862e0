package editor

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"banyan/internal/llm"
)

// A paste becomes a chip when it has more lines, or more characters, than this.
const (
	foldLines = 10
	foldRunes = 1000
)

// chip is something that stands in the text as one rune. Chips are never taken
// out of their table, so that undo and history may bring their rune back.
type chip struct {
	label string     // drawn
	text  string     // what it stands for
	image *llm.Image // or a picture, whose label stands in the text
}

// Chips are the runes of plane 16, which nothing is assigned to. Text from
// outside that has such a rune gets a chip for it, so nothing is lost or forged.
const (
	firstChip = 0x100000
	lastChip  = 0x10FFFD
	chipBytes = 4 // of a rune of plane 16 in UTF-8
)

func isChip(r rune) bool { return r >= firstChip && r <= lastChip }

func chipIndex(r rune) int { return int(r - firstChip) }

func (m *Model) addChip(c chip) string {
	m.chips = append(m.chips, c)
	return string(rune(firstChip + len(m.chips) - 1))
}

// admit makes text from outside fit for the buffer: valid, line feeds only, and
// no runes that mean chips.
func (m *Model) admit(s string) string {
	s = normal(s)
	if strings.IndexFunc(s, isChip) < 0 {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if isChip(r) {
			b.WriteString(m.addChip(chip{label: "\uFFFD", text: string(r)}))
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

func normal(s string) string {
	if strings.Contains(s, "\r") {
		s = strings.ReplaceAll(s, "\r\n", "\n")
		s = strings.ReplaceAll(s, "\r", "\n")
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}

// fold admits text, as a chip if it is large.
func (m *Model) fold(s string) string {
	s = normal(s) // many terminals send a carriage return for each newline
	lines, runes := strings.Count(s, "\n")+1, utf8.RuneCountInString(s)
	if lines <= foldLines && runes <= foldRunes {
		return m.admit(s)
	}
	m.pastes++
	size := fmt.Sprintf("+%d lines", lines)
	if lines == 1 {
		size = fmt.Sprintf("%d characters", runes)
	}
	return m.addChip(chip{label: fmt.Sprintf("[Pasted #%d %s]", m.pastes, size), text: s})
}

// expand puts what chips stand for in their place. A picture's label stays.
func (m *Model) expand(s string) (string, []llm.Image) {
	if strings.IndexFunc(s, isChip) < 0 {
		return s, nil
	}
	var (
		b      strings.Builder
		images []llm.Image
	)
	for _, r := range s {
		switch {
		case !isChip(r):
			b.WriteRune(r)
		case m.chips[chipIndex(r)].image != nil:
			c := m.chips[chipIndex(r)]
			images = append(images, *c.image)
			b.WriteString(c.label)
		default:
			b.WriteString(m.chips[chipIndex(r)].text)
		}
	}
	return b.String(), images
}
