package transcript

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/aymanbagabas/go-udiff"

	"banyan/internal/tool"
	"banyan/internal/tui/highlight"
	"banyan/internal/tui/inert"
	"banyan/internal/tui/rich"
	"banyan/internal/tui/theme"
)

// DiffLine is one line of a diff.
type DiffLine struct {
	Op    byte // ' ', '+', '-', or '@' for where a hunk begins
	Text  string
	Num   int      // its number in the file, the old one for '-'
	Words [][2]int // bytes of Text that changed, where its counterpart is known
}

// Diff reads a unified diff, with what changed within its lines.
func Diff(text string) []DiffLine {
	lines := parseDiff(text)
	pairWords(lines)
	return lines
}

// previewDiff is how many lines of a diff are shown while it is folded.
const previewDiff = 12

// diff draws a unified diff with line numbers, and what changed within a line.
func (s *sheet) diff(v tool.Diff, b body) {
	lines := parseDiff(inert.Text(v.Diff))
	hidden := 0
	if !b.open && len(lines) > previewDiff+1 {
		hidden = len(lines) - previewDiff
		lines = lines[:previewDiff]
	}
	pairWords(lines)
	gutter := 1
	for _, l := range lines {
		gutter = max(gutter, len(strconv.Itoa(l.Num)))
	}
	lang := highlight.LangOf(v.Path)
	for i, l := range lines {
		if l.Op == '@' {
			if i > 0 {
				s.line([]rich.Span{rich.Chrome(blanks(gutter)+" ⋮", s.th.Hunk)}, s.body, noSign)
			}
			continue
		}
		s.diffLine(l, lang, gutter)
	}
	if hidden > 0 {
		s.more(b.fold, hidden, "line")
	}
}

// diffLine draws a line of a diff behind its number. Code that changed has its
// colours where the change shows in the background.
func (s *sheet) diffLine(l DiffLine, lang string, gutter int) {
	style, word, sign := s.th.Output, s.th.Output, "  "
	switch l.Op {
	case '+':
		style, word, sign = s.th.Added, s.th.AddedWord, "+ "
	case '-':
		style, word, sign = s.th.Removed, s.th.RemovedWord, "- "
	}
	filled := style.Bg != (theme.Color{})
	runs := []highlight.Run{{Len: len(l.Text)}}
	if filled {
		runs = highlight.Lines(lang, l.Text)[0]
	}
	at := s.say(l.Text)
	var line []rich.Span
	for done := 0; done < len(l.Text); {
		n, below := stretch(l.Words, done, len(l.Text), style, word)
		n = min(n, runs[0].Len)
		look := below
		if filled && runs[0].Kind != highlight.Plain {
			look = runs[0].Kind.Style(s.th).On(below)
		}
		line = rich.Tabs(line, l.Text[done:done+n], look, at+done)
		done += n
		if runs[0].Len -= n; runs[0].Len == 0 {
			runs = runs[1:]
		}
	}
	number := fmt.Sprintf("%*d ", gutter, l.Num)
	room := s.room(s.body + gutter + 3)
	for _, part := range rich.Hard(line, room) {
		row := append([]rich.Span{rich.Chrome(number, s.th.LineNumber), rich.Chrome(sign, style)}, part...)
		if filled { // the colour reaches the edge
			row = append(row, rich.Chrome(blanks(room-rich.LineWidth(part)), style))
		}
		s.put([]rich.Row{rich.Draw(row)}, s.body, noSign)
		number, sign = blanks(gutter+1), "  "
	}
}

// stretch is how far from a byte on a line looks the same, as far as changed
// words go, and how.
func stretch(words [][2]int, at, end int, style, word theme.Style) (int, theme.Style) {
	for _, w := range words {
		switch {
		case at < w[0]:
			return w[0] - at, style
		case at < w[1]:
			return w[1] - at, word
		}
	}
	return end - at, style
}

// parseDiff reads the hunks of a unified diff. Headers of files are passed over.
func parseDiff(text string) []DiffLine {
	var lines []DiffLine
	before, after := 1, 1
	for raw := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		op := byte(' ')
		if raw != "" {
			op = raw[0]
		}
		switch op {
		case '@':
			before, after = hunk(raw, before, after)
			lines = append(lines, DiffLine{Op: '@', Text: raw})
		case '+':
			lines = append(lines, DiffLine{Op: op, Text: raw[1:], Num: after})
			after++
		case '-':
			lines = append(lines, DiffLine{Op: op, Text: raw[1:], Num: before})
			before++
		case ' ':
			lines = append(lines, DiffLine{Op: op, Text: strings.TrimPrefix(raw, " "), Num: after})
			before, after = before+1, after+1
		}
	}
	return lines
}

