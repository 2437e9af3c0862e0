package rows

import (
	"context"
	"fmt"
	"io/fs"
	"iter"
	"slices"
	"strings"
	"sync"
	"time"

	"banyan/internal/jsonl"
	"banyan/internal/store"
)

// Memory is a store that keeps nothing: its logs are gone with it. What it
// promises is durable as long as the process lives.
type Memory struct {
	mu   sync.Mutex
	logs map[string]*stored // by id
}

// stored is one log of a Memory.
type stored struct {
	info   store.Info
	parent string // id; empty for none
	older  bool   // the older form of another log
	locked bool
	lines  [][]byte
	starts []int64
	grown  chan struct{} // closed when there is more
}

const memoryName = "memory"

// NewMemory makes an empty store.
func NewMemory() *Memory { return &Memory{logs: map[string]*stored{}} }

func (m *Memory) Name() string { return memoryName }

func (m *Memory) Has(path string) bool { return strings.HasPrefix(path, memoryName+"#") }

func (m *Memory) Keeps(path string) bool { return m.Has(path) }

func (m *Memory) Path(at store.Place) string { return memoryName + "#" + at.ID }

func (m *Memory) Close() error { return nil }

func idIn(path string) string {
	_, id, _ := strings.Cut(path, "#")
	return id
}

func (m *Memory) Create(at store.Place) (store.Log, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.logs[at.ID] != nil {
		return nil, fmt.Errorf("create %s: %w", m.Path(at), fs.ErrExist)
	}
	return NewLog(&memoryTable{m: m, at: at}, m.Path(at), false, true, 0), nil
}

func (m *Memory) Open(path string, readOnly bool) (store.Log, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.logs[idIn(path)]
	switch {
	case s == nil:
		return nil, fmt.Errorf("open %s: %w", path, fs.ErrNotExist)
	case s.locked && !readOnly:
		return nil, &jsonl.LockedError{Path: path, Owner: "this process"}
	}
	if !readOnly {
		s.locked = true
	}
	return NewLog(&memoryTable{m: m, s: s, writes: !readOnly}, path, readOnly, false, 0), nil
}

func (m *Memory) Write(at store.Place, lines iter.Seq2[[]byte, error]) (string, error) {
	var all [][]byte
	for line, err := range lines {
		if err != nil {
			return "", err
		}
		all = append(all, slices.Clone(line))
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.logs[at.ID] != nil {
		return "", fmt.Errorf("write %s: %w", m.Path(at), fs.ErrExist)
	}
	m.make(at).add(all)
	return m.Path(at), nil
}

// make makes an empty log; the caller has the lock.
func (m *Memory) make(at store.Place) *stored {
	s := &stored{grown: make(chan struct{})}
	s.info = store.Info{Path: m.Path(at), ID: at.ID, Project: at.Project}
	if at.Parent != "" {
		s.parent, s.info.Project = idIn(at.Parent), ""
	}
	m.logs[at.ID] = s
	return s
}

func (s *stored) add(lines [][]byte) {
	for _, line := range lines {
		s.starts, s.lines = append(s.starts, s.info.Size), append(s.lines, line)
		s.info.Size += int64(len(line)) + 1
	}
	s.info.Changed = time.Now()
	close(s.grown)
	s.grown = make(chan struct{})
}

func (m *Memory) List(project string) ([]store.Info, error) {
	return m.infos(func(s *stored) bool {
		return s.parent == "" && (project == "" || s.info.Project == "" || s.info.Project == project)
	}), nil
}

func (m *Memory) Children(parent string) ([]store.Info, error) {
	return m.infos(func(s *stored) bool {
		return s.parent != "" && (parent == "" || s.parent == idIn(parent))
	}), nil
}

func (m *Memory) infos(want func(*stored) bool) (infos []store.Info) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, s := range m.logs {
		if !s.older && want(s) {
			infos = append(infos, s.info)
		}
	}
	return infos
}

func (m *Memory) Delete(path string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.logs[idIn(path)]
	switch {
	case s == nil:
		return fmt.Errorf("delete %s: %w", path, fs.ErrNotExist)
	case s.locked:
		return &jsonl.LockedError{Path: path, Owner: "this process"}
	}
	delete(m.logs, s.info.ID)
	close(s.grown)
	return nil
}

// memoryTable is the rows of one log of a Memory.
type memoryTable struct {
	m      *Memory
	at     store.Place // of a log that is not there yet
	s      *stored     // nil before the first Add
	writes bool        // it has the lock
}

// log is the log, if it still is in the store; the caller has the lock.
func (t *memoryTable) log() (*stored, error) {
	if t.s == nil || t.m.logs[t.s.info.ID] != t.s {
		return nil, fs.ErrNotExist
	}
	return t.s, nil
}

func (t *memoryTable) Size() (int64, error) {
	t.m.mu.Lock()
	defer t.m.mu.Unlock()
	s, err := t.log()
	if err != nil {
		return 0, err
	}
	return s.info.Size, nil
}

func (t *memoryTable) Rows(from, to int64, f func(int64, []byte) bool) error {
	t.m.mu.Lock()
	s, err := t.log()
	if err != nil {
		t.m.mu.Unlock()
		return err
	}
	lines, starts := s.lines, s.starts // they only grow
	t.m.mu.Unlock()
	i, found := slices.BinarySearch(starts, from)
	if !found && i > 0 && starts[i-1]+int64(len(lines[i-1])) >= from {
		i--
	}
	for ; i < len(starts) && starts[i] < to; i++ {
		if !f(starts[i], lines[i]) {
			break
		}
	}
	return nil
}

func (t *memoryTable) Add(size int64, lines [][]byte) error {
	t.m.mu.Lock()
	defer t.m.mu.Unlock()
	if t.s == nil {
		if t.m.logs[t.at.ID] != nil {
			return fs.ErrExist
		}
		t.s, t.writes = t.m.make(t.at), true
		t.s.locked = true
	}
	s, err := t.log()
	if err != nil {
		return err
	}
	if s.info.Size != size {
		return ErrMoved
	}
	s.add(lines)
	return nil
}

func (t *memoryTable) Replace(suffix string, lines iter.Seq2[[]byte, error]) (int64, error) {
	var all [][]byte
	for line, err := range lines {
		if err != nil {
			return 0, err
		}
		all = append(all, slices.Clone(line))
	}
	t.m.mu.Lock()
	defer t.m.mu.Unlock()
	old, err := t.log()
	if err != nil {
		return 0, err
	}
	fresh := &stored{info: old.info, parent: old.parent, locked: true, grown: make(chan struct{})}
	fresh.info.Size = 0
	fresh.add(all)
	t.m.logs[old.info.ID], t.s = fresh, fresh
	old.info.ID += suffix
	for t.m.logs[old.info.ID] != nil {
		old.info.ID += "-2"
	}
	close(old.grown)
	old.info.Path, old.older, old.locked = memoryName+"#"+old.info.ID, true, false
	t.m.logs[old.info.ID] = old
	return fresh.info.Size, nil
}

func (t *memoryTable) Wait(ctx context.Context, size int64) error {
	t.m.mu.Lock()
	s, err := t.log()
	if err != nil || s.info.Size != size {
		t.m.mu.Unlock()
		return nil
	}
	grown := s.grown
	t.m.mu.Unlock()
	select {
	case <-grown:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (t *memoryTable) Close() error {
	t.m.mu.Lock()
	defer t.m.mu.Unlock()
	if t.writes && t.s != nil {
		t.s.locked, t.writes = false, false
	}
	return nil
}
