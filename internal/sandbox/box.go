package sandbox

import (
	"fmt"
	"os"
	"sync"
)

// Box is what a command may touch. Everything may be read but what is hidden;
// nothing may be changed but what is named. Paths are absolute and without
// links.
type Box struct {
	// Temp is a private folder that commands have as /tmp, if the box is
	// [Full], and by TMPDIR.
	Temp string `json:"temp"`
	// Write are the files and folders that may be changed.
	Write []string `json:"write"`
	// ReadOnly are files and folders below those that may not. Those that do
	// not exist are not protected.
	ReadOnly []string `json:"readOnly"`
	// Hidden are files and folders that may not even be read. (A [Partial] box
	// lets the names in such a folder be listed.)
	Hidden []string `json:"hidden"`
	// Network allows the network. Without it, a [Full] box has only a loopback
	// interface of its own, a [Partial] one no sockets but local ones.
	Network bool `json:"network"`
}

// Strength is what a box is made of.
type Strength int

// The strengths, from none to most.
const (
	// None: this machine has nothing to make a box of.
	None Strength = iota
	// Partial: Landlock and seccomp. ReadOnly is not enforced, and the
	// processes of other commands are seen.
	Partial
	// Full: namespaces of users, mounts, processes and network, and Landlock.
	Full
)

// String is the strength in a word.
func (s Strength) String() string { return [...]string{"none", "partial", "full"}[s] }

// probe tries a box once: whether the kernel lets us cannot be told otherwise.
var probe = sync.OnceValues(func() (Strength, error) {
	temp, err := os.MkdirTemp("", "banyan-probe-")
	if err != nil {
		return None, err
	}
	defer os.RemoveAll(temp)
	var problem error
	for s := Full; s > None; s-- {
		if err := try(s, temp); err == nil {
			return s, problem
		} else {
			problem = fmt.Errorf("commands cannot be put in a box that is %s: %w", s, err)
		}
	}
	return None, problem
})

// Available is the strongest box that can be had here, and why it is not a
// stronger one. It runs a command to find out, the first time.
func Available() (Strength, error) { return probe() }

func try(s Strength, temp string) error {
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer null.Close()
	p, err := start(order{
		Command:  Command{Path: "/bin/sh", Args: []string{"sh", "-c", ":"}, Dir: "/", Box: &Box{Temp: temp}},
		Strength: s,
	}, null)
	if err != nil {
		return err
	}
	if end := p.Status(); end != (Status{}) {
		return fmt.Errorf("a trial ended with %+v", end)
	}
	return nil
}
