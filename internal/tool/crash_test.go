package tool

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
)

// A folder of the workspace that turns into a link to somewhere else, and back,
// at any moment: nothing is read or written outside.
func TestNoRaceLeavesTheWorkspace(t *testing.T) {
	rounds := 300
	if os.Getenv("LONG") != "" {
		rounds = 100_000
	}
	b := newBench(t)
	out := t.TempDir()
	if err := os.WriteFile(filepath.Join(out, "f"), []byte("treasure\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	b.put("real/f", "inside\n")
	if err := os.Symlink(out, b.path("link")); err != nil {
		t.Fatal(err)
	}
	var stop atomic.Bool
	done := make(chan struct{})
	go func() {
		defer close(done)
		for !stop.Load() {
			os.Rename(b.path("real"), b.path("d"))
			os.Rename(b.path("d"), b.path("real"))
			os.Rename(b.path("link"), b.path("d"))
			os.Rename(b.path("d"), b.path("link"))
		}
	}()
	worked := 0
	for range rounds {
		for name, a := range map[string]args{
			"read":  {"path": "d/f"},
			"write": {"path": "d/new", "content": "x"},
			"edit":  {"path": "d/f", "old_string": "e", "new_string": "E"},
			"mkdir": {"path": "d/sub"},
			"rm":    {"path": "d/new"},
		} {
			r := b.call(name, a)
			if r.Err == nil {
				worked++
			}
			if strings.Contains(textOf(r), "treasure") {
				t.Fatalf("%s saw what is outside", name)
			}
		}
		os.Remove(b.path("real/new"))
		os.WriteFile(b.path("real/f"), []byte("inside\n"), 0o644)
	}
	stop.Store(true)
	<-done
	entries, err := os.ReadDir(out)
	if err != nil || len(entries) != 1 {
		t.Errorf("outside are %v", entries)
	}
	if data, _ := os.ReadFile(filepath.Join(out, "f")); string(data) != "treasure\n" {
		t.Errorf("the file outside has %q", data)
	}
	t.Logf("%d of %d calls worked", worked, 5*rounds)
}

// A program that is killed while it writes leaves the old content or the new.
func TestKilledWhileWriting(t *testing.T) {
	contents := []string{strings.Repeat("old\n", 50_000), strings.Repeat("new and longer\n", 50_000)}
	if dir := os.Getenv("BANYAN_TEST_DIR"); dir != "" {
		env, err := NewEnv(dir)
		if err != nil {
			t.Fatal(err)
		}
		b := bench{t, env, All(env)}
		b.text("read", args{"path": "f"})
		os.Stdout.WriteString("ready\n")
		for i := 0; ; i++ {
			b.text("write", args{"path": "f", "content": contents[i%2]})
		}
	}
	kills := 15
	if os.Getenv("LONG") != "" {
		kills = 1000
	}
	b := newBench(t)
	b.put("f", contents[0])
	for range kills {
		cmd := exec.Command(os.Args[0], "-test.run=^TestKilledWhileWriting$")
		cmd.Env = append(os.Environ(), "BANYAN_TEST_DIR="+b.env.Dir, "TMPDIR="+t.TempDir())
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if _, err := out.Read(make([]byte, 16)); err != nil {
			t.Fatal(err)
		}
		// Whatever it is doing now: reading the file takes a while.
		b.get("f")
		cmd.Process.Kill()
		cmd.Wait()
		if got := b.get("f"); got != contents[0] && got != contents[1] {
			t.Fatalf("%d bytes, neither old nor new", len(got))
		}
	}
}
