package llmtest

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"banyan/internal/llm"
)

// Benchmark measures what a client itself costs: answers of 1,000 deltas from
// memory, folded. It reports the time and the allocations of one delta.
func Benchmark(b *testing.B, d Dialect, open func(http.RoundTripper) llm.Client) {
	const deltas = 1000
	reply := Reply{Parts: []Part{{Text: strings.Repeat("some words ", deltas)}}, Piece: len("some words ")}
	stream := strings.Join(d.Frames(reply), "")
	client := open(canned(func() io.Reader { return strings.NewReader(stream) }))
	req := llm.Request{Model: "m", Messages: []llm.Message{{Role: llm.User, Content: []llm.Block{llm.Text{Text: "hi"}}}}}
	b.ReportAllocs()
	for b.Loop() {
		m, _, err := Answer(b.Context(), client, req)
		if err != nil || len(m.Text()) != len(reply.Parts[0].Text) {
			b.Fatal(len(m.Text()), err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*deltas), "ns/delta")
}
