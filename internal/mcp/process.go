package mcp

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"banyan/internal/sandbox"
	"banyan/internal/tool"
)

// How long a program may take to read what is written to it, and to end by
// itself once its input is closed.
const (
	writeTime = 10 * time.Second
	endTime   = 300 * time.Millisecond
)

// process is a server that is a program of this machine: our ends of its pipes.
// A keeper ends all that it started, also when we are gone.
type process struct {
	run    *sandbox.Process
	in     *os.File // its standard input
	out    *os.File
	filter *filter
	errs   *os.File
	quiet  chan struct{} // closed when its standard error has been read to the end
}

// startProcess runs a server's command.
func startProcess(s Server, dir string, pass []string, log *tail, keep func() (*os.File, error)) (*process, error) {
	env := tool.Environ(pass, s.Env)
	if s.Dir != "" {
		if dir = s.Dir; !filepath.IsAbs(dir) {
			return nil, fmt.Errorf("its cwd %s is not absolute", dir)
		}
	}
	path, err := lookPath(s.Command, dir, env)
	if err != nil {
		return nil, err
	}
	p := &process{quiet: make(chan struct{})}
	theirs := [3]*os.File{}
	var e1, e2, e3 error
	theirs[0], p.in, e1 = os.Pipe()
	p.out, theirs[1], e2 = os.Pipe()
	p.errs, theirs[2], e3 = os.Pipe()
	if err = errors.Join(e1, e2, e3); err == nil {
		p.run, err = sandbox.Start(sandbox.Command{
			Path: path, Args: append([]string{s.Command}, s.Args...), Dir: dir, Env: env,
			Input: theirs[0], Errors: theirs[2],
		}, theirs[1])
	}
	for _, f := range theirs {
		f.Close()
	}
	if err != nil {
		for _, f := range []*os.File{p.in, p.out, p.errs} {
			f.Close()
		}
		return nil, err
	}
	p.filter = newFilter(p.out, "", log, keep)
	go func() {
		defer close(p.quiet)
		_, _ = io.Copy(log, p.errs)
	}()
	return p, nil
}

// Read implements the reader of the SDK's transport.
func (p *process) Read(b []byte) (int, error) { return p.filter.Read(b) }

// Write gives up on a program that does not read.
func (p *process) Write(b []byte) (int, error) {
	if err := p.in.SetWriteDeadline(time.Now().Add(writeTime)); err != nil {
		return 0, err
	}
	return p.in.Write(b)
}

// Close ends the program: politely by the end of its input, then as all that we
// run. It may be called more than once.
func (p *process) Close() error {
	p.in.Close()
	select {
	case <-p.run.Exited():
	case <-time.After(endTime):
	}
	p.run.Kill()
	select {
	case <-p.run.Gone():
	case <-time.After(endTime): // the keeper goes on ending it
	}
	p.out.Close()
	p.errs.Close()
	<-p.quiet
	return nil
}

// ending says how the program ended, if it has.
func (p *process) ending() string {
	select {
	case <-p.run.Exited():
	case <-time.After(endTime):
		return ""
	}
	switch s := p.run.Status(); {
	case s.Signal != "":
		return "it was ended by a signal: " + s.Signal
	case s.Code != 0:
		return fmt.Sprintf("it ended with exit code %d", s.Code)
	}
	return "it ended"
}

// lookPath finds a command in the PATH that the program itself will have. A name
// with a slash is a path from the folder that it runs in.
func lookPath(command, dir string, env []string) (string, error) {
	if strings.Contains(command, "/") {
		if !filepath.IsAbs(command) {
			command = filepath.Join(dir, command)
		}
		return exec.LookPath(command)
	}
	for _, entry := range env {
		path, ok := strings.CutPrefix(entry, "PATH=")
		if !ok {
			continue
		}
		for _, folder := range filepath.SplitList(path) {
			if found, err := exec.LookPath(filepath.Join(folder, command)); err == nil {
				return found, nil
			}
		}
	}
	return "", fmt.Errorf("there is no program %q in PATH", command)
}
