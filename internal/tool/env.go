package tool

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"

	"banyan/internal/sandbox"
)

// Env is what the tools of one program share. It is made once, by [NewEnv], and
// its tools may run side by side. The exported fields are set before the first
// tool runs.
type Env struct {
	// Dir is the workspace: absolute, without symbolic links. Relative paths
	// start here, and so do commands.
	Dir string
	// PassEnv names variables that commands may see besides the usual ones.
	PassEnv []string
	// Now is the clock.
	Now func() time.Time

	temp  string       // private folder, 0700, removed by Close
	roots []root       // the workspace first, then what AddDir added
	box   *sandbox.Box // what commands may touch; nil for everything
	// hidden is what Confine was told.
	hidden []string
	// fetchAnywhere is for tests, whose servers are on this machine.
	fetchAnywhere bool

	// changing is held while a file is changed: changes are rare, take
	// milliseconds, and must each see what the one before left. Environments
	// that Below makes share it.
	changing *sync.Mutex

	// mu guards what follows: short look-ups by tools that run side by side.
	mu      sync.Mutex
	seen    map[string][sha256.Size]byte // by real path: content that the model knows
	jobs    map[int]*job                 // commands that are waited for or left to run
	lastJob int
}

// root is a folder below which tools work without leaving it.
type root struct {
	dir string
	fs  *os.Root
}

// NewEnv makes the environment of tools that work in dir. Close releases it.
func NewEnv(dir string) (*Env, error) {
	e := &Env{Now: time.Now, changing: &sync.Mutex{}}
	sweep()
	if err := e.begin(dir, "", fmt.Sprintf("banyan-%d-", os.Getpid())); err != nil {
		return nil, err
	}
	return e, nil
}

// begin opens the workspace and makes the private folder, in another one or in
// the system's.
func (e *Env) begin(dir, in, name string) error {
	e.seen, e.jobs = map[string][sha256.Size]byte{}, map[int]*job{}
	if err := e.AddDir(dir); err != nil {
		return err
	}
	e.Dir = e.roots[0].dir
	temp, err := os.MkdirTemp(in, name)
	if err != nil {
		e.Close()
		return fmt.Errorf("making a private temporary folder: %w", err)
	}
	e.temp = temp
	return nil
}

// Below makes the environment of another agent's tools: they start in dir, which
// must be in the workspace, may touch what e's may, and change files one after
// the other with them. Its commands and files end with its own Close, which must
// come before that of e.
func (e *Env) Below(dir string) (*Env, error) {
	b := &Env{PassEnv: e.PassEnv, Now: e.Now, changing: e.changing, fetchAnywhere: e.fetchAnywhere}
	if err := b.begin(dir, e.temp, "task-"); err != nil {
		return nil, err
	}
	for _, r := range e.roots {
		if r.dir == b.Dir {
			continue
		}
		if err := b.AddDir(r.dir); err != nil {
			b.Close()
			return nil, err
		}
	}
	if e.box != nil {
		b.Confine(e.hidden...) // as strong as that of e, who has told the user
	}
	return b, nil
}

// sweep removes the temporary folders of programs of ours that were killed.
func sweep() {
	folders, _ := filepath.Glob(filepath.Join(os.TempDir(), "banyan-*-*"))
	for _, folder := range folders {
		var pid int
		if _, err := fmt.Sscanf(filepath.Base(folder), "banyan-%d-", &pid); err != nil || !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
			continue
		}
		if info, err := os.Lstat(folder); err == nil && info.IsDir() {
			os.RemoveAll(folder) // fails if it is another user's
		}
	}
}

// AddDir adds a folder to those that tools may work in as in the workspace.
func (e *Env) AddDir(dir string) error {
	abs, err := filepath.Abs(dir)
	if err == nil {
		abs, err = filepath.EvalSymlinks(abs)
	}
	if err != nil {
		return fmt.Errorf("opening the folder %s: %w", dir, err)
	}
	fs, err := os.OpenRoot(abs)
	if err != nil {
		return fmt.Errorf("opening the folder %s: %w", dir, err)
	}
	e.roots = append(e.roots, root{abs, fs})
	return nil
}

// Dirs are the folders that AddDir added: absolute, without symbolic links.
func (e *Env) Dirs() []string {
	var dirs []string
	for _, r := range e.roots[1:] {
		dirs = append(dirs, r.dir)
	}
	return dirs
}

// Temp is the private folder in which long outputs are kept until Close. Models
// are told of its files and may read them.
func (e *Env) Temp() string { return e.temp }

// Close ends what still runs and removes the temporary folder.
func (e *Env) Close() error {
	e.mu.Lock()
	jobs := slices.Collect(maps.Values(e.jobs))
	e.jobs = map[int]*job{}
	e.mu.Unlock()
	for _, j := range jobs {
		j.process.Kill() // all at once: each may take its time
	}
	for _, j := range jobs {
		j.close()
	}
	for _, r := range e.roots {
		r.fs.Close()
	}
	if e.temp == "" {
		return nil
	}
	return os.RemoveAll(e.temp)
}

// know records that the model knows this content of a file.
func (e *Env) know(real string, data []byte) {
	sum := sha256.Sum256(data)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.seen[real] = sum
}

// knows tells whether the model has seen the file at all, and whether data is
// what it has seen.
func (e *Env) knows(real string, data []byte) (seen, same bool) {
	sum := sha256.Sum256(data)
	e.mu.Lock()
	defer e.mu.Unlock()
	old, seen := e.seen[real]
	return seen, old == sum
}

// Program is the path of a program that commands would find; empty where there
// is none.
func Program(name string) string {
	path, err := exec.LookPath(name)
	if err != nil {
		return ""
	}
	return path
}
