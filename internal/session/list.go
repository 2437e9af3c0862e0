package session

import (
	"cmp"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"banyan/internal/jsonl"
	"banyan/internal/llm"
	"banyan/internal/tree"
)

// File is what a list says of a session file.
type File struct {
	Path     string    `json:"path"`
	ID       string    `json:"id"`
	Cwd      string    `json:"cwd"`
	Name     string    `json:"name"`   // empty if it has none
	Prompt   string    `json:"prompt"` // the first of the user, shortened
	Created  time.Time `json:"created"`
	Modified time.Time `json:"modified"` // of the last message
	Entries  int       `json:"entries"`
	Messages int       `json:"messages"`
	Branches int       `json:"branches"` // ends of paths
	Tasks    int       `json:"tasks"`    // that it gave; theirs are not counted
	Parent   string    `json:"parentSession"`
	Bytes    int64     `json:"bytes"`
	// Err says why the file cannot be read as a session; the rest is then empty
	// but for Path, Bytes and Modified.
	Err string `json:"error,omitempty"`
}

// Title is what to call the session: its name, its first prompt, or its id.
func (f File) Title() string { return cmp.Or(f.Name, f.Prompt, f.ID, filepath.Base(f.Path)) }

// List is the session files below a folder of sessions, newest first: those in
// it and in its projects' folders, but not those of tasks. With a cwd, only that
// project's.
//
// What was read of a file is kept in the cache folder and used as long as the
// file's size and time of change are the same; the cache may be deleted at any
// time, and without a folder for it there is none. Only regular files are
// opened, as many at a time as there are processors. Memory is bounded by the
// list and the indexes of those.
func List(sessions, cwd, cacheDir string) ([]File, error) {
	places, err := sessionFiles(sessions, cwd)
	if err != nil {
		return nil, err
	}
	cache := readCache(cacheDir)
	described := describeFiles(slices.DeleteFunc(slices.Clone(places), cache.has))
	files := make([]File, 0, len(places))
	for _, p := range places {
		f, ok := cache.get(p)
		if !ok {
			f = described[p.path]
			cache.put(p, f)
		}
		if cwd == "" || p.inProject || sameFolder(f.Cwd, cwd) {
			files = append(files, f)
		}
	}
	cache.write(sessions, cwd == "")
	slices.SortStableFunc(files, func(a, b File) int { return b.Modified.Compare(a.Modified) })
	return files, nil
}

// place is a file that may be a session.
type place struct {
	path      string
	size      int64
	changed   time.Time
	inProject bool // it is in the asked project's folder
}

// sessionFiles finds the regular files with our extension.
func sessionFiles(sessions, cwd string) ([]place, error) {
	found, folders, err := filesIn(sessions)
	if err != nil {
		return nil, err
	}
	if cwd != "" {
		folders = []string{Dir(sessions, cwd)}
	}
	for _, folder := range folders {
		more, _, err := filesIn(folder)
		if err != nil {
			continue // it went away, or is not ours to read
		}
		for i := range more {
			more[i].inProject = cwd != ""
		}
		found = append(found, more...)
	}
	return found, nil
}

// filesIn lists a folder; one that does not exist is empty.
func filesIn(folder string) (files []place, folders []string, err error) {
	entries, err := os.ReadDir(folder)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	for _, e := range entries {
		path := filepath.Join(folder, e.Name())
		if e.IsDir() {
			if !strings.HasSuffix(path, tasksSuffix) { // shown with the session that it belongs to
				folders = append(folders, path)
			}
			continue
		}
		if filepath.Ext(path) != Extension {
			continue
		}
		info, err := os.Stat(path)
		if err == nil && info.Mode().IsRegular() {
			files = append(files, place{path: path, size: info.Size(), changed: info.ModTime()})
		}
	}
	return files, folders, nil
}

func sameFolder(a, b string) bool { return a == b || a != "" && b != "" && realPath(a) == realPath(b) }

// describeFiles reads session files for a list, by path.
func describeFiles(places []place) map[string]File {
	files := make([]File, len(places))
	var next atomic.Int64
	var readers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(places)) {
		readers.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(places)); i = next.Add(1) - 1 {
				files[i] = describeFile(places[i])
			}
		})
	}
	readers.Wait()
	described := make(map[string]File, len(files))
	for _, f := range files {
		described[f.Path] = f
	}
	return described
}

