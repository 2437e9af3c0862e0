//go:build unix

package pgtest

import (
	"errors"
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"syscall"
)

// standBack gives the server's folder to another user if we are root, whom the
// server refuses, and says how to run commands as that one.
func standBack(dir string) (as func(*exec.Cmd), err error) {
	if os.Geteuid() != 0 {
		return func(*exec.Cmd) {}, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, uidErr := strconv.Atoi(u.Uid)
		gid, gidErr := strconv.Atoi(u.Gid)
		if err := errors.Join(uidErr, gidErr, os.Chown(dir, uid, gid)); err != nil {
			return nil, err
		}
		who := &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
		return func(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Credential: who} }, nil
	}
	return nil, errors.New("neither postgres nor nobody is a user here")
}
