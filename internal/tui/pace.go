package tui

import (
	"reflect"
	"time"
	"unsafe"

	tea "charm.land/bubbletea/v2"
)

// pace sets Bubble Tea's frame clock: quick while the user does something, as slow
// as a film while an answer streams in and nobody types, and at rest while
// nothing happens. The library looks
// for something to draw at every tick, 120 times a second, for ever: that is
// one percent of a processor, for a program that people leave open all day. The
// clock is a field of the program that cannot be reached otherwise; where it is
// not found, it just goes on (docs/decisions/006-idle-clock.md). A nil pace does
// nothing.
type pace struct {
	program *tea.Program
	clock   *time.Ticker
	timer   *time.Timer // sends a restMsg
	last    time.Time   // when something happened
	touched time.Time   // when the user last did something
	streams bool        // what happened last were events
	every   time.Duration
}

const (
	frame = time.Second / framesPerSecond
	// streamFrame is the time between frames of a stream. Nearly all that a stream
	// costs is comparing the cells of one frame with those of the next, whether
	// anybody could see the difference or not. What comes is folded at once; a key
	// has the clock quick again before it is drawn.
	streamFrame = 33 * time.Millisecond
	// handsOn is how long the clock stays quick after the user did something.
	handsOn = 300 * time.Millisecond
	// restAfter is how long nothing must have happened. What the last message
	// changed is on the screen by then.
	restAfter = time.Second
	rest      = 24 * time.Hour
)

// restMsg says that it is time to rest, unless something has come in between.
type restMsg struct{}

// stir follows every message.
func (p *pace) stir(msg tea.Msg) {
	if p == nil || !p.found() {
		return
	}
	if every := p.next(msg, time.Now()); every != p.every {
		p.every = every
		p.clock.Reset(every) // only then: it begins its interval anew
	}
	if p.every != rest {
		p.timer.Reset(restAfter)
	}
}

// next is the time between frames after a message.
func (p *pace) next(msg tea.Msg, now time.Time) time.Duration {
	streamed := p.streams
	switch msg.(type) {
	case restMsg:
		if now.Sub(p.last) >= restAfter {
			return rest
		}
		return p.every
	case Events:
		p.streams = true
	case tea.KeyMsg, tea.MouseMsg, tea.PasteMsg, tea.WindowSizeMsg:
		p.touched = now
		p.streams, streamed = false, false
	}
	since := now.Sub(p.last)
	p.last = now
	if p.streams && streamed && since < restAfter && now.Sub(p.touched) > handsOn {
		return streamFrame
	}
	return frame
}

// found looks for the clock, which is there once the program draws.
func (p *pace) found() bool {
	if p.clock != nil {
		return true
	}
	if p.clock = clockOf(p.program); p.clock == nil {
		return false
	}
	p.every = frame
	program := p.program
	p.timer = time.AfterFunc(restAfter, func() { program.Send(restMsg{}) })
	return true
}

// stop ends the timer.
func (p *pace) stop() {
	if p.timer != nil {
		p.timer.Stop()
	}
}

// clockOf is a program's frame clock; nil if it is not where we know it to be.
func clockOf(p *tea.Program) *time.Ticker {
	offset, ok := clockIn(reflect.TypeFor[tea.Program]())
	if !ok || p == nil {
		return nil
	}
	return *(**time.Ticker)(unsafe.Add(unsafe.Pointer(p), offset))
}

// clockIn is where the clock is in a program's type. Only a field of its own
// counts that has the name and the type that we know.
func clockIn(program reflect.Type) (offset uintptr, ok bool) {
	field, ok := program.FieldByName("ticker")
	if !ok || len(field.Index) != 1 || field.Type != reflect.TypeFor[*time.Ticker]() {
		return 0, false
	}
	return field.Offset, true
}
