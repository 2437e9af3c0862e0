package tui_test

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"testing"
	"time"

	"banyan/internal/engine"
	"banyan/internal/llm"
	"banyan/internal/permission"
	"banyan/internal/session"
	"banyan/internal/tree"
	"banyan/internal/tui/tuitest"

	"pgregory.net/rapid"
)

// parrot is a model that says what it was told, and all models at once.
type parrot struct{}

func (p parrot) Client(session.ModelRef) (llm.Client, engine.ModelInfo, error) {
	return p, engine.ModelInfo{Model: llm.Model{Name: "parrot", Context: 100_000, Local: true}}, nil
}

func (parrot) Stream(_ context.Context, req llm.Request) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		said := req.Messages[len(req.Messages)-1].Text()
		_ = yield(llm.TextDelta{Text: fmt.Sprintf("You said %d letters.", len(said))}, nil) && yield(llm.Done{Reason: llm.StopEnd}, nil)
	}
}

// behind is a real engine behind a driver's screen.
type behind struct {
	t      *testing.T
	engine *engine.Engine
	snap   session.Snapshot
	state  engine.State

	barriers int
}

// barrier asks for a mode that there is not: once the notice about it comes, all
// that was sent before has been handled.
func (b *behind) barrier() {
	b.barriers++
	b.engine.Send(engine.SetPermission{Mode: fmt.Sprintf("barrier %d.", b.barriers)})
}

// settle takes what the engine says until nothing runs any more.
func (b *behind) settle() []engine.Event {
	var told []engine.Event
	running := 0
	b.barrier()
	for {
		ev, ok := <-b.engine.Events()
		if !ok {
			b.t.Fatalf("the engine has ended: %v", told)
		}
		switch ev := ev.(type) {
		case engine.Notice:
			if strings.Contains(ev.Text, "barrier") {
				// The newest one counts: a job may end before the one that was sent
				// when it began.
				if running == 0 && strings.Contains(ev.Text, fmt.Sprintf("barrier %d.", b.barriers)) {
					return told
				}
				continue
			}
		case engine.Started:
			running++
		case engine.Finished:
			if running--; running == 0 {
				b.barrier()
			}
		case engine.Opened:
			b.snap = ev.Session
		case engine.Appended:
			b.snap = ev.Session
		case engine.Moved:
			b.snap = ev.Session
		case engine.State:
			b.state = ev
		}
		told = append(told, ev)
	}
}

// conversation is what of a screen stands above the editor.
func conversation(d *tuitest.Driver) string {
	above, _, _ := strings.Cut(d.Press("right").Screen(), "\n──")
	return strings.TrimRight(above, "\n")
}

// After any prompts, moves, summaries, labels and picks, made as a user makes
// them, the screen shows what a new one shows that reads the file.
func TestTheScreenIsTheFile(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		dir := t.TempDir()
		b := &behind{t: t, engine: engine.New(engine.Config{
			SessionDir: dir, Cwd: "/home/ada/engine", Models: parrot{}, Model: session.ModelRef{Provider: "p", Model: "parrot"},
			Policy: permission.New(permission.Workspace{Dir: dir}),
			Open:   func() (*session.Manager, error) { return session.New(dir, "/home/ada/engine", session.Options{}) },
		})}
		go b.engine.Run(context.Background())
		d := tuitest.New(t)
		d.Emit(b.settle()...)
		d.Reply(func(c engine.Command) []engine.Event { b.engine.Send(c); return b.settle() })
		for i := range rapid.IntRange(1, 8).Draw(rt, "steps") {
			step := rapid.IntRange(0, 8).Draw(rt, "step")
			at := session.ID("")
			if n := b.snap.Len(); n == 0 {
				step = 0
			} else {
				at = b.snap.ID(tree.Node(rapid.IntRange(0, n-1).Draw(rt, "entry")))
			}
			switch step {
			case 0, 1:
				run(d, fmt.Sprintf("what is a branch, for the %dth time?", i))
			case 2:
				run(d, "/undo")
			case 3:
				run(d, "/redo")
			case 4:
				run(d, "/switch "+string(at)).Press("enter") // no summary, where that is asked
			case 5:
				run(d, "/pop")
			case 6:
				run(d, fmt.Sprintf("/label place %d", i))
			case 7:
				d.Press("ctrl+c", "esc", "esc", rapid.SampledFrom([]string{"home", "end", "up", "alt+up"}).Draw(rt, "row"), "enter", "enter", "ctrl+c")
			case 8:
				if b.snap.Class(b.snap.Node(at)).Kind == "message" {
					run(d, "/cherry-pick "+string(at))
				}
			}
			d.Press("esc").Advance(2 * time.Second) // whatever was asked that nobody answered
		}
		leaf, path, shown := b.snap.Leaf(), b.snap.Path(), conversation(d)
		b.engine.Send(engine.Close{})
		for range b.engine.Events() {
		}
		m, err := session.Open(path, session.Options{ReadOnly: true})
		must(err)
		defer m.Close()
		if got := m.Snapshot().Leaf(); got != leaf {
			rt.Fatalf("the file says %s, the screen was at %s", got, leaf)
		}
		if leaf == "" {
			return // the welcome says what it knows of the world
		}
		again := tuitest.New(t)
		again.Emit(engine.Opened{Session: m.Snapshot()}, b.state)
		if read := conversation(again); read != shown {
			rt.Fatalf("the screen had\n%s\n\nand the file says\n%s", shown, read)
		}
	})
}
