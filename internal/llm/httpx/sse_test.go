package httpx

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// events reads all events, in a form to compare.
func events(r io.Reader) (out []string, err error) {
	sse := NewReader(r)
	for {
		ev, err := sse.Next()
		if err != nil {
			return out, err
		}
		out = append(out, fmt.Sprintf("%s|%s|%v", ev.Name, ev.Data, ev.Cut))
	}
}

func TestReader(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"event", "event: a\ndata: 1\n\n", "a|1|false"},
		{"no name", "data: 1\n\ndata: 2\n\n", "|1|false |2|false"},
		{"no space", "data:1\n\n", "|1|false"},
		{"two spaces", "data:  1\n\n", "| 1|false"},
		{"CR", "event: a\rdata: 1\r\rdata: 2\r\r", "a|1|false |2|false"},
		{"CRLF", "event: a\r\ndata: 1\r\n\r\ndata: 2\r\n\r\n", "a|1|false |2|false"},
		{"mixed", "data: 1\r\n\ndata: 2\n\r\n\rdata: 3\r\r\n", "|1|false |2|false |3|false"},
		{"BOM", "\xEF\xBB\xBFdata: 1\n\n", "|1|false"},
		{"BOM later", "\ndata: \xEF\xBB\xBF1\n\n", "|\uFEFF1|false"},
		{"lines", "data: 1\ndata: 2\ndata\n\n", "|1\n2\n|false"},
		{"comments", ": hi\ndata: 1\n: there\n\n:\n\n", "|1|false"},
		{"empty data", "data:\n\ndata: 1\n\nevent: a\n\ndata: 2\n\n", "|1|false |2|false"},
		{"name without data", "event: a\n\ndata: 1\n\n", "|1|false"},
		{"others", "id: 1\nretry: 2\nnonsense\nx: y\ndata: 1\n\n", "|1|false"},
		{"last name", "event: a\nevent: b\ndata: 1\n\n", "b|1|false"},
		{"cut after the line", "data: 1\n", "|1|true"},
		{"cut in the line", "data: 1", "|1|true"},
		{"cut in the name", "dat", ""},
		{"cut in a second line", "data: 1\nda", "|1|true"},
		{"invalid UTF-8", "data: a\xffb\n\n", "|a\uFFFDb|false"},
		{"empty", "", ""},
		{"HTML", "<html>\n<body>\n\n", ""},
	}
	for _, tt := range tests {
		got, err := events(strings.NewReader(tt.in))
		if strings.Join(got, " ") != tt.want || err != io.EOF {
			t.Errorf("%s: got %q, %v; want %q", tt.name, got, err, tt.want)
		}
		for at := range len(tt.in) {
			split, _ := events(io.MultiReader(strings.NewReader(tt.in[:at]), iotest.OneByteReader(strings.NewReader(tt.in[at:]))))
			if strings.Join(split, " ") != tt.want {
				t.Errorf("%s, split at %d: got %q", tt.name, at, split)
			}
		}
	}
}

// TestReaderGivesAtOnce: an event is there with its blank line, not with what follows.
func TestReaderGivesAtOnce(t *testing.T) {
	for _, in := range []string{"data: 1\n\n", "data: 1\r\r", "data: 1\r\n\r\n"} {
		r, w := io.Pipe()
		go func() { _, _ = w.Write([]byte(in)) }()
		if ev, err := NewReader(r).Next(); err != nil || string(ev.Data) != "1" {
			t.Errorf("%q: %q, %v", in, ev.Data, err)
		}
		_ = r.Close()
	}
}

func TestReaderBroken(t *testing.T) {
	broken := errors.New("broken")
	got, err := events(io.MultiReader(strings.NewReader("data: 1\n\ndata: 2\n"), iotest.ErrReader(broken)))
	if len(got) != 1 || !errors.Is(err, broken) {
		t.Errorf("%q, %v", got, err)
	}
}

// repeat is a stream of n bytes.
func repeat(n int) io.Reader {
	return io.LimitReader(endless{}, int64(n))
}

type endless struct{}

func (endless) Read(p []byte) (int, error) { return copy(p, block), nil }

var block = bytes.Repeat([]byte("x"), 64<<10)

// TestReaderLimit is 42 of the list of bad streams: lines of 31, 33 and 65 MB.
func TestReaderLimit(t *testing.T) {
	for _, mb := range []int{31, 33, 65} {
		ev, err := NewReader(io.MultiReader(strings.NewReader("data: "), repeat(mb<<20), strings.NewReader("\n\n"))).Next()
		if tooLong := errors.Is(err, errTooLong); tooLong != (mb > 64) || !tooLong && len(ev.Data) != mb<<20 {
			t.Errorf("%d MB: %d bytes, %v", mb, len(ev.Data), err)
		}
	}
	many := strings.Repeat("data: "+strings.Repeat("x", 1<<20)+"\n", 65)
	if _, err := NewReader(strings.NewReader(many)).Next(); !errors.Is(err, errTooLong) {
		t.Errorf("65 lines of 1 MB: %v", err)
	}
}

// naive reads a whole stream as the specification is written.
func naive(in []byte) (out []string) {
	text := strings.TrimPrefix(string(in), "\uFEFF")
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	name, data := "", ""
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		last := i == len(lines)-1
		if line == "" || last {
			if last {
				name, data = naiveField(line, name, data)
			}
			if len(data) > 1 {
				clean := strings.ToValidUTF8(strings.TrimSuffix(data, "\n"), "\uFFFD")
				out = append(out, fmt.Sprintf("%s|%s|%v", name, clean, last))
			}
			name, data = "", ""
			continue
		}
		name, data = naiveField(line, name, data)
	}
	return out
}

func naiveField(line, name, data string) (string, string) {
	field, value, _ := strings.Cut(line, ":")
	value = strings.TrimPrefix(value, " ")
	switch field {
	case "event":
		return value, data
	case "data":
		return name, data + value + "\n"
	}
	return name, data
}

func FuzzReader(f *testing.F) {
	f.Add([]byte("\xEF\xBB\xBFevent: a\r\ndata: 1\r\rdata\ndata:x\n\n"), 3)
	f.Add([]byte("data: 1"), 1)
	f.Fuzz(func(t *testing.T, in []byte, size int) {
		want := naive(in)
		got, _ := events(bytes.NewReader(in))
		if strings.Join(got, "\x00") != strings.Join(want, "\x00") {
			t.Fatalf("%q:\ngot  %q\nwant %q", in, got, want)
		}
		slow, _ := events(iotest.OneByteReader(bytes.NewReader(in)))
		if strings.Join(slow, "\x00") != strings.Join(want, "\x00") {
			t.Fatalf("%q byte by byte:\ngot  %q\nwant %q", in, slow, want)
		}
	})
}

func BenchmarkReader(b *testing.B) {
	stream := strings.Repeat("event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"some words\"}}\n\n", 1000)
	b.SetBytes(int64(len(stream)))
	b.ReportAllocs()
	for b.Loop() {
		r := NewReader(strings.NewReader(stream))
		for {
			if _, err := r.Next(); err != nil {
				break
			}
		}
	}
}
