package rule

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"unicode/utf8"

	"banyan/internal/llm"
)

// Sizes in bytes.
const (
	overlap = 2 << 10 // what is looked at again, and so how long a match may be
	line    = 256     // new text that is looked at where a line ends
	word    = 512     // and where only a word does
	most    = 2 << 10 // and in any case
	head    = 4 << 10 // of a call, in which its path is looked for
)

// Watch watches one answer for rules. The zero value watches for none. One
// goroutine owns it.
type Watch struct {
	rules  []*Rule
	blocks []*block
}

// block is a block of the answer that is being written.
type block struct {
	number int
	kind   kind
	tool   string
	rules  []*Rule // that may look at it
	window []byte  // what is still to be looked at, after what was already
	old    int     // how much of the window was
	begun  bool    // the window does not begin with the block
	escape escapes // of a call's arguments
	head   []byte  // of a call
	closed bool
	held   []*Rule // that are met if the path is theirs
}

// NewWatch watches for rules but those that are left out, by name.
func NewWatch(rules []*Rule, leftOut []string) *Watch {
	w := &Watch{}
	for _, r := range rules {
		if !slices.Contains(leftOut, r.Name) {
			w.rules = append(w.rules, r)
		}
	}
	return w
}

// Feed takes the next event of the answer, and gives the rule that is met, if
// one is.
func (w *Watch) Feed(ev llm.Event) *Rule {
	if len(w.rules) == 0 {
		return nil
	}
	switch ev := ev.(type) {
	case llm.TextDelta:
		return w.write(ev.Block, text, "", ev.Text)
	case llm.ThinkingDelta:
		return w.write(ev.Block, thinking, "", ev.Text)
	case llm.CallDelta:
		return w.write(ev.Block, call, ev.Name, ev.Arguments)
	case llm.CallDone:
		return w.close(func(b *block) bool { return b.number == ev.Block && b.kind == call })
	case llm.Retry: // the answer begins anew
		w.blocks = nil
	case llm.Done:
		return w.close(func(*block) bool { return true })
	}
	return nil
}

// write adds to a block. What is written to one block ends those of prose before it.
func (w *Watch) write(number int, k kind, tool, more string) *Rule {
	b := w.block(number, k)
	if b == nil {
		if met := w.close(func(old *block) bool { return old.kind != call }); met != nil {
			return met
		}
		b = &block{number: number, kind: k}
		w.blocks = append(w.blocks, b)
	}
	if tool != "" {
		b.tool = tool
	}
	if b.rules == nil && (k != call || b.tool != "") {
		b.rules = []*Rule{}
		for _, r := range w.rules {
			if r.looksAt(k, b.tool) {
				b.rules = append(b.rules, r)
			}
		}
	}
	return b.write(more)
}

func (w *Watch) block(number int, k kind) *block {
	for _, b := range w.blocks {
		if b.number == number && b.kind == k {
			return b
		}
	}
	return nil
}

func (w *Watch) close(which func(*block) bool) *Rule {
	for _, b := range w.blocks {
		if which(b) && !b.closed {
			b.closed = true
			if met := b.look(len(b.window), true); met != nil {
				return met
			}
		}
	}
	return nil
}

// write adds to the window and looks at it where it is time to.
func (b *block) write(more string) *Rule {
	if b.closed || b.rules != nil && len(b.rules) == 0 {
		return nil // nobody looks
	}
	if b.kind == call {
		if room := head - len(b.head); room > 0 {
			b.head = append(b.head, more[:min(room, len(more))]...)
		}
		b.window = b.escape.decode(b.window, more)
	} else {
		b.window = append(b.window, more...)
	}
	if b.rules == nil { // the tool is not known yet
		return nil
	}
	if end := b.end(); end > b.old {
		return b.look(end, false)
	}
	return nil
}

// end is where a window may end now; old if it is not time to look.
func (b *block) end() int {
	fresh := b.window[b.old:]
	if len(fresh) < line {
		return b.old
	}
	if i := bytes.LastIndexByte(fresh, '\n'); i >= line/2 {
		return b.old + i + 1
	}
	if len(fresh) < word {
		return b.old
	}
	if i := bytes.LastIndexAny(fresh, " \t\n"); i >= line/2 {
		return b.old + i + 1
	}
	if len(fresh) < most {
		return b.old
	}
	return len(b.window)
}

// look holds the window up to an end against the patterns, and then keeps of it
// what the next look needs.
func (b *block) look(end int, last bool) *Rule {
	window := b.window[:end]
	for _, r := range b.rules {
		if slices.Contains(b.held, r) {
			continue
		}
		if r.met(window, !b.begun, last) {
			if met := b.decide(r); met != nil {
				return met
			}
		}
	}
	for _, r := range b.held {
		if file, known := b.path(); r.isAbout(b.tool, file, known) {
			return r
		}
	}
	if from := b.from(end); from > 0 {
		b.window, b.begun = append(b.window[:0], b.window[from:]...), true
		end -= from
	}
	b.old = end
	return nil
}

// decide is the rule whose pattern is met, unless it is about other files; held
// while that is not known.
func (b *block) decide(r *Rule) *Rule {
	if b.kind != call {
		return r
	}
	file, known := b.path()
	yes, sure := r.about(b.tool, file, known)
	switch {
	case yes:
		return r
	case !sure:
		b.held = append(b.held, r)
	}
	return nil
}

// from is where the next window begins: between words, near the overlap.
func (b *block) from(end int) int {
	from := end - overlap
	if from <= 0 {
		return 0
	}
	near := b.window[from:end]
	if i := bytes.IndexByte(near[:len(near)/2], '\n'); i >= 0 {
		return from + i + 1
	}
	if i := bytes.IndexAny(near[:len(near)/2], " \t"); i >= 0 {
		return from + i + 1
	}
	for from < end && !utf8.RuneStart(b.window[from]) {
		from++
	}
	return from
}

// met says whether one of the patterns is met in a window; first and last say
// whether it begins and ends with the block.
func (r *Rule) met(window []byte, first, last bool) bool {
	return slices.ContainsFunc(r.patterns, func(p pattern) bool {
		return (first || !p.first) && (last || !p.last) && p.mayMatch(window) && p.Match(window)
	})
}

func (p pattern) mayMatch(window []byte) bool {
	return p.needs == nil || slices.ContainsFunc(p.needs, func(text []byte) bool { return bytes.Contains(window, text) })
}

// pathArgument finds the path in the arguments of a call that is being written.
var pathArgument = regexp.MustCompile(`"(?:path|file_path)"\s*:\s*("(?:[^"\\]|\\.)*")`)

func (b *block) path() (file string, known bool) {
	m := pathArgument.FindSubmatch(b.head)
	if m == nil || json.Unmarshal(m[1], &file) != nil {
		return "", false
	}
	return file, true
}
