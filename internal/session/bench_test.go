package session_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"banyan/internal/jsonl"
	"banyan/internal/session"
	"banyan/internal/store"
)

// bigFile writes a session of n entries: prompts, answers with calls, results
// of some 100 B to 100 KB, a compaction every 500, a branch every 1,000. About
// 0.8 KB an entry. Files are made once a run.
func bigFile(b testing.TB, n int) string {
	b.Helper()
	bigOnce.Do(func() {
		dir, err := os.MkdirTemp("", "banyan-bench")
		if err != nil {
			b.Fatal(err)
		}
		bigDir = dir
	})
	path := filepath.Join(bigDir, fmt.Sprintf("2026-11-20T07-00-00-000Z_n%d.jsonl", n))
	if _, err := os.Stat(path); err == nil {
		return path
	}
	f, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	w := bufio.NewWriterSize(f, 1<<20)
	fmt.Fprintln(w, header)
	rng := rand.New(rand.NewPCG(1, 2))
	code := strings.Repeat(`\tif err := f.Close(); err != nil {\n\t\treturn fmt.Errorf(\"close %q: %w\", path, err)\n\t}\n`, 1200)
	id := func(i int) string { return fmt.Sprintf("%08x", uint32(i)*2654435761) }
	parent, kept := "null", ""
	for i := range n {
		ts := fmt.Sprintf("2026-11-20T%02d:%02d:%02d.%03dZ", i/3600000%24, i/60000%60, i/1000%60, i%1000)
		head := fmt.Sprintf(`"id":"%s","parentId":%s,"timestamp":"%s"`, id(i), parent, ts)
		size := 100 + rng.IntN(900)
		if rng.IntN(400) == 0 {
			size = 100_000
		}
		switch {
		case i%500 == 499:
			fmt.Fprintf(w, `{"type":"compaction",%s,"summary":"%s","firstKeptEntryId":"%s","tokensBefore":100000}`+"\n", head, code[:970], kept)
		case i%4 == 0:
			fmt.Fprintf(w, `{"type":"message",%s,"message":{"role":"user","content":[{"type":"text","text":"%s"}],"timestamp":1795159140001}}`+"\n", head, code[:88*(1+rng.IntN(4))])
		case i%4 == 2:
			fmt.Fprintf(w, `{"type":"message",%s,"message":{"role":"toolResult","toolCallId":"c%d","toolName":"read","content":[{"type":"text","text":"%s"}],"isError":false,"timestamp":1795159140001}}`+"\n", head, i-1, code[:size/97*97])
		default:
			fmt.Fprintf(w, `{"type":"message",%s,"message":{"role":"assistant","content":[{"type":"thinking","thinking":"%s","thinkingSignature":"EqQB"},{"type":"text","text":"I look at it."},{"type":"toolCall","id":"c%d","name":"read","arguments":{"path":"cart.go"}}],"api":"anthropic-messages","provider":"anthropic","model":"claude","usage":{"input":2100,"output":88,"cacheRead":0,"cacheWrite":1900,"totalTokens":4088,"cost":{"input":0.0063,"output":0.0013,"cacheRead":0,"cacheWrite":0.0071,"total":0.0147}},"stopReason":"toolUse","timestamp":1795159144120}}`+"\n", head, code[:97*3], i)
		}
		parent = `"` + id(i) + `"`
		if i%500 == 480 {
			kept = id(i)
		}
		if i%1000 == 900 {
			parent = `"` + id(i-300) + `"`
		}
	}
	if err := w.Flush(); err != nil {
		b.Fatal(err)
	}
	f.Close()
	return path
}

var (
	bigOnce sync.Once
	bigDir  string
)

func TestMain(m *testing.M) {
	code := m.Run()
	if bigDir != "" {
		os.RemoveAll(bigDir)
	}
	os.Exit(code)
}

var sizes = []int{1_000, 10_000, 100_000, 1_000_000}

// sizesFor leaves the million out of a short run: its file is 0.8 GB.
func sizesFor(b *testing.B) []int {
	if testing.Short() {
		return sizes[:3]
	}
	return sizes
}

// countLines reads a file once and counts its lines: what opening cannot beat.
func countLines(b testing.TB, path string, buf []byte) int {
	f, err := os.Open(path)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	lines := 0
	for {
		k, err := f.Read(buf)
		lines += bytes.Count(buf[:k], []byte("\n"))
		if err == io.EOF {
			return lines
		}
	}
}

// BenchmarkOpen opens a session and, in turn with that, counts the lines of its
// file. It reports the quickest of each and how many times the floor opening
// takes: other programs of the machine disturb the quickest runs least.
func BenchmarkOpen(b *testing.B) {
	for _, n := range sizesFor(b) {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			path := bigFile(b, n)
			buf := make([]byte, 256<<10)
			floor, open := time.Hour, time.Hour
			for b.Loop() {
				start := time.Now()
				if lines := countLines(b, path, buf); lines != n+1 {
					b.Fatal(lines)
				}
				counted := time.Now()
				opened(b, path, n).Close()
				floor, open = min(floor, counted.Sub(start)), min(open, time.Since(counted))
			}
			b.ReportMetric(0, "ns/op") // of both together: nobody's
			b.ReportMetric(float64(floor.Nanoseconds()), "floor-ns")
			b.ReportMetric(float64(open.Nanoseconds()), "open-ns")
			b.ReportMetric(float64(open)/float64(floor), "x-floor")
		})
	}
}

