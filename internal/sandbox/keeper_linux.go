package sandbox

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// becomeReaper makes this process the parent of every descendant whose own
// parent ends.
func becomeReaper() { _ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) }

// executable is this program, also when its file has been replaced since.
func executable() (string, error) { return "/proc/self/exe", nil }

func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
}

func dup(from, to int) error { return unix.Dup3(from, to, 0) }

// descendants are all live processes below this one. Since it adopts orphans,
// that is everything that the command started.
func descendants(int) []int {
	parents := map[int][]int{}
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range stats {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended
		}
		// "pid (name) state ppid …": the name may hold anything.
		end := strings.LastIndexByte(string(text), ')')
		fields := strings.Fields(string(text[end+1:]))
		pid, _ := strconv.Atoi(strings.Split(path, "/")[2])
		if len(fields) < 2 || fields[0] == "Z" {
			continue
		}
		if parent, err := strconv.Atoi(fields[1]); err == nil {
			parents[parent] = append(parents[parent], pid)
		}
	}
	all := []int{}
	queue := []int{os.Getpid()}
	for len(queue) > 0 {
		children := parents[queue[0]]
		all = append(all, children...)
		queue = append(queue[1:], children...)
	}
	return all
}
