package tui

import (
	"reflect"
	"time"
	"unsafe"

	tea "charm.land/bubbletea/v2"
)

// pace rests Bubble Tea's frame clock while nothing happens. The library looks
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
	resting bool
}

const (
	frame = time.Second / framesPerSecond
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
	now := time.Now()
	if _, ok := msg.(restMsg); ok {
		if p.resting = now.Sub(p.last) >= restAfter; p.resting {
			p.clock.Reset(rest)
		}
		return
	}
	p.last = now
	p.timer.Reset(restAfter)
	if p.resting {
		p.clock.Reset(frame)
		p.resting = false
	}
}

// found looks for the clock, which is there once the program draws.
func (p *pace) found() bool {
	if p.clock != nil {
		return true
	}
	if p.clock = clockOf(p.program); p.clock == nil {
		return false
	}
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
