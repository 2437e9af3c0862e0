package fstest

import (
	"errors"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"banyan/internal/jsonl"
)

// Mem is a file system in memory that is as forgetful as POSIX permits: bytes
// are durable after Sync of their file, names after SyncDir of their folder.
//
// A mutex guards it all, because logs are read from other goroutines.
type Mem struct {
	mu   sync.Mutex
	root *inode
	next uint64
}

// inode is a file or a folder. Each has two states: live, which programs see,
// and durable, which a crash leaves.
type inode struct {
	id      uint64
	dir     bool
	live    []byte
	durable []byte
	dirty   []span // of live, to be copied to durable by a sync
	locked  *memFile

	entries, durableEntries map[string]*inode
}

type span struct{ from, to int }

// NewMem returns a file system with an empty root folder.
func NewMem() *Mem {
	m := &Mem{}
	m.root = m.node(true)
	return m
}

func (m *Mem) node(dir bool) *inode {
	m.next++
	n := &inode{id: m.next, dir: dir}
	if dir {
		n.entries, n.durableEntries = map[string]*inode{}, map[string]*inode{}
	}
	return n
}

// Crash is a power cut: it returns what is on the disk afterwards. Without rnd
// that is only what was synced. With it, each change that was not synced may
// have reached the disk or not: whole, in part, or as zero bytes.
func (m *Mem) Crash(rnd *rand.Rand) *Mem {
	m.mu.Lock()
	defer m.mu.Unlock()
	after := &Mem{next: m.next}
	after.root = m.root.clone(map[*inode]*inode{}, func(n *inode) ([]byte, map[string]*inode) {
		if n.dir {
			return nil, survivingNames(n, rnd)
		}
		return survivingBytes(n, rnd), nil
	})
	return after
}

// Clone is a copy of the whole file system as programs see it, with what is
// durable of it. Open files and locks stay with the original.
func (m *Mem) Clone() *Mem {
	m.mu.Lock()
	defer m.mu.Unlock()
	copied := &Mem{next: m.next}
	copied.root = m.root.clone(map[*inode]*inode{}, nil)
	return copied
}

// clone copies an inode and what is below. With pick, live and durable become what it says.
func (n *inode) clone(done map[*inode]*inode, pick func(*inode) ([]byte, map[string]*inode)) *inode {
	if c, ok := done[n]; ok {
		return c
	}
	c := &inode{id: n.id, dir: n.dir}
	done[n] = c
	live, durable, names, durableNames := n.live, n.durable, n.entries, n.durableEntries
	c.dirty = slices.Clone(n.dirty)
	if pick != nil {
		live, names = pick(n)
		durable, durableNames, c.dirty = live, names, nil
	}
	c.live, c.durable = slices.Clone(live), slices.Clone(durable)
	if n.dir {
		c.entries, c.durableEntries = map[string]*inode{}, map[string]*inode{}
		for _, name := range slices.Sorted(maps.Keys(names)) {
			c.entries[name] = names[name].clone(done, pick)
		}
		for _, name := range slices.Sorted(maps.Keys(durableNames)) {
			c.durableEntries[name] = durableNames[name].clone(done, pick)
		}
	}
	return c
}

func survivingNames(n *inode, rnd *rand.Rand) map[string]*inode {
	if rnd == nil {
		return n.durableEntries
	}
	names := map[string]*inode{}
	all := map[string]bool{}
	for name := range n.entries {
		all[name] = true
	}
	for name := range n.durableEntries {
		all[name] = true
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		from := n.durableEntries
		if rnd.IntN(2) == 0 {
			from = n.entries
		}
		if kept := from[name]; kept != nil {
			names[name] = kept
		}
	}
	return names
}

