package tool

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// replacement is one literal change that a model asks for.
type replacement struct {
	Old string `json:"old_string"`
	New string `json:"new_string"`
}

// applyEdits makes all changes to a document's text, or none. Each old text must
// occur exactly once in the text as it was; no two may overlap. Line ends in
// what models write are "\n"; they match "\r\n" as well, and what is put in gets
// the line ends of its surroundings. No byte outside of the matches changes, nor
// one at their edges that old and new have in common.
func applyEdits(text []byte, edits []replacement) ([]byte, error) {
	view := newLFView(text)
	spans := make([]span, 0, len(edits))
	for i, edit := range edits {
		s, err := view.find(edit)
		if err != nil && len(edits) > 1 {
			err = fmt.Errorf("edit %d of %d: %w", i+1, len(edits), err)
		}
		if err != nil {
			return nil, err
		}
		s.number = i + 1
		spans = append(spans, s)
	}
	slices.SortFunc(spans, func(a, b span) int { return cmp.Compare(a.start, b.start) })
	for i := 1; i < len(spans); i++ {
		if a, b := spans[i-1], spans[i]; b.start < a.matchEnd {
			return nil, fmt.Errorf("edits %d and %d overlap at line %d: join them into one", a.number, b.number, view.line(b.start))
		}
	}
	return view.splice(spans), nil
}

// span is a place in the view's text and what replaces it.
type span struct {
	start, matchEnd int // the match
	from, to        int // what of it really changes
	new             string
	number          int // of the edit, from 1
}

// lfView is a text with "\n" for "\r\n", and the way back.
type lfView struct {
	original []byte
	text     []byte
	// removed holds the offsets, in text, of the line feeds that had a
	// carriage return before them: offset o in text is o plus the number of
	// these below o in the original.
	removed []int
}

func newLFView(original []byte) lfView {
	v := lfView{original: original, text: original}
	if !bytes.Contains(original, []byte("\r\n")) {
		return v
	}
	v.text = make([]byte, 0, len(original))
	for i, b := range original {
		if b == '\r' && i+1 < len(original) && original[i+1] == '\n' {
			v.removed = append(v.removed, len(v.text))
			continue
		}
		v.text = append(v.text, b)
	}
	return v
}

// back is the place in the original of an offset in the view. The offset of a
// line feed that had a carriage return is that of the carriage return.
func (v lfView) back(offset int) int {
	n, _ := slices.BinarySearch(v.removed, offset)
	return offset + n
}

// line is the number of the line, from 1, that holds the offset.
func (v lfView) line(offset int) int {
	return bytes.Count(v.text[:offset], []byte{'\n'}) + 1
}

// find is where an edit goes.
func (v lfView) find(edit replacement) (span, error) {
	old := strings.ReplaceAll(edit.Old, "\r\n", "\n")
	replaced := strings.ReplaceAll(edit.New, "\r\n", "\n")
	if old == "" {
		return span{}, errors.New("old_string is empty: give the text to replace, or use write for a whole file")
	}
	if old == replaced {
		return span{}, errors.New("old_string and new_string are the same")
	}
	at := v.occurrences(old)
	if len(at) == 0 {
		return span{}, v.notFound(old)
	}
	if len(at) > 1 {
		return span{}, v.ambiguous(at)
	}
	s := span{start: at[0], matchEnd: at[0] + len(old)}
	// What both have in common stays as it is, line ends included.
	prefix := commonPrefix(old, replaced)
	suffix := commonSuffix(old[prefix:], replaced[prefix:])
	s.from, s.to = s.start+prefix, s.matchEnd-suffix
	s.new = replaced[prefix : len(replaced)-suffix]
	if v.crlfAt(s.start, s.matchEnd) {
		s.new = strings.ReplaceAll(s.new, "\n", "\r\n")
	}
	return s, nil
}