// hunk reads "@@ -12,3 +14,5 @@".
func hunk(raw string, before, after int) (int, int) {
	for _, f := range strings.Fields(raw) {
		n, _, _ := strings.Cut(f[1:], ",")
		v, err := strconv.Atoi(n)
		if err != nil {
			continue
		}
		switch f[0] {
		case '-':
			before = v
		case '+':
			after = v
		}
	}
	return before, after
}

// pairWords marks what changed in runs of removed lines that as many added ones follow.
func pairWords(lines []DiffLine) {
	for i := 0; i < len(lines); {
		minus := i
		for minus < len(lines) && lines[minus].Op == '-' {
			minus++
		}
		plus := minus
		for plus < len(lines) && lines[plus].Op == '+' {
			plus++
		}
		if n := minus - i; n > 0 && plus-minus == n {
			for k := range n {
				a, b := &lines[i+k], &lines[minus+k]
				a.Words, b.Words = changedWords(a.Text, b.Text)
			}
		}
		i = max(plus, i+1)
	}
}

// maxWordDiff is how long a line may be, in bytes, to be compared word by word.
const maxWordDiff = 2000

// changedWords finds the bytes of two lines that differ, in whole words. Lines
// that have little in common are left alone: the marks would say nothing.
func changedWords(a, b string) (inA, inB [][2]int) {
	shorter := min(len(strings.TrimSpace(a)), len(strings.TrimSpace(b)))
	if shorter == 0 || len(a) > maxWordDiff || len(b) > maxWordDiff {
		return nil, nil
	}
	wa, wb := wordEnds(a), wordEnds(b)
	edits := udiff.Lines(onePerLine(a, wa), onePerLine(b, wb))
	sameBytes := len(a)
	shift := 0 // words that edits before this one added to b
	for _, e := range edits {
		from, to := wordAt(wa, e.Start), wordAt(wa, e.End)
		n := strings.Count(e.New, "\n")
		inA = join2(inA, trim(a, span(wa, from, to)))
		inB = join2(inB, trim(b, span(wb, from+shift, from+shift+n)))
		shift += n - (to - from)
	}
	for _, w := range inA {
		sameBytes -= w[1] - w[0]
	}
	if sameBytes*2 < shorter {
		return nil, nil
	}
	return inA, inB
}

// wordEnds are the bytes where the words of a line end; signs and blanks are
// words of their own.
func wordEnds(s string) []int {
	var ends []int
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		j := i + n
		if word(r) {
			for j < len(s) {
				r, n := utf8.DecodeRuneInString(s[j:])
				if !word(r) {
					break
				}
				j += n
			}
		}
		ends = append(ends, j)
		i = j
	}
	return ends
}

func word(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }

// onePerLine writes each word on a line of its own.
func onePerLine(s string, ends []int) string {
	var b strings.Builder
	at := 0
	for _, e := range ends {
		b.WriteString(s[at:e])
		b.WriteByte('\n')
		at = e
	}
	return b.String()
}

// wordAt is the number of the word that begins at a byte of onePerLine's text.
func wordAt(ends []int, pos int) int {
	for i := range ends {
		begin := i // a line feed for each word before
		if i > 0 {
			begin += ends[i-1]
		}
		if begin >= pos {
			return i
		}
	}
	return len(ends)
}

// span are the bytes of words from to before to.
func span(ends []int, from, to int) [2]int {
	from, to = min(from, len(ends)), min(to, len(ends))
	if from >= to {
		return [2]int{}
	}
	begin := 0
	if from > 0 {
		begin = ends[from-1]
	}
	return [2]int{begin, ends[to-1]}
}

// trim takes the blanks from the ends of a stretch.
func trim(s string, w [2]int) [2]int {
	for w[0] < w[1] && s[w[0]] == ' ' {
		w[0]++
	}
	for w[0] < w[1] && s[w[1]-1] == ' ' {
		w[1]--
	}
	return w
}

// join2 adds a stretch to others, one with the last where they touch.
func join2(all [][2]int, w [2]int) [][2]int {
	if w[0] == w[1] {
		return all
	}
	if n := len(all); n > 0 && all[n-1][1] == w[0] {
		all[n-1][1] = w[1]
		return all
	}
	return append(all, w)
}
