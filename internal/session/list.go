package session

import (
	"cmp"
	"encoding/json"
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
	"banyan/internal/store"
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

// List is the sessions of a store, newest first, but not those of tasks. With a
// cwd, only that project's.
//
// What was read of a session is kept in the cache folder and used as long as its
// size and time of change are the same; the cache may be deleted at any time,
// and without a folder for it there is none. As many sessions are read at a time
// as there are processors. Memory is bounded by the list and the indexes of those.
func List(st store.Store, cwd, cacheDir string) ([]File, error) {
	project := ""
	if cwd != "" {
		project = Project(cwd)
	}
	infos, err := st.List(project)
	if err != nil {
		return nil, err
	}
	cache := readCache(cacheDir)
	described := describeFiles(st, slices.DeleteFunc(slices.Clone(infos), cache.has))
	files := make([]File, 0, len(infos))
	for _, info := range infos {
		f, ok := cache.get(info)
		if !ok {
			f = described[info.Path]
			cache.put(info, f)
		}
		if cwd == "" || info.Project == project || sameFolder(f.Cwd, cwd) {
			files = append(files, f)
		}
	}
	cache.write(st, cwd == "")
	slices.SortStableFunc(files, func(a, b File) int { return b.Modified.Compare(a.Modified) })
	return files, nil
}

func sameFolder(a, b string) bool { return a == b || a != "" && b != "" && realPath(a) == realPath(b) }

// describeFiles reads session files for a list, by path.
func describeFiles(st store.Store, infos []store.Info) map[string]File {
	files := make([]File, len(infos))
	var next atomic.Int64
	var readers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(infos)) {
		readers.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(infos)); i = next.Add(1) - 1 {
				files[i] = describeFile(st, infos[i])
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
func describeFile(st store.Store, in store.Info) File {
	f := File{Path: in.Path, Bytes: in.Size, Modified: in.Changed.UTC().Truncate(time.Millisecond)}
	m, err := Open(in.Path, Options{Store: st, ReadOnly: true})
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
func (c *fileCache) has(in store.Info) bool {
	known, ok := c.old[in.Path]
	return ok && known.Size == in.Size && known.Changed == in.Changed.UnixNano()
}

func (c *fileCache) get(in store.Info) (File, bool) {
	if !c.has(in) {
		return File{}, false
	}
	known := c.old[in.Path]
	c.now[in.Path] = known
	return known.File, true
}

func (c *fileCache) put(in store.Info, f File) {
	c.now[in.Path] = cached{Size: in.Size, Changed: in.Changed.UnixNano(), File: f}
	c.stale = true
}

// write remembers for the next time. What was not looked at stays, unless all of
// the store was. Failing to write costs time later, nothing else.
func (c *fileCache) write(st store.Store, all bool) {
	for path, known := range c.old {
		if _, seen := c.now[path]; seen {
			continue
		}
		if all && st.Keeps(path) {
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

// Newest is the session of a working directory that was changed last; empty if
// there is none. It reads headers only.
func Newest(st store.Store, cwd string) (string, error) {
	project := Project(cwd)
	infos, err := st.List(project)
	if err != nil {
		return "", err
	}
	slices.SortStableFunc(infos, func(a, b store.Info) int { return b.Changed.Compare(a.Changed) })
	for _, in := range infos {
		h, err := peek(st, in.Path)
		if err == nil && (h.Cwd == "" && in.Project == project || sameFolder(h.Cwd, cwd)) {
			return in.Path, nil
		}
	}
	return "", nil
}

// peek reads a session's header and no more.
func peek(st store.Store, path string) (Header, error) {
	log, err := st.Open(path, true)
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
