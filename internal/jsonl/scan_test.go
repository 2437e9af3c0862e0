package jsonl_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"banyan/internal/jsonl"
	"banyan/internal/jsonl/fstest"
	"pgregory.net/rapid"
)

// block is the size of the scanner's reads: borders are where it could go wrong.
const block = 256 << 10

// tester is what the helpers need of a test; rapid's are ones too.
type tester interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// open opens a log in memory that holds these bytes.
func open(t tester, fs jsonl.FS, path string) *jsonl.Log {
	t.Helper()
	l, err := jsonl.Open(path, jsonl.Options{FS: fs})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func memory(t tester, content []byte) *fstest.Mem {
	t.Helper()
	m := fstest.NewMem()
	if err := m.WriteFile("/s.jsonl", content); err != nil {
		t.Fatal(err)
	}
	return m
}

// sure are lines that can be read.
func sure(lines [][]byte) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for _, line := range lines {
			if !yield(line, nil) {
				return
			}
		}
	}
}

func discard(jsonl.Line) bool { return true }

// scan returns the lines as Scan reports them, and checks that ReadAt agrees.
func scan(t tester, l *jsonl.Log) []string {
	t.Helper()
	var lines []string
	var at []jsonl.Pos
	err := l.Scan(func(line jsonl.Line) bool {
		lines = append(lines, string(line.Bytes))
		at = append(at, line.Pos)
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range at {
		got, err := l.ReadAt(p)
		if err != nil || string(got) != lines[i] {
			t.Fatalf("ReadAt(%v) = %.60q, %v; Scan said %.60q", p, got, err, lines[i])
		}
	}
	return lines
}

func TestScanFraming(t *testing.T) {
	for _, c := range []struct {
		name, content string
		lines         []string
		tail          string // torn
	}{
		{"empty", "", nil, ""},
		{"one line", "{}\n", []string{"{}"}, ""},
		{"complete last line without LF", "{}\n{\"a\":1}", []string{"{}", `{"a":1}`}, ""},
		{"torn last line", "{}\n{\"a\":1", []string{"{}"}, `{"a":1`},
		{"nothing but a torn line", `{"a`, nil, `{"a`},
		{"a last number may go on", "{}\n42", []string{"{}"}, "42"},
		{"a negative one too", "{}\n-1.5e3", []string{"{}"}, "-1.5e3"},
		{"a last word may not", "{}\nnull", []string{"{}", "null"}, ""},
		{"ended lines may be anything", "42\nno json\n{\n", []string{"42", "no json", "{"}, ""},
		{"CRLF", "{}\r\n[]\r\n", []string{"{}", "[]"}, ""},
		{"CR but no LF at the end", "{}\r\n[]\r", []string{"{}", "[]"}, ""},
		{"blank lines", "\n{}\n\n  \t\n\r\n[]\n\n", []string{"{}", "[]"}, ""},
		{"blanks at the end", "{}\n  ", []string{"{}"}, ""},
		{"BOM", "\ufeff{}\n[]\n", []string{"{}", "[]"}, ""},
		{"BOM only at the start", "{}\n\ufeff[]\n", []string{"{}", "\ufeff[]"}, ""},
		{"BOM and no LF", "\ufeff{}", []string{"{}"}, ""},
		{"BOM and torn", "\ufeff{", nil, "\ufeff{"},
		{"BOM alone", "\ufeff", nil, ""},
		{"BOM and blanks", "\ufeff ", nil, ""},
		{"BOM and blank line", "\ufeff\n{}\n", []string{"{}"}, ""},
		{"zeros before a line", "{}\n\x00\x00\x00[]\n", []string{"{}", "\x00\x00\x00", "[]"}, ""},
		{"zeros as a line", "{}\n\x00\x00\n[]\n", []string{"{}", "\x00\x00", "[]"}, ""},
		{"zeros at the end", "{}\n\x00\x00\x00", []string{"{}"}, "\x00\x00\x00"},
		{"zeros before a last line without LF", "{}\n\x00[]", []string{"{}", "\x00", "[]"}, ""},
		{"zeros after half a line", "{}\n{\"a\x00\x00\n[]\n", []string{"{}", "{\"a\x00\x00", "[]"}, ""},
		{"invalid UTF-8", "{\"a\":\"\xff\"}\n", []string{"{\"a\":\"\xff\"}"}, ""},
		{"white space inside stays", "  {} \n", []string{"  {} "}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := memory(t, []byte(c.content))
			l := open(t, m, "/s.jsonl")
			if got := scan(t, l); !slices.Equal(got, c.lines) {
				t.Errorf("lines %q, want %q", got, c.lines)
			}
			tail := l.Tail()
			if got := c.content[tail.Off:][:tail.Len]; got != c.tail {
				t.Errorf("tail %q, want %q", got, c.tail)
			}
			// What comes next is a line of its own, whatever was there.
			pos, err := l.Append([]byte(`{"next":1}`))
			if err != nil {
				t.Fatal(err)
			}
			if got, err := l.ReadAt(pos[0]); err != nil || string(got) != `{"next":1}` {
				t.Errorf("appended line reads %q, %v", got, err)
			}
			if got, want := scan(t, l), append(c.lines, `{"next":1}`); !slices.Equal(got, want) {
				t.Errorf("after an append: lines %q, want %q", got, want)
			}
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
			checkTorn(t, m, c.tail)
		})
	}
}

// checkTorn checks that a torn tail, and nothing else, was saved beside the log.
func checkTorn(t testing.TB, m *fstest.Mem, want string) {
	t.Helper()
	names := m.Names("/")
	var torn []string
	for _, name := range names {
		if strings.HasPrefix(name, "s.jsonl.torn-") {
			b, _ := m.ReadFile("/" + name)
			torn = append(torn, string(b))
		}
	}
	switch {
	case want == "" && len(names) == 1:
	case want != "" && len(names) == 2 && len(torn) == 1 && torn[0] == want:
	default:
		t.Errorf("torn tail %.60q, but the folder holds %q with %.60q", want, names, torn)
	}
}

// slowScan is Scan without its speed: all in memory, one split.
func slowScan(content []byte) (lines []string, tail string) {
	parts := bytes.SplitAfter(content, []byte("\n"))
	for i, part := range parts {
		start := ""
		if i == 0 && bytes.HasPrefix(part, []byte("\ufeff")) {
			start, part = "\ufeff", part[3:]
		}
		line, ended := bytes.CutSuffix(part, []byte("\n"))
		if !ended && len(bytes.Trim(line, " \t\r")) > 0 {
			value := bytes.Trim(bytes.TrimLeft(line, "\x00"), " \t\r")
			if !json.Valid(value) || bytes.ContainsAny(value[len(value)-1:], "0123456789") {
				return lines, start + string(line)
			}
		}
		line = bytes.TrimSuffix(line, []byte("\r"))
		rest := bytes.TrimLeft(line, "\x00")
		if zeros := line[:len(line)-len(rest)]; len(zeros) > 0 {
			lines = append(lines, string(zeros))
		}
		if len(bytes.Trim(rest, " \t\r")) > 0 {
			lines = append(lines, string(rest))
		}
	}
	return lines, ""
}

func checkScan(t tester, content []byte) {
	t.Helper()
	l := open(t, memory(t, content), "/s.jsonl")
	lines, tail := slowScan(content)
	if got := scan(t, l); !slices.Equal(got, lines) {
		t.Fatalf("%d lines %.200q, want %d %.200q", len(got), got, len(lines), lines)
	}
	if p := l.Tail(); string(content[p.Off:][:p.Len]) != tail {
		t.Fatalf("tail %v, want %.60q", p, tail)
	}
}

func FuzzScan(f *testing.F) {
	for _, s := range []string{"", "{}\n", "\ufeff{}\r\n\r\n{\"a\":1}", "{}\n\x00\x00[1]\n{", "1\n12", "\n \n\t", "\ufeff\x00\x00"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, content []byte) { checkScan(t, content) })
}

