package export

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"banyan/internal/llm"
	"banyan/internal/session"
)

var update = flag.Bool("update", false, "write the golden files")

func written(t testing.TB, s session.Snapshot, p Part, f Format) string {
	t.Helper()
	var out bytes.Buffer
	if err := Write(&out, s, p, f); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// The page and the Markdown of a session in which everything occurs.
func TestGolden(t *testing.T) {
	b := demo(t)
	for name, f := range map[string]Format{"demo.html": HTML, "demo.md": Markdown} {
		got := written(t, b.Snapshot(), Part{}, f)
		path := filepath.Join("testdata", name)
		if *update {
			if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if got != string(want) {
			t.Errorf("%s has changed; if that is right: go test ./internal/export -run Golden -update", name)
		}
	}
}

// What is asked for is there, and nothing else.
func TestParts(t *testing.T) {
	b := build(t, "/w")
	b.user("the question")
	first := b.answer(llm.Text{Text: "first answer"})
	b.user("on the first branch")
	b.branch(first)
	second := b.user("on the second branch")
	end := b.answer(llm.Text{Text: "second answer"})
	texts := []string{"the question", "first answer", "on the first branch", "on the second branch", "second answer"}
	tests := []struct {
		name string
		part Part
		want []bool
	}{
		{"all", Part{}, []bool{true, true, true, true, true}},
		{"path", PathTo(end), []bool{true, true, false, true, true}},
		{"below the fork", Below(first), []bool{false, true, true, true, true}},
		{"below a branch", Below(second), []bool{false, false, false, true, true}},
		{"the path to nowhere", PathTo(""), []bool{false, false, false, false, false}},
	}
	for _, tt := range tests {
		for _, f := range []Format{HTML, Markdown, JSONL} {
			if f == JSONL && tt.part.kind == all {
				continue
			}
			got := written(t, b.Snapshot(), tt.part, f)
			for i, text := range texts {
				if strings.Contains(got, text) != tt.want[i] {
					t.Errorf("%s as %s: %q is there: %v", tt.name, f, text, !tt.want[i])
				}
			}
		}
	}
	var out bytes.Buffer
	if err := Write(&out, b.Snapshot(), Below("nothing"), HTML); err == nil {
		t.Error("no error for an entry that is not there")
	}
	if err := Write(&out, b.Snapshot(), Part{}, JSONL); !errors.Is(err, errNoFile) {
		t.Errorf("a session without a file: %v", err)
	}
}

func TestFile(t *testing.T) {
	b := demo(t)
	path := filepath.Join(t.TempDir(), "page.html")
	if err := File(path, b.Snapshot(), Part{}, HTML); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file: %v, %v", info.Mode(), err)
	}
	if err := File(path, b.Snapshot(), Part{}, HTML); !errors.Is(err, fs.ErrExist) {
		t.Errorf("over a file: %v", err)
	}
	if err := File(path+"2", b.Snapshot(), Part{}, JSONL); err == nil {
		t.Error("a session in memory has no lines")
	} else if _, err := os.Stat(path + "2"); err == nil {
		t.Error("half a file was left")
	}
	for name, want := range map[string]Format{"a.HTML": HTML, "b.markdown": Markdown, "c.jsonl": JSONL, "d.docx": "", "e": ""} {
		if f, err := FormatOf(name); f != want || (err == nil) != (want != "") {
			t.Errorf("%s: %q, %v", name, f, err)
		}
	}
}

// long writes a session of so many entries into a file, with a fork now and then.
func long(t testing.TB, entries int) session.Snapshot {
	t.Helper()
	path := filepath.Join(t.TempDir(), "long.jsonl")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintln(f, `{"type":"session","version":3,"id":"long","timestamp":"2026-11-20T08:00:00.000Z","cwd":"/"}`)
	body := strings.Repeat("lorem *ipsum* dolor `sit` amet ", 20)
	for i := range entries {
		parent := fmt.Sprintf(`"%08x"`, i-1)
		if i == 0 {
			parent = "null"
		} else if i%100 == 99 {
			parent = fmt.Sprintf(`"%08x"`, i-60)
		}
		message := fmt.Sprintf(`"role":"user","timestamp":1,"content":"prompt %d about the parser"`, i)
		if i%2 == 1 {
			message = fmt.Sprintf("\"role\":\"assistant\",\"timestamp\":1,\"content\":[{\"type\":\"text\",\"text\":\"answer %d: %s\\n\\n```go\\nfunc main() {}\\n```\"}],\"stopReason\":\"stop\"", i, body)
		}
		at := time.UnixMilli(1763600000000 + int64(i)).UTC().Format("2006-01-02T15:04:05.000Z")
		fmt.Fprintf(f, `{"type":"message","id":"%08x","parentId":%s,"timestamp":"%s","message":{%s}}`+"\n", i, parent, at, message)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	m, err := session.Open(path, session.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return m.Snapshot()
}

// counter counts what is written, and how much memory there was meanwhile.
type counter struct {
	n, articles int
	most        uint64
	tail        []byte // of the write before: a tag may lie across two
}

func (c *counter) Write(b []byte) (int, error) {
	if c.n/(4<<20) != (c.n+len(b))/(4<<20) {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		c.most = max(c.most, m.HeapAlloc)
	}
	c.n += len(b)
	tag := []byte("<article ")
	c.articles += bytes.Count(append(c.tail, b...), tag)
	c.tail = append(c.tail[:0], b[max(len(b)-len(tag)+1, 0):]...)
	return len(b), nil
}

// A long session is written as it is read: the memory does not grow with what
// was said, and nothing is left out.
func TestLongSessionIsStreamed(t *testing.T) {
	entries := 10_000
	if os.Getenv("LONG") != "" {
		entries = 100_000
	}
	s := long(t, entries)
	var before runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	var c counter
	start := time.Now()
	if err := Write(&c, s, Part{}, HTML); err != nil {
		t.Fatal(err)
	}
	grown := int64(c.most) - int64(before.HeapAlloc)
	t.Logf("%d entries: %d MB of page in %v, %d MB of memory", entries, c.n>>20, time.Since(start).Round(time.Millisecond), grown>>20)
	if c.articles != entries {
		t.Errorf("%d articles for %d entries", c.articles, entries)
	}
	if c.n < 5<<20 || grown > 64<<20 {
		t.Errorf("%d MB of memory for a page of %d MB", grown>>20, c.n>>20)
	}
}
