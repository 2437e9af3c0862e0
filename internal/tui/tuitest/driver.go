// Package tuitest drives the screen without a terminal: it types, presses keys
// by their names, resizes, pastes, lets time pass, tells it engine events, and
// reads the frame as a user would.
//
// Everything is synchronous: when a call returns, every command that the screen
// issued has been run and its answer taken in. The session behind it is a real
// one, in memory; only the engine is the test's own. With -tui.slow each step is
// shown and waited for, so a story can be watched.
package tuitest

import (
	"flag"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"banyan/internal/engine"
	"banyan/internal/session"
	"banyan/internal/tui"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
)

var slow = flag.Duration("tui.slow", 0, "show each step of a story of the screen, and wait this long")

// Start is the time at which every story begins.
var Start = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// Driver is a screen and a user before it.
type Driver struct {
	Model   *tui.Model
	Session *session.Manager // in memory

	t      testing.TB
	now    time.Time
	timers []timer
	sent   []engine.Command
	reply  func(engine.Command) []engine.Event
	copied string
	raw    string
	quit   bool
}

type timer struct {
	at  time.Time
	msg tea.Msg
}

// New is a screen of 80x24 before an engine that has not said anything yet.
// Options may be changed by the functions.
func New(t testing.TB, change ...func(*tui.Options)) *Driver {
	t.Helper()
	d := &Driver{t: t, now: Start}
	n := 0
	m, err := session.New("", "/home/ada/engine", session.Options{
		Now:    func() time.Time { return d.now },
		NewID:  func() string { n++; return fmt.Sprintf("%08x", n) },
		SessID: "01937f00-0000-7000-8000-000000000001",
	})
	if err != nil {
		t.Fatal(err)
	}
	d.Session = m
	o := tui.Options{
		Engine: fake{d}, Version: "1.0", Cwd: "/home/ada/engine", Preferences: tui.Preferences{Theme: "dark"},
		Now: func() time.Time { return d.now },
		After: func(wait time.Duration, msg tea.Msg) tea.Cmd {
			d.timers = append(d.timers, timer{d.now.Add(wait), msg})
			return nil
		},
	}
	for _, f := range change {
		f(&o)
	}
	d.Model = tui.New(o)
	d.run(d.Model.Init())
	d.Resize(80, 24)
	return d
}

// fake is the engine that the screen sees.
type fake struct{ d *Driver }

func (f fake) Send(c engine.Command)       { f.d.sent = append(f.d.sent, c) }
func (f fake) Events() <-chan engine.Event { return nil }

// Reply says what the engine answers to commands from now on.
func (d *Driver) Reply(f func(engine.Command) []engine.Event) { d.reply = f }

// Open tells the screen that the session is open.
func (d *Driver) Open() *Driver {
	d.t.Helper()
	s := d.Session.Snapshot()
	d.Emit(engine.Opened{Session: s}, engine.State{Permission: "ask", ModelName: "offline", Offline: true})
	return d
}

// Append adds entries to the session and tells the screen.
func (d *Driver) Append(data ...session.Data) *Driver {
	d.t.Helper()
	for _, x := range data {
		e, err := d.Session.Append(x)
		if err != nil {
			d.t.Fatal(err)
		}
		d.Emit(engine.Appended{Entry: e, Session: d.Session.Snapshot()})
	}
	return d
}

// Emit tells the screen a batch of events.
func (d *Driver) Emit(events ...engine.Event) *Driver {
	d.t.Helper()
	d.step("emit", fmt.Sprintf("%d events", len(events)), tui.Events(events))
	return d
}

// Type types a text, character by character.
func (d *Driver) Type(text string) *Driver {
	d.t.Helper()
	for _, r := range text {
		d.step("type", string(r), tea.KeyPressMsg{Code: r, Text: string(r)})
	}
	return d
}

// Press presses keys by their names: "enter", "ctrl+x", "alt+up".
func (d *Driver) Press(keys ...string) *Driver {
	d.t.Helper()
	for _, key := range keys {
		d.step("press", key, Key(d.t, key))
	}
	return d
}

// Paste pastes a text.
func (d *Driver) Paste(text string) *Driver {
	d.t.Helper()
	d.step("paste", fmt.Sprintf("%d bytes", len(text)), tea.PasteMsg{Content: text})
	return d
}

// Resize gives the terminal another size.
func (d *Driver) Resize(w, h int) *Driver {
	d.t.Helper()
	d.step("resize", fmt.Sprintf("%dx%d", w, h), tea.WindowSizeMsg{Width: w, Height: h})
	return d
}

// Wheel turns the wheel by notches, up if negative.
func (d *Driver) Wheel(notches int) *Driver {
	d.t.Helper()
	button := tea.MouseWheelDown
	if notches < 0 {
		button, notches = tea.MouseWheelUp, -notches
	}
	for range notches {
		d.step("wheel", "", tea.MouseWheelMsg{Button: button})
	}
	return d
}

