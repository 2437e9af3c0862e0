package main

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"

	"banyan/internal/llm/llmtest"
)

// What users feel, measured in a pseudo-terminal, each beside its floor in the
// same run: a program that does nothing, a terminal that only echoes.

// BenchmarkVersion is a start that does nothing, beside a process that does
// nothing.
func BenchmarkVersion(b *testing.B) {
	path, err := binary()
	if err != nil {
		b.Fatal(err)
	}
	for _, c := range []struct {
		name string
		args []string
	}{{"agent", []string{path, "--version"}}, {"floor", []string{"true"}}} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				if err := exec.Command(c.args[0], c.args[1:]...).Run(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// prompt is what is on the screen when keys can be typed.
const prompt = "›"

// BenchmarkFirstKey is the time from the start until the first frame is on the
// screen (frame-ms), and until a key typed then is (ns/op).
func BenchmarkFirstKey(b *testing.B) {
	b.Run("agent", func(b *testing.B) {
		var frames time.Duration
		h := newHome(b)
		for b.Loop() {
			begun := time.Now()
			tm := start(b, h, 120, 40)
			tm.see(prompt)
			frames += time.Since(begun)
			tm.send("Ж")
			tm.see("Ж")
			b.StopTimer()
			tm.send("\x15" + ctrlD) // clear the line, leave
			tm.end()
			b.StartTimer()
		}
		b.ReportMetric(frames.Seconds()*1000/float64(b.N), "frame-ms")
	})
	b.Run("floor", func(b *testing.B) {
		for b.Loop() {
			tty, cmd := echoing(b)
			echo(b, tty)
			b.StopTimer()
			cmd.Process.Kill()
			cmd.Wait()
			tty.Close()
			b.StartTimer()
		}
	})
}

// BenchmarkEcho is the time from a key to the screen while nothing else happens.
func BenchmarkEcho(b *testing.B) {
	b.Run("agent", func(b *testing.B) {
		tm := start(b, newHome(b), 120, 40)
		tm.see(prompt)
		tm.settle()
		for b.Loop() {
			tm.send("Ж")
			tm.see("Ж")
			b.StopTimer()
			tm.send("\x15")
			tm.notSee("Ж")
			b.StartTimer()
		}
	})
	b.Run("floor", func(b *testing.B) {
		tty, cmd := echoing(b)
		defer tty.Close()
		defer cmd.Wait()
		defer cmd.Process.Kill()
		for b.Loop() {
			echo(b, tty)
		}
	})
}

// echoing is a terminal with a program that does nothing but be there.
func echoing(b *testing.B) (*os.File, *exec.Cmd) {
	b.Helper()
	cmd := exec.Command("cat")
	tty, err := pty.Start(cmd)
	if err != nil {
		b.Fatal(err)
	}
	return tty, cmd
}

// echo types a line and waits for it.
func echo(b *testing.B, tty *os.File) {
	b.Helper()
	if _, err := tty.WriteString("x\n"); err != nil {
		b.Fatal(err)
	}
	buf := make([]byte, 64)
	for got := []byte{}; bytes.Count(got, []byte("\n")) < 2; { // the terminal's echo and cat's
		n, err := tty.Read(buf)
		if err != nil {
			b.Fatal(err)
		}
		got = append(got, buf[:n]...)
	}
}

// settle waits until nothing has been written for a while.
func (tm *terminal) settle() {
	for {
		select {
		case <-tm.fed:
		case <-time.After(300 * time.Millisecond):
			return
		}
	}
}

// paced is a provider whose answers come in deltas, one each pause.
func paced(b *testing.B, text string, size int, pause time.Duration) string {
	var d llmtest.Anthropic
	frames := d.Frames(llmtest.Reply{Piece: size, Parts: []llmtest.Part{{Text: text}}})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		next := time.Now()
		for _, f := range frames {
			if _, err := w.Write([]byte(f)); err != nil {
				return
			}
			http.NewResponseController(w).Flush()
			next = next.Add(pause)
			time.Sleep(time.Until(next))
		}
	}))
	b.Cleanup(server.Close)
	return server.URL
}

// BenchmarkStreamEcho is the time from a key to the screen while 5,000 deltas of
// 20 characters come in, in paragraphs, one each 2 ms: typing all the while.
func BenchmarkStreamEcho(b *testing.B) {
	var text strings.Builder
	for i := range 5000 {
		end := " "
		if i%25 == 24 {
			end = "\n\n"
		}
		fmt.Fprintf(&text, "words %05d of them%s", i, end)
	}
	url := paced(b, text.String()+"THE-END", 20, 2*time.Millisecond)
	var echoes []time.Duration
	var cpu time.Duration
	var written int
	for b.Loop() {
		tm := newHome(b).launch(b, launch{cols: 120, rows: 40, env: anthropicEnv(url)})
		tm.see(prompt)
		tm.send("go" + enter)
		tm.see("words 00000")
		for !strings.Contains(tm.text(), "THE-END") {
			begun := time.Now()
			tm.send("Ж")
			tm.see("Ж")
			echoes = append(echoes, time.Since(begun))
			tm.send("\x15")
			tm.notSee("Ж")
			time.Sleep(20 * time.Millisecond) // as fast as people type
		}
		cpu += tm.cpu(b)
		written += len(tm.written())
		tm.send(ctrlD)
		tm.end()
	}
	slices.Sort(echoes)
	n := len(echoes)
	b.ReportMetric(ms(echoes[n/2]), "echo-ms")
	b.ReportMetric(ms(echoes[n*95/100]), "echo-p95-ms")
	b.ReportMetric(ms(echoes[n-1]), "echo-max-ms")
	b.ReportMetric(cpu.Seconds()/float64(b.N), "cpu-s")
	b.ReportMetric(float64(written)/1000/float64(b.N), "written-kB")
}

