package tui_test

import (
	"testing"

	"banyan/internal/engine"
	"banyan/internal/session"
	"banyan/internal/tui"
	"banyan/internal/tui/tuitest"
)

// A prompt on the command line may be a command; what it stands for goes with it.
func TestTheFirstPromptMayBeACommand(t *testing.T) {
	stands := &engine.Expansion{CustomMessage: session.CustomMessage{Type: "test"}}
	d := tuitest.New(t, func(o *tui.Options) {
		o.Prompt = "/review a.go"
		o.Templates = func() []tui.Template {
			return []tui.Template{{Name: "review", Expand: func(_ contextT, args string) (engine.Submit, error) {
				return engine.Submit{Text: "/review " + args, Stands: stands}, nil
			}}}
		}
	}).Open()
	d.WasSent(engine.Submit{Text: "/review a.go", Stands: stands})
}

func TestNoTemplateTakesTheNameOfACommand(t *testing.T) {
	for name, want := range map[string]bool{"tree": true, "fork": true, "review": false, "": false} {
		if tui.Reserved(name) != want {
			t.Errorf("%q is reserved: %v", name, !want)
		}
	}
}
