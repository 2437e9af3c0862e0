package tui

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"banyan/internal/engine"
	"banyan/internal/llm"
	"banyan/internal/session"

	tea "charm.land/bubbletea/v2"
	"go.uber.org/goleak"
)

// canned is an engine that says what it was given, and ends when it is closed.
type canned struct {
	events chan engine.Event
	sent   chan engine.Command
	// submitted is closed with the first prompt.
	submitted chan struct{}
}

func newCanned(events ...engine.Event) *canned {
	c := &canned{events: make(chan engine.Event, len(events)+1), sent: make(chan engine.Command, 100), submitted: make(chan struct{})}
	for _, ev := range events {
		c.events <- ev
	}
	return c
}

func (c *canned) Send(cmd engine.Command) {
	c.sent <- cmd
	if _, ok := cmd.(engine.Submit); ok {
		close(c.submitted)
	}
	if _, ok := cmd.(engine.Close); ok {
		c.events <- engine.Closed{}
		close(c.events)
	}
}

func (c *canned) Events() <-chan engine.Event { return c.events }

func TestForwardSendsInBatches(t *testing.T) {
	events := make(chan engine.Event, 100)
	for range 100 {
		events <- engine.Progress{Event: llm.TextDelta{Text: "x"}}
	}
	close(events)
	var batches []int
	forward(events, func(msg tea.Msg) { batches = append(batches, len(msg.(Events))) })
	if len(batches) != 1 || batches[0] != 100 {
		t.Errorf("batches of %v", batches)
	}
}