func opened(b testing.TB, path string, n int) *session.Manager {
	m, err := session.Open(path, session.Options{ReadOnly: true})
	if err != nil {
		b.Fatal(err)
	}
	if got := m.Snapshot().Len(); got != n {
		b.Fatalf("%d entries, want %d", got, n)
	}
	return m
}

// BenchmarkIndexMemory reports the heap that an open session holds, by entry.
func BenchmarkIndexMemory(b *testing.B) {
	for _, n := range sizesFor(b) {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			path := bigFile(b, n)
			for b.Loop() {
				var before, after runtime.MemStats
				runtime.GC()
				runtime.ReadMemStats(&before)
				m := opened(b, path, n)
				runtime.GC()
				runtime.GC() // the scan's buffer outlives the first
				runtime.ReadMemStats(&after)
				b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/float64(n), "B/entry")
				m.Close()
			}
		})
	}
}

// BenchmarkOpenToContext opens a session and builds the context at its leaf.
func BenchmarkOpenToContext(b *testing.B) {
	path := bigFile(b, 100_000)
	for b.Loop() {
		m := opened(b, path, 100_000)
		s := m.Snapshot()
		c, err := s.Context(s.Leaf())
		if err != nil || len(c.Messages()) == 0 {
			b.Fatal(err)
		}
		m.Close()
	}
}

// timedFS is the real file system, and how long its writes and syncs took.
type timedFS struct {
	jsonl.FS
	spent *time.Duration
}

func (fs timedFS) Create(path string) (jsonl.File, error) {
	f, err := fs.FS.Create(path)
	return timedFile{f, fs.spent}, err
}

type timedFile struct {
	jsonl.File
	spent *time.Duration
}

func (f timedFile) Write(b []byte) (int, error) {
	start := time.Now()
	defer func() { *f.spent += time.Since(start) }()
	return f.File.Write(b)
}

func (f timedFile) Sync() error {
	start := time.Now()
	defer func() { *f.spent += time.Since(start) }()
	return f.File.Sync()
}

// BenchmarkAppend is one durable entry of 1 KB: how long writing and syncing
// took, and how long everything else. Both are medians.
func BenchmarkAppend(b *testing.B) {
	text := strings.Repeat("x", 1000)
	b.Run("on disk", func(b *testing.B) {
		var spent time.Duration
		m, err := session.New(b.TempDir(), "/w", session.Options{FS: timedFS{jsonl.OS, &spent}})
		if err != nil {
			b.Fatal(err)
		}
		defer m.Close()
		add(b, m, user(text))
		var floor, over []time.Duration
		for b.Loop() {
			spent = 0
			start := time.Now()
			add(b, m, user(text))
			floor, over = append(floor, spent), append(over, time.Since(start)-spent)
		}
		slices.Sort(floor)
		slices.Sort(over)
		b.ReportMetric(float64(floor[len(floor)/2].Nanoseconds()), "write+sync-ns")
		b.ReportMetric(float64(over[len(over)/2].Nanoseconds()), "over-ns")
	})
	b.Run("in memory", func(b *testing.B) {
		m := newInMemory(b)
		for b.Loop() {
			add(b, m, user(text))
		}
	})
}

func BenchmarkSnapshot(b *testing.B) {
	m := opened(b, bigFile(b, 100_000), 100_000)
	defer m.Close()
	leaf := m.Snapshot().Leaf()
	for b.Loop() {
		if err := m.Branch(leaf); err != nil { // a change, so that it is made anew
			b.Fatal(err)
		}
		if m.Snapshot().Len() != 100_000 {
			b.Fatal("not all")
		}
	}
}

func BenchmarkContext(b *testing.B) {
	m := opened(b, bigFile(b, 100_000), 100_000)
	defer m.Close()
	s := m.Snapshot()
	for b.Loop() {
		if _, err := s.Context(s.Leaf()); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkUsageSince sums the usage of a path of some 70,000 entries.
func BenchmarkUsageSince(b *testing.B) {
	m := opened(b, bigFile(b, 100_000), 100_000)
	defer m.Close()
	s := m.Snapshot()
	for b.Loop() {
		if s.UsageSince("").Total == 0 {
			b.Fatal("no usage")
		}
	}
}

func BenchmarkFork(b *testing.B) {
	m := opened(b, bigFile(b, 10_000), 10_000)
	defer m.Close()
	dir := b.TempDir()
	entries := len(m.Snapshot().PathIDs(m.Snapshot().Leaf()))
	for b.Loop() {
		fork, err := m.CreateBranchedSession(dir, m.Snapshot().Leaf())
		if err != nil {
			b.Fatal(err)
		}
		if got := fork.Snapshot().Len(); got != entries {
			b.Fatalf("%d entries, want %d", got, entries)
		}
		fork.Close()
	}
}

// BenchmarkList lists 3,000 sessions of 10 to 200 entries.
func BenchmarkList(b *testing.B) {
	dir, cache := b.TempDir(), b.TempDir()
	for i := range 3000 {
		project := filepath.Join(dir, fmt.Sprint("p", i%20))
		if err := os.MkdirAll(project, 0o700); err != nil {
			b.Fatal(err)
		}
		lines := withHeader(header, chain(10+i*7%190)...)
		if err := os.WriteFile(filepath.Join(project, fmt.Sprintf("t_%d.jsonl", i)), []byte(lines), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	for _, kind := range []string{"cold", "cached"} {
		b.Run(kind, func(b *testing.B) {
			c := cache
			if kind == "cold" {
				c = ""
			}
			for b.Loop() {
				files, err := session.List(store.Files{Dir: dir}, "", c)
				if err != nil || len(files) != 3000 {
					b.Fatal(len(files), err)
				}
			}
		})
	}
}
