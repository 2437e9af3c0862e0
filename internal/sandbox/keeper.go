package sandbox

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"time"
)

// keeperName is the program name by which a process knows that it is a keeper.
const keeperName = "banyan-keeper"

// How long processes are given to end after they are asked to, and how long a
// command's children may take to end with it before they count as left behind.
const (
	grace  = 2 * time.Second
	settle = 30 * time.Millisecond
)

func init() {
	if len(os.Args) == 1 && os.Args[0] == keeperName {
		// init runs on the main thread, which lives as long as the process:
		// the command's parent-death signal is bound to the thread.
		runtime.LockOSThread()
		keep()
		syscall.Exit(0) // at once: nothing of the program is to be finished
	}
}

// keep is the keeper's life. It has no output of its own but the status pipe,
// and ends when no process is left.
func keep() {
	control, status := os.NewFile(3, "control"), os.NewFile(4, "status")
	syscall.CloseOnExec(3)
	syscall.CloseOnExec(4)
	// Not signal.Ignore: what is ignored stays so in the command.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	becomeReaper()

	orders := bufio.NewReader(control)
	line, err := orders.ReadBytes('\n')
	if err != nil {
		return
	}
	shell, err := execute(line)
	if err != nil {
		fmt.Fprintf(status, "%s\n", err)
		return
	}
	fmt.Fprintln(status, "started")
	go func() {
		_, _ = io.Copy(io.Discard, orders)
		endAll(shell) // and with the last of them, this process
	}()
	reap(shell, status)
}

// execute carries out the order, in its box, and lets go of the pipes of its
// input and output, so that they close when the last process of the command has
// closed them.
func execute(line []byte) (pid int, err error) {
	var c order
	if err := json.Unmarshal(line, &c); err != nil {
		return 0, fmt.Errorf("reading what to run: %w", err)
	}
	if c.Box != nil {
		if err := enter(c.Box, c.Strength); err != nil {
			return 0, err
		}
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return 0, err
	}
	defer null.Close()
	pid, err = syscall.ForkExec(c.Path, c.Args, &syscall.ProcAttr{
		Dir:   c.Dir,
		Env:   c.Env,
		Files: []uintptr{0, 1, 2},
		Sys:   attributes(),
	})
	if err != nil {
		return 0, fmt.Errorf("starting %s in %s: %w", c.Path, c.Dir, err)
	}
	for fd := 0; fd <= 2; fd++ {
		if err := dup(int(null.Fd()), fd); err != nil {
			return 0, err
		}
	}
	return pid, nil
}

// reap collects every process that ends, reports the command's end, and returns
// when there are none left.
func reap(shell int, status *os.File) {
	for {
		var ws syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &ws, 0, nil)
		switch {
		case err == syscall.EINTR:
		case err != nil: // ECHILD: nobody is left
			return
		case pid == shell && (ws.Exited() || ws.Signaled()):
			s := Status{Code: ws.ExitStatus()}
			if ws.Signaled() {
				s = Status{Signal: ws.Signal().String()}
			}
			report(status, "exited", s)
			go func() {
				time.Sleep(settle)
				report(status, "left", descendants(shell))
			}()
		}
	}
}

func report(status *os.File, kind string, value any) {
	text, err := json.Marshal(value)
	if err == nil {
		fmt.Fprintf(status, "%s %s\n", kind, text)
	}
}

// endAll asks every process to end, and two seconds later kills whatever is
// left and whatever appears, until reap finds nobody and the process exits.
func endAll(shell int) {
	signalAll(shell, syscall.SIGTERM)
	time.Sleep(grace)
	for {
		signalAll(shell, syscall.SIGKILL)
		time.Sleep(5 * time.Millisecond)
	}
}

func signalAll(shell int, sig syscall.Signal) {
	for _, pid := range descendants(shell) {
		_ = syscall.Kill(pid, sig)
		_ = syscall.Kill(pid, syscall.SIGCONT) // a stopped process must go on to end
	}
}