// describeFile reads a session file for a list.
func describeFile(p place) File {
	f := File{Path: p.path, Bytes: p.size, Modified: p.changed.UTC().Truncate(time.Millisecond)}
	m, err := Open(p.path, Options{ReadOnly: true})
	if err != nil {
		f.Err = err.Error()
		return f
	}
	defer m.Close()
	s := m.Snapshot()
	h := s.Header()
	f.ID, f.Cwd, f.Created, f.Parent, f.Name = h.ID, h.Cwd, h.Time, h.Parent, s.Name()
	f.Entries = s.Len()
	f.Branches, f.Tasks = s.leaves(), len(s.Tasks())
	last := tree.None
	for n := range tree.Node(s.Len()) {
		class := s.Class(n)
		if class.Kind != (Message{}).kind() {
			continue
		}
		f.Messages++
		last = n
		if class.Role == llm.User && f.Prompt == "" {
			f.Prompt = s.promptAt(n)
		}
	}
	if last != tree.None {
		f.Modified = time.UnixMilli(s.Tree().Time(last)).UTC()
	}
	return f
}

// leaves counts the entries without children.
func (s Snapshot) leaves() int {
	view := s.Tree()
	parents := make([]bool, view.Len())
	leaves := view.Len()
	for n := range tree.Node(view.Len()) {
		if p := view.Parent(n); p != tree.None && !parents[p] {
			parents[p] = true
			leaves--
		}
	}
	return leaves
}

// promptAt is the beginning of a user's text, in one line.
func (s Snapshot) promptAt(n tree.Node) string {
	const most = 200
	e, err := s.EntryAt(n)
	if err != nil {
		return ""
	}
	m, _ := e.Data.(Message)
	return shorten(m.Text(), most)
}

// shorten makes one line of at most so many runes.
func shorten(text string, most int) string {
	runes := []rune(strings.Join(strings.Fields(text[:min(len(text), 8*most)]), " "))
	if len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return string(runes)
}

// fileCache remembers what files say, by path, size and time of change.
type fileCache struct {
	path  string // empty: none
	old   map[string]cached
	now   map[string]cached
	stale bool
}

type cached struct {
	Size    int64 `json:"size"`
	Changed int64 `json:"changed"` // Unix ns
	File    File  `json:"file"`
}

// cacheName has the version of File's shape in it.
const cacheName = "sessions-2.json"

// readCache reads what is remembered; what cannot be read is not.
func readCache(dir string) *fileCache {
	c := &fileCache{old: map[string]cached{}, now: map[string]cached{}}
	if dir == "" {
		return c
	}
	c.path = filepath.Join(dir, cacheName)
	if b, err := os.ReadFile(c.path); err == nil && json.Unmarshal(b, &c.old) != nil {
		c.old = map[string]cached{}
	}
	return c
}

// has tells whether it is remembered what a file says.
func (c *fileCache) has(p place) bool {
	known, ok := c.old[p.path]
	return ok && known.Size == p.size && known.Changed == p.changed.UnixNano()
}

func (c *fileCache) get(p place) (File, bool) {
	if !c.has(p) {
		return File{}, false
	}
	known := c.old[p.path]
	c.now[p.path] = known
	return known.File, true
}

func (c *fileCache) put(p place, f File) {
	c.now[p.path] = cached{Size: p.size, Changed: p.changed.UnixNano(), File: f}
	c.stale = true
}

// write remembers for the next time. Files that were not looked at stay, unless
// all of the folder's were. Failing to write costs time later, nothing else.
func (c *fileCache) write(sessions string, all bool) {
	for path, known := range c.old {
		if _, seen := c.now[path]; seen {
			continue
		}
		if all && strings.HasPrefix(path, filepath.Clean(sessions)+string(filepath.Separator)) {
			c.stale = true
			continue
		}
		c.now[path] = known
	}
	if c.path == "" || !c.stale {
		return
	}
	b, err := json.Marshal(c.now)
	if err != nil || os.MkdirAll(filepath.Dir(c.path), 0o700) != nil {
		return
	}
	tmp, err := os.CreateTemp(filepath.Dir(c.path), cacheName+".*")
	if err != nil {
		return
	}
	_, err = tmp.Write(b)
	if tmp.Close() != nil || err != nil || os.Rename(tmp.Name(), c.path) != nil {
		os.Remove(tmp.Name())
	}
}

// Newest is the session file of a folder that was changed last and belongs to a
// working directory; empty if there is none. It reads headers only.
func Newest(dir, cwd string) (string, error) {
	files, _, err := filesIn(dir)
	if err != nil {
		return "", err
	}
	slices.SortStableFunc(files, func(a, b place) int { return b.changed.Compare(a.changed) })
	for _, f := range files {
		if h, err := peek(f.path); err == nil && (h.Cwd == "" || sameFolder(h.Cwd, cwd)) {
			return f.path, nil
		}
	}
	return "", nil
}

// peek reads a file's header and no more.
func peek(path string) (Header, error) {
	log, err := jsonl.Open(path, jsonl.Options{ReadOnly: true})
	if err != nil {
		return Header{}, err
	}
	defer log.Close()
	l := loader{fold: newFold(log.ReadAt), path: path}
	err = log.Scan(func(line jsonl.Line) bool { return l.line(line) && !l.found })
	if err == nil && !l.found {
		err = &NotSessionError{Path: path, Reason: "it has no header"}
	}
	return l.header, err
}
