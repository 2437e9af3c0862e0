package jsonl

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// staged is a whole file on its way to its place. It is written as
// "<path>.tmp" beside it, under the lock, synced, and renamed.
type staged struct {
	fs     FS
	path   string
	file   File
	id     FileID
	w      *bufio.Writer
	size   int64 // bytes written so far
	placed bool  // the rename has happened
}

func (s *staged) tmp() string { return s.path + ".tmp" }

// stage begins a file, and the folders that it needs.
func stage(fsys FS, path string) (*staged, error) {
	if err := makeFolders(fsys, filepath.Dir(path)); err != nil {
		return nil, err
	}
	s := &staged{fs: fsys, path: path}
	f, err := fsys.Create(s.tmp())
	if errors.Is(err, fs.ErrExist) {
		if err := removeStale(fsys, s.tmp()); err != nil {
			return nil, describe("remove the stale", s.tmp(), err)
		}
		f, err = fsys.Create(s.tmp())
	}
	if err != nil {
		return nil, describe("create", s.tmp(), err)
	}
	s.file, s.w = f, bufio.NewWriterSize(f, block)
	st, err := f.Stat()
	if err == nil {
		s.id = st.ID
		err = lockFile(f, path)
	}
	if err != nil && !errors.Is(err, ErrNoLock) {
		s.abort()
		return nil, describe("lock", s.tmp(), err)
	}
	return s, nil
}

// removeStale removes a temporary file whose writer is dead: no one locks it.
func removeStale(fsys FS, tmp string) error {
	f, err := fsys.Open(tmp, true)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := lockFile(f, tmp); err != nil && !errors.Is(err, ErrNoLock) {
		return err
	}
	return fsys.Remove(tmp)
}

// makeFolders makes a folder and those above it that are missing.
func makeFolders(fsys FS, dir string) error {
	var missing []string
	for d := dir; ; d = filepath.Dir(d) {
		_, err := fsys.Stat(d)
		if err == nil {
			break
		}
		if !errors.Is(err, fs.ErrNotExist) || d == filepath.Dir(d) {
			return describe("look at", d, err)
		}
		missing = append(missing, d)
	}
	for _, d := range slices.Backward(missing) {
		// It exists if another process made it just now.
		if err := fsys.Mkdir(d); err != nil && !errors.Is(err, fs.ErrExist) {
			return describe("make the folder", d, err)
		}
	}
	return nil
}

// syncFolders makes the names of a folder's files durable, and its own and
// those of all above it: whoever made them may have died before they were.
func syncFolders(fsys FS, dir string) error {
	for ; ; dir = filepath.Dir(dir) {
		if err := fsys.SyncDir(dir); err != nil {
			return describe("sync the folder", dir, err)
		}
		if dir == filepath.Dir(dir) {
			return nil
		}
	}
}

func (s *staged) write(b []byte) error {
	n, err := s.w.Write(b)
	s.size += int64(n)
	return describe("write", s.tmp(), err)
}

// line writes one line and says where it stands.
func (s *staged) line(b []byte) (Pos, error) {
	pos := Pos{s.size, len(b)}
	err := s.write(b)
	if err == nil {
		err = s.write([]byte{'\n'})
	}
	return pos, err
}

// copyFrom copies the first n bytes of an open file.
func (s *staged) copyFrom(src io.ReaderAt, n int64) error {
	buf := make([]byte, min(n, block))
	for off := int64(0); off < n; off += int64(len(buf)) {
		buf = buf[:min(n-off, block)]
		got, err := src.ReadAt(buf, off)
		if got < len(buf) {
			if errors.Is(err, io.EOF) {
				err = ErrShrunk
			}
			return describe("copy to", s.tmp(), err)
		}
		if err := s.write(buf); err != nil {
			return err
		}
	}
	return nil
}

// finish makes the bytes durable under the temporary name.
func (s *staged) finish() error {
	if err := s.w.Flush(); err != nil {
		return describe("write", s.tmp(), err)
	}
	return describe("sync", s.tmp(), s.file.Sync())
}

// place renames the file to its place and makes that durable. If it fails with
// placed set, the file is there, but a power cut may undo it.
func (s *staged) place(over bool) error {
	if err := s.fs.Rename(s.tmp(), s.path, over); err != nil {
		return describe("rename a new file to", s.path, err)
	}
	s.placed = true
	return syncFolders(s.fs, filepath.Dir(s.path))
}