// TestScanBorders scans lines that end just before, on and after the borders of
// the scanner's reads, and lines of many reads.
func TestScanBorders(t *testing.T) {
	around := []int{1, 2, block - 2, block - 1, block, block + 1, 2*block - 1, 2 * block, 2*block + 1, 5*block + 7}
	for _, first := range around {
		for _, second := range around {
			for _, end := range []string{"", "\n", "\r\n"} {
				content := strings.Repeat("a", first) + "\n" + strings.Repeat("b", second) + "\n" + `{"c":1}` + end
				checkScan(t, []byte(content))
			}
		}
	}
}

func TestScanAgainstSlow(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		part := rapid.OneOf(
			rapid.SampledFrom([]string{"\n", "\r\n", "\x00", "\ufeff", " ", "{}", `{"a":"é"}`, "[1,2]", "12", `"`, "{", strings.Repeat("x", block-3), strings.Repeat("\x00", 1000)}),
			rapid.StringN(0, 300, 1000),
		)
		var content []byte
		for _, s := range rapid.SliceOfN(part, 0, 40).Draw(rt, "parts") {
			content = append(content, s...)
		}
		checkScan(rt, content)
	})
}

func TestScanStopsAndStartsAgain(t *testing.T) {
	l := open(t, memory(t, []byte("1\n2\n3\n{\"torn")), "/s.jsonl")
	n := 0
	if err := l.Scan(func(jsonl.Line) bool { n++; return n < 2 }); err != nil || n != 2 {
		t.Fatalf("%d lines, %v", n, err)
	}
	// An append knows the whole file all the same.
	if _, err := l.Append([]byte("4")); err != nil {
		t.Fatal(err)
	}
	if got := scan(t, l); !slices.Equal(got, []string{"1", "2", "3", "4"}) {
		t.Fatalf("%q", got)
	}
}

