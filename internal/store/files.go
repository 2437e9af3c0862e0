package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"banyan/internal/jsonl"
)

// Files keeps each log in a file of JSON lines, in a folder for each project
// below one folder of all. Any other file can be opened too: a path is a file's.
type Files struct {
	Dir string   // the folder of all projects' folders
	FS  jsonl.FS // nil for the real file system; what List sees is always that
}

// file is a log in a file, which has almost all that a Log needs by itself.
type file struct {
	*jsonl.Log
	fs   jsonl.FS
	seen jsonl.Info // by Wait
}

// Extent asks the file system.
func (l *file) Extent() int64 {
	info, err := l.fs.Stat(l.Path())
	if err != nil {
		return 0
	}
	return info.Size
}

func (f Files) fs() jsonl.FS {
	if f.FS == nil {
		return jsonl.OS
	}
	return f.FS
}

// Name is empty: the paths of files speak for themselves.
func (f Files) Name() string { return "" }

// Has is true for everything.
func (f Files) Has(string) bool { return true }

// Keeps is true for what is below the folder of all.
func (f Files) Keeps(path string) bool {
	return strings.HasPrefix(path, filepath.Clean(f.Dir)+string(filepath.Separator))
}

// Close has nothing to give back.
func (f Files) Close() error { return nil }

// Path is a file in a project's folder, or in the folder beside its parent.
func (f Files) Path(at Place) string {
	if at.Parent != "" {
		return filepath.Join(TasksDir(at.Parent), at.ID+Extension)
	}
	name := FileName(at.Time, at.ID)
	if filepath.IsAbs(at.Project) {
		return filepath.Join(at.Project, name)
	}
	return filepath.Join(f.Dir, at.Project, name)
}

func (f Files) Create(at Place) (Log, error) {
	log, err := jsonl.Create(f.Path(at), jsonl.Options{FS: f.FS})
	if err != nil {
		return nil, err
	}
	return &file{Log: log, fs: f.fs()}, nil
}

func (f Files) Open(path string, readOnly bool) (Log, error) {
	log, err := jsonl.Open(path, jsonl.Options{FS: f.FS, ReadOnly: readOnly})
	if err != nil {
		return nil, err
	}
	return &file{Log: log, fs: f.fs()}, nil
}

func (f Files) Write(at Place, lines iter.Seq2[[]byte, error]) (string, error) {
	path := f.Path(at)
	return path, jsonl.WriteFile(f.FS, path, lines)
}

// Delete removes a file under the lock, where it has one.
func (f Files) Delete(path string) error {
	log, err := jsonl.Open(path, jsonl.Options{FS: f.FS})
	if err == nil {
		defer log.Close()
	} else if !errors.Is(err, jsonl.ErrSymlink) && !errors.Is(err, fs.ErrPermission) {
		return err
	}
	if err := f.fs().Remove(path); err != nil {
		return fmt.Errorf("remove %s: %w", path, err)
	}
	if dir := TasksDir(path); plain(dir, fs.ModeDir) {
		_ = os.Remove(dir) // where it is empty by now
	}
	return nil
}

// List finds the regular files with our extension.
func (f Files) List(project string) ([]Info, error) {
	found, folders, err := filesIn(f.Dir, "")
	if err != nil {
		return nil, err
	}
	if project != "" {
		folders = []string{project}
	}
	for _, folder := range folders {
		more, _, err := filesIn(filepath.Join(f.Dir, folder), folder)
		if err == nil { // else it went away, or is not ours to read
			found = append(found, more...)
		}
	}
	return found, nil
}

// Children lists the folder beside a file. Symbolic links are not followed: what
// belongs to a session is deleted with it.
func (f Files) Children(parent string) (children []Info, err error) {
	in := func(dir string) {
		files, _, _ := filesIn(dir, "") // what cannot be listed has nothing that is found
		children = append(children, slices.DeleteFunc(files, func(in Info) bool { return !plain(in.Path, 0) })...)
	}
	if parent != "" {
		if dir := TasksDir(parent); plain(dir, fs.ModeDir) {
			in(dir)
		}
		return children, nil
	}
	err = filepath.WalkDir(f.Dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && strings.HasSuffix(path, tasksSuffix) {
			in(path)
		}
		return nil
	})
	return children, err
}

// plain tells whether a path is a file or folder itself, and no link to one.
func plain(path string, kind fs.FileMode) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode().Type() == kind
}

// filesIn lists a folder; one that does not exist is empty.
func filesIn(folder, project string) (files []Info, folders []string, err error) {
	entries, err := os.ReadDir(folder)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	for _, e := range entries {
		if e.IsDir() {
			if !strings.HasSuffix(e.Name(), tasksSuffix) { // shown with the session that it belongs to
				folders = append(folders, e.Name())
			}
			continue
		}
		path := filepath.Join(folder, e.Name())
		if filepath.Ext(path) != Extension {
			continue
		}
		info, err := os.Stat(path)
		if err == nil && info.Mode().IsRegular() {
			files = append(files, Info{Path: path, ID: IDOfFile(path), Project: project, Size: info.Size(), Changed: info.ModTime()})
		}
	}
	return files, folders, nil
}

// Extension ends the name of every session file.
const Extension = ".jsonl"

// tasksSuffix ends the name of the folder with the logs that belong to one.
const tasksSuffix = ".tasks"

// TasksDir is the folder beside a file in which the logs are that belong to it.
func TasksDir(path string) string { return strings.TrimSuffix(path, Extension) + tasksSuffix }

// FileName is the name of a session's file.
func FileName(at time.Time, id string) string {
	stamp := at.UTC().Format("2006-01-02T15:04:05.000Z")
	return strings.NewReplacer(":", "-", ".", "-").Replace(stamp) + "_" + id + Extension
}

// IDOfFile is the session's id as its file's name has it.
func IDOfFile(path string) string {
	name := strings.TrimSuffix(filepath.Base(path), Extension)
	if _, id, ok := strings.Cut(name, "_"); ok && id != "" {
		return id
	}
	return name
}

func (l *file) Replace(suffix string, lines iter.Seq2[[]byte, error]) error {
	return l.Log.Replace(l.Path()+suffix, lines)
}

// look is how often a file is looked at that another process may be writing.
const look = 100 * time.Millisecond

// Wait looks again and again: no system tells of all changes of all files.
func (l *file) Wait(ctx context.Context) error {
	for {
		now, err := l.fs.Stat(l.Path())
		if err == nil && now != l.seen {
			l.seen = now
			return ctx.Err()
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(look):
		}
		if err != nil {
			return nil // Grown will say it
		}
	}
}
