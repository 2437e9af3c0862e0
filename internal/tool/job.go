package tool

import (
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"banyan/internal/sandbox"
)

// job is a command that was started. A command in the foreground is one that is
// waited for; if it leaves processes behind, it stays a job.
type job struct {
	id      int
	command string
	started time.Time
	process *sandbox.Process
	out     *output
	pipe    *os.File
	drained chan struct{} // closed when all output has been read
	readTo  int64         // what bash_output has shown; Env.mu guards it
}

// start starts a command and its reader. The reader owns the pipe and ends when
// the last process has closed it, at the latest when the job is closed.
func (e *Env) start(a bashArgs) (*job, error) {
	dir, err := e.workingDir(a.Cwd)
	if err != nil {
		return nil, err
	}
	shell, err := findShell()
	if err != nil {
		return nil, err
	}
	temp, err := e.commandTemp()
	if err != nil {
		return nil, fmt.Errorf("making a temporary folder for commands: %w", err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("starting a command: %w", err)
	}
	defer w.Close()
	box := e.box
	if a.Unconfined {
		box = nil
	}
	process, err := sandbox.Start(sandbox.Command{
		Path: shell,
		Args: []string{"bash", "--noprofile", "--norc", "-c", a.Command},
		Dir:  dir,
		Env:  childEnv(os.Environ(), e.PassEnv, temp, a.Env),
		Box:  box,
	}, w)
	if err != nil {
		r.Close()
		return nil, err
	}
	j := &job{command: a.Command, started: e.Now(), process: process, pipe: r, drained: make(chan struct{})}
	e.mu.Lock()
	e.lastJob++
	j.id = e.lastJob
	e.jobs[j.id] = j
	e.mu.Unlock()
	j.out = newOutput(filepath.Join(e.temp, fmt.Sprintf("output-%d.txt", j.id)))
	go func() {
		defer close(j.drained)
		_, _ = io.Copy(j.out, r)
	}()
	return j, nil
}

// close ends the job and lets go of what it holds.
func (j *job) close() {
	j.end()
	j.pipe.Close()
	<-j.drained
	j.out.close()
}

// forget drops a job that is over and that nobody will ask for.
func (e *Env) forget(j *job) {
	e.mu.Lock()
	delete(e.jobs, j.id)
	e.mu.Unlock()
	j.close()
}

func (e *Env) job(id int) (*job, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	j, ok := e.jobs[id]
	if !ok {
		return nil, fmt.Errorf("there is no background job %d", id)
	}
	return j, nil
}

// Job is a command that is running or was put in the background, for people to
// see.
type Job struct {
	ID      int
	Command string
	Started time.Time
	Running bool // any process of it is left
}

// Jobs are the commands that run, those that are waited for too, and those that
// were in the background and have ended; oldest first.
func (e *Env) Jobs() []Job {
	e.mu.Lock()
	defer e.mu.Unlock()
	var list []Job
	for _, id := range slices.Sorted(maps.Keys(e.jobs)) {
		j := e.jobs[id]
		list = append(list, Job{j.id, j.command, j.started, j.running()})
	}
	return list
}

// ending is why a job is no longer waited for.
type ending uint8

const (
	ended    ending = iota
	timedOut        // and was killed
	canceled        // and was killed
)

// follow waits for a job's command to end, showing its output as it comes, a
// few times a second at most.
func (j *job) follow(ctx context.Context, timeout time.Duration, progress func()) ending {
	const pause = 100 * time.Millisecond
	limit := time.NewTimer(timeout)
	defer limit.Stop()
	changed := j.out.changed
	var again <-chan time.Time // while changed is not looked at
	for {
		select {
		case <-j.process.Settled():
			j.drain()
			return ended
		case <-ctx.Done():
			j.end()
			return canceled
		case <-limit.C:
			j.end()
			return timedOut
		case <-changed:
			progress()
			changed, again = nil, time.After(pause)
		case <-again:
			changed, again = j.out.changed, nil
		}
	}
}

// drain waits for what the command has written before it ended. If processes
// are left, they hold the pipe open and it is not known what is whose.
func (j *job) drain() {
	if len(j.process.Left()) > 0 {
		select {
		case <-j.drained:
		case <-time.After(20 * time.Millisecond):
		}
		return
	}
	<-j.process.Gone()
	select {
	case <-j.drained: // it is all in the pipe
	case <-time.After(10 * time.Second): // unless a process that is not ours has it open
	}
}

// end kills the job's processes. One that the kernel cannot end, because it
// waits for a broken disk, is not waited for.
func (j *job) end() {
	j.process.Kill()
	select {
	case <-j.process.Gone():
		j.drain()
	case <-time.After(5 * time.Second):
	}
}

// running tells whether any process of the job is left.
func (j *job) running() bool {
	select {
	case <-j.process.Gone():
		return false
	default:
		return true
	}
}

// view is the job's state for people, with its output from an offset on, and the
// offset at which the next begins.
func (j *job) view(now time.Time, from int64) (v Command, next int64) {
	text, cut, next := j.out.since(from)
	v = Command{Command: j.command, Output: text, Millis: now.Sub(j.started).Milliseconds(), Cut: cut}
	select {
	case <-j.process.Exited():
		if s := j.process.Status(); s.Signal != "" {
			v.Signal = s.Signal
		} else {
			v.ExitCode = &s.Code
		}
	default:
	}
	return v, next
}
