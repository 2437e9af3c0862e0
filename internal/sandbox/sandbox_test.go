package sandbox

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// mark is in the environment of every process of a test's commands, by which
// those that are left are found, wherever they went.
func mark(t testing.TB) string {
	return fmt.Sprintf("BANYAN_TEST_MARK=%s-%d-%d", strings.ReplaceAll(t.Name(), "/", "-"), os.Getpid(), time.Now().UnixNano())
}

func marked(t testing.TB, mark string) []string {
	t.Helper()
	var found []string
	environs, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil || len(environs) == 0 {
		t.Skip("finding survivors needs /proc")
	}
	for _, path := range environs {
		if env, err := os.ReadFile(path); err == nil && bytes.Contains(env, []byte(mark)) {
			name, _ := os.ReadFile(filepath.Join(filepath.Dir(path), "cmdline"))
			found = append(found, strings.ReplaceAll(string(name), "\x00", " "))
		}
	}
	return found
}

type running struct {
	*Process
	output *os.File
	mark   string
}

func run(t testing.TB, script string) running {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	m := mark(t)
	p, err := Start(Command{
		Path: "/bin/bash", Args: []string{"bash", "--noprofile", "--norc", "-c", script},
		Dir: t.TempDir(), Env: []string{"PATH=" + os.Getenv("PATH"), m},
	}, w)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Kill(); <-p.Gone(); r.Close() })
	return running{p, r, m}
}

func (r running) all(t testing.TB) string {
	t.Helper()
	data, err := io.ReadAll(r.output)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestStatusAndOutput(t *testing.T) {
	for _, test := range []struct {
		script, output string
		status         Status
	}{
		{"echo out; echo err >&2", "out\nerr\n", Status{}},
		{"exit 7", "", Status{Code: 7}},
		{"kill -9 $$", "", Status{Signal: "killed"}},
		{"cat; echo $?", "0\n", Status{}}, // standard input is at its end
		{"exec 3</dev/tty || echo none", "bash: line 1: /dev/tty: No such device or address\nnone\n", Status{}},
		{"trap", "", Status{}}, // no signal is ignored
	} {
		p := run(t, test.script)
		if got := p.all(t); got != test.output {
			t.Errorf("%s: output %q, want %q", test.script, got, test.output)
		}
		if got := p.Status(); got != test.status {
			t.Errorf("%s: status %+v, want %+v", test.script, got, test.status)
		}
		if left := p.Left(); len(left) != 0 {
			t.Errorf("%s: left %v", test.script, left)
		}
		<-p.Gone()
	}
}

func TestStartFails(t *testing.T) {
	for _, c := range []Command{
		{Path: "/no/such/program", Args: []string{"x"}, Dir: "/"},
		{Path: "/bin/bash", Args: []string{"bash"}, Dir: "/no/such/folder"},
	} {
		_, err := Start(c, os.Stderr)
		if err == nil || !strings.Contains(err.Error(), "no such file") {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

func TestInputAndErrorsOfItsOwn(t *testing.T) {
	pipe := func() (r, w *os.File) {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { r.Close(); w.Close() })
		return r, w
	}
	in, input := pipe()
	output, out := pipe()
	errors, errs := pipe()
	p, err := Start(Command{
		Path: "/bin/bash", Args: []string{"bash", "-c", "cat; echo oh >&2"}, Dir: "/", Input: in, Errors: errs,
	}, out)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range []*os.File{in, out, errs} {
		f.Close()
	}
	fmt.Fprint(input, "asked")
	input.Close()
	said, _ := io.ReadAll(output)
	wrong, _ := io.ReadAll(errors)
	if string(said) != "asked" || string(wrong) != "oh\n" {
		t.Errorf("output %q, errors %q", said, wrong)
	}
	<-p.Gone()
}

func TestLargeEnvironment(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	big := strings.Repeat("x", 100_000)
	p, err := Start(Command{Path: "/bin/bash", Args: []string{"bash", "-c", "echo ${#BIG}"}, Dir: "/", Env: []string{"BIG=" + big}}, w)
	if err != nil {
		t.Fatal(err)
	}
	w.Close()
	if out, _ := io.ReadAll(r); string(out) != "100000\n" {
		t.Errorf("got %q", out)
	}
	<-p.Gone()
}

// escapes are ways to outlive a command. Each leaves at least one process.
var escapes = map[string]string{
	"background":     "sleep 300 &",
	"nohup":          "nohup sleep 300 >/dev/null 2>&1 &",
	"setsid":         "setsid sleep 300 >/dev/null 2>&1 &",
	"disown":         "sleep 300 & disown -a",
	"double fork":    "( ( setsid sleep 300 & ) & ) ; sleep 0.1",
	"deaf to TERM":   `bash -c 'trap "" TERM HUP INT; while :; do sleep 1; done' &`,
	"deaf daemon":    `setsid bash -c 'trap "" TERM; setsid bash -c "trap \"\" TERM; sleep 300; sleep 300" & sleep 300; sleep 300' & sleep 0.1`,
	"starts another": `setsid bash -c 'trap "setsid sleep 300 & exit" TERM; while :; do sleep 0.05; done' & sleep 0.1`,
	"stopped":        `bash -c 'kill -STOP $$' & sleep 0.1`,
	"many":           "for i in 1 2 3 4 5 6 7 8 9 10; do (setsid sleep 300 &) ; done",
}

func TestNothingSurvivesAKill(t *testing.T) {
	for name, script := range escapes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := run(t, script)
			<-p.Exited()
			if len(p.Left()) == 0 {
				t.Fatal("the command left nothing: this shows nothing")
			}
			p.Kill()
			<-p.Gone()
			if left := marked(t, p.mark); len(left) > 0 {
				t.Errorf("left: %q", left)
			}
		})
	}
}

