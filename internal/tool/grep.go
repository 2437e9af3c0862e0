package tool

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/bmatcuk/doublestar/v4"
)

const grepPrompt = `Searches the text of files, line by line, with a regular expression (RE2, as in Go and ripgrep). What git ignores and binary files are left out, unless the path names them. Lines come as path:line:text, context lines as path-line-text.`

const grepSchema = `{"type":"object","additionalProperties":false,"required":["pattern"],"properties":{
"pattern":{"type":"string","minLength":1},
"path":{"type":"string","minLength":1,"description":"file or folder, default the working folder"},
"glob":{"type":"string","minLength":1,"description":"only files like this: \"*.go\" at any depth, \"cmd/**/*.go\" by path, \"!*_test.go\" none like this"},
"ignore_case":{"type":"boolean"},
"literal":{"type":"boolean","description":"the pattern is plain text"},
"context":{"type":"integer","minimum":0,"maximum":20,"description":"lines before and after each match"},
"output_mode":{"type":"string","enum":["content","files_with_matches","count"],"description":"default content"},
"limit":{"type":"integer","minimum":1,"maximum":2000,"description":"matches (or files), default 100"}}}`

type grepArgs struct {
	Pattern    string `json:"pattern"`
	Path       string `json:"path"`
	Glob       string `json:"glob"`
	IgnoreCase bool   `json:"ignore_case"`
	Literal    bool   `json:"literal"`
	Context    int    `json:"context"`
	Mode       string `json:"output_mode"`
	Limit      int    `json:"limit"`
}

func (e *Env) grep() Tool {
	return spec[grepArgs]{
		name: "grep", access: Read, prompt: grepPrompt, schema: grepSchema,
		run: func(ctx context.Context, a grepArgs, _ func(View)) Result { return e.runGrep(ctx, a) },
	}.tool()
}

func (e *Env) runGrep(ctx context.Context, a grepArgs) Result {
	a.Path, a.Limit = cmp.Or(a.Path, "."), cmp.Or(a.Limit, 100)
	s, err := newSearch(a)
	if err != nil {
		return Fail(err)
	}
	p, err := e.place(a.Path)
	if err != nil {
		return Fail(err)
	}
	defer p.close()
	info, err := p.root.Stat(p.rel)
	if err != nil {
		return Fail(pathError(p.shown, err))
	}
	files, incomplete := []string{"."}, ""
	if info.IsDir() {
		if files, incomplete, err = walk(ctx, p, globFilter(a.Glob)); err != nil {
			return Fail(err)
		}
	} else if err := regular(p.shown, info); err != nil {
		return Fail(err)
	}
	hits := searchFiles(ctx, p, files, s)
	if ctx.Err() != nil {
		return Fail(context.Cause(ctx))
	}
	for i := range hits {
		hits[i].path = e.show(filepath.Join(p.real, hits[i].path))
	}
	return present(a, hits, len(files), incomplete)
}

// globFilter makes a walk's filter of ripgrep's -g.
func globFilter(glob string) func(string, fs.DirEntry) bool {
	glob, not := strings.CutPrefix(glob, "!")
	byPath := strings.Contains(glob, "/")
	return func(rel string, d fs.DirEntry) bool {
		if !d.Type().IsRegular() {
			return false
		}
		if glob == "" {
			return true
		}
		subject := d.Name()
		if byPath {
			subject = filepath.ToSlash(rel)
		}
		return doublestar.MatchUnvalidated(strings.TrimPrefix(glob, "/"), subject) != not
	}
}

// fileHits is what a search found in one file.
type fileHits struct {
	path  string
	count int // lines that match
	lines []foundLine
}

// searchFiles searches side by side, and claims files in order: so those that
// are left when enough has been found are the last ones, and the same search
// gives the same answer.
func searchFiles(ctx context.Context, p place, files []string, s *search) []fileHits {
	results := make([]fileHits, len(files))
	var next, found atomic.Int64
	var workers sync.WaitGroup
	for range min(len(files), runtime.GOMAXPROCS(0)) {
		workers.Go(func() {
			for ctx.Err() == nil && found.Load() <= int64(s.enough) {
				i := int(next.Add(1)) - 1
				if i >= len(files) {
					return
				}
				hits, err := s.file(ctx, p, files[i])
				if err != nil {
					continue // not readable, or gone meanwhile
				}
				results[i] = hits
				if s.filesOnly {
					found.Add(int64(min(hits.count, 1)))
				} else {
					found.Add(int64(hits.count))
				}
			}
		})
	}
	workers.Wait()
	var hits []fileHits
	for _, h := range results {
		if h.count > 0 {
			hits = append(hits, h)
		}
	}
	return hits
}

// present writes the result in the form that was asked for.
func present(a grepArgs, hits []fileHits, searched int, incomplete string) Result {
	if len(hits) == 0 {
		text := fmt.Sprintf("No match in %s.", plural(searched, "file"))
		if incomplete != "" {
			text += " [" + incomplete + "]"
		}
		return TextResult(text, Listing{})
	}
	out := &listing{limit: a.Limit}
	switch a.Mode {
	case "files_with_matches":
		for _, h := range hits {
			out.add(Item{Path: h.path}, h.path)
		}
	case "count":
		for _, h := range hits {
			out.add(Item{Path: h.path, Text: fmt.Sprint(h.count)}, fmt.Sprintf("%s:%d", h.path, h.count))
		}
	default:
		for _, h := range hits {
			out.addLines(h, a.Context > 0)
		}
	}
	return out.result(incomplete)
}

// listing collects places up to a limit.
type listing struct {
	limit int
	view  Listing
	text  strings.Builder
}

func (l *listing) add(item Item, line string) {
	if l.view.Total++; l.view.Total <= l.limit {
		l.view.Items = append(l.view.Items, item)
		l.text.WriteString(line + "\n")
	}
}

func (l *listing) addLines(h fileHits, context bool) {
	last := 0
	for _, line := range h.lines {
		if !line.context {
			if l.view.Total++; l.view.Total > l.limit {
				return
			}
		} else if l.view.Total >= l.limit && line.before {
			continue // context of a match that is not shown
		}
		if context && l.text.Len() > 0 && line.number != last+1 {
			l.text.WriteString("--\n")
		}
		last = line.number
		mark := ":"
		if line.context {
			mark = "-"
		}
		fmt.Fprintf(&l.text, "%s%s%d%s%s\n", h.path, mark, line.number, mark, line.text)
		l.view.Items = append(l.view.Items, Item{Path: h.path, Line: line.number, Text: line.text})
	}
}

func (l *listing) result(incomplete string) Result {
	text := cutText(l.text.String())
	if l.view.Total > l.limit {
		text += fmt.Sprintf("[more than %d: narrow the search or give a larger limit]\n", l.limit)
	}
	if incomplete != "" {
		text += "[" + incomplete + "]\n"
	}
	return TextResult(text, l.view)
}
