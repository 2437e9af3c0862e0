package fstest

import "banyan/internal/jsonl"

// Recorder is a [Mem] that keeps its state after each change.
type Recorder struct {
	*Mem
	Points []Point
	// Mark is put into the points that follow: what the test has been promised so far.
	Mark int
}

// Point is the file system just after a change.
type Point struct {
	Op   Op
	Path string // as in the call; empty for calls on open files
	Mark int
	FS   *Mem
}

// NewRecorder returns a recorder on a file system.
func NewRecorder(m *Mem) *Recorder { return &Recorder{Mem: m} }

func (r *Recorder) after(op Op, path string, err error) error {
	r.Points = append(r.Points, Point{op, path, r.Mark, r.Mem.Clone()})
	return err
}

// Open implements [jsonl.FS].
func (r *Recorder) Open(path string, write bool) (jsonl.File, error) {
	f, err := r.Mem.Open(path, write)
	if err != nil {
		return nil, err
	}
	return &recordedFile{f, r}, nil
}

// Create implements [jsonl.FS].
func (r *Recorder) Create(path string) (jsonl.File, error) {
	f, err := r.Mem.Create(path)
	if err != nil {
		return nil, err
	}
	return &recordedFile{f, r}, r.after(Create, path, nil)
}

// Rename implements [jsonl.FS].
func (r *Recorder) Rename(from, to string, over bool) error {
	return r.after(Rename, from, r.Mem.Rename(from, to, over))
}

// Link implements [jsonl.FS].
func (r *Recorder) Link(from, to string) error { return r.after(Link, from, r.Mem.Link(from, to)) }

// Remove implements [jsonl.FS].
func (r *Recorder) Remove(path string) error { return r.after(Remove, path, r.Mem.Remove(path)) }

// Mkdir implements [jsonl.FS].
func (r *Recorder) Mkdir(path string) error { return r.after(Mkdir, path, r.Mem.Mkdir(path)) }

// SyncDir implements [jsonl.FS].
func (r *Recorder) SyncDir(path string) error { return r.after(SyncDir, path, r.Mem.SyncDir(path)) }

type recordedFile struct {
	jsonl.File
	r *Recorder
}

func (f *recordedFile) Write(b []byte) (int, error) {
	n, err := f.File.Write(b)
	return n, f.r.after(Write, "", err)
}

func (f *recordedFile) Truncate(size int64) error {
	return f.r.after(Truncate, "", f.File.Truncate(size))
}

func (f *recordedFile) Sync() error { return f.r.after(Sync, "", f.File.Sync()) }

// LoseDirty passes a failed sync on.
func (f *recordedFile) LoseDirty() {
	f.File.(interface{ LoseDirty() }).LoseDirty()
	f.r.after(Sync, "", nil)
}
