package main

import (
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/creack/pty"
)

// BenchmarkVersion is a start that does nothing, beside its floor: a process
// that does nothing.
func BenchmarkVersion(b *testing.B) {
	path, err := binary()
	if err != nil {
		b.Fatal(err)
	}
	for name, cmd := range map[string][]string{"agent": {path, "--version"}, "floor": {"true"}} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if err := exec.Command(cmd[0], cmd[1:]...).Run(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkFirstKey is the time from the start until the prompt is drawn and a
// key typed into it is on the screen, beside its floor: a terminal that echoes.
func BenchmarkFirstKey(b *testing.B) {
	b.Run("agent", func(b *testing.B) {
		h := newHome(b)
		for b.Loop() {
			tm := start(b, h, 120, 40)
			tm.see("›")
			tm.send("Ж")
			tm.see("Ж")
			b.StopTimer()
			tm.send("\x15" + ctrlD) // clear the line, leave
			tm.end()
			b.StartTimer()
		}
	})
	b.Run("floor", func(b *testing.B) {
		buf := make([]byte, 1024)
		for b.Loop() {
			cmd := exec.Command("cat")
			tty, err := pty.Start(cmd)
			if err != nil {
				b.Fatal(err)
			}
			if _, err := tty.WriteString("x\n"); err != nil {
				b.Fatal(err)
			}
			if _, err := tty.Read(buf); err != nil {
				b.Fatal(err)
			}
			b.StopTimer()
			cmd.Process.Signal(os.Kill)
			cmd.Wait()
			tty.Close()
			b.StartTimer()
		}
	})
}

// BenchmarkEcho is the time from a key to the screen while nothing else happens.
func BenchmarkEcho(b *testing.B) {
	tm := start(b, newHome(b), 120, 40)
	tm.see("›")
	time.Sleep(500 * time.Millisecond)
	for b.Loop() {
		tm.send("Ж")
		tm.see("Ж")
		b.StopTimer()
		tm.send("\x15")
		tm.notSee("Ж")
		time.Sleep(10 * time.Millisecond)
		b.StartTimer()
	}
}
