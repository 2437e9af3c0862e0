package sandbox

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
)

// Command says what to run. It gets no terminal, and a session and process
// group of its own.
type Command struct {
	Path string   `json:"path"` // absolute path of the program
	Args []string `json:"args"` // with the program's name first
	Dir  string   `json:"dir"`
	Env  []string `json:"env"` // all of it
	// Box restricts it; nil does not. A command that cannot be restricted is
	// not run: see [Available].
	Box *Box `json:"box,omitempty"`
	// Input is its standard input, Errors its standard error. Without them it
	// has nothing to read, and errors go to its output. The caller may close
	// them when Start has returned.
	Input, Errors *os.File `json:"-"`
}

// order is what a keeper is told.
type order struct {
	Command
	Strength Strength `json:"strength"` // of the box
}

// Status is how a command ended.
type Status struct {
	Code   int    `json:"code"`             // exit code; 0 if Signal is set
	Signal string `json:"signal,omitempty"` // that ended it, e.g. "killed"
}

// Process is a command that was started, and all that it started.
type Process struct {
	control *os.File // closing it kills
	kill    sync.Once
	begun   chan error // whether the command was started
	exited  chan struct{}
	settled chan struct{}
	gone    chan struct{}
	// status and left are written before exited and settled are closed, and
	// read after.
	status Status
	left   []int
}

// Start runs a command. What it and its children write goes to output, which
// the caller may close when Start has returned: the command has its own copy.
func Start(c Command, output *os.File) (*Process, error) {
	o := order{Command: c}
	if c.Box != nil {
		var err error
		if o.Strength, err = Available(); o.Strength == None {
			return nil, err
		}
	}
	return start(o, output)
}

func start(c order, output *os.File) (*Process, error) {
	self, err := executable()
	if err != nil {
		return nil, fmt.Errorf("finding this program to run %s: %w", c.Path, err)
	}
	text, err := json.Marshal(c)
	if err != nil {
		return nil, err
	}
	controlIn, control, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("running %s: %w", c.Path, err)
	}
	defer controlIn.Close()
	status, statusOut, err := os.Pipe()
	if err != nil {
		control.Close()
		return nil, fmt.Errorf("running %s: %w", c.Path, err)
	}
	defer statusOut.Close()
	keeper := exec.Cmd{
		Path:        self,
		Args:        []string{keeperName},
		Env:         []string{"GOMAXPROCS=2"}, // the order has the command's
		Dir:         "/",
		Stdout:      output,
		Stderr:      output,
		ExtraFiles:  []*os.File{controlIn, statusOut},
		SysProcAttr: &syscall.SysProcAttr{Setsid: true},
	}
	if c.Input != nil {
		keeper.Stdin = c.Input
	}
	if c.Errors != nil {
		keeper.Stderr = c.Errors
	}
	if c.Strength == Full {
		namespaces(keeper.SysProcAttr, c.Box.Network)
	}
	if err := keeper.Start(); err != nil {
		control.Close()
		status.Close()
		return nil, fmt.Errorf("running %s: %w", c.Path, err)
	}
	p := &Process{
		control: control,
		begun:   make(chan error, 1),
		exited:  make(chan struct{}),
		settled: make(chan struct{}),
		gone:    make(chan struct{}),
	}
	go p.watch(&keeper, status)
	// The order may be larger than a pipe holds; the keeper reads it first.
	_, _ = control.Write(append(text, '\n')) // if that fails, the keeper has ended
	if err := <-p.begun; err != nil {
		p.Kill()
		return nil, err
	}
	return p, nil
}

// Exited is closed when the command itself has ended.
func (p *Process) Exited() <-chan struct{} { return p.exited }

// Status is how the command ended. It waits for it.
func (p *Process) Status() Status {
	<-p.exited
	return p.status
}

// Settled is closed a moment after the command has ended, as soon as it is
// known whether it has left processes behind; at once if it has not.
func (p *Process) Settled() <-chan struct{} { return p.settled }

// Left are the ids of the processes that were there when it was settled.
func (p *Process) Left() []int {
	<-p.settled
	return p.left
}

// Gone is closed when no process is left.
func (p *Process) Gone() <-chan struct{} { return p.gone }

// Kill ends the command and all that it has started: politely, and after two
// seconds not. It does not wait: see Gone.
func (p *Process) Kill() { p.kill.Do(func() { p.control.Close() }) }

// watch follows the keeper's reports to its end.
func (p *Process) watch(keeper *exec.Cmd, status *os.File) {
	defer status.Close()
	reports := bufio.NewReader(status)
	switch first, err := reports.ReadString('\n'); {
	case err != nil:
		p.begun <- errors.New("the process that keeps commands ended before it could start this one")
	case first != "started\n":
		p.begun <- errors.New(strings.TrimSpace(first))
	default:
		p.begun <- nil
	}
	// If the keeper dies without a report, the command dies with it.
	p.status = Status{Signal: syscall.SIGKILL.String()}
	exited, settled := false, false
	for {
		line, err := reports.ReadString('\n')
		if err != nil {
			break
		}
		kind, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch kind {
		case "exited":
			p.status = Status{}
			_ = json.Unmarshal([]byte(rest), &p.status)
			exited = true
			close(p.exited)
		case "left":
			_ = json.Unmarshal([]byte(rest), &p.left)
			settled = true
			close(p.settled)
		}
	}
	_ = keeper.Wait()
	p.Kill() // releases the pipe
	if !exited {
		close(p.exited)
	}
	close(p.gone) // first: who learns that it is settled may ask
	if !settled {
		close(p.settled)
	}
}
