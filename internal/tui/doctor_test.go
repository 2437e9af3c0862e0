package tui_test

import (
	"errors"
	"testing"

	"banyan/internal/tui"
	"banyan/internal/tui/termcap"
	"banyan/internal/tui/tuitest"
)

func TestDoctor(t *testing.T) {
	run(tuitest.New(t).Open(), "/doctor").Sees("nothing to look at")
	var fails error
	d := tuitest.New(t, func(o *tui.Options) {
		o.Doctor = func(contextT, termcap.Caps) ([]tui.Finding, error) {
			return []tui.Finding{
				{About: "terminal", State: tui.Good, Text: "xterm"},
				{About: "sessions", State: tui.Broken, Text: "the folder cannot be written\x1b[2J", Do: "Make it writable"},
			}, fails
		}
	}).Open()
	run(d, "/doctor").Sees("What was found", "✓ xterm", "sessions", "✗ the folder cannot be written␛[2J", "→ Make it writable").Press("esc")
	fails = errors.New("there is no home")
	run(d, "/doctor").Sees("there is no home")
}
