package tui_test

import (
	"errors"
	"strings"
	"testing"

	"banyan/internal/engine"
	"banyan/internal/session"
	"banyan/internal/tui"
	"banyan/internal/tui/tuitest"
)

// What a prompt names goes with it; what cannot be had keeps it in the editor.
func TestMentions(t *testing.T) {
	stands := &engine.Expansion{CustomMessage: session.CustomMessage{Type: "test"}}
	d := tuitest.New(t, func(o *tui.Options) {
		o.Mentions = func(prompt string) func(contextT) (*engine.Expansion, error) {
			if !strings.Contains(prompt, "@a:") {
				return nil
			}
			return func(contextT) (*engine.Expansion, error) {
				if strings.Contains(prompt, "@a:gone") {
					return nil, errors.New("there is no such resource")
				}
				return stands, nil
			}
		}
	}).Open()
	d.Type("plain").Press("enter").WasSent(engine.Submit{Text: "plain"})
	d.Type("see @a:memo now").Press("enter").WasSent(engine.Submit{Text: "see @a:memo now", Stands: stands})
	d.Type("see @a:gone now").Press("enter").WasSent().Sees("The prompt was not sent: there is no such resource", "› see @a:gone now")
}

func TestServers(t *testing.T) {
	tuitest.New(t).Open().Type("/mcp").Press("enter").Sees("There are no MCP servers")
}
