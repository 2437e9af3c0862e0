package main

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"
	"github.com/rogpeppe/go-internal/testscript"
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
	testscript.Main(cleaning{m}, map[string]func(){"agent": main})
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
	t   testing.TB
	cmd *exec.Cmd
	tty *os.File

	mu      sync.Mutex // the emulator is fed by one goroutine and read by the test
	screen  *vt.Emulator
	written int
	ended   chan struct{} // closed when the program's output has ended
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

// start runs the program on a screen.
func start(t testing.TB, h home, cols, rows int, args ...string) *terminal {
	t.Helper()
	path, err := binary()
	if err != nil {
		t.Fatalf("build: %v", err)
	}
	cmd := exec.Command(path, args...)
	cmd.Dir = h.work
	cmd.Env = h.env()
	tty, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: uint16(rows), Cols: uint16(cols)})
	if err != nil {
		t.Fatalf("start: %v", err)
	}
	term := &terminal{t: t, cmd: cmd, tty: tty, screen: vt.NewEmulator(cols, rows), ended: make(chan struct{})}
	go term.feed()
	go term.answer()
	t.Cleanup(func() {
		cmd.Process.Kill()
		tty.Close()
	})
	return term
}

// feed shows the program's output to the emulator.
func (tm *terminal) feed() {
	defer close(tm.ended)
	buf := make([]byte, 64<<10)
	for {
		n, err := tm.tty.Read(buf)
		tm.mu.Lock()
		tm.screen.Write(buf[:n])
		tm.written += n
		tm.mu.Unlock()
		if err != nil {
			return
		}
	}
}

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

func (tm *terminal) wait(ok func(screen string) bool, what string) {
	tm.t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for !ok(tm.text()) {
		if time.Now().After(deadline) {
			tm.t.Fatalf("the screen does not show %s:\n%s", what, tm.text())
		}
		time.Sleep(time.Millisecond)
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
	case <-time.After(20 * time.Second):
		tm.t.Fatalf("the program does not end:\n%s", tm.text())
	}
	tm.cmd.Wait()
	return tm.cmd.ProcessState.ExitCode()
}

// Keys as terminals send them.
const (
	enter  = "\r"
	escape = "\x1b"
	ctrlC  = "\x03"
	ctrlD  = "\x04"
)
