package hook

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"time"

	"banyan/internal/sandbox"
)

// Limits.
const (
	maxOutput = 1 << 20  // bytes that a hook may write to its output
	maxErrors = 16 << 10 // bytes that are kept of its errors
	maxText   = 10_000   // characters of a text of its that anybody is told
)

// ran is how a hook's program ended. What it wrote comes from outside: it is not
// fit for a terminal as it is.
type ran struct {
	code           int
	output, errors string
	fault          error // it did not run to its end
}

// place is where hooks run and what they see there.
type place struct {
	dir string
	env []string
}

// run runs a hook's program to its end, with all that it started. Its output is
// thrown away when it takes too long or writes too much.
func (p place) run(ctx context.Context, h Hook, input []byte) ran {
	limited, cancel := context.WithTimeoutCause(ctx, h.Timeout, fmt.Errorf("it was ended after %v; its \"timeout\" says how long it may take", h.Timeout))
	defer cancel()
	c, err := p.command(h)
	if err != nil {
		return ran{fault: err}
	}
	pipes, err := openPipes()
	if err != nil {
		return ran{fault: err}
	}
	defer pipes.close()
	c.Input, c.Errors = pipes.in, pipes.errs
	process, err := sandbox.Start(c, pipes.out)
	if err != nil {
		return ran{fault: err}
	}
	pipes.give()
	var g sync.WaitGroup
	out, errs := kept{most: maxOutput, over: process.Kill}, kept{most: maxErrors}
	g.Go(func() {
		_, _ = pipes.input.Write(input) // one that does not read it may end before
		pipes.input.Close()
	})
	g.Go(func() { out.read(pipes.output) })
	g.Go(func() { errs.read(pipes.errors) })
	select {
	case <-process.Exited():
	case <-limited.Done():
	}
	process.Kill() // what it left behind, too
	select {
	case <-process.Gone():
	case <-time.After(5 * time.Second): // it waits for a broken disk
	}
	// Where a process got away, it may hold the pipes open.
	late := time.AfterFunc(time.Second, pipes.close)
	g.Wait()
	late.Stop()
	switch {
	case ctx.Err() != nil:
		return ran{fault: ctx.Err()}
	case limited.Err() != nil:
		return ran{fault: context.Cause(limited)}
	case out.more:
		return ran{fault: fmt.Errorf("it was ended because it wrote more than %d KB", maxOutput>>10)}
	}
	s := process.Status()
	if s.Signal != "" {
		return ran{fault: fmt.Errorf("it was ended by a signal: %s", s.Signal)}
	}
	return ran{code: s.Code, output: string(out.data), errors: string(errs.data)}
}

// command is what is started for a hook.
func (p place) command(h Hook) (sandbox.Command, error) {
	c := sandbox.Command{Dir: p.dir, Env: p.env}
	if h.Args == nil {
		shell, err := shell()
		c.Path, c.Args = shell, []string{"bash", "-c", h.Command}
		return c, err
	}
	path, err := exec.LookPath(h.Command)
	c.Path, c.Args = path, append([]string{h.Command}, h.Args...)
	return c, err
}

// shell finds bash, or else any shell.
func shell() (string, error) {
	for _, path := range []string{"/bin/bash", "/usr/bin/bash", "/bin/sh"} {
		if _, err := os.Stat(path); err == nil {
			return path, nil
		}
	}
	path, err := exec.LookPath("bash")
	if err != nil {
		return "", fmt.Errorf("hooks need bash, which is not installed: %w", err)
	}
	return path, nil
}

// pipes are the hook's three, its ends and ours.
type pipes struct {
	in, out, errs         *os.File
	input, output, errors *os.File
}

func openPipes() (p pipes, err error) {
	for _, ends := range [][2]**os.File{{&p.in, &p.input}, {&p.output, &p.out}, {&p.errors, &p.errs}} {
		if *ends[0], *ends[1], err = os.Pipe(); err != nil {
			p.close()
			return p, err
		}
	}
	return p, nil
}

// give closes the ends that are the hook's now.
func (p pipes) give() {
	for _, f := range []*os.File{p.in, p.out, p.errs} {
		f.Close()
	}
}

func (p pipes) close() {
	for _, f := range []*os.File{p.in, p.out, p.errs, p.input, p.output, p.errors} {
		if f != nil {
			f.Close() // again, for most
		}
	}
}

// kept is the beginning of what a program writes.
type kept struct {
	most int    // bytes that are kept
	over func() // called where there is more; may be nil
	data []byte
	more bool
}

// read reads to the end: until the last process has closed the pipe, or we have.
func (k *kept) read(from io.Reader) {
	data, _ := io.ReadAll(io.LimitReader(from, int64(k.most)+1))
	if k.more = len(data) > k.most; k.more {
		data = data[:k.most]
		if k.over != nil {
			k.over()
		}
	}
	k.data = data
	_, _ = io.Copy(io.Discard, from)
}