func survivingBytes(n *inode, rnd *rand.Rand) []byte {
	if rnd == nil {
		return n.durable
	}
	switch rnd.IntN(4) {
	case 0:
		return n.durable
	case 1:
		return n.live
	}
	// The size has got through as far as cut, the bytes only in part.
	if len(n.live) <= len(n.durable) {
		return n.durable
	}
	cut := len(n.durable) + rnd.IntN(len(n.live)-len(n.durable)+1)
	b := slices.Concat(n.durable, make([]byte, cut-len(n.durable)))
	if rnd.IntN(2) == 0 {
		for _, d := range n.dirty {
			if d.from < len(b) {
				copy(b[d.from:min(d.to, len(b))], n.live[d.from:])
			}
		}
	}
	return b
}

func notExist(op, path string) error { return &fs.PathError{Op: op, Path: path, Err: fs.ErrNotExist} }
func exists(op, path string) error   { return &fs.PathError{Op: op, Path: path, Err: fs.ErrExist} }

// folder finds the folder that a path is in, and its name there.
func (m *Mem) folder(op, path string) (*inode, string, error) {
	path = filepath.Clean("/" + path)
	n := m.root
	dir, name := filepath.Split(path)
	for part := range strings.SplitSeq(filepath.ToSlash(dir), "/") {
		if part == "" {
			continue
		}
		n = n.entries[part]
		if n == nil {
			return nil, "", notExist(op, path)
		}
		if !n.dir {
			return nil, "", &fs.PathError{Op: op, Path: path, Err: errors.New("not a directory")}
		}
	}
	return n, name, nil
}

// find finds what stands at a path.
func (m *Mem) find(op, path string) (*inode, error) {
	dir, name, err := m.folder(op, path)
	if err != nil {
		return nil, err
	}
	if name == "" {
		return m.root, nil
	}
	n := dir.entries[name]
	if n == nil {
		return nil, notExist(op, path)
	}
	return n, nil
}

// Open implements [jsonl.FS].
func (m *Mem) Open(path string, write bool) (jsonl.File, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	n, err := m.find("open", path)
	if err != nil {
		return nil, err
	}
	if n.dir {
		return nil, jsonl.ErrNotRegular
	}
	return &memFile{fs: m, n: n, write: write}, nil
}

// Create implements [jsonl.FS].
func (m *Mem) Create(path string) (jsonl.File, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	dir, name, err := m.folder("create", path)
	if err != nil {
		return nil, err
	}
	if dir.entries[name] != nil || name == "" {
		return nil, exists("create", path)
	}
	n := m.node(false)
	dir.entries[name] = n
	return &memFile{fs: m, n: n, write: true}, nil
}

// Stat implements [jsonl.FS].
func (m *Mem) Stat(path string) (jsonl.Info, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	n, err := m.find("stat", path)
	if err != nil {
		return jsonl.Info{}, err
	}
	return n.info(), nil
}

func (n *inode) info() jsonl.Info {
	st := jsonl.Info{ID: jsonl.FileID{Dev: 1, Ino: n.id}, Size: int64(len(n.live)), Mode: 0o600}
	if n.dir {
		st.Mode = fs.ModeDir | 0o700
	}
	return st
}

// Rename implements [jsonl.FS].
func (m *Mem) Rename(from, to string, over bool) error {
	return m.relate("rename", from, to, over, true)
}

// Link implements [jsonl.FS].
func (m *Mem) Link(from, to string) error { return m.relate("link", from, to, false, false) }

func (m *Mem) relate(op, from, to string, over, move bool) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	n, err := m.find(op, from)
	if err != nil {
		return err
	}
	old, oldName, _ := m.folder(op, from)
	dir, name, err := m.folder(op, to)
	if err != nil {
		return err
	}
	if dir.entries[name] != nil && !over {
		return exists(op, to)
	}
	dir.entries[name] = n
	if move {
		delete(old.entries, oldName)
	}
	return nil
}

// Remove implements [jsonl.FS].
func (m *Mem) Remove(path string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	n, err := m.find("remove", path)
	if err != nil {
		return err
	}
	if len(n.entries) > 0 {
		return &fs.PathError{Op: "remove", Path: path, Err: errors.New("directory not empty")}
	}
	dir, name, _ := m.folder("remove", path)
	delete(dir.entries, name)
	return nil
}