// Drag presses the left button at one cell and releases it at another. The same
// cell twice is a click.
func (d *Driver) Drag(x0, y0, x1, y1 int) *Driver {
	d.t.Helper()
	d.step("mouse", "down", tea.MouseClickMsg{X: x0, Y: y0, Button: tea.MouseLeft})
	if x0 != x1 || y0 != y1 {
		d.step("mouse", "move", tea.MouseMotionMsg{X: x1, Y: y1, Button: tea.MouseLeft})
	}
	d.step("mouse", "up", tea.MouseReleaseMsg{X: x1, Y: y1, Button: tea.MouseLeft})
	return d
}

// Send gives the screen any other message.
func (d *Driver) Send(msg tea.Msg) *Driver {
	d.t.Helper()
	d.step("message", fmt.Sprintf("%T", msg), msg)
	return d
}

// Advance lets time pass; timers go off in their order.
func (d *Driver) Advance(by time.Duration) *Driver {
	d.t.Helper()
	end := d.now.Add(by)
	for {
		i := d.nextTimer(end)
		if i < 0 {
			break
		}
		due := d.timers[i]
		d.timers = slices.Delete(d.timers, i, i+1)
		d.now = due.at
		d.step("time", d.now.Format("15:04:05.000"), due.msg)
	}
	d.now = end
	return d
}

func (d *Driver) nextTimer(end time.Time) int {
	next := -1
	for i, t := range d.timers {
		if !t.at.After(end) && (next < 0 || t.at.Before(d.timers[next].at)) {
			next = i
		}
	}
	return next
}

// Timers is the number of timers that have not gone off: an idle screen has none.
func (d *Driver) Timers() int { return len(d.timers) }

// step gives the screen a message and settles.
func (d *Driver) step(kind, what string, msg tea.Msg) {
	d.t.Helper()
	d.update(msg)
	for d.reply != nil && len(d.sent) > 0 {
		cmd := d.sent[0]
		d.sent = d.sent[1:]
		if events := d.reply(cmd); len(events) > 0 {
			d.update(tui.Events(events))
		}
	}
	if *slow > 0 {
		fmt.Printf("\x1b[2J\x1b[H%s\n\x1b[2m%s %s\x1b[m\n", d.Frame(), kind, what)
		time.Sleep(*slow)
	}
}

func (d *Driver) update(msg tea.Msg) {
	_, cmd := d.Model.Update(msg)
	d.run(cmd)
}

// run runs a command and what comes of it.
func (d *Driver) run(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	switch msg := cmd().(type) {
	case nil:
	case tea.BatchMsg:
		for _, c := range msg {
			d.run(c)
		}
	case tea.QuitMsg:
		d.quit = true
	case tea.RawMsg:
		d.raw += fmt.Sprint(msg.Msg)
	default:
		if v := reflect.ValueOf(msg); v.Type().String() == "tea.setClipboardMsg" {
			d.copied = v.String()
		}
		d.update(msg)
	}
}

// Sent are the commands that the engine was sent since the last call, if it
// does not reply by itself.
func (d *Driver) Sent() []engine.Command {
	sent := d.sent
	d.sent = nil
	return sent
}

// Copied is the text that was last put on the clipboard.
func (d *Driver) Copied() string { return d.copied }

// Raw is what was written to the terminal as it is, since the last call.
func (d *Driver) Raw() string {
	raw := d.raw
	d.raw = ""
	return raw
}

// Quit says whether the user has left.
func (d *Driver) Quit() bool { return d.quit }

// Frame is the screen with its styles.
func (d *Driver) Frame() string { return d.Model.View().Content }

// Screen is the screen's text, without blanks at the ends of lines.
func (d *Driver) Screen() string {
	lines := strings.Split(ansi.Strip(d.Frame()), "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRight(l, " ")
	}
	return strings.Join(lines, "\n")
}

// Sees fails the test unless every text is on the screen.
func (d *Driver) Sees(texts ...string) *Driver {
	d.t.Helper()
	for _, text := range texts {
		if screen := d.Screen(); !strings.Contains(screen, text) {
			d.t.Fatalf("the screen lacks %q:\n%s", text, screen)
		}
	}
	return d
}

// Misses fails the test if any text is on the screen.
func (d *Driver) Misses(texts ...string) *Driver {
	d.t.Helper()
	for _, text := range texts {
		if screen := d.Screen(); strings.Contains(screen, text) {
			d.t.Fatalf("the screen has %q:\n%s", text, screen)
		}
	}
	return d
}

// WasSent fails the test unless exactly these commands were sent since the last
// look.
func (d *Driver) WasSent(want ...engine.Command) *Driver {
	d.t.Helper()
	if got := d.Sent(); !reflect.DeepEqual(got, want) && len(got)+len(want) > 0 {
		d.t.Fatalf("sent %#v, want %#v", got, want)
	}
	return d
}
