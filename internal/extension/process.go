package extension

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"banyan/internal/sandbox"
)

// process is a running extension, as its pipes. It hands over what it reads; what
// it is told to write waits in a queue of limited size.
type process struct {
	kept   *sandbox.Process
	in     *os.File    // its standard input
	queue  chan []byte // to be written
	queued atomic.Int64
	silent chan struct{} // closed when its standard error is closed and handed over
	dead   chan struct{} // closed when what it still says does not matter
	ending bool          // nothing more is written; it belongs to the host's owner, as send and end do
}

// received is something that came from a process.
type received struct {
	line *Line
	long json.RawMessage // the id of an answer that was too long
	bad  string          // what was wrong with the line
	err  string          // what it wrote to standard error
}

// startProcess runs an executable in a process group of its own, with none of
// our keys. What comes from it is handed to take, one at a time; take blocks as
// long as it likes. The goroutines end when the process and its pipes have.
func startProcess(path, dir string, env []string, limits Limits, wg *sync.WaitGroup, take func(received)) (*process, error) {
	pipes, err := newPipes()
	if err != nil {
		return nil, err
	}
	kept, err := sandbox.Start(sandbox.Command{
		Path: path, Args: []string{filepath.Base(path)}, Dir: dir, Env: env, Input: pipes.inR, Errors: pipes.errW,
	}, pipes.outW)
	pipes.inR.Close()
	pipes.outW.Close()
	pipes.errW.Close()
	if err != nil {
		pipes.inW.Close()
		pipes.outR.Close()
		pipes.errR.Close()
		return nil, err
	}
	p := &process{kept: kept, in: pipes.inW, queue: make(chan []byte, queueLines), silent: make(chan struct{}), dead: make(chan struct{})}
	wg.Go(p.write)
	wg.Go(func() { readErrors(pipes.errR, take); close(p.silent) })
	wg.Go(func() { p.readLines(pipes.outR, limits, take) })
	return p, nil
}

type pipes struct{ inR, inW, outR, outW, errR, errW *os.File }

func newPipes() (p pipes, err error) {
	var made []*os.File
	pipe := func(r, w **os.File) {
		if err == nil {
			*r, *w, err = os.Pipe()
			made = append(made, *r, *w)
		}
	}
	pipe(&p.inR, &p.inW)
	pipe(&p.outR, &p.outW)
	pipe(&p.errR, &p.errW)
	if err != nil {
		for _, f := range made {
			f.Close()
		}
	}
	return p, err
}

// What may wait to be read by an extension.
const (
	queueLines = 4096
	queueBytes = 64 << 20
)

// send queues a line. It is false where the extension does not read: there is no
// more room.
func (p *process) send(line []byte) bool {
	if p.ending {
		return true // it has ended, which is said elsewhere
	}
	if p.queued.Load() > queueBytes {
		return false
	}
	select {
	case p.queue <- line:
		p.queued.Add(int64(len(line)))
		return true
	default:
		return false
	}
}

// lastWords is how long is waited for what a process that has ended wrote.
const lastWords = 500 * time.Millisecond

// wait returns when the process has ended and its last words are there, unless
// somebody else holds its standard error open.
func (p *process) wait() {
	<-p.kept.Exited()
	select {
	case <-p.silent:
	case <-time.After(lastWords):
	}
}

// slow says whether much waits to be read by the extension.
func (p *process) slow() bool { return len(p.queue) > queueLines/8 || p.queued.Load() > queueBytes/8 }

// write is the writer's life. When the process has ended its writes fail, and
// what is queued goes nowhere.
func (p *process) write() {
	defer p.in.Close()
	for line := range p.queue {
		_, _ = p.in.Write(line) // that it has ended is seen elsewhere
		p.queued.Add(-int64(len(line)))
	}
}

// end ends the process and all that it started: at once closes its input, and
// kills it after grace if it is still there. It does not wait.
func (p *process) end(grace time.Duration, wg *sync.WaitGroup) {
	if p.ending {
		return
	}
	p.ending = true
	close(p.queue)
	wg.Go(func() {
		timer := time.NewTimer(grace)
		defer timer.Stop()
		select {
		case <-p.kept.Exited():
		case <-timer.C:
		}
		close(p.dead)
		p.in.Close() // ends a writer that waits
		p.kept.Kill()
		<-p.kept.Gone()
	})
}

// readLines hands lines over until the pipe is closed. A flood is slowed down to
// so many lines a second; the extension then waits for its pipe.
func (p *process) readLines(f *os.File, limits Limits, take func(received)) {
	defer f.Close()
	in := lines{bufio.NewReaderSize(f, 64<<10), limits.Line}
	credit, last := float64(limits.Burst), time.Now()
	for {
		line, long, err := in.next()
		if err != nil {
			return
		}
		now := time.Now()
		credit = min(float64(limits.Burst), credit+now.Sub(last).Seconds()*float64(limits.Rate)) - 1
		if last = now; credit < 0 {
			take(received{bad: fmt.Sprintf("it floods: more than %d lines a second", limits.Rate)})
			select {
			case <-time.After(time.Second / 10):
			case <-p.dead:
				return
			}
		}
		if len(line) > 0 {
			take(sense(line, long, limits.Line))
		}
	}
}

// sense makes sense of a line.
func sense(line []byte, long bool, limit int) received {
	if long {
		return received{long: headID(line), bad: fmt.Sprintf("it sent a line of more than %d MB", limit>>20)}
	}
	var l Line
	if err := json.Unmarshal(line, &l); err != nil {
		return received{bad: "it prints what is no line of the protocol (what is meant for people belongs on standard error)"}
	}
	return received{line: &l}
}

// readErrors hands over what is written to standard error.
func readErrors(f *os.File, take func(received)) {
	defer f.Close()
	buf := make([]byte, 8<<10)
	for {
		n, err := f.Read(buf)
		if n > 0 {
			take(received{err: string(buf[:n])})
		}
		if err != nil {
			return
		}
		if n == len(buf) {
			time.Sleep(time.Millisecond) // a flood is slowed down
		}
	}
}
