package tui_test

import (
	"errors"
	"testing"

	"banyan/internal/tui"
	"banyan/internal/tui/tuitest"
)

func TestHooks(t *testing.T) {
	var approved bool
	d := tuitest.New(t, func(o *tui.Options) {
		o.Hooks = func(contextT) ([]tui.Item, error) {
			return []tui.Item{
				{Title: "Stop", Detail: "./test.sh · yours", Text: "event Stop"},
				{Title: "PreToolUse Bash", Detail: "./check.sh\x1b[31m · waits", Text: "event PreToolUse\nfile \x1b]52;c;x\x07", Deeds: []tui.Deed{
					{Text: "Approve it", Do: func(contextT) (string, error) { approved = true; return "Approved: ./check.sh", nil }},
					{Text: "Break it", Do: func(contextT) (string, error) { return "", errors.New("no room on the disk") }},
				}},
			}, nil
		}
	}).Open()
	d.Type("/hooks").Press("enter").Sees("Hooks", "Stop", "./test.sh · yours", "PreToolUse Bash")
	d.Press("down", "enter").Sees("Show it", "Approve it").Press("enter").Sees("event PreToolUse", "file").Misses("\x1b]52")
	d.Press("esc")
	d.Type("/hooks").Press("enter", "down", "enter", "down", "enter").Sees("Approved: ./check.sh")
	if !approved {
		t.Error("not approved")
	}
	d.Type("/hooks").Press("enter", "down", "enter", "up", "enter").Sees("no room on the disk")

	tuitest.New(t).Open().Type("/hooks").Press("enter").Sees("There are no hooks")
}