// answer is 9 kB of Markdown as models write it. Its lines differ: renderers that
// scroll by what lines are the same would be misled by a text that repeats itself.
func answer() string {
	var b strings.Builder
	for i := 1; b.Len() < 9000; i++ {
		fmt.Fprintf(&b, "## Step %[1]d\n\nThe parser *loses* place %[1]d because it counts **bytes** and not `runes%[1]d`. See:\n\n"+
			"```go\nfunc (p *parser%[1]d) next() (rune, error) {\n\tr%[1]d, n := utf8.DecodeRune(p.rest)\n\tp.at += n // bytes %[1]d\n\treturn r%[1]d, nil\n}\n```\n\n"+
			"- it is called %[1]d times\n- it is wrong for rune %[1]d, which is longer than a byte\n\n| input %[1]d | place |\n|---|---|\n| abc%[1]d | 3 |\n| äöü%[1]d | 6 |\n\n", i)
	}
	return b.String() + "THE-END"
}

// BenchmarkStreamedAnswer is what 9 kB of Markdown in deltas of 24 characters
// over 5.6 s cost: CPU time and bytes written to the terminal.
func BenchmarkStreamedAnswer(b *testing.B) {
	text := answer()
	pieces := len(text) / 24
	url := paced(b, text, 24, 5600*time.Millisecond/time.Duration(pieces))
	var cpu time.Duration
	written, resident := 0, 0
	for b.Loop() {
		tm := newHome(b).launch(b, launch{cols: 120, rows: 40, env: anthropicEnv(url)})
		tm.see(prompt)
		tm.settle()
		before, cpuBefore := len(tm.written()), tm.cpu(b)
		tm.send("go" + enter)
		tm.see("THE-END")
		tm.settle()
		cpu += tm.cpu(b) - cpuBefore
		written += len(tm.written()) - before
		resident += tm.resident(b)
		tm.send(ctrlD)
		tm.end()
	}
	b.ReportMetric(cpu.Seconds()/float64(b.N), "cpu-s")
	b.ReportMetric(float64(written)/1000/float64(b.N), "written-kB")
	b.ReportMetric(float64(resident)/1e6/float64(b.N), "rss-MB")
}

// BenchmarkLongSession opens sessions: the time from the start to the last
// answer on the screen, a key that scrolls, a key that is typed, and memory.
func BenchmarkLongSession(b *testing.B) {
	for _, n := range []int{1000, 10_000, 100_000} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			h := newHome(b)
			h.longSession(b, n)
			last := fmt.Sprintf("Answer %d", (n-2)/4*4+3)
			if (n-1)%400 == 399 { // the last entry is a compaction
				last = fmt.Sprintf("Question %d", n-4)
			}
			var scroll, key time.Duration
			resident := 0
			for b.Loop() {
				tm := h.launch(b, launch{cols: 120, rows: 40, args: []string{"--offline", "-c"}})
				tm.see(last)
				b.StopTimer()
				tm.settle()
				key += tm.until("Ж")
				tm.send("\x15")
				tm.notSee("Ж")
				before := tm.text()
				begun := time.Now()
				tm.send("\x1b[5~") // PgUp
				tm.wait(func(s string) bool { return s != before }, "another page")
				scroll += time.Since(begun)
				resident += tm.resident(b)
				tm.cmd.Process.Signal(os.Interrupt)
				tm.end()
				b.StartTimer()
			}
			b.ReportMetric(ms(key)/float64(b.N), "key-ms")
			b.ReportMetric(ms(scroll)/float64(b.N), "scroll-ms")
			b.ReportMetric(float64(resident)/1e6/float64(b.N), "rss-MB")
		})
	}
}

// until types a text and says how long it took to be on the screen.
func (tm *terminal) until(text string) time.Duration {
	begun := time.Now()
	tm.send(text)
	tm.see(text)
	return time.Since(begun)
}

// BenchmarkIdle is what five seconds of doing nothing cost.
func BenchmarkIdle(b *testing.B) {
	tm := start(b, newHome(b), 120, 40)
	tm.see(prompt)
	tm.settle()
	before, cpu := len(tm.written()), tm.cpu(b)
	for b.Loop() {
		time.Sleep(5 * time.Second)
	}
	b.ReportMetric((tm.cpu(b)-cpu).Seconds()*1000/float64(b.N), "cpu-ms")
	b.ReportMetric(float64(len(tm.written())-before)/float64(b.N), "written-B")
	b.ReportMetric(float64(tm.resident(b))/1e6, "rss-MB")
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// cpu is the processor time that the program has taken, all threads together.
func (tm *terminal) cpu(b *testing.B) time.Duration {
	b.Helper()
	dir := fmt.Sprintf("/proc/%d/task/", tm.cmd.Process.Pid)
	tasks, err := os.ReadDir(dir)
	if err != nil {
		b.Skipf("this system does not say what a process costs: %v", err)
	}
	var total time.Duration
	for _, t := range tasks {
		line, err := os.ReadFile(dir + t.Name() + "/schedstat")
		if err != nil {
			continue // the thread has ended
		}
		ns, _, _ := strings.Cut(string(line), " ")
		n, _ := strconv.ParseInt(ns, 10, 64)
		total += time.Duration(n)
	}
	return total
}

// resident is how many bytes of memory the program has.
func (tm *terminal) resident(b *testing.B) int {
	b.Helper()
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", tm.cmd.Process.Pid))
	if err != nil {
		b.Skipf("this system does not say what memory a process has: %v", err)
	}
	pages, _ := strconv.Atoi(strings.Fields(string(data))[1])
	return pages * os.Getpagesize()
}