// Mkdir implements [jsonl.FS].
func (m *Mem) Mkdir(path string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	dir, name, err := m.folder("mkdir", path)
	if err != nil {
		return err
	}
	if name == "" || dir.entries[name] != nil {
		return exists("mkdir", path)
	}
	dir.entries[name] = m.node(true)
	return nil
}

// SyncDir implements [jsonl.FS].
func (m *Mem) SyncDir(path string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	n, err := m.find("sync", path)
	if err != nil {
		return err
	}
	n.durableEntries = maps.Clone(n.entries)
	return nil
}

// ReadFile returns a file's bytes.
func (m *Mem) ReadFile(path string) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	n, err := m.find("read", path)
	if err != nil {
		return nil, err
	}
	return slices.Clone(n.live), nil
}

// WriteFile puts a file with these bytes in place of whatever was there, in a
// folder that exists, all of it durable.
func (m *Mem) WriteFile(path string, b []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	dir, name, err := m.folder("write", path)
	if err != nil {
		return err
	}
	n := m.node(false)
	n.live, n.durable = slices.Clone(b), slices.Clone(b)
	dir.entries[name], dir.durableEntries[name] = n, n
	return nil
}

// Names are the names in a folder, sorted.
func (m *Mem) Names(path string) []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	n, err := m.find("list", path)
	if err != nil {
		return nil
	}
	return slices.Sorted(maps.Keys(n.entries))
}

// memFile is an open file. The lock belongs to it, as flock's does.
type memFile struct {
	fs     *Mem
	n      *inode
	write  bool
	closed bool
}

func (f *memFile) ReadAt(b []byte, off int64) (int, error) {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	if f.closed {
		return 0, fs.ErrClosed
	}
	if off >= int64(len(f.n.live)) {
		return 0, io.EOF
	}
	n := copy(b, f.n.live[off:])
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}

func (f *memFile) Write(b []byte) (int, error) {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	if f.closed || !f.write {
		return 0, fs.ErrClosed
	}
	from := len(f.n.live)
	f.n.live = append(f.n.live, b...)
	f.n.dirty = append(f.n.dirty, span{from, len(f.n.live)})
	return len(b), nil
}

func (f *memFile) Truncate(size int64) error {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	if f.closed || !f.write {
		return fs.ErrClosed
	}
	n := f.n
	if grow := int(size) - len(n.live); grow > 0 {
		n.live = append(n.live, make([]byte, grow)...)
	}
	n.live = n.live[:size:size]
	kept := n.dirty[:0]
	for _, d := range n.dirty {
		if d.to = min(d.to, int(size)); d.from < d.to {
			kept = append(kept, d)
		}
	}
	n.dirty = kept
	return nil
}

func (f *memFile) Sync() error {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	if f.closed {
		return fs.ErrClosed
	}
	n := f.n
	durable := make([]byte, len(n.live))
	copy(durable, n.durable)
	for _, d := range n.dirty {
		copy(durable[d.from:d.to], n.live[d.from:d.to])
	}
	n.durable, n.dirty = durable, nil
	return nil
}

// LoseDirty is what a failed sync does to a file on Linux: the bytes that did
// not reach the disk are still read, but no later sync will write them.
func (f *memFile) LoseDirty() {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	f.n.dirty = nil
}

func (f *memFile) Stat() (jsonl.Info, error) {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	if f.closed {
		return jsonl.Info{}, fs.ErrClosed
	}
	return f.n.info(), nil
}

func (f *memFile) Lock() error {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	if f.n.locked != nil && f.n.locked != f {
		return &jsonl.HeldError{Owner: "another file of this memory"}
	}
	f.n.locked = f
	return nil
}

func (f *memFile) Close() error {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	if f.closed {
		return fs.ErrClosed
	}
	f.closed = true
	if f.n.locked == f {
		f.n.locked = nil
	}
	return nil
}
