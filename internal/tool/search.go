package tool

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
)

// search looks for a pattern in files, line by line.
//
// Trying each line by itself is slow. So candidates are looked for in a larger
// piece of the file, and the line of a candidate is then tried by itself. Where
// every match must contain a certain text, candidates are the lines that contain
// it. Else they are the lines in which a match of the piece begins (with ^ and $
// at line ends). No line is missed: where a line matches by itself, the piece has
// a match that begins in that line or before it, and after a line that only
// began a longer match the search goes on with the next line. What is left,
// patterns about the whole text (\A, \z) and lines that end in CR, takes the
// slow way.
type search struct {
	line      *regexp.Regexp // for one line
	piece     *regexp.Regexp // for many; nil if that would not be right
	must      needle         // what every match contains
	context   int            // lines
	filesOnly bool
	countOnly bool
	enough    int // matches after which no more are looked for
}

func newSearch(a grepArgs) (*search, error) {
	pattern := a.Pattern
	if a.Literal {
		pattern = regexp.QuoteMeta(pattern)
	}
	if a.IgnoreCase {
		pattern = "(?i:" + pattern + ")"
	}
	line, err := regexp.Compile(pattern)
	if err != nil {
		var se *syntax.Error
		if errors.As(err, &se) {
			return nil, fmt.Errorf("the pattern is not a regular expression: %s: %q. Set literal to search for plain text", se.Code, se.Expr)
		}
		return nil, err
	}
	s := &search{
		line: line, context: a.Context, enough: a.Limit,
		filesOnly: a.Mode == "files_with_matches", countOnly: a.Mode == "count",
	}
	if s.countOnly {
		s.enough = 1 << 40
	}
	if tree, err := syntax.Parse(pattern, syntax.Perl); err == nil {
		s.must = required(tree.Simplify())
	}
	pattern = "(?m:" + pattern + ")"
	if tree, err := syntax.Parse(pattern, syntax.Perl); err == nil && !aboutWholeText(tree) {
		s.piece = regexp.MustCompile(pattern)
	}
	return s, nil
}

func aboutWholeText(tree *syntax.Regexp) bool {
	return tree.Op == syntax.OpBeginText || tree.Op == syntax.OpEndText || slices.ContainsFunc(tree.Sub, aboutWholeText)
}

// foundLine is a line of a result.
type foundLine struct {
	number  int
	text    string
	context bool // shown only because a match is near
	before  bool // a context line that belongs to the match after it only
}

// pieceSize is how much of a file is in memory. Context lines do not cross its
// borders.
const pieceSize = 4 << 20

// file searches one file. Binary files have no lines.
func (s *search) file(ctx context.Context, p place, rel string) (fileHits, error) {
	hits := fileHits{path: rel}
	at := p
	at.rel = filepath.Join(p.rel, rel)
	f, info, err := at.open()
	if err != nil {
		return hits, err
	}
	defer f.Close()
	buf := make([]byte, min(info.Size()+1, pieceSize))
	first := 1 // number of the first line in buf
	kept := 0  // bytes of an unfinished line at its start
	for start := true; ; start = false {
		n, err := io.ReadFull(f, buf[kept:])
		piece := buf[:kept+n]
		last := err != nil
		if start && isBinary(piece) {
			return hits, nil
		}
		// A line longer than the buffer is cut in two.
		if end := bytes.LastIndexByte(piece, '\n'); !last && end >= 0 {
			piece = piece[:end+1]
		}
		stop := s.in(piece, first, &hits)
		if last || stop || ctx.Err() != nil {
			return hits, nil
		}
		first += bytes.Count(piece, []byte{'\n'})
		kept = copy(buf, buf[len(piece):kept+n])
	}
}

// in searches a piece of a file that begins at line first. It returns true when
// there is no need to go on.
func (s *search) in(piece []byte, first int, hits *fileHits) (stop bool) {
	next := s.candidates(piece)
	number, counted := first, 0 // the line of offset counted
	shown := 0                  // offset up to which lines are in hits
	for at := 0; at < len(piece); {
		found := next(at)
		if found < 0 {
			return false
		}
		start, end := bytes.LastIndexByte(piece[:found], '\n')+1, lineEnd(piece, found)
		line := bytes.TrimSuffix(piece[start:end], []byte{'\r'})
		if m := s.line.FindIndex(line); m != nil {
			number += bytes.Count(piece[counted:start], []byte{'\n'})
			counted = start
			hits.count++
			if s.filesOnly {
				return true
			}
			if !s.countOnly {
				s.before(piece, start, shown, number, hits)
				hits.lines = append(hits.lines, foundLine{number: number, text: around(line, m)})
				shown = end + 1
				shown = s.after(piece, shown, number, hits)
			}
			if hits.count > s.enough {
				return true
			}
		}
		at = end + 1
	}
	return false
}

// candidates makes a function that gives, from an offset at the start of a line,
// an offset in the next line that may match, or -1.
func (s *search) candidates(piece []byte) func(at int) int {
	if in, ok := s.must.in(piece); ok {
		return func(at int) int {
			i := bytes.Index(in[at:], s.must.text)
			if i < 0 {
				return -1
			}
			return at + i
		}
	}
	if s.piece == nil || bytes.IndexByte(piece, '\r') >= 0 {
		return func(at int) int { return at }
	}
	return func(at int) int {
		m := s.piece.FindIndex(piece[at:])
		if m == nil || at+m[0] == len(piece) && piece[len(piece)-1] == '\n' {
			return -1 // nothing, or only after the last line
		}
		return at + m[0]
	}
}

// before adds the context lines before the match that begins at start, from
// offset shown on.
func (s *search) before(piece []byte, start, shown, number int, hits *fileHits) {
	from, n := start, 0
	for n < s.context && from > shown {
		from = bytes.LastIndexByte(piece[:from-1], '\n') + 1
		n++
	}
	for ; from < start; n-- {
		end := lineEnd(piece, from)
		hits.lines = append(hits.lines, foundLine{number: number - n, text: around(piece[from:end], nil), context: true, before: true})
		from = end + 1
	}
}

// after adds the context lines from offset at on, up to the next match, and
// returns the offset of the next line.
func (s *search) after(piece []byte, at, number int, hits *fileHits) int {
	for n := 1; n <= s.context && at < len(piece); n++ {
		end := lineEnd(piece, at)
		line := bytes.TrimSuffix(piece[at:end], []byte{'\r'})
		if s.line.Match(line) {
			return at
		}
		hits.lines = append(hits.lines, foundLine{number: number + n, text: around(line, nil), context: true})
		at = end + 1
	}
	return at
}

// lineEnd is the offset of the line feed that ends the line at offset, or of the
// end.
func lineEnd(piece []byte, offset int) int {
	if i := bytes.IndexByte(piece[offset:], '\n'); i >= 0 {
		return offset + i
	}
	return len(piece)
}

// around is a line to show: if it is long, the part around the match.
func around(line []byte, match []int) string {
	const most = 500
	if len(line) <= most {
		return strings.ToValidUTF8(strings.TrimSuffix(string(line), "\r"), "\uFFFD")
	}
	from := 0
	if match != nil {
		from = max(0, min(match[0]-most/4, len(line)-most))
	}
	to := min(from+most, len(line))
	text := strings.ToValidUTF8(string(line[from:to]), "")
	if from > 0 {
		text = "…" + text
	}
	if to < len(line) {
		text += "…"
	}
	return text
}