// TestCutAtEveryByte cuts a file at every byte: all complete lines are read, the
// file is not changed by that, and an append loses and mixes nothing.
func TestCutAtEveryByte(t *testing.T) {
	var whole []byte
	var want []string
	for i := range 200 {
		line := fmt.Sprintf(`{"id":"%x","text":"ü%s"}`, i, strings.Repeat("x", i%13))
		want = append(want, line)
		whole = append(append(whole, line...), '\n')
	}
	for cut := range len(whole) + 1 {
		content := whole[:cut]
		m := memory(t, content)
		l := open(t, m, "/s.jsonl")
		got := scan(t, l)
		n := bytes.Count(content, []byte("\n"))
		torn := string(content[bytes.LastIndexByte(content, '\n')+1:])
		if n < len(want) && torn == want[n] {
			n, torn = n+1, ""
		}
		if !slices.Equal(got, want[:n]) {
			t.Fatalf("cut at %d: %d lines, want %d", cut, len(got), n)
		}
		if b, _ := m.ReadFile("/s.jsonl"); !bytes.Equal(b, content) {
			t.Fatalf("cut at %d: reading changed the file", cut)
		}
		if _, err := l.Append([]byte(`{"next":1}`)); err != nil {
			t.Fatalf("cut at %d: %v", cut, err)
		}
		l.Close()
		again := open(t, m, "/s.jsonl")
		if got := scan(t, again); !slices.Equal(got, append(slices.Clone(want[:n]), `{"next":1}`)) {
			t.Fatalf("cut at %d, then append: %.300q", cut, got)
		}
		checkTorn(t, m, torn)
	}
}

// TestDamageEveryByte overwrites each byte of a file: at most the lines that the
// byte belongs to change.
func TestDamageEveryByte(t *testing.T) {
	whole := []byte("{\"a\":1}\n{\"b\":2}\n{\"c\":3}\n{\"d\":4}\n")
	for i := range whole {
		for _, with := range []byte{0, '\n', '\r', '"', '}', 0xff, ' '} {
			content := bytes.Clone(whole)
			content[i] = with
			checkScan(t, content)
			l := open(t, memory(t, content), "/s.jsonl")
			got := scan(t, l)
			kept := 0
			for _, line := range []string{`{"a":1}`, `{"b":2}`, `{"c":3}`, `{"d":4}`} {
				if slices.Contains(got, line) {
					kept++
				}
			}
			if kept < 2 || kept < 3 && whole[i] != '\n' {
				t.Errorf("byte %d = %q: only %d of 4 lines left: %q", i, with, kept, got)
			}
		}
	}
}

// benchFile writes a file like a session: lines of about 930 bytes.
func benchFile(b *testing.B) (string, int64) {
	path := filepath.Join(b.TempDir(), "s.jsonl")
	f, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	text := strings.Repeat("func main() { fmt.Println(1) }; ", 100)
	size := int64(0)
	var buf bytes.Buffer
	for i := 0; size < 200<<20; i++ {
		buf.Reset()
		fmt.Fprintf(&buf, `{"type":"message","id":"%08x","parentId":"%08x","message":{"role":"user","content":"%s"}}`+"\n", i+1, i, text[:(i*7919)%1600])
		n, err := f.Write(buf.Bytes())
		if err != nil {
			b.Fatal(err)
		}
		size += int64(n)
	}
	if err := f.Close(); err != nil {
		b.Fatal(err)
	}
	return path, size
}

// BenchmarkScan measures Scan of 200 MB against counting the newlines of the
// same file, which is as fast as a reader can be.
func BenchmarkScan(b *testing.B) {
	path, size := benchFile(b)
	b.Run("newlines", func(b *testing.B) {
		b.SetBytes(size)
		buf := make([]byte, block)
		for b.Loop() {
			f, err := os.Open(path)
			if err != nil {
				b.Fatal(err)
			}
			lines := 0
			for {
				n, err := f.Read(buf)
				lines += bytes.Count(buf[:n], []byte("\n"))
				if err == io.EOF {
					break
				}
			}
			f.Close()
			b.ReportMetric(float64(lines), "lines")
		}
	})
	b.Run("scan", func(b *testing.B) {
		b.SetBytes(size)
		b.ReportAllocs()
		for b.Loop() {
			l, err := jsonl.Open(path, jsonl.Options{ReadOnly: true})
			if err != nil {
				b.Fatal(err)
			}
			lines := 0
			if err := l.Scan(func(line jsonl.Line) bool { lines++; return true }); err != nil {
				b.Fatal(err)
			}
			l.Close()
			b.ReportMetric(float64(lines), "lines")
		}
	})
}
