package reader

import (
	"io"
	"strings"

	"banyan/internal/tui/inert"
)

// teller writes labelled lines, once each. All text from outside passes it, and
// is inert behind it: streams are told in whole lines, so that nothing that
// terminals act on can come in two halves.
type teller struct {
	out     io.Writer
	waiting bool   // the line that is being asked for is not at its end
	part    string // of a streamed line that has no end yet
	of      string // the label of the stream, until it is told
	flowing bool   // a stream is being told
}

// label tells a text under a label. Further lines of it stand alone.
func (t *teller) label(label, text string) {
	t.endStream()
	t.write(inert.Line(label) + ": " + inert.Text(strings.TrimSpace(text)) + "\n")
}

// stream tells a text that comes in pieces, as far as there are whole lines.
func (t *teller) stream(label, piece string) {
	if !t.flowing {
		t.flowing, t.of = true, inert.Line(label)+": "
	}
	t.part += piece
	i := strings.LastIndexByte(t.part, '\n')
	if i < 0 {
		return
	}
	t.flow(t.part[:i+1])
	t.part = t.part[i+1:]
}

// endStream tells what is left of a stream.
func (t *teller) endStream() {
	if !t.flowing {
		return
	}
	if t.part != "" {
		t.flow(t.part + "\n")
	}
	t.flowing, t.part = false, ""
}

func (t *teller) flow(lines string) {
	if t.of != "" {
		lines = strings.TrimLeft(lines, "\n")
	}
	if lines == "" {
		return
	}
	t.write(t.of + inert.Text(lines))
	t.of = ""
}

// ask begins the line that the user goes on with.
func (t *teller) ask(label string) {
	t.endStream()
	t.fresh()
	t.put(label + ": ")
	t.waiting = true
}

// typed: the user has ended the line.
func (t *teller) typed() { t.waiting = false }

// fresh begins a new line where one is being asked for.
func (t *teller) fresh() {
	if t.waiting {
		t.put("\n")
		t.waiting = false
	}
}

// end leaves the terminal at the beginning of a line.
func (t *teller) end() {
	t.endStream()
	t.fresh()
}

func (t *teller) write(text string) {
	t.fresh()
	t.put(text)
}

// put writes. Where it cannot be written there is nobody to tell.
func (t *teller) put(text string) { _, _ = io.WriteString(t.out, text) }