// occurrences are the offsets at which old occurs, overlapping ones too: each
// could be the one that is meant.
func (v lfView) occurrences(old string) []int {
	var at []int
	for from := 0; ; {
		i := bytes.Index(v.text[from:], []byte(old))
		if i < 0 {
			return at
		}
		at = append(at, from+i)
		from += i + 1
	}
}

// crlfAt tells which line ends a match has: its own first one, else the next
// one, else the one before.
func (v lfView) crlfAt(start, end int) bool {
	lf := bytes.IndexByte(v.text[start:], '\n')
	if lf >= 0 {
		lf += start
	} else {
		lf = bytes.LastIndexByte(v.text[:end], '\n')
	}
	_, crlf := slices.BinarySearch(v.removed, lf)
	return crlf
}

// splice puts the replacements into the original.
func (v lfView) splice(spans []span) []byte {
	var out []byte
	done := 0
	for _, s := range spans {
		out = append(out, v.original[done:v.back(s.from)]...)
		out = append(out, s.new...)
		done = v.back(s.to)
	}
	return append(out, v.original[done:]...)
}

func commonPrefix(a, b string) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

func commonSuffix(a, b string) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[len(a)-1-i] != b[len(b)-1-i] {
			return i
		}
	}
	return n
}

// ambiguous says where a text occurs that must occur once.
func (v lfView) ambiguous(at []int) error {
	const most = 10
	var lines []string
	for _, offset := range at[:min(len(at), most)] {
		lines = append(lines, fmt.Sprint(v.line(offset)))
	}
	list := strings.Join(lines, ", ")
	if len(at) > most {
		list += ", …"
	}
	return fmt.Errorf("old_string occurs %d times, at lines %s: add lines around it until it is unique", len(at), list)
}

// notFound shows the lines that are most like a text that does not occur.
func (v lfView) notFound(old string) error {
	wanted := strings.Split(strings.Trim(old, "\n"), "\n")
	have := strings.Split(string(v.text), "\n")
	at, score := nearest(have, wanted)
	if score == 0 {
		return errors.New("old_string does not occur, nor anything like it: read the file again")
	}
	const most = 12
	var b strings.Builder
	for i := at; i < min(at+len(wanted), at+most, len(have)); i++ {
		fmt.Fprintf(&b, "\n%d\t%s", i+1, cutLine(strings.ToValidUTF8(have[i], "\uFFFD")))
	}
	return fmt.Errorf("old_string does not occur exactly (white space counts). The nearest lines are:%s", b.String())
}

// nearest finds the window of lines that is most like the wanted ones: equal
// lines count most, then lines equal but for white space, then the share of
// common words in the first wanted line. The score is 0 if nothing is alike.
func nearest(have, wanted []string) (at, score int) {
	trimmed := make([]string, len(wanted))
	for i, w := range wanted {
		trimmed[i] = strings.Join(strings.Fields(w), " ")
	}
	positions := map[string][]int{}
	for i, line := range have {
		key := strings.Join(strings.Fields(line), " ")
		if key != "" {
			positions[key] = append(positions[key], i)
		}
	}
	// Every line that is alike votes for the window that it would be in.
	votes := map[int]int{}
	for i, w := range trimmed {
		for _, line := range positions[w] {
			if start := line - i; start >= 0 && len(positions[w]) <= 1000 {
				votes[start]++
			}
		}
	}
	for start, n := range votes {
		if n > score || n == score && start < at {
			at, score = start, n
		}
	}
	if score > 0 {
		return at, score
	}
	return nearestByWords(have, trimmed)
}

func nearestByWords(have, trimmed []string) (at, score int) {
	first := slices.IndexFunc(trimmed, func(w string) bool { return w != "" })
	if first < 0 {
		return 0, 0
	}
	words := strings.Fields(trimmed[first])
	for i, line := range have {
		n := 0
		for _, w := range words {
			if strings.Contains(line, w) {
				n += len(w)
			}
		}
		if n > score {
			at, score = max(i-first, 0), n
		}
	}
	if score*2 < len(trimmed[first]) { // less than half: not alike
		return 0, 0
	}
	return at, score
}
