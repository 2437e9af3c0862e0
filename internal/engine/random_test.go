package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"banyan/internal/llm"
	"banyan/internal/session"
	"banyan/internal/tree"
)

// whim is a model that does whatever its dice say.
type whim struct{ dice chan int }

func (w whim) Stream(ctx context.Context, req llm.Request) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		n := len(req.Messages)
		events := []llm.Event{llm.TextDelta{Text: fmt.Sprintf("answer %d", n)}}
		reason := llm.StopEnd
		roll := <-w.dice
		switch {
		case roll < 3 && len(req.Tools) > 0:
			for i := range roll + 1 {
				events = append(events, llm.CallDelta{Block: i + 1, ID: fmt.Sprintf("c%d", i), Name: "look", Arguments: fmt.Sprintf(`{"n":%d}`, n)}, llm.CallDone{Block: i + 1})
			}
			reason = llm.StopToolUse
		case roll == 3:
			reason = llm.StopLength
		case roll == 4:
			yield(events[0], nil)
			yield(nil, fmt.Errorf("connection reset"))
			return
		case roll == 5: // until it is interrupted
			yield(events[0], nil)
			<-ctx.Done()
			yield(nil, ctx.Err())
			return
		}
		for _, ev := range append(events, llm.Done{Reason: reason}) {
			if !yield(ev, nil) {
				return
			}
		}
	}
}

// After any sequence of commands, interrupts and restarts, what the front end
// was told is what the file says, and no entry was lost or changed.
func TestToldIsWritten(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := &world{t: t, dir: t.TempDir()}
		dice := make(chan int)
		stop := make(chan struct{})
		rolls := rapid.SliceOfN(rapid.IntRange(0, 9), 5, 5).Draw(rt, "rolls")
		go func() {
			for i := 0; ; i++ {
				select {
				case dice <- rolls[i%len(rolls)]:
				case <-stop:
					return
				}
			}
		}()
		defer close(stop)
		begin := func(open func() (*session.Manager, error)) {
			w.start(Config{Open: open, Models: scriptModels{whim{dice}}})
		}
		begin(nil)
		known := map[session.ID]string{}
		for i := range rapid.IntRange(1, 8).Draw(rt, "commands") {
			switch rapid.IntRange(0, 9).Draw(rt, "command") {
			case 0, 1:
				w.engine.Send(Submit{Text: fmt.Sprintf("prompt %d", i)})
				if rapid.Bool().Draw(rt, "steer") {
					w.engine.Send(Submit{Text: fmt.Sprintf("more %d", i), FollowUp: rapid.Bool().Draw(rt, "later")})
				}
				w.idle()
			case 2:
				if at, ok := w.anyEntry(rt); ok {
					nav := Navigate{Target: at, Summarize: rapid.Bool().Draw(rt, "summary"), At: rapid.Bool().Draw(rt, "itself")}
					if rapid.Bool().Draw(rt, "named") {
						nav.Label = fmt.Sprintf("place %d", i)
					}
					w.answered(rt, nav)
				}
			case 3:
				w.engine.Send(SetLabel{Text: fmt.Sprintf("label %d", i)})
				w.idle()
			case 4:
				if ids := w.prompts(); len(ids) > 0 {
					w.engine.Send(Fork{Target: ids[rapid.IntRange(0, len(ids)-1).Draw(rt, "prompt")]})
					w.idle()
					known = map[session.ID]string{}
				}
			case 5:
				w.engine.Send(Compact{})
				w.idle()
			case 6:
				if path := w.snap.Path(); w.snap.Len() > 0 && path != "" {
					w.close()
					begin(func() (*session.Manager, error) { return session.Open(path, session.Options{}) })
				}
			case 7:
				if at, ok := w.anyEntry(rt); ok {
					w.answered(rt, CherryPick{Entries: []session.ID{at}})
				}
			case 8:
				if at, ok := w.anyEntry(rt); ok {
					w.answered(rt, Merge{Target: at, Summarize: rapid.Bool().Draw(rt, "summary")})
				}
			case 9: // in the middle of a turn
				if at, ok := w.anyEntry(rt); ok {
					w.engine.Send(Submit{Text: fmt.Sprintf("prompt %d", i)})
					w.answered(rt, Navigate{Target: at, Interrupt: true})
				}
			}
			w.remember(rt, known)
		}
		w.thereAndBack(rt)
		if w.snap.Len() > 0 {
			w.sameOnDisk()
		}
		w.close()
	})
}

