package markdown

import (
	"testing"

	"banyan/internal/tui/theme"
)

// One paragraph that does not end: each delta must not cost the whole of it.
func BenchmarkStreamOneParagraph(b *testing.B) {
	const deltas = 5000
	for b.Loop() {
		s := NewStream(theme.Theme{})
		for range deltas {
			s.Append("twenty characters ok ")
			s.Parts(100)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/deltas, "µs/delta")
}

func TestStreamOfOneParagraphIsNeverFarBehind(t *testing.T) {
	s := NewStream(theme.Theme{})
	for i := range 3000 {
		s.Append("twenty characters ok ")
		s.Parts(100)
		if behind, allowed := len(s.Raw())-len(s.Source()), max(0, len(s.Raw())/64); behind > allowed {
			t.Fatalf("after %d deltas %d bytes are not drawn", i, behind)
		}
	}
	s.Finish(100)
	if s.Source() != s.Raw() {
		t.Error("the whole is not drawn at the end")
	}
}
