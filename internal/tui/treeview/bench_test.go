package treeview_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"banyan/internal/session"
	"banyan/internal/tui/theme"
	"banyan/internal/tui/treeview"

	tea "charm.land/bubbletea/v2"
)

// shapes are the sessions that the benchmarks open. A parent is given by its
// number, -1 for none.
var shapes = []struct {
	name    string
	entries int
	parent  func(i int) int
}{
	{"10k", 10_000, branchy},
	{"100k", 100_000, branchy},
	{"1M", 1_000_000, branchy},
	// Each answer has two prompts below it, and the conversation goes on below the second.
	{"5000 nested forks", 15_000, func(i int) int {
		if i < 2 {
			return i - 1
		}
		return []int{i - 1, i - 2, i - 1}[i%3]
	}},
}

// branchy goes back now and then.
func branchy(i int) int {
	if i%100 == 99 {
		return i - 60
	}
	return i - 1
}

// file writes a session of a shape, once a run of the benchmarks.
func file(b *testing.B, name string, entries int, parent func(int) int) string {
	b.Helper()
	path := filepath.Join(os.TempDir(), fmt.Sprintf("banyan-bench-tree-%s-%d.jsonl", strings.ReplaceAll(name, " ", "-"), os.Getpid()))
	if _, err := os.Stat(path); err == nil {
		return path
	}
	var out strings.Builder
	out.WriteString(`{"type":"session","version":3,"id":"bench","timestamp":"2026-11-20T08:00:00.000Z","cwd":"/"}` + "\n")
	for i := range entries {
		above := "null"
		if p := parent(i); p >= 0 {
			above = fmt.Sprintf(`"%08x"`, p)
		}
		at := time.UnixMilli(1763600000000 + int64(i)).UTC().Format("2006-01-02T15:04:05.000Z")
		body := fmt.Sprintf(`"role":"user","timestamp":1,"content":"prompt %d about the parser"`, i)
		if i%2 == 1 {
			text, _ := json.Marshal(fmt.Sprintf("answer %d: %s", i, strings.Repeat("lorem ipsum dolor ", 12)))
			body = fmt.Sprintf(`"role":"assistant","timestamp":1,"content":[{"type":"text","text":%s}],"stopReason":"stop"`, text)
		}
		fmt.Fprintf(&out, `{"type":"message","id":"%08x","parentId":%s,"timestamp":"%s","message":{%s}}`+"\n", i, above, at, body)
	}
	if err := os.WriteFile(path, []byte(out.String()), 0o600); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { os.Remove(path) })
	return path
}

func open(b *testing.B, path string) session.Snapshot {
	b.Helper()
	m, err := session.Open(path, session.Options{ReadOnly: true})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { m.Close() })
	return m.Snapshot()
}

func dark(b testing.TB) theme.Theme {
	b.Helper()
	th, err := theme.Load("dark", theme.TrueColor)
	if err != nil {
		b.Fatal(err)
	}
	return th
}

// BenchmarkTree measures what a user waits for: the tree that opens, a key, and
// a key of the search, each with the frame that follows.
func BenchmarkTree(b *testing.B) {
	for _, s := range shapes {
		b.Run(s.name, func(b *testing.B) {
			snap := open(b, file(b, s.name, s.entries, s.parent))
			th := dark(b)
			show := func(m *treeview.Model) { m.Height(120, 40); _ = m.View(120, 40) }
			b.Run("open", func(b *testing.B) {
				for b.Loop() {
					show(treeview.New(treeview.Options{Session: snap}, th))
				}
			})
			m := treeview.New(treeview.Options{Session: snap}, th)
			press := func(key tea.KeyPressMsg) { m.Update(key); show(m) }
			b.Run("key", func(b *testing.B) {
				for b.Loop() {
					press(tea.KeyPressMsg{Code: tea.KeyUp})
				}
			})
			b.Run("filter", func(b *testing.B) {
				for b.Loop() {
					press(tea.KeyPressMsg{Code: 'o', Mod: tea.ModCtrl})
				}
			})
			for cmd := m.Init(); cmd != nil; {
				_, cmd = m.Update(cmd())
			}
			b.Run("search", func(b *testing.B) {
				for b.Loop() {
					press(tea.KeyPressMsg{Code: 'p', Text: "p"})
					press(tea.KeyPressMsg{Code: '7', Text: "7"})
					press(tea.KeyPressMsg{Code: tea.KeyEscape})
				}
				b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(3*b.N), "µs/key")
			})
			b.Run("slice", func(b *testing.B) { // of texts that is taken in while one types
				for b.Loop() {
					b.StopTimer()
					m := treeview.New(treeview.Options{Session: snap}, th)
					msg := m.Init()()
					b.StartTimer()
					m.Update(msg)
					show(m)
				}
			})
		})
	}
}