// anyEntry is some entry of the session, if there is one.
func (w *world) anyEntry(t *rapid.T) (session.ID, bool) {
	n := w.snap.Len()
	if n == 0 {
		return "", false
	}
	return w.snap.ID(tree.Node(rapid.IntRange(0, n-1).Draw(t, "entry"))), true
}

// answered sends a command of which there is to come one Moved or one Stayed. A
// Stayed means that nothing has changed.
func (w *world) answered(t *rapid.T, c Command) {
	w.t.Helper()
	from, leaf, n := len(w.seen), w.snap.Leaf(), w.snap.Len()
	w.engine.Send(c)
	w.idle()
	answers := 0
	for _, ev := range w.seen[from:] {
		switch ev.(type) {
		case Moved:
			answers++
		case Stayed:
			answers++
			if nav, ok := c.(Navigate); !(ok && nav.Interrupt) && (w.snap.Leaf() != leaf || w.snap.Len() != n) {
				t.Fatalf("%#v was refused and something changed", c)
			}
		}
	}
	if answers != 1 {
		t.Fatalf("%#v was answered %d times", c, answers)
	}
}

// thereAndBack goes elsewhere and comes back: the context is what it was.
func (w *world) thereAndBack(t *rapid.T) {
	at, ok := w.anyEntry(t)
	leaf := w.snap.Leaf()
	if !ok || at == leaf || leaf == "" {
		return
	}
	before := w.roles()
	w.answered(t, Navigate{Target: at, At: true})
	w.answered(t, Navigate{Target: leaf, At: true})
	if after := w.roles(); after != before || w.snap.Leaf() != leaf {
		t.Fatalf("there and back:\n%s\n%s", before, after)
	}
}

// idle waits until nothing runs, interrupting what does not end by itself.
func (w *world) idle() {
	w.t.Helper()
	// There is no such mode: the notice says that what was sent before was handled.
	w.engine.Send(SetPermission{Mode: "barrier"})
	w.until("the barrier", func(ev Event) bool { n, ok := ev.(Notice); return ok && strings.Contains(n.Text, "barrier") })
	for n := 0; w.busy(); n++ {
		if n > 20 {
			w.engine.Send(Interrupt{})
		}
	}
}

// busy asks the owner, and takes all events until then.
func (w *world) busy() bool {
	var busy bool
	asked := make(chan error, 1)
	go func() {
		asked <- w.engine.do(func() error {
			busy = w.engine.job != nil
			w.engine.notice(Note, "asked")
			return nil
		})
	}()
	w.until("the owner's answer", func(ev Event) bool { n, ok := ev.(Notice); return ok && n.Text == "asked" })
	<-asked
	return busy
}

// remember checks that entries which were there before are as they were.
func (w *world) remember(t *rapid.T, known map[session.ID]string) {
	for id, before := range known {
		if now := w.entryJSON(id); now != before {
			t.Fatalf("entry %s was\n%s\nand is\n%s", id, before, now)
		}
	}
	for _, id := range w.snap.PathIDs(w.snap.Leaf()) {
		known[id] = w.entryJSON(id)
	}
}

func (w *world) entryJSON(id session.ID) string {
	e, ok, err := w.snap.Entry(id)
	if err != nil || !ok {
		return fmt.Sprintf("gone: %v", err)
	}
	raw, err := json.Marshal(e)
	if err != nil {
		w.t.Fatal(err)
	}
	return string(raw)
}
