package skill

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"banyan/internal/instructions"
)

// Limits.
const (
	MaxFile    = 256 << 10 // bytes of one file
	MaxEntries = 4096      // names in one folder
	MaxListed  = 32 << 10  // bytes of all that the model is told of skills that it has not used
)

// Where says where is looked. Paths are absolute.
type Where struct {
	Config string // the user's config folder of this program; empty for none
	Home   string // the user's home; empty for none
	Root   string // topmost folder of the project, if it is trusted; empty reads nothing of it
	Cwd    string // the working folder, in Root
}

// folder is one that is looked into: rel, below base.
type folder struct {
	base, rel string
	// held: base is a project's root, and nothing is read that a link leads out
	// of it. What the user's own folders link to is the user's, too.
	held bool
}

// folders are those of a kind, the nearest first. Names are what the folder of
// that kind may lie in.
func (w Where) folders(kind string, names []string) []folder {
	var all []folder
	for _, rel := range w.levels() {
		for _, name := range names {
			all = append(all, folder{w.Root, filepath.Join(rel, name, kind), true})
		}
	}
	if w.Config != "" {
		all = append(all, folder{w.Config, kind, false})
	}
	for _, name := range names {
		if w.Home != "" && name != own {
			all = append(all, folder{w.Home, filepath.Join(name, kind), false})
		}
	}
	return all
}

// levels are the folders from the working folder up to the root, relative to it.
func (w Where) levels() []string {
	if w.Root == "" {
		return nil
	}
	root, err := filepath.EvalSymlinks(w.Root)
	if err != nil {
		return nil
	}
	cwd, err := filepath.EvalSymlinks(w.Cwd)
	if err != nil {
		return nil
	}
	rel, err := filepath.Rel(root, cwd)
	if err != nil || !filepath.IsLocal(rel) {
		return nil
	}
	levels := []string{rel}
	for rel != "." {
		rel = filepath.Dir(rel)
		levels = append(levels, rel)
	}
	return levels
}

func (f folder) path(name string) string { return filepath.Join(f.base, f.rel, name) }

// open opens something in the folder. It never waits: a FIFO opens at once, and
// is then seen to be one.
func (f folder) open(name string) (*os.File, fs.FileInfo, error) {
	file, err := f.openFile(filepath.Join(f.rel, name))
	if err != nil {
		return nil, nil, reason(err)
	}
	info, err := file.Stat()
	if err != nil {
		file.Close()
		return nil, nil, reason(err)
	}
	return file, info, nil
}

func (f folder) openFile(rel string) (*os.File, error) {
	const how = os.O_RDONLY | syscall.O_NONBLOCK
	if !f.held {
		return os.OpenFile(filepath.Join(f.base, rel), how, 0)
	}
	root, err := os.OpenRoot(f.base)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return root.OpenFile(rel, how, 0)
}

// names are what lies in the folder, in order. A folder that does not exist has
// none.
func (f folder) names() ([]string, error) {
	dir, info, err := f.open(".")
	if missing(err) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	defer dir.Close()
	if !info.IsDir() {
		return nil, errors.New("it is not a folder")
	}
	entries, err := dir.ReadDir(MaxEntries + 1)
	if err != nil && err != io.EOF {
		return nil, reason(err)
	}
	if len(entries) > MaxEntries {
		return nil, fmt.Errorf("it has more than %d entries, so none of it is used", MaxEntries)
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	slices.Sort(names)
	return names, nil
}

// read gives the text of a file in the folder.
func (f folder) read(name string) (string, fs.FileInfo, error) {
	file, info, err := f.open(name)
	if err != nil {
		return "", nil, err
	}
	defer file.Close()
	if !info.Mode().IsRegular() {
		return "", nil, errors.New("it is not a regular file")
	}
	data, err := io.ReadAll(io.LimitReader(file, MaxFile+1))
	if err != nil {
		return "", nil, reason(err)
	}
	if len(data) > MaxFile {
		return "", nil, fmt.Errorf("it is larger than %d KB", MaxFile>>10)
	}
	text, err := instructions.Plain(data)
	return text, info, err
}

// missing says whether there is nothing of that name.
func missing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// reason is an error without the path, which stands beside it.
func reason(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}
