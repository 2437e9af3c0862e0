package fstest

import (
	"sync"

	"banyan/internal/jsonl"
)

// Op is a kind of call, for counting.
type Op string

// The kinds of calls that can fail.
const (
	Open     Op = "open"
	Create   Op = "create"
	Stat     Op = "stat"
	Rename   Op = "rename"
	Link     Op = "link"
	Remove   Op = "remove"
	Mkdir    Op = "mkdir"
	SyncDir  Op = "syncdir"
	Read     Op = "read"
	Write    Op = "write"
	Truncate Op = "truncate"
	Sync     Op = "sync"
	Lock     Op = "lock"
)

// Ops are all kinds that can fail.
var Ops = []Op{Open, Create, Stat, Rename, Link, Remove, Mkdir, SyncDir, Read, Write, Truncate, Sync, Lock}

// Fault says which calls fail, and how.
type Fault struct {
	Op  Op  // empty for all kinds
	N   int // the first call to fail, counted from 1 since the fault was set
	For int // how many fail from there on; 0 for ever
	Err error
	// Short is how much of a failing write is written first, in percent.
	Short int
}

// Faults is a file system whose calls fail as told. Calls that fail do nothing,
// but a write may do a part, and a sync makes the file lose what was not
// durable if the file system below can (as [Mem] does).
//
// A mutex guards the counters, because logs are read from other goroutines.
type Faults struct {
	FS jsonl.FS

	mu     sync.Mutex
	faults []fault
	hits   int
}

type fault struct {
	Fault
	seen int
}

// Set replaces the faults; calls are counted from here.
func (f *Faults) Set(faults ...Fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.hits, f.faults = 0, nil
	for _, each := range faults {
		f.faults = append(f.faults, fault{Fault: each})
	}
}

// Hits is how many calls have failed since Set.
func (f *Faults) Hits() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.hits
}

// hit counts a call and returns the fault that it meets, if any.
func (f *Faults) hit(op Op) *Fault {
	f.mu.Lock()
	defer f.mu.Unlock()
	var met *Fault
	for i := range f.faults {
		each := &f.faults[i]
		if each.Op != "" && each.Op != op {
			continue
		}
		each.seen++
		if each.seen >= each.N && (each.For == 0 || each.seen < each.N+each.For) && met == nil {
			met = &each.Fault
		}
	}
	if met != nil {
		f.hits++
	}
	return met
}

func (f *Faults) fail(op Op) error {
	if met := f.hit(op); met != nil {
		return met.Err
	}
	return nil
}

func (f *Faults) file(op Op, open func() (jsonl.File, error)) (jsonl.File, error) {
	if err := f.fail(op); err != nil {
		return nil, err
	}
	file, err := open()
	if err != nil {
		return nil, err
	}
	return &faultFile{file, f}, nil
}

// Open implements [jsonl.FS].
func (f *Faults) Open(path string, write bool) (jsonl.File, error) {
	return f.file(Open, func() (jsonl.File, error) { return f.FS.Open(path, write) })
}

// Create implements [jsonl.FS].
func (f *Faults) Create(path string) (jsonl.File, error) {
	return f.file(Create, func() (jsonl.File, error) { return f.FS.Create(path) })
}

// Stat implements [jsonl.FS].
func (f *Faults) Stat(path string) (jsonl.Info, error) {
	if err := f.fail(Stat); err != nil {
		return jsonl.Info{}, err
	}
	return f.FS.Stat(path)
}

func (f *Faults) do(op Op, call func() error) error {
	if err := f.fail(op); err != nil {
		return err
	}
	return call()
}

// Rename implements [jsonl.FS].
func (f *Faults) Rename(from, to string, over bool) error {
	return f.do(Rename, func() error { return f.FS.Rename(from, to, over) })
}

// Link implements [jsonl.FS].
func (f *Faults) Link(from, to string) error {
	return f.do(Link, func() error { return f.FS.Link(from, to) })
}

// Remove implements [jsonl.FS].
func (f *Faults) Remove(path string) error {
	return f.do(Remove, func() error { return f.FS.Remove(path) })
}

// Mkdir implements [jsonl.FS].
func (f *Faults) Mkdir(path string) error {
	return f.do(Mkdir, func() error { return f.FS.Mkdir(path) })
}

// SyncDir implements [jsonl.FS].
func (f *Faults) SyncDir(path string) error {
	return f.do(SyncDir, func() error { return f.FS.SyncDir(path) })
}

type faultFile struct {
	jsonl.File
	fs *Faults
}

func (f *faultFile) ReadAt(b []byte, off int64) (int, error) {
	if err := f.fs.fail(Read); err != nil {
		return 0, err
	}
	return f.File.ReadAt(b, off)
}

func (f *faultFile) Write(b []byte) (int, error) {
	met := f.fs.hit(Write)
	if met == nil {
		return f.File.Write(b)
	}
	n, err := f.File.Write(b[:len(b)*met.Short/100])
	if err == nil {
		err = met.Err
	}
	return n, err
}

func (f *faultFile) Truncate(size int64) error {
	return f.fs.do(Truncate, func() error { return f.File.Truncate(size) })
}

func (f *faultFile) Sync() error {
	err := f.fs.fail(Sync)
	if err == nil {
		return f.File.Sync()
	}
	if l, ok := f.File.(interface{ LoseDirty() }); ok {
		l.LoseDirty()
	}
	return err
}

func (f *faultFile) Stat() (jsonl.Info, error) {
	if err := f.fs.fail(Stat); err != nil {
		return jsonl.Info{}, err
	}
	return f.File.Stat()
}

func (f *faultFile) Lock() error { return f.fs.do(Lock, f.File.Lock) }
