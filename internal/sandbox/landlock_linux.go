package sandbox

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

var errNoLandlock = errors.New("the kernel has no Landlock")

// What Landlock calls reading and writing, by the version that first knew it.
const (
	landlockRead  = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR
	landlockWrite = unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_REMOVE_DIR | unix.LANDLOCK_ACCESS_FS_REMOVE_FILE |
		unix.LANDLOCK_ACCESS_FS_MAKE_CHAR | unix.LANDLOCK_ACCESS_FS_MAKE_DIR | unix.LANDLOCK_ACCESS_FS_MAKE_REG | unix.LANDLOCK_ACCESS_FS_MAKE_SOCK |
		unix.LANDLOCK_ACCESS_FS_MAKE_FIFO | unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK | unix.LANDLOCK_ACCESS_FS_MAKE_SYM
	// What files have, of all that.
	landlockFile = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE
)

// landlock restricts this thread and what it starts: for good, and whatever
// namespace it goes to.
func landlock(b *Box, s Strength) error {
	version, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return errNoLandlock
	}
	write := uint64(landlockWrite)
	if version >= 2 {
		write |= unix.LANDLOCK_ACCESS_FS_REFER
	}
	if version >= 3 {
		write |= unix.LANDLOCK_ACCESS_FS_TRUNCATE
	}
	attr := unix.LandlockRulesetAttr{Handled_access_fs: write}
	if s == Partial {
		attr.Handled_access_fs |= landlockRead
		if version >= 4 && !b.Network {
			attr.Handled_access_net = unix.LANDLOCK_ACCESS_NET_BIND_TCP | unix.LANDLOCK_ACCESS_NET_CONNECT_TCP
		}
	}
	rules, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), landlockAttrSize, 0)
	if errno != 0 {
		return fmt.Errorf("making Landlock rules: %w", errno)
	}
	defer unix.Close(int(rules))
	if s == Partial {
		// Names may be listed everywhere: it is not possible to allow it for a
		// folder and not for what is in it.
		if err := permit(rules, "/", unix.LANDLOCK_ACCESS_FS_READ_DIR); err != nil {
			return err
		}
		for _, path := range readable(b.Hidden) {
			if err := permit(rules, path, landlockRead); err != nil {
				return err
			}
		}
	}
	writable := append([]string{b.Temp, "/dev", "/proc"}, b.Write...)
	if s == Full {
		writable = append(writable, "/tmp")
	}
	for _, path := range writable {
		if err := permit(rules, path, attr.Handled_access_fs); err != nil {
			return err
		}
	}
	if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, rules, 0, 0); errno != 0 {
		return fmt.Errorf("putting Landlock rules in force: %w", errno)
	}
	return nil
}

// landlockAttrSize is that of the fields that every version with network rules
// has; older kernels take zeros beyond what they know.
const landlockAttrSize = 16

// permit allows an access below a path. What is not there needs no rule.
func permit(rules uintptr, path string, access uint64) error {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil //nolint:nilerr // without a rule it is not allowed
	}
	defer unix.Close(fd)
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		access &= landlockFile
	}
	rule := unix.LandlockPathBeneathAttr{Allowed_access: access, Parent_fd: int32(fd)}
	if _, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, rules, unix.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(&rule)), 0, 0, 0); errno != 0 {
		return fmt.Errorf("allowing %s: %w", path, errno)
	}
	return nil
}

// auditArch is the kernel's name of the machine, by which a filter knows how
// system calls are numbered.
var auditArch = map[string]uint32{"amd64": unix.AUDIT_ARCH_X86_64, "arm64": unix.AUDIT_ARCH_AARCH64}

// localSocketsOnly makes the kernel refuse all sockets but those of the machine
// itself, UDP included, which Landlock lets through, and io_uring, which has
// sockets of its own.
func localSocketsOnly() error {
	arch, ok := auditArch[runtime.GOARCH]
	if !ok {
		return fmt.Errorf("the network cannot be closed on %s", runtime.GOARCH)
	}
	const (
		number, architecture, firstArgument = 0, 4, 16 // offsets in seccomp_data
		refuse                              = unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)
		x32                                 = 0x40000000 // numbers of another way to call
	)
	load := func(offset uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: offset}
	}
	// jump skips so many instructions if it is true, and so many if not.
	jump := func(op uint16, k uint32, yes, no uint8) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_JMP | op | unix.BPF_K, K: k, Jt: yes, Jf: no}
	}
	end := func(k uint32) unix.SockFilter { return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: k} }
	filter := []unix.SockFilter{
		load(architecture),
		jump(unix.BPF_JEQ, arch, 0, 7),
		load(number),
		jump(unix.BPF_JGE, x32, 5, 0),
		jump(unix.BPF_JEQ, unix.SYS_IO_URING_SETUP, 4, 0),
		jump(unix.BPF_JEQ, unix.SYS_SOCKET, 0, 2),
		load(firstArgument),
		jump(unix.BPF_JEQ, unix.AF_UNIX, 0, 1),
		end(unix.SECCOMP_RET_ALLOW),
		end(refuse),
	}
	prog := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	if err := unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&prog)), 0, 0); err != nil {
		return fmt.Errorf("closing the network: %w", err)
	}
	return nil
}
