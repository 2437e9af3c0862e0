package tool

import (
	"context"
	"io/fs"
	"path/filepath"
)

// Files are the files below a folder, without what git ignores, sorted and
// relative to it, for a person to choose from. Of a folder with more than a
// million files it gives a part.
func Files(ctx context.Context, dir string) ([]string, error) {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, err
	}
	files, _, err := walk(ctx, place{shown: dir, real: real}, func(string, fs.DirEntry) bool { return true })
	return files, err
}
