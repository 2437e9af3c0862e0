package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// namespaces are the attributes of a keeper that makes a full box. It is the
// first process of its process namespace: when it ends, the kernel ends the
// rest.
func namespaces(attr *syscall.SysProcAttr, network bool) {
	attr.Cloneflags = unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWIPC
	if !network {
		attr.Cloneflags |= unix.CLONE_NEWNET
	}
	attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getuid(), HostID: os.Getuid(), Size: 1}}
	attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getgid(), HostID: os.Getgid(), Size: 1}}
}

// enter puts this thread, and so the command that is started from it, in a box.
func enter(b *Box, s Strength) error {
	if s == Full {
		if err := rearrange(b); err != nil {
			return err
		}
		if !b.Network {
			if err := loopbackUp(); err != nil {
				return err
			}
		}
		if err := dropCapabilities(); err != nil {
			return err
		}
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("giving up new privileges: %w", err)
	}
	if err := landlock(b, s); err != nil && (s == Partial || !errors.Is(err, errNoLandlock)) {
		return err
	}
	if s == Partial && !b.Network {
		return localSocketsOnly()
	}
	return nil
}

// rearrange makes the file system of a full box: all of it read-only but what
// may be written, what is hidden covered, /tmp private.
func rearrange(b *Box) error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("making the mounts private: %w", err)
	}
	// What may be written is taken aside before the rest becomes read-only,
	// and put back after.
	var aside []mount
	take := func(from, to string, attr unix.MountAttr) error {
		m, err := copyMount(from, to, attr)
		if missing(err) {
			return nil
		}
		aside = append(aside, m)
		return err
	}
	if err := take(b.Temp, "/tmp", unix.MountAttr{}); err != nil {
		return err
	}
	for _, path := range slices.Concat([]string{b.Temp}, b.Write, pinned(b)) {
		if err := take(path, path, unix.MountAttr{}); err != nil {
			return err
		}
	}
	for _, path := range b.ReadOnly {
		if err := take(path, path, unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY}); err != nil {
			return err
		}
	}
	if err := unix.MountSetattr(unix.AT_FDCWD, "/", unix.AT_RECURSIVE, &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY}); err != nil {
		return fmt.Errorf("making the file system read-only: %w", err)
	}
	for _, m := range aside {
		if err := m.put(); err != nil {
			return err
		}
	}
	for _, path := range b.Hidden {
		if err := cover(path); err != nil {
			return err
		}
	}
	if err := unix.Mount("tmpfs", "/dev/shm", "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=1777"); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("making a private /dev/shm: %w", err)
	}
	if err := unix.Mount("proc", "/proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, ""); err != nil {
		return fmt.Errorf("making a private /proc: %w", err)
	}
	return nil
}

// pinned are the folders between what may be written and what in it may not. As
// mounts of their own they cannot be renamed, and others put in their place.
func pinned(b *Box) []string {
	var dirs []string
	for _, path := range b.ReadOnly {
		for dir := filepath.Dir(path); !slices.Contains(dirs, dir); dir = filepath.Dir(dir) {
			if !slices.ContainsFunc(b.Write, func(w string) bool { return strings.HasPrefix(dir, w+"/") }) {
				break
			}
			if info, err := os.Stat(dir); err == nil && info.IsDir() {
				dirs = append(dirs, dir)
			}
		}
	}
	slices.SortFunc(dirs, func(a, b string) int { return len(a) - len(b) }) // the outer ones first
	return dirs
}

// missing tells whether nothing is at a path.
func missing(err error) bool {
	return errors.Is(err, os.ErrNotExist) || errors.Is(err, unix.ENOTDIR)
}

// mount is a copy of a part of the file system that is not attached yet.
type mount struct {
	fd  int
	at  string
	dir bool
}

func copyMount(from, to string, attr unix.MountAttr) (mount, error) {
	info, err := os.Stat(from)
	if err != nil {
		return mount{}, err
	}
	fd, err := unix.OpenTree(unix.AT_FDCWD, from, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_RECURSIVE)
	if err != nil {
		return mount{}, fmt.Errorf("copying the mount of %s: %w", from, err)
	}
	if err := unix.MountSetattr(fd, "", unix.AT_EMPTY_PATH|unix.AT_RECURSIVE, &attr); err != nil {
		return mount{}, fmt.Errorf("making %s read-only: %w", from, err)
	}
	return mount{fd, to, info.IsDir()}, nil
}

// put attaches a mount. What it covers may be a new, empty /tmp.
func (m mount) put() error {
	if _, err := os.Stat(m.at); errors.Is(err, os.ErrNotExist) {
		if err := os.MkdirAll(filepath.Dir(m.at), 0o755); err != nil {
			return fmt.Errorf("making a place for %s: %w", m.at, err)
		}
		if m.dir {
			err = os.Mkdir(m.at, 0o755)
		} else {
			err = os.WriteFile(m.at, nil, 0o600)
		}
		if err != nil {
			return fmt.Errorf("making a place for %s: %w", m.at, err)
		}
	}
	if err := unix.MoveMount(m.fd, "", unix.AT_FDCWD, m.at, unix.MOVE_MOUNT_F_EMPTY_PATH); err != nil {
		return fmt.Errorf("attaching %s: %w", m.at, err)
	}
	return unix.Close(m.fd)
}

// cover puts nothing over a file or a folder.
func cover(path string) error {
	info, err := os.Stat(path)
	switch {
	case missing(err) || errors.Is(err, os.ErrPermission):
		return nil // it is not there, or not to be read anyway
	case err != nil:
		return err
	case info.IsDir():
		err = unix.Mount("tmpfs", path, "tmpfs", unix.MS_RDONLY|unix.MS_NOSUID|unix.MS_NODEV, "size=4k,mode=0755")
	default:
		err = unix.Mount(os.DevNull, path, "", unix.MS_BIND, "")
	}
	if err != nil {
		return fmt.Errorf("hiding %s: %w", path, err)
	}
	return nil
}

// loopbackUp switches on the one interface of a network namespace.
func loopbackUp() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("switching on the loopback interface: %w", err)
	}
	defer unix.Close(fd)
	req, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	req.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	if err := unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, req); err != nil {
		return fmt.Errorf("switching on the loopback interface: %w", err)
	}
	return nil
}

// dropCapabilities takes from what is executed the capabilities that the keeper
// has in its namespace.
func dropCapabilities() error {
	for c := range uintptr(64) {
		err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0)
		if errors.Is(err, unix.EINVAL) {
			return nil // there are no more
		}
		if err != nil {
			return fmt.Errorf("giving up capabilities: %w", err)
		}
	}
	return nil
}

// readable are files and folders that together are all but the hidden ones:
// Landlock knows only what is allowed.
func readable(hidden []string) []string {
	var all []string
	for queue := []string{"/"}; len(queue) > 0; {
		dir := queue[0]
		queue = queue[1:]
		if !holdsAny(dir, hidden) {
			all = append(all, dir)
			continue
		}
		entries, _ := os.ReadDir(dir)
		for _, entry := range entries {
			path := filepath.Join(dir, entry.Name())
			if !slices.Contains(hidden, path) {
				queue = append(queue, path)
			}
		}
	}
	return all
}

func holdsAny(dir string, paths []string) bool {
	return slices.ContainsFunc(paths, func(p string) bool { return dir == "/" || strings.HasPrefix(p, dir+"/") })
}
