package mcp

import (
	"strings"
	"sync"
)

// maxTail is how much of what a server says beside the protocol is kept, in bytes.
const maxTail = 32 << 10

// tail is the end of what a server has said: its standard error, lines that are
// no messages, its log messages. Whoever reads the server writes while people
// look, hence the lock.
type tail struct {
	mu  sync.Mutex
	buf []byte
}

// Write never fails.
func (t *tail) Write(p []byte) (int, error) {
	n := len(p)
	if len(p) > maxTail {
		p = p[len(p)-maxTail:]
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if excess := len(t.buf) + len(p) - maxTail; excess > maxTail || excess > 0 && excess > len(t.buf)/2 {
		t.buf = append(t.buf[:0], t.buf[min(excess, len(t.buf)):]...)
	}
	t.buf = append(t.buf, p...)
	return n, nil
}

func (t *tail) line(text string) { _, _ = t.Write([]byte(strings.TrimRight(text, "\n") + "\n")) }

// text is all that is kept, from the beginning of a line.
func (t *tail) text() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	text := t.buf
	if len(text) > maxTail {
		text = text[len(text)-maxTail:]
	}
	return strings.ToValidUTF8(string(text), "�")
}

// last is the last line that is not empty, cut for a notice.
func (t *tail) last() string {
	lines := strings.Split(strings.TrimSpace(t.text()), "\n")
	line := strings.TrimSpace(lines[len(lines)-1])
	const most = 200
	if len(line) > most {
		line = strings.ToValidUTF8(line[:most], "") + "…"
	}
	return line
}
