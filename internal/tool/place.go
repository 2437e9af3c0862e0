package tool

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// place is a path that a model named, resolved so that it can be used without
// being fooled: everything is done below root, and os.Root follows no link that
// leaves it, also when a folder turns into a link after we looked.
//
// A path inside a folder of the Env stays inside it. A path outside, which a
// person has approved, is opened below its own folder.
type place struct {
	shown  string // for messages: relative to the workspace where it is inside
	real   string // absolute, links resolved as far as the file exists
	root   *os.Root
	rel    string // of real, below root
	owned  bool   // root is ours to close
	inside bool   // below a folder of the Env
}

func (p place) close() {
	if p.owned {
		p.root.Close()
	}
}

// place resolves a path that a model named. The file need not exist.
func (e *Env) place(name string) (place, error) {
	if name == "" {
		return place{}, errors.New("the path is empty")
	}
	if strings.ContainsRune(name, 0) {
		return place{}, fmt.Errorf("the path %q has a NUL byte", name)
	}
	abs, err := e.abs(name)
	if err != nil {
		return place{}, err
	}
	real, err := realPath(abs)
	if err != nil {
		return place{}, pathError(name, err)
	}
	for _, r := range e.roots {
		if rel, ok := below(r.dir, real); ok {
			return place{shown: e.show(real), real: real, root: r.fs, rel: rel, inside: true}, nil
		}
	}
	for _, r := range e.roots {
		if _, ok := below(r.dir, abs); ok {
			return place{}, fmt.Errorf("%s leads out of the workspace, to %s: name that path itself if it is what you mean", name, real)
		}
	}
	return outside(real)
}

// abs makes a path absolute, lexically.
func (e *Env) abs(name string) (string, error) {
	if name == "~" || strings.HasPrefix(name, "~/") {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", fmt.Errorf("resolving %s: %w", name, err)
		}
		return filepath.Join(home, name[1:]), nil
	}
	if filepath.IsAbs(name) {
		return filepath.Clean(name), nil
	}
	return filepath.Join(e.Dir, name), nil
}

// show is how a path is named to models and people: short inside the workspace.
func (e *Env) show(abs string) string {
	if rel, ok := below(e.Dir, abs); ok {
		return rel
	}
	return abs
}

// outside opens a path that is in no folder of the Env, below its nearest
// existing folder.
func outside(real string) (place, error) {
	dir := filepath.Dir(real)
	for {
		r, err := os.OpenRoot(dir)
		if err == nil {
			rel, err := filepath.Rel(dir, real)
			if err != nil {
				r.Close()
				return place{}, err
			}
			return place{shown: real, real: real, root: r, rel: rel, owned: true}, nil
		}
		if !errors.Is(err, fs.ErrNotExist) || dir == filepath.Dir(dir) {
			return place{}, pathError(real, err)
		}
		dir = filepath.Dir(dir)
	}
}

// below is path relative to dir where it is dir or inside it.
func below(dir, path string) (string, bool) {
	rel, err := filepath.Rel(dir, path)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return "", false
	}
	return rel, true
}

// realPath resolves the links of a path whose last parts may not exist. A
// dangling link is resolved to where it points.
func realPath(abs string) (string, error) {
	for range 255 { // as many links as any kernel follows
		real, err := filepath.EvalSymlinks(abs)
		if err == nil {
			return real, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
		dir, base := filepath.Split(abs)
		target, err := os.Readlink(abs)
		if err != nil { // nothing is there: what counts is the folder
			parent := filepath.Clean(dir)
			if parent == abs {
				return abs, nil
			}
			real, err := realParent(parent)
			return filepath.Join(real, base), err
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(dir, target)
		}
		abs = filepath.Clean(target)
	}
	return "", syscall.ELOOP
}

// realParent resolves the longest part of a folder's path that exists.
func realParent(dir string) (string, error) {
	var rest string
	for {
		real, err := filepath.EvalSymlinks(dir)
		if err == nil {
			return filepath.Join(real, rest), nil
		}
		if !errors.Is(err, fs.ErrNotExist) || dir == filepath.Dir(dir) {
			return "", err
		}
		if _, err := os.Lstat(dir); err == nil {
			return "", fmt.Errorf("%s is a link to nothing: %w", dir, fs.ErrNotExist)
		}
		rest = filepath.Join(filepath.Base(dir), rest)
		dir = filepath.Dir(dir)
	}
}

// open opens an existing regular file for reading and refuses everything else at
// once: a FIFO would wait for ever, a device may never end or act when opened.
func (p place) open() (*os.File, fs.FileInfo, error) {
	info, err := p.root.Stat(p.rel)
	if err != nil {
		return nil, nil, pathError(p.shown, err)
	}
	if err := regular(p.shown, info); err != nil {
		return nil, nil, err
	}
	// It may have become something else since: ask the open file again, and
	// do not wait in opening it.
	f, err := p.root.OpenFile(p.rel, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOCTTY, 0)
	if err != nil {
		return nil, nil, pathError(p.shown, err)
	}
	info, err = f.Stat()
	if err == nil {
		err = regular(p.shown, info)
	}
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	// Some files of /proc and /sys call themselves regular and wait for
	// something to happen. Only those take a deadline.
	_ = f.SetReadDeadline(time.Now().Add(100 * time.Millisecond))
	return f, info, nil
}

func regular(name string, info fs.FileInfo) error {
	switch mode := info.Mode(); {
	case mode.IsRegular():
		return nil
	case mode&fs.ModeNamedPipe != 0:
		return fmt.Errorf("%s is a named pipe: reading it could wait for ever", name)
	default:
		return fmt.Errorf("%s is a %s", name, kindOf(mode))
	}
}

// pathError says what is wrong with a path, without the system call.
func pathError(name string, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s: %w", name, fs.ErrNotExist)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%s: %w", name, fs.ErrPermission)
	}
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	return fmt.Errorf("%s: %w", name, err)
}

// kindOf names what a file is.
func kindOf(mode fs.FileMode) string {
	switch {
	case mode.IsRegular():
		return "file"
	case mode.IsDir():
		return "folder"
	case mode&fs.ModeSymlink != 0:
		return "link"
	case mode&fs.ModeNamedPipe != 0:
		return "named pipe"
	case mode&fs.ModeSocket != 0:
		return "socket"
	case mode&fs.ModeDevice != 0:
		return "device"
	default:
		return "special file"
	}
}
