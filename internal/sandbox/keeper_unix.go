//go:build unix && !linux

package sandbox

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// Where orphans cannot be adopted, what leaves the command's process group gets
// away.
func becomeReaper() {}

func executable() (string, error) { return os.Executable() }

func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

func dup(from, to int) error { return unix.Dup2(from, to) }

// descendants stands for what is left of the command's process group, in the
// notation of kill(2).
func descendants(shell int) []int {
	if syscall.Kill(-shell, 0) != nil {
		return []int{}
	}
	return []int{-shell}
}
