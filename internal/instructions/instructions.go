// Package instructions finds the files in which people tell agents what to do:
// AGENTS.md, else CLAUDE.md, of the user's config folder and of a project's
// folders, from its root down to where the work is, and the files that these
// import. They become part of the system prompt.
//
//	user's folder ─▶ project's root ─▶ … ─▶ working folder ─▶ (met later) below it
//	general                                                   specific
//
// What a project says counts only when its folder is trusted, which the caller
// knows: it gives a root, or none. Below a root nothing is read that a link, an
// import or a path leads out of it. Only regular files are read, never more of
// them than the limits below, and nothing is ever waited for. What is there and
// is not used says why.
//
// The package keeps no watch: a file that changes is read again with the next
// session, so that the system prompt stays the same within one.
package instructions

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// Names are the files that are looked for in a folder; the first that can be
// used is the folder's.
var Names = []string{"AGENTS.md", "CLAUDE.md"}

// Limits, in bytes of what a model is told.
const (
	MaxFile = 32 << 10  // of one file
	MaxAll  = 128 << 10 // of all files of a session
)

// File is one file of instructions.
type File struct {
	Path  string // absolute
	Text  string // what a model is told; empty if Err is set
	Bytes int64  // the file's size
	Cut   bool   // Text is the beginning of the file only
	Err   error  // why the file is not used
}

// Set is the instructions of one session. It belongs to one goroutine.
type Set struct {
	Files []File // in the order in which they are told: general first

	root string // real; empty: no project, or not a trusted one
	cwd  string // real
	left int    // bytes that may still be taken
	// seen are the files that were taken or refused, by what they are: one file
	// under two names is told once.
	seen []fs.FileInfo
	met  map[string]bool // folders below root that were looked into
}

// Load reads the instructions of the user's config folder and of the folders
// from root to cwd. An empty root reads nothing of a project.
func Load(userDir, root, cwd string) []File { return New(userDir, root, cwd).Files }

// New is Load for a session that goes on: see [Set.Below].
func New(userDir, root, cwd string) *Set {
	s := &Set{left: MaxAll, met: map[string]bool{}}
	if userDir != "" {
		s.folder(tree{dir: userDir}, ".")
	}
	var err error
	if s.cwd, err = real(cwd); err != nil || root == "" {
		return s
	}
	if s.root, err = real(root); err != nil {
		s.root = ""
		return s
	}
	s.downTo(s.cwd)
	return s
}

// Below gives the instructions of the folders between root and a file or folder
// that a tool is about to touch, as far as they have not been given before; they
// are added to Files. A path that is not absolute is relative to the working
// folder; it need not exist. Folders of other people's code (another repository,
// node_modules, vendor) give none.
func (s *Set) Below(path string) []File {
	if s.root == "" {
		return nil
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(s.cwd, path)
	}
	dir := path
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		dir = filepath.Dir(path)
	}
	dir, err := real(dir)
	if err != nil {
		return nil // it is yet to be made
	}
	before := len(s.Files)
	s.downTo(dir)
	return slices.Clone(s.Files[before:])
}

// Root is the topmost folder whose instructions count for work in cwd: the
// nearest one that has a .git, else the folder that the user trusted. It is never
// above that one, and empty if cwd is not in it.
func Root(cwd, trusted string) string {
	if trusted == "" {
		return ""
	}
	dir, err := real(cwd)
	if err != nil {
		return ""
	}
	if trusted, err = real(trusted); err != nil || !within(dir, trusted) {
		return ""
	}
	for dir != trusted && !repository(dir) {
		dir = filepath.Dir(dir)
	}
	return dir
}

// downTo looks into the folders from root to a real folder, those that it has
// not looked into.
func (s *Set) downTo(dir string) {
	if s.met[dir] || !within(dir, s.root) {
		return
	}
	fsys, err := os.OpenRoot(s.root)
	if err != nil {
		return
	}
	defer fsys.Close()
	rel, at := strings.TrimPrefix(dir[len(s.root):], string(filepath.Separator)), "."
	s.look(fsys, at)
	for rel != "" {
		var name string
		name, rel, _ = strings.Cut(rel, string(filepath.Separator))
		at = filepath.Join(at, name)
		if foreign(name) || repository(filepath.Join(s.root, at)) {
			return
		}
		s.look(fsys, at)
	}
}

func (s *Set) look(fsys *os.Root, rel string) {
	if dir := filepath.Join(s.root, rel); !s.met[dir] {
		s.met[dir] = true
		s.folder(tree{s.root, fsys}, rel)
	}
}

