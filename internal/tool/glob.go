package tool

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/bmatcuk/doublestar/v4"
)

const globPrompt = `Finds files by name, newest first. The pattern is matched against the path below the folder: "*.go" is the folder itself, "**/*.go" any depth, "{a,b}" either. What git ignores is left out, unless the path names it.`

const globSchema = `{"type":"object","additionalProperties":false,"required":["pattern"],"properties":{
"pattern":{"type":"string","minLength":1},
"path":{"type":"string","minLength":1,"description":"folder, default the working folder"},
"limit":{"type":"integer","minimum":1,"maximum":2000,"description":"default 200"}}}`

type globArgs struct {
	Pattern string `json:"pattern"`
	Path    string `json:"path"`
	Limit   int    `json:"limit"`
}

func (e *Env) glob() Tool {
	return spec[globArgs]{
		name: "glob", access: Read, prompt: globPrompt, schema: globSchema,
		run: func(ctx context.Context, a globArgs, _ func(View)) Result { return e.runGlob(ctx, a) },
	}.tool()
}

func (e *Env) runGlob(ctx context.Context, a globArgs) Result {
	if !doublestar.ValidatePattern(a.Pattern) {
		return Fail(fmt.Errorf("the pattern %q is not well formed: a bracket, a brace or a backslash has no partner", a.Pattern))
	}
	if a.Path == "" {
		a.Path = "."
	}
	// The part without wildcards is a folder, which need not be walked to.
	base, pattern := doublestar.SplitPattern(filepath.ToSlash(a.Pattern))
	dir := filepath.Join(a.Path, base)
	if filepath.IsAbs(base) {
		dir = base
	}
	p, err := e.place(dir)
	if err != nil {
		return Fail(err)
	}
	defer p.close()
	files, incomplete, err := walk(ctx, p, func(rel string, d fs.DirEntry) bool {
		return doublestar.MatchUnvalidated(pattern, filepath.ToSlash(rel))
	})
	if err != nil {
		return Fail(err)
	}
	if len(files) == 0 {
		text := fmt.Sprintf("No file matches %s.", a.Pattern)
		if !strings.Contains(a.Pattern, "/") {
			text += fmt.Sprintf(` For any depth use "**/%s".`, a.Pattern)
		}
		return TextResult(text, Listing{})
	}
	limit := cmp.Or(a.Limit, 200)
	return e.found(p, newestFirst(p, files), limit, incomplete)
}

func (e *Env) found(p place, files []string, limit int, incomplete string) Result {
	view := Listing{Total: len(files)}
	var out strings.Builder
	for _, rel := range files[:min(len(files), limit)] {
		path := e.show(filepath.Join(p.real, rel))
		view.Items = append(view.Items, Item{Path: path})
		out.WriteString(path + "\n")
	}
	if more := len(files) - limit; more > 0 {
		fmt.Fprintf(&out, "[%d more of %d]\n", more, len(files))
	}
	if incomplete != "" {
		fmt.Fprintf(&out, "[%s]\n", incomplete)
	}
	return TextResult(out.String(), view)
}

func newestFirst(p place, files []string) []string {
	times := make(map[string]time.Time, len(files))
	for _, rel := range files {
		if info, err := p.root.Lstat(filepath.Join(p.rel, rel)); err == nil {
			times[rel] = info.ModTime()
		}
	}
	slices.SortStableFunc(files, func(a, b string) int { return times[b].Compare(times[a]) })
	return files
}