// abort takes back a file that did not come to its place.
func (s *staged) abort() {
	s.file.Close()
	if !s.placed {
		s.fs.Remove(s.tmp())
	}
}

// withdraw is abort that also takes the file from its place.
func (s *staged) withdraw() {
	if s.placed {
		s.fs.Remove(s.path)
	}
	s.abort()
}

// newFile writes a whole new file, durably; it fails where there is one.
func newFile(fsys FS, path string, fill func(*staged) error) error {
	s, err := stage(fsys, path)
	if err != nil {
		return err
	}
	if err = fill(s); err == nil {
		err = s.finish()
	}
	if err == nil {
		err = s.place(false)
	}
	if err != nil {
		s.withdraw()
		return err
	}
	s.file.Close() // what matters is durable
	return nil
}

// WriteFile writes lines to a new file at path, atomically and durably; it
// fails with [fs.ErrExist] where one exists. Missing folders are made. An error
// among the lines ends it and leaves nothing. For forks and copies.
func WriteFile(fsys FS, path string, lines iter.Seq2[[]byte, error]) error {
	if fsys == nil {
		fsys = OS
	}
	return newFile(fsys, absolute(path), func(s *staged) error { return s.lines(lines) })
}

func (s *staged) lines(lines iter.Seq2[[]byte, error]) error {
	for line, err := range lines {
		if err == nil {
			_, err = s.line(line)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// writeAnew writes the whole log, known bytes and pending lines, to a new file
// at its path, and goes on there. The known bytes come from the file that is
// still open, whatever stands at the path.
func (l *Log) writeAnew(where standing) ([]Pos, error) {
	s, err := stage(l.fs, l.path)
	if err != nil {
		return nil, err
	}
	at, err := l.fill(s, l.end)
	if err == nil {
		err = s.finish()
	}
	kept := ""
	if err == nil && where == replaced {
		kept, err = l.setAside()
	}
	if err == nil {
		err = s.place(where != absent)
	}
	if !s.placed {
		s.abort()
		return nil, err
	}
	l.noticeAnew(where, kept)
	l.adopt(s)
	if err != nil {
		// The new file may be gone after a power cut: not acknowledged, and
		// written anew the next time.
		l.suspect = true
		return nil, err
	}
	l.suspect, l.namesSynced, l.needLF = false, true, false
	l.end = l.size
	return l.written(at), nil
}

// noticeAnew says why a file that was there has been written anew.
func (l *Log) noticeAnew(where standing, kept string) {
	switch {
	case l.file.Load() == nil:
	case where == absent:
		l.notice("%s was deleted by another program; it was written again", l.path)
	case where == replaced:
		l.notice("%s was replaced by another program; it was written again, and the other file kept as %s", l.path, kept)
	default:
		l.notice("the disk did not take a write to %s; it was written to a new file", l.path)
	}
}

// fill writes the first end bytes and the pending lines to a new file and says
// where the pending lines begin.
func (l *Log) fill(s *staged, end int64) (int64, error) {
	if h := l.file.Load(); h != nil {
		if err := s.copyFrom(h, end); err != nil {
			return 0, err
		}
	}
	// Where the file was cut short, blank lines stand for what is lost, so
	// that no position comes to mean another line.
	for s.size < l.end {
		gap := strings.Repeat("\n", int(min(l.end-s.size, block)))
		if err := s.write([]byte(gap)); err != nil {
			return 0, err
		}
	}
	if l.needLF {
		if err := s.write([]byte{'\n'}); err != nil {
			return 0, err
		}
	}
	at := s.size
	for _, line := range l.pending {
		if _, err := s.line(line); err != nil {
			return 0, err
		}
	}
	return at, nil
}

// adopt goes over to a placed file. A torn tail stays behind with the old one.
func (l *Log) adopt(s *staged) {
	old := l.file.Swap(&handle{s.file, s.path, s.id})
	if old != nil {
		old.Close()
	}
	l.size, l.tail = s.size, Pos{}
}

// setAside gives the file that replaced ours another name. If someone is
// writing it, it stays.
func (l *Log) setAside() (string, error) {
	f, err := l.fs.Open(l.path, true)
	if err != nil {
		return "", fmt.Errorf("write %s: %w, by what cannot be kept: %w", l.path, ErrGone, err)
	}
	defer f.Close()
	if err := lockFile(f, l.path); err != nil && !errors.Is(err, ErrNoLock) {
		return "", err
	}
	return l.backup(f, l.path+".replaced-"+stamp())
}

// backup keeps the file at the log's path, which is open as f, under another
// name: a second name for the same file, or a copy where there are no links.
func (l *Log) backup(f File, name string) (string, error) {
	kept, err := unused(name, func(name string) error { return l.fs.Link(l.path, name) })
	if err == nil {
		err = l.fs.SyncDir(filepath.Dir(kept))
		if err != nil {
			l.fs.Remove(kept)
		}
		return kept, describe("sync the folder of", kept, err)
	}
	return l.copyAside(name, func(s *staged) error {
		st, err := f.Stat()
		if err != nil {
			return describe("look at", l.path, err)
		}
		return s.copyFrom(f, st.Size)
	})
}

// copyAside writes a new file under a name that is free.
func (l *Log) copyAside(name string, fill func(*staged) error) (string, error) {
	return unused(name, func(name string) error { return newFile(l.fs, name, fill) })
}

// unused calls f with a name, name-2, name-3, … until it is one that is free.
func unused(name string, f func(string) error) (string, error) {
	try := name
	for n := 2; ; n++ {
		err := f(try)
		if !errors.Is(err, fs.ErrExist) {
			return try, err
		}
		try = fmt.Sprintf("%s-%d", name, n)
	}
}

// stamp is the time in names of files.
func stamp() string {
	return strings.ReplaceAll(time.Now().UTC().Format("2006-01-02T15-04-05.000Z"), ".", "-")
}

// Replace writes all the lines beside the file, syncs, keeps the file as it was
// as backup (a name beside it; where it is taken, with a number), and renames
// over it: old or new, never between. The log then goes on with the new file.
// Positions from before mean nothing any more: Scan gives the new ones. Pending
// lines stay pending. For migrations, under the lock.
func (l *Log) Replace(backup string, lines iter.Seq2[[]byte, error]) error {
	if err := l.writable(); err != nil {
		return describe("rewrite", l.path, err)
	}
	if !l.scanned {
		if err := l.Scan(func(Line) bool { return true }); err != nil {
			return err
		}
	}
	switch where, err := l.look(); {
	case err != nil:
		return err
	case where != inPlace:
		return describe("rewrite", l.path, ErrGone)
	}
	s, err := stage(l.fs, l.path)
	if err != nil {
		return err
	}
	if err = s.lines(lines); err == nil {
		err = s.finish()
	}
	kept, backedUp := "", false
	if err == nil {
		kept, err = l.backup(l.file.Load(), filepath.Join(filepath.Dir(l.path), filepath.Base(backup)))
		backedUp = err == nil
	}
	if err == nil {
		err = s.place(true)
	}
	if !s.placed {
		s.abort()
		if backedUp {
			l.fs.Remove(kept)
		}
		return err
	}
	// If only the folder could not be synced, the next append does that before
	// it writes anything: until then nobody relies on the new file.
	l.namesSynced = err == nil
	l.adopt(s)
	l.end, l.needLF, l.suspect, l.unread = l.size, false, false, nil
	return nil
}

// SaveAs writes the whole log, pending lines included, to a new file and goes
// on there, writing, also where the log was opened read-only. The old file stays
// as it is; positions stay valid. Flush tells where the pending lines stand.
func (l *Log) SaveAs(path string) error {
	if l.closed {
		return describe("save", l.path, fs.ErrClosed)
	}
	path = absolute(path)
	end := l.end
	if h := l.file.Load(); h != nil {
		if !l.scanned {
			if err := l.Scan(func(Line) bool { return true }); err != nil {
				return err
			}
		}
		st, err := h.Stat()
		if err != nil {
			return describe("look at", l.path, err)
		}
		end = min(l.end, st.Size)
	}
	s, err := stage(l.fs, path)
	if err != nil {
		return err
	}
	at, err := l.fill(s, end)
	if err == nil {
		err = s.finish()
	}
	if err == nil {
		err = s.place(false)
	}
	if err != nil {
		s.withdraw()
		return err
	}
	l.adopt(s)
	l.path, l.readOnly, l.closing = path, false, false
	l.end, l.needLF, l.suspect, l.namesSynced = l.size, false, false, true
	l.untold = append(l.untold, l.written(at)...)
	return nil
}