// foreign names folders that hold other people's code.
func foreign(name string) bool {
	return name == "node_modules" || name == "vendor" || name == ".git"
}

// repository looks at names only; a .git file makes one, too.
func repository(dir string) bool {
	_, err := os.Lstat(filepath.Join(dir, ".git"))
	return err == nil
}

// tree is where files are read: below dir and, if fsys is set, in no way outside
// of it. The user's own folder has none: what it links to is the user's, too.
type tree struct {
	dir  string
	fsys *os.Root
}

func (t tree) open(rel string) (*os.File, error) {
	// A FIFO must not make us wait for its other end.
	const how = os.O_RDONLY | syscall.O_NONBLOCK
	if t.fsys != nil {
		return t.fsys.OpenFile(rel, how, 0)
	}
	return os.OpenFile(filepath.Join(t.dir, rel), how, 0)
}

// rel is a path below the tree, of a name in a file in folder; ok is false where
// that leads out of it.
func (t tree) rel(folder, name string) (rel string, ok bool) {
	if filepath.IsAbs(name) {
		rel, err := filepath.Rel(t.dir, name)
		return rel, err == nil && filepath.IsLocal(rel)
	}
	rel = filepath.Join(folder, name)
	return rel, filepath.IsLocal(rel) && !strings.HasPrefix(name, "~")
}

// folder takes a folder's file, and then what it imports, file after file.
func (s *Set) folder(t tree, rel string) {
	for _, name := range Names {
		f, ok := s.take(t, filepath.Join(rel, name))
		if !ok {
			continue
		}
		if f.Err == nil {
			s.imports(t, filepath.Join(rel, name), f.Text)
			return
		}
	}
}

// imports takes the files that a text names with an @, and those that they name.
// It ends because each file is taken once.
func (s *Set) imports(t tree, from, text string) {
	type found struct{ from, name string }
	var waiting []found
	add := func(from, text string) {
		for _, name := range imported(text) {
			waiting = append(waiting, found{from, name})
		}
	}
	for add(from, text); len(waiting) > 0; {
		next := waiting[0]
		waiting = waiting[1:]
		// Much that has an @ before it is no file. Only what says that it is one
		// is worth a word when it cannot be had.
		says := filepath.Ext(next.name) == ".md"
		rel, inside := t.rel(filepath.Dir(next.from), next.name)
		switch {
		case !inside && says:
			s.Files = append(s.Files, File{Path: next.name, Err: errors.New("imports are not followed outside of the folder that they are written in")})
		case inside && !secret(rel):
			n := len(s.Files)
			if f, ok := s.take(t, rel); ok && f.Err == nil {
				add(rel, f.Text)
			} else if ok && !says {
				s.Files = s.Files[:n]
			}
		}
	}
}

// secret names files that hold keys.
func secret(rel string) bool { return strings.HasPrefix(filepath.Base(rel), ".env") }

// take reads a file into Files. ok is false if there is none; a file that was
// taken before is ok, and not added again.
func (s *Set) take(t tree, rel string) (f File, ok bool) {
	f.Path = filepath.Join(t.dir, rel)
	file, err := t.open(rel)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return f, false
	}
	if err == nil {
		defer file.Close()
		var info fs.FileInfo
		if info, err = file.Stat(); err == nil {
			if slices.ContainsFunc(s.seen, func(i fs.FileInfo) bool { return os.SameFile(i, info) }) {
				return f, true
			}
			s.seen = append(s.seen, info)
			f.Bytes = info.Size()
			f.Text, f.Cut, err = s.read(file, info)
		}
	}
	if err != nil {
		f.Text, f.Err = "", reason(err)
	}
	if f.Text != "" || f.Err != nil {
		s.Files = append(s.Files, f)
		s.left -= len(f.Text)
	}
	return f, true
}

// read gives the text of an open file, as much of it as the limits allow.
func (s *Set) read(file io.Reader, info fs.FileInfo) (text string, cut bool, err error) {
	if !info.Mode().IsRegular() {
		return "", false, errors.New("it is not a regular file")
	}
	most := min(MaxFile, s.left)
	if most <= 0 {
		return "", false, errors.New("the files before it are as much as can be told")
	}
	data, err := io.ReadAll(io.LimitReader(file, int64(most)+1))
	if err != nil {
		return "", false, err
	}
	if len(data) > most {
		data, cut = data[:cleanCut(data, most)], true
	}
	text, err = Plain(data)
	return text, cut, err
}

// reason is an error without the path, which stands beside it.
func reason(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}

// real is a path without links.
func real(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(path)
}

// within says whether a path is a folder or lies below it. Both are real.
func within(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}