func TestKillWhileItRuns(t *testing.T) {
	for name, script := range escapes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := run(t, script+"\necho ready; sleep 300")
			line := make([]byte, 64)
			if _, err := p.output.Read(line); err != nil {
				t.Fatal(err)
			}
			p.Kill()
			<-p.Gone()
			if left := marked(t, p.mark); len(left) > 0 {
				t.Errorf("left: %q", left)
			}
			if s := p.Status(); s == (Status{}) {
				t.Error("a killed command counts as a success")
			}
		})
	}
}

// The same when the program that started them is killed with -9: a second copy
// of this test starts them and is killed.
func TestNothingSurvivesOurDeath(t *testing.T) {
	if script := os.Getenv("BANYAN_TEST_CHILD"); script != "" {
		p, err := Start(Command{Path: "/bin/bash", Args: []string{"bash", "-c", script}, Dir: "/", Env: os.Environ()}, os.Stdout)
		if err != nil {
			t.Fatal(err)
		}
		<-p.Gone()
		return
	}
	for name, script := range escapes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := mark(t)
			cmd := exec.Command(os.Args[0], "-test.run=^TestNothingSurvivesOurDeath$")
			cmd.Env = append(os.Environ(), "BANYAN_TEST_CHILD="+script+"\necho ready; sleep 300", m)
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			if _, err := out.Read(make([]byte, 64)); err != nil {
				t.Fatal(err)
			}
			cmd.Process.Kill()
			cmd.Process.Wait()
			deadline := time.Now().Add(20 * time.Second)
			for left := marked(t, m); len(left) > 0; left = marked(t, m) {
				if time.Now().After(deadline) {
					t.Fatalf("left: %q", left)
				}
				time.Sleep(20 * time.Millisecond)
			}
		})
	}
}

func BenchmarkCommand(b *testing.B) {
	for b.Loop() {
		_, w, err := os.Pipe()
		if err != nil {
			b.Fatal(err)
		}
		p, err := Start(Command{Path: "/bin/bash", Args: []string{"bash", "--noprofile", "--norc", "-c", "true"}, Dir: "/"}, w)
		if err != nil {
			b.Fatal(err)
		}
		w.Close()
		<-p.Gone()
	}
}

func BenchmarkBareShell(b *testing.B) {
	for b.Loop() {
		if err := exec.Command("/bin/bash", "--noprofile", "--norc", "-c", "true").Run(); err != nil {
			b.Fatal(err)
		}
	}
}

// grow makes a script that leaves a random tree of processes behind.
func grow(r *rand.Rand, depth int) string {
	if depth == 0 {
		return "sleep 300; true"
	}
	shell := func(script string) string { return "bash -c '" + strings.ReplaceAll(script, "'", `'\''`) + "'" }
	var parts []string
	for range 1 + r.IntN(2) {
		inner := grow(r, depth-1)
		parts = append(parts, []string{
			shell(inner) + " &",
			"(" + shell(inner) + " &) &",
			"setsid " + shell(inner) + " &",
			"nohup " + shell(inner) + " >/dev/null 2>&1 &",
			"( setsid " + shell(inner) + " & ) ; true",
			shell("trap '' TERM HUP INT; "+inner) + " &",
			"setsid setsid " + shell(inner) + " & disown -a",
			shell("kill -STOP $$; "+inner) + " &",
		}[r.IntN(8)])
	}
	return strings.Join(parts, "\n") + "\nwait"
}

func TestRandomTreesDie(t *testing.T) {
	trees := 12
	if os.Getenv("LONG") != "" {
		trees = 500
	}
	for i := range trees {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(1, uint64(i)))
			p := run(t, grow(r, 1+r.IntN(3)))
			// At some moment of its growing: a tree may also end by itself, or
			// wait for one that is stopped.
			want := 2 + r.IntN(4)
			for range 30 {
				if len(marked(t, p.mark)) >= want {
					break
				}
			}
			p.Kill()
			<-p.Gone()
			if left := marked(t, p.mark); len(left) > 0 {
				t.Errorf("left: %q", left)
			}
		})
	}
}