// The real program: keys come in through a pipe, frames go out, and after the
// user has left nothing runs any more.
func TestRun(t *testing.T) {
	defer goleak.VerifyNone(t)
	m, err := session.New("", t.TempDir(), session.Options{SessID: "0193aaaa-bbbb-7ccc-8ddd-eeeeffff0000"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Append(session.Message{Message: llm.Message{Role: llm.Assistant, StopReason: llm.StopEnd, Content: []llm.Block{llm.Text{Text: "an \x1b[2Janswer"}}}}); err != nil {
		t.Fatal(err)
	}
	e := newCanned(engine.Opened{Session: m.Snapshot()})
	in, keys := io.Pipe()
	var out bytes.Buffer
	go func() {
		_, _ = keys.Write([]byte("hi\r"))
		<-e.submitted // the screen is up
		_, _ = keys.Write([]byte{4})
	}()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	bye, err := Run(ctx, Options{Engine: e}, tea.WithInput(in), tea.WithOutput(&out), tea.WithWindowSize(80, 24), tea.WithoutSignalHandler())
	if err != nil {
		t.Fatal(err)
	}
	_ = in.Close()
	if bye.Session != "" || !strings.Contains(bye.String(), "answer") || strings.Contains(bye.String(), "\x1b") {
		t.Errorf("farewell %q", bye)
	}
	if cmd := <-e.sent; cmd.(engine.Submit).Text != "hi" {
		t.Errorf("the engine was sent %#v", cmd)
	}
	if cmd, ok := (<-e.sent).(engine.Close); !ok {
		t.Errorf("the engine was sent %T last", cmd)
	}
	if !strings.Contains(out.String(), "\x1b[?1049l") {
		t.Error("the alternate screen was not left")
	}
}

func TestEngineEndsByItself(t *testing.T) {
	e := newCanned()
	e.events <- engine.Closed{Err: io.ErrUnexpectedEOF}
	close(e.events)
	_, err := Run(context.Background(), Options{Engine: closedEngine{e}}, tea.WithInput(nil), tea.WithOutput(io.Discard), tea.WithWindowSize(80, 24), tea.WithoutSignalHandler())
	if err == nil || !strings.Contains(err.Error(), io.ErrUnexpectedEOF.Error()) {
		t.Errorf("Run = %v, want why the engine ended", err)
	}
}

// closedEngine has ended already.
type closedEngine struct{ *canned }

func (closedEngine) Send(engine.Command) {}

// Ctrl+G gives the terminal to the user's editor and takes the text back.
func TestExternalEditor(t *testing.T) {
	script := filepath.Join(t.TempDir(), "ed")
	if err := os.WriteFile(script, []byte("#!/bin/sh\ntr x y <\"$1\" >\"$1.new\" && mv \"$1.new\" \"$1\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("VISUAL", script)
	in, keys, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	m, err := session.New("", t.TempDir(), session.Options{})
	if err != nil {
		t.Fatal(err)
	}
	e := newCanned(engine.Opened{Session: m.Snapshot()})
	drafts := make(chan string, 100)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute) // it fails, and does not hang
	defer cancel()
	go func() {
		_, _ = keys.WriteString("axb\x07")
		for draft := range drafts {
			if draft == "ayb" {
				break
			}
		}
		_, _ = keys.WriteString("\r")
		<-e.submitted
		_, _ = keys.WriteString("\x04")
	}()
	save := func(_, text string) error { drafts <- text; return nil }
	_, err = Run(ctx, Options{Engine: e, SaveDraft: save}, tea.WithInput(in), tea.WithOutput(io.Discard), tea.WithWindowSize(80, 24), tea.WithoutSignalHandler())
	if err != nil {
		t.Fatal(err)
	}
	if cmd, ok := (<-e.sent).(engine.Submit); !ok || cmd.Text != "ayb" {
		t.Errorf("sent %#v", cmd)
	}
}

// The clock that pace rests is a field of another module's type: if an upgrade
// moves it, this says so.
func TestTheFrameClockIsWhereWeLookForIt(t *testing.T) {
	if _, ok := clockIn(reflect.TypeFor[tea.Program]()); !ok {
		t.Error("idle screens take time again: Bubble Tea's frame clock is not in Program.ticker")
	}
}

// Where the field is not what we know, the clock is left alone.
func TestPaceGivesUpOnOtherPrograms(t *testing.T) {
	//lint:ignore U1000 it is looked for by reflection
	type inner struct{ ticker *time.Ticker }
	for _, program := range []reflect.Type{
		reflect.TypeFor[struct{ clock *time.Ticker }](),
		reflect.TypeFor[struct{ ticker time.Ticker }](),
		reflect.TypeFor[struct{ ticker *time.Timer }](),
		reflect.TypeFor[struct{ *inner }](), // behind a pointer that may be nil
		reflect.TypeFor[struct{ inner }](),
	} {
		if _, ok := clockIn(program); ok {
			t.Errorf("a clock was found in %v", program)
		}
	}
	p := &pace{program: tea.NewProgram(nil)} // it has no clock before it draws
	p.stir(tea.KeyPressMsg{})
	p.stir(restMsg{})
	p.stop()
	if p.clock != nil || p.every != 0 {
		t.Error("a clock was found in a program that has none")
	}
}

func TestPaceRestsAndWakes(t *testing.T) {
	p := &pace{program: tea.NewProgram(nil), clock: time.NewTicker(frame), timer: time.NewTimer(rest), every: frame}
	defer p.clock.Stop()
	p.stir(tea.KeyPressMsg{})
	if p.stir(restMsg{}); p.every == rest {
		t.Error("it rests before what the key did is drawn")
	}
	p.last = p.last.Add(-restAfter)
	if p.stir(restMsg{}); p.every != rest {
		t.Error("it does not rest")
	}
	drain(p.clock)
	p.stir(tea.KeyPressMsg{})
	if <-p.clock.C; p.every != frame {
		t.Error("a key does not wake it")
	}
}

// A stream that nobody touches is drawn as a film; what the user does is seen at
// once, and for a while.
func TestPaceOfAStream(t *testing.T) {
	p, now := &pace{every: frame}, time.Now()
	for i, step := range []struct {
		after time.Duration
		msg   tea.Msg
		want  time.Duration
	}{
		{0, Events{}, frame}, // the first one, after a rest
		{15 * time.Millisecond, Events{}, streamFrame},
		{15 * time.Millisecond, Events{}, streamFrame},
		{5 * time.Millisecond, tea.KeyPressMsg{}, frame},
		{5 * time.Millisecond, Events{}, frame},
		{5 * time.Millisecond, Events{}, frame}, // hands are on the keys
		{handsOn, Events{}, streamFrame},
		{5 * time.Millisecond, tea.MouseWheelMsg{}, frame},
		{handsOn, Events{}, frame}, // the stream begins again
		{15 * time.Millisecond, Events{}, streamFrame},
		{5 * time.Millisecond, restMsg{}, streamFrame}, // one that came too late
		{restAfter, restMsg{}, rest},
		{time.Minute, Events{}, frame},
	} {
		now = now.Add(step.after)
		if p.every = p.next(step.msg, now); p.every != step.want {
			t.Errorf("step %d, %T: %v between frames, want %v", i, step.msg, p.every, step.want)
		}
	}
}

func drain(t *time.Ticker) {
	select {
	case <-t.C:
	default:
	}
}
