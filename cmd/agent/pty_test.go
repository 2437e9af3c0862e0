package main

import (
	"flag"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"
	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/term"
)

// slow makes terminal stories run at a speed at which they can be watched:
// go test ./cmd/agent -run Terminal -slow 300ms -v
var slow = flag.Duration("slow", 0, "pause after each step of a terminal story, and show the screen")

// binary is the program under test, built once for all tests.
var binary = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "banyan-test-")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "agent")
	out, err := exec.Command("go", "build", "-o", path, ".").CombinedOutput()
	if err != nil {
		os.Stderr.Write(out)
	}
	return path, err
})

func TestMain(m *testing.M) {
	testscript.Main(cleaning{m}, map[string]func(){"agent": main, "panicking-screen": panickingScreen})
}

// cleaning runs the tests and removes the binary.
type cleaning struct{ *testing.M }

func (c cleaning) Run() int {
	code := c.M.Run()
	if path, err := binary(); err == nil {
		os.RemoveAll(filepath.Dir(path))
	}
	return code
}

// terminal is the program in a pseudo-terminal whose output goes through a
// terminal emulator: what a user would see.
type terminal struct {
	t      testing.TB
	cmd    *exec.Cmd
	tty    *os.File    // the terminal's side
	before *term.State // of the program's side, before the program ran

	mu     sync.Mutex // the emulator is fed by one goroutine and read by the test
	screen *vt.Emulator
	raw    []byte        // all that was written
	fed    chan struct{} // one waits in it when something was written

	ended chan struct{} // closed when the program has ended and its output is read
	after *term.State   // as before, once it has ended
}

// home is a folder with nothing in it, and an environment that knows nothing else.
type home struct{ dir, work string }

func newHome(t testing.TB) home {
	t.Helper()
	h := home{dir: t.TempDir(), work: t.TempDir()}
	return h
}

func (h home) env(extra ...string) []string {
	return append([]string{
		"HOME=" + h.dir, "PATH=" + os.Getenv("PATH"), "TERM=xterm-256color", "LANG=C.UTF-8",
	}, extra...)
}

// launch is how a program is started on a screen.
type launch struct {
	cols, rows int
	env        []string
	args       []string
	// as is a function of the test binary to run in place of the program, one of
	// those in TestMain.
	as string
}

// start runs the program on a screen.
func start(t testing.TB, h home, cols, rows int, args ...string) *terminal {
	t.Helper()
	return h.launch(t, launch{cols: cols, rows: rows, args: args})
}

// launch runs the program on a screen. The test holds the program's side of the
// terminal open too, so as to see in which state it was left.
func (h home) launch(t testing.TB, l launch) *terminal {
	t.Helper()
	path, err := binary()
	if err != nil {
		t.Fatalf("build: %v", err)
	}
	cmd := exec.Command(path, l.args...)
	if l.as != "" {
		cmd = exec.Command(os.Args[0], l.args...)
		cmd.Args[0] = l.as
	}
	cmd.Dir, cmd.Env = h.work, h.env(l.env...)
	tty, program, err := pty.Open()
	if err != nil {
		t.Fatalf("open a terminal: %v", err)
	}
	if err := pty.Setsize(tty, &pty.Winsize{Rows: uint16(l.rows), Cols: uint16(l.cols)}); err != nil {
		t.Fatal(err)
	}
	before, err := term.GetState(int(program.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = program, program, program
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatalf("start: %v", err)
	}
	tm := &terminal{
		t: t, cmd: cmd, tty: tty, before: before, screen: vt.NewEmulator(l.cols, l.rows),
		fed: make(chan struct{}, 1), ended: make(chan struct{}),
	}
	read := make(chan struct{})
	go tm.feed(read)
	go tm.answer()
	go func() {
		defer close(tm.ended)
		cmd.Wait()
		tm.after, _ = term.GetState(int(program.Fd()))
		program.Close() // the output ends
		<-read
	}()
	t.Cleanup(func() {
		cmd.Process.Kill()
		<-tm.ended
		tty.Close()
		// Not screen.Close, which races with the Read in answer.
		tm.screen.InputPipe().(io.Closer).Close()
	})
	return tm
}

// feed shows the program's output to the emulator.
func (tm *terminal) feed(read chan<- struct{}) {
	defer close(read)
	buf := make([]byte, 64<<10)
	for {
		n, err := tm.tty.Read(buf)
		tm.mu.Lock()
		tm.screen.Write(buf[:n])
		tm.raw = append(tm.raw, buf[:n]...)
		tm.mu.Unlock()
		select {
		case tm.fed <- struct{}{}:
		default:
		}
		if err != nil {
			return
		}
	}
}

// written is a copy of all that the program has written.
func (tm *terminal) written() []byte {
	tm.mu.Lock()
	defer tm.mu.Unlock()
	return slices.Clone(tm.raw)
}

// hangUp closes the terminal under the program, as closing a window does.
func (tm *terminal) hangUp() { tm.tty.Close() }

// answer gives the program the emulator's replies to its questions.
func (tm *terminal) answer() {
	buf := make([]byte, 4096)
	for {
		n, err := tm.screen.Read(buf)
		if err != nil {
			return
		}
		if _, err := tm.tty.Write(buf[:n]); err != nil {
			return
		}
	}
}

// text is the screen as lines, without blanks at their ends.
func (tm *terminal) text() string {
	tm.mu.Lock()
	defer tm.mu.Unlock()
	lines := strings.Split(tm.screen.String(), "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRight(l, " \r")
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n")
}

// send writes keys as a terminal would.
func (tm *terminal) send(keys string) {
	tm.t.Helper()
	if _, err := tm.tty.WriteString(keys); err != nil {
		tm.t.Fatalf("type %q: %v", keys, err)
	}
	if *slow > 0 {
		time.Sleep(*slow)
		tm.t.Logf("\n%s", tm.text())
	}
}

// see waits until all the texts are on the screen.
func (tm *terminal) see(wanted ...string) {
	tm.t.Helper()
	tm.wait(func(screen string) bool {
		for _, w := range wanted {
			if !strings.Contains(screen, w) {
				return false
			}
		}
		return true
	}, strings.Join(wanted, " and "))
}

// notSee waits until a text has left the screen.
func (tm *terminal) notSee(text string) {
	tm.t.Helper()
	tm.wait(func(screen string) bool { return !strings.Contains(screen, text) }, "no more "+text)
}

// patience is how long a test waits for what must come. It is long because
// machines can be busy; a test that passes never waits for it.
const patience = 60 * time.Second

func (tm *terminal) wait(ok func(screen string) bool, what string) {
	tm.t.Helper()
	late := time.After(patience)
	for !ok(tm.text()) {
		select {
		case <-tm.fed:
		case <-tm.ended:
			if !ok(tm.text()) {
				tm.t.Fatalf("the program has ended and the screen does not show %s:\n%s", what, tm.text())
			}
		case <-late:
			tm.t.Fatalf("the screen does not show %s:\n%s", what, tm.text())
		}
	}
	if *slow > 0 {
		tm.t.Logf("\n%s", tm.text())
		time.Sleep(*slow)
	}
}

// end waits until the program has ended and gives its exit code.
func (tm *terminal) end() int {
	tm.t.Helper()
	select {
	case <-tm.ended:
	case <-time.After(patience):
		tm.t.Fatalf("the program does not end:\n%s", tm.text())
	}
	return tm.cmd.ProcessState.ExitCode()
}

// Keys as terminals send them.
const (
	enter  = "\r"
	escape = "\x1b"
	ctrlC  = "\x03"
	ctrlD  = "\x04"
)
