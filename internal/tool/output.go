package tool

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"sync"
)

// What is kept of a command's output: in memory its beginning and its end, on
// disk all of it up to a limit. Programs write more than both.
const (
	keepHead = 32 << 10
	keepTail = 64 << 10
	maxSpill = 64 << 20
)

// output is what a command has written so far. The job's reader writes to it
// while tools read it, hence the lock.
type output struct {
	mu    sync.Mutex
	buf   []byte // all of it; once something is lost, keepHead bytes and then the end
	lost  int64  // bytes that are missing from buf, after keepHead
	total int64  // bytes written
	lines int    // line feeds written

	path    string   // of the spill file, made when the output is too long for a model
	spill   *os.File // nil before
	spilled int64
	failed  bool // the disk took no more

	// changed has a token if something was written since it was last taken.
	changed chan struct{}
}

func newOutput(path string) *output {
	return &output{path: path, changed: make(chan struct{}, 1)}
}

// Write never fails: a program must not stop because its output is not kept.
func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	o.total += int64(len(p))
	o.lines += bytes.Count(p, []byte{'\n'})
	if o.spill == nil && len(o.buf)+len(p) > maxBytes {
		o.openSpill()
	}
	o.toDisk(p)
	o.buf = append(o.buf, p...)
	if excess := len(o.buf) - keepHead - keepTail; excess > keepTail {
		o.buf = append(o.buf[:keepHead], o.buf[keepHead+excess:]...)
		o.lost += int64(excess)
	}
	o.mu.Unlock()
	select {
	case o.changed <- struct{}{}:
	default:
	}
	return len(p), nil
}

// openSpill begins the file with what there is; nothing has been lost yet.
func (o *output) openSpill() {
	if o.spill != nil || o.failed {
		return
	}
	f, err := os.OpenFile(o.path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		o.failed = true
		return
	}
	o.spill = f
	o.toDisk(o.buf)
}

func (o *output) toDisk(p []byte) {
	if o.spill == nil || o.failed {
		return
	}
	n, err := o.spill.Write(p[:min(int64(len(p)), maxSpill-o.spilled)])
	o.spilled += int64(n)
	o.failed = err != nil
}

// close lets go of the file, which stays.
func (o *output) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.spill != nil {
		o.spill.Close()
	}
}

// since is the output from an offset on, cut for models and people, and the
// offset at which the next begins. The Cut is nil if it is complete.
func (o *output) since(offset int64) (text string, cut *Cut, next int64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	before, after := o.parts(offset)
	if o.lost > 0 && offset < keepHead+o.lost {
		text = o.abridged(clean(before), clean(after))
	} else if text = clean(after); !fits(text) {
		o.openSpill()
		head, tail, lines, size := ends(text)
		text = head + o.leftOut(lines, int64(size)) + tail
	} else {
		return text, nil, o.total
	}
	return text, &Cut{Lines: o.lines, Bytes: o.total, Full: o.where()}, o.total
}

// parts are what is in memory of the output from an offset on, before and after
// what is lost.
func (o *output) parts(offset int64) (before, after []byte) {
	if o.lost == 0 {
		return nil, o.buf[offset:]
	}
	if offset < keepHead {
		before = o.buf[offset:keepHead]
	}
	return before, o.buf[keepHead+max(0, offset-keepHead-o.lost):]
}

// abridged joins the beginning and the end of an output whose middle is lost.
func (o *output) abridged(head, tail string) string {
	head = firstPart(head, maxLines/3, maxBytes/3)
	tail = lastPart(tail, maxLines-maxLines/3, maxBytes-maxBytes/3)
	if head != "" && !strings.HasSuffix(head, "\n") {
		head += "\n"
	}
	lines := max(0, o.lines-strings.Count(head, "\n")-strings.Count(tail, "\n"))
	return head + o.leftOut(lines, o.total-int64(len(head)+len(tail))) + tail
}

func (o *output) leftOut(lines int, size int64) string {
	text := fmt.Sprintf("[… %s, %s left out", plural(lines, "line"), bytesText(size))
	if path := o.where(); path != "" {
		text += fmt.Sprintf("; all of it is in %s", path)
		if o.spilled < o.total {
			text += fmt.Sprintf(", up to %s", bytesText(o.spilled))
		}
	}
	return text + " …]\n"
}

// where is the file that has the whole output, if there is one.
func (o *output) where() string {
	if o.spill == nil {
		return ""
	}
	return o.path
}

func fits(text string) bool {
	return len(text) <= maxBytes && strings.Count(text, "\n") <= maxLines
}
