package tool

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/charlievieth/fastwalk"
)

// What a walk may cost.
const (
	maxVisited = 1_000_000
	maxWalk    = 10 * time.Second
)

var errEnough = errors.New("enough")

// walk finds the files below p, without what git ignores and without following
// links. keep says which, by the path relative to p; it is called from several
// goroutines. The paths come sorted and relative to p. It is complete unless it
// says why not.
func walk(ctx context.Context, p place, keep func(rel string, d fs.DirEntry) bool) (files []string, incomplete string, err error) {
	ctx, cancel := context.WithTimeout(ctx, maxWalk)
	defer cancel()
	var (
		visited atomic.Int64
		mu      sync.Mutex // guards files: folders are read side by side
		rules   sync.Map   // folder → *ignores; a folder is entered before what is in it
	)
	rules.Store(filepath.Dir(p.real), ignoresAbove(p.real))
	visit := func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil //nolint:nilerr // what cannot be read is left out
		}
		if ctx.Err() != nil || visited.Add(1) > maxVisited {
			return errEnough
		}
		var ig *ignores
		if up, ok := rules.Load(filepath.Dir(path)); ok {
			ig = up.(*ignores)
		}
		if path != p.real && (d.Name() == ".git" || ig.match(path, d.IsDir())) {
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if d.IsDir() {
			rules.Store(path, ig.with(path, filepath.Join(path, ".gitignore")))
			return nil
		}
		rel, ok := below(p.real, path)
		if !ok || !keep(rel, d) {
			return nil
		}
		mu.Lock()
		files = append(files, rel)
		mu.Unlock()
		return nil
	}
	err = fastwalk.Walk(&fastwalk.Config{}, p.real, visit)
	slices.Sort(files)
	switch {
	case errors.Is(err, errEnough) && visited.Load() > maxVisited:
		return files, "a million files were looked at and there are more: give a narrower path", nil
	case errors.Is(err, errEnough) && errors.Is(ctx.Err(), context.DeadlineExceeded):
		return files, "the search took too long: give a narrower path", nil
	case errors.Is(err, errEnough):
		return nil, "", context.Cause(ctx)
	case err != nil:
		return nil, "", pathError(p.shown, err)
	}
	return files, "", nil
}
