package tool

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// original is a file as it was when its change was worked out.
type original struct {
	data []byte
	info fs.FileInfo
}

// load reads a file that is about to be changed, as a whole.
func load(p place) (original, error) {
	f, info, err := p.open()
	if err != nil {
		return original{}, err
	}
	defer f.Close()
	if info.Size() > maxWhole {
		return original{}, fmt.Errorf("%s has %s: files above %s are not edited here, use a command", p.shown, bytesText(info.Size()), bytesText(maxWhole))
	}
	data, err := io.ReadAll(f)
	if err != nil {
		return original{}, pathError(p.shown, err)
	}
	return original{data, info}, nil
}

var errChanged = errors.New("changed")

// replace gives an existing file new content. Readers, and a crash at any
// point, see the old content or the new one: it is written beside the file,
// synced, and renamed over it. Two kinds of file cannot be renamed over: those
// with several names, which would come apart, and those in a folder that we may
// not write to. They are written in place, after a copy has been kept.
//
// It fails with errChanged if the file is no longer the original.
func (e *Env) replace(p place, old original, data []byte) error {
	if old.info.Mode().Perm()&0o222 == 0 {
		return fmt.Errorf("%s is read-only", p.shown)
	}
	if links(old.info) > 1 {
		return e.overwrite(p, old, data)
	}
	temp, err := writeBeside(p, data, func(f *os.File) error { return dress(f, p, old.info) })
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
		return e.overwrite(p, old, data)
	}
	if err != nil {
		return err
	}
	if err := unchanged(p, old); err != nil {
		p.root.Remove(temp)
		return err
	}
	if err := p.root.Rename(temp, p.rel); err != nil {
		p.root.Remove(temp)
		return pathError(p.shown, err)
	}
	return syncDir(p)
}

// create makes a new file, and the folders above it. It fails with
// fs.ErrExist if there is one.
func create(p place, data []byte) error {
	if dir := filepath.Dir(p.rel); dir != "." {
		if err := p.root.MkdirAll(dir, 0o755); err != nil {
			return pathError(p.shown, err)
		}
	}
	temp, err := writeBeside(p, data, func(f *os.File) error { return nil })
	if err != nil {
		return err
	}
	defer p.root.Remove(temp)
	// Unlike a rename, a link refuses to take the place of a file.
	err = p.root.Link(temp, p.rel)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s: %w", p.shown, fs.ErrExist)
	}
	if err != nil { // a file system without hard links
		err = p.root.Rename(temp, p.rel)
	}
	if err != nil {
		return pathError(p.shown, err)
	}
	return syncDir(p)
}

// writeBeside writes and syncs a temporary file in p's folder and returns its
// name below p.root. Nothing is left if it fails.
func writeBeside(p place, data []byte, prepare func(*os.File) error) (string, error) {
	temp := filepath.Join(filepath.Dir(p.rel), ".banyan-"+rand.Text()[:12])
	f, err := p.root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return "", pathError(p.shown, err)
	}
	_, err = f.Write(data)
	err = errors.Join(err, prepare(f), f.Sync(), f.Close())
	if err != nil {
		p.root.Remove(temp)
		return "", pathError(p.shown, err)
	}
	return temp, nil
}

// dress gives a new file the mode, the owner and the extended attributes of the
// one that it replaces. Attributes and owner as far as we may: they belong to
// others when we may not.
func dress(f *os.File, p place, like fs.FileInfo) error {
	if stat, ok := like.Sys().(*syscall.Stat_t); ok {
		_ = f.Chown(int(stat.Uid), int(stat.Gid))
	}
	if old, err := p.root.Open(p.rel); err == nil {
		copyAttributes(int(old.Fd()), int(f.Fd()))
		old.Close()
	}
	return f.Chmod(like.Mode()) // last: chown clears setuid
}

func copyAttributes(from, to int) {
	names := make([]byte, 64<<10)
	n, err := unix.Flistxattr(from, names)
	if err != nil {
		return
	}
	value := make([]byte, 64<<10)
	for name := range bytes.SplitSeq(names[:n], []byte{0}) {
		if len(name) == 0 {
			continue
		}
		if n, err := unix.Fgetxattr(from, string(name), value); err == nil {
			_ = unix.Fsetxattr(to, string(name), value[:n], 0)
		}
	}
}

// overwrite writes in place. The old content is kept in the temporary folder
// until the new one is on disk, and named if that fails.
func (e *Env) overwrite(p place, old original, data []byte) error {
	backup, err := os.CreateTemp(e.temp, "backup-*-"+filepath.Base(p.real))
	if err != nil {
		return fmt.Errorf("keeping a copy of %s: %w", p.shown, err)
	}
	_, err = backup.Write(old.data)
	if err = errors.Join(err, backup.Sync(), backup.Close()); err != nil {
		return fmt.Errorf("keeping a copy of %s: %w", p.shown, err)
	}
	if err := unchanged(p, old); err != nil {
		return err
	}
	f, err := p.root.OpenFile(p.rel, os.O_WRONLY, 0)
	if err != nil {
		return pathError(p.shown, err)
	}
	_, err = f.WriteAt(data, 0)
	if err == nil {
		err = f.Truncate(int64(len(data)))
	}
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("%s may be damaged, its old content is in %s: %w", p.shown, backup.Name(), err)
	}
	return os.Remove(backup.Name())
}

// unchanged fails with errChanged if the file is not the original any more.
func unchanged(p place, old original) error {
	now, err := load(p)
	if err != nil {
		return err
	}
	if !os.SameFile(now.info, old.info) || !bytes.Equal(now.data, old.data) {
		return errChanged
	}
	return nil
}

func links(info fs.FileInfo) uint64 {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(stat.Nlink)
	}
	return 1
}

func syncDir(p place) error {
	dir, err := p.root.Open(filepath.Dir(p.rel))
	if err != nil {
		return pathError(p.shown, err)
	}
	defer dir.Close()
	if err := dir.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) { // not every file system syncs folders
		return pathError(p.shown, err)
	}
	return nil
}

// renameAt moves an entry of an open folder to a path.
func renameAt(dir *os.File, name, target string) error {
	return unix.Renameat(int(dir.Fd()), name, unix.AT_FDCWD, target)
}
