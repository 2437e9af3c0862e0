package extension

import (
	"fmt"
	"os"
	"testing"

	"banyan/internal/engine"
	"banyan/internal/llm"
)

// silence takes commands and forgets them.
type silence struct{}

func (silence) Send(engine.Command) {}

// What an event costs with no, one and ten extensions that hear of it: one that is
// asked (a line there and a line back, for each in its turn), one that is told (a
// piece of an answer), and one that nobody hears.
func BenchmarkEvents(b *testing.B) {
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	for _, n := range []int{0, 1, 10} {
		h := New(Options{Cwd: b.TempDir(), Env: []string{"TEST_EXTENSION=bench"}, Limits: Limits{Rate: 1e6, Burst: 1e6}})
		var found []Found
		for i := range n {
			found = append(found, Found{Name: fmt.Sprintf("bench%d", i), Path: self})
		}
		h.Start(silence{}, found)
		if err := h.Ask(b.Context(), &engine.Input{Text: "u"}); err != nil { // until they have started
			b.Fatal(err)
		}
		b.Run(fmt.Sprintf("asked/%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if o := (&engine.Input{Text: "u"}); h.Hears(o.Name()) {
					if err := h.Ask(b.Context(), o); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
		b.Run(fmt.Sprintf("told/%d", n), func(b *testing.B) {
			b.ReportAllocs()
			o := &engine.MessageUpdate{Event: llm.TextDelta{Text: "word "}}
			for b.Loop() {
				if h.Hears(o.Name()) {
					h.Tell(o)
				}
			}
			h.do(func() {}) // until all is handed over
		})
		b.Run(fmt.Sprintf("unheard/%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if h.Hears("turn_end") {
					b.Fatal("somebody hears")
				}
			}
		})
		h.Close()
	}
}
