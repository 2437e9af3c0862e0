package transcript

import (
	"os"
	"testing"

	"banyan/internal/llm"
	"banyan/internal/tui/theme"
)

// long is a transcript of 100,000 entries on a usual screen.
func long() *Model {
	m := New(theme.Must("dark", theme.TrueColor))
	m.SetSize(120, 40)
	m.Reset(&big{n: 100_000})
	return m
}

// BenchmarkFirstFrame opens a session of 100,000 entries and draws it.
func BenchmarkFirstFrame(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		long().View()
	}
}

// BenchmarkFrame draws a screen of which nothing has changed.
func BenchmarkFrame(b *testing.B) {
	m := long()
	b.ReportAllocs()
	for b.Loop() {
		m.View()
	}
}

// BenchmarkScroll scrolls by a line and draws, ever further up.
func BenchmarkScroll(b *testing.B) {
	m := long()
	b.ReportAllocs()
	for b.Loop() {
		m.ScrollLines(-1)
		m.View()
		if m.top() == (anchor{}) {
			m.Bottom()
		}
	}
}

// BenchmarkStream writes an answer of 9 kB in pieces of 24 characters below
// 100,000 entries, each piece drawn.
func BenchmarkStream(b *testing.B) {
	data, err := os.ReadFile("../markdown/testdata/answer.md")
	if err != nil {
		b.Fatal(err)
	}
	answer := string(append(data, data...))[:9000]
	b.ReportAllocs()
	for b.Loop() {
		m := long()
		for i := 0; i < len(answer); i += 24 {
			m.Stream(llm.TextDelta{Text: answer[i:min(i+24, len(answer))]})
			m.View()
		}
		m.Commit()
	}
}
