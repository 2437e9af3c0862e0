package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	udiff "github.com/aymanbagabas/go-udiff"

	"banyan/internal/engine"
	"banyan/internal/mcp"
	"banyan/internal/tool"
	"banyan/internal/tui"
)

// listServers are what /mcp shows.
func (s *setup) listServers(e *engine.Engine) ([]tui.Item, error) {
	host := s.servers.Load()
	if host == nil {
		return nil, nil
	}
	var items []tui.Item
	for _, state := range host.States() {
		log, err := host.Log(state.Server.Name)
		if err != nil {
			return nil, err
		}
		items = append(items, tui.Item{
			Title: state.Server.Name, Detail: serverLine(state),
			Text: serverText(state, log), Deeds: s.serverDeeds(e, host, state),
		})
	}
	return items, nil
}

// serverLine is a server's state in a line.
func serverLine(state mcp.State) string {
	parts := []string{string(state.Phase)}
	if state.Phase == mcp.Ready {
		parts = append(parts, offered(state))
	} else if state.Why != "" {
		parts = append(parts, state.Why)
	}
	if held := state.Held(); len(held) > 0 {
		parts = append(parts, fmt.Sprintf("%d held back until you approve", len(held)))
	}
	return strings.Join(append(parts, state.Server.What()), " · ")
}

// offered is "3 tools, 1 prompt".
func offered(state mcp.State) string {
	var parts []string
	for _, kind := range []struct {
		n    int
		name string
	}{{len(state.Given()), "tool"}, {len(state.Prompts), "prompt"}, {len(state.Resources) + len(state.Templates), "resource"}} {
		switch {
		case kind.n == 1:
			parts = append(parts, "1 "+kind.name)
		case kind.n > 1 || kind.name == "tool":
			parts = append(parts, fmt.Sprintf("%d %ss", kind.n, kind.name))
		}
	}
	return strings.Join(parts, ", ")
}

// serverText is all about a server. It quotes the server.
func serverText(state mcp.State, log string) string {
	lines := []string{string(state.Phase) + " since " + state.Since.Format(time.TimeOnly)}
	add := func(what, text string) {
		if text != "" {
			lines = append(lines, what+text)
		}
	}
	add("", state.Why)
	add("", state.Server.What())
	add("from ", state.Server.Source.String())
	add("calls itself ", state.Program)
	if state.Asks != "" {
		lines = append(lines, "", "It waits for your approval of this:")
		lines = append(lines, strings.Split(whatChanged(state), "\n")...)
	}
	section := func(title string, n int, line func(i int) string) {
		if n > 0 {
			lines = append(lines, "", title)
		}
		for i := range n {
			lines = append(lines, "  "+line(i))
		}
	}
	section("Tools", len(state.Tools), func(i int) string { return toolLine(state.Tools[i]) })
	section("Prompts", len(state.Prompts), func(i int) string {
		p := state.Prompts[i]
		return strings.TrimSpace("/"+p.Name+" "+p.Usage()) + "  " + oneLine(p.Help)
	})
	resources := slices.Concat(state.Resources, state.Templates)
	section("Resources", len(resources), func(i int) string {
		return resources[i].URI + "  " + oneLine(resources[i].Name+" "+resources[i].Help)
	})
	if log != "" {
		lines = append(lines, "", "What it has said")
		lines = append(lines, strings.Split(strings.TrimRight(log, "\n"), "\n")...)
	}
	return strings.Join(lines, "\n")
}

func toolLine(t mcp.Tool) string {
	text := t.Name
	if t.Held {
		text += " (held back)"
	}
	if t.Access == tool.Read {
		text += " (says that it only reads)"
	}
	return text + "  " + oneLine(t.Description)
}

// oneLine is the beginning of a text, for a list.
func oneLine(text string) string {
	const most = 200
	text = strings.Join(strings.Fields(text), " ")
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	return text
}

// whatChanged is what a server asks for, as a difference where something was
// approved before.
func whatChanged(state mcp.State) string {
	if state.Before == "" {
		return strings.TrimRight(state.Asks, "\n")
	}
	return strings.TrimRight(udiff.Unified("approved", "now", state.Before, state.Asks), "\n")
}

// serverDeeds are what can be done with a server in its state.
func (s *setup) serverDeeds(e *engine.Engine, host *mcp.Host, state mcp.State) []tui.Deed {
	name := state.Server.Name
	deed := func(text, detail, done string, do func(context.Context) error) tui.Deed {
		return tui.Deed{Text: text, Detail: detail, Do: func(ctx context.Context) (string, error) { return done + name, do(ctx) }}
	}
	var deeds []tui.Deed
	if state.Asks != "" {
		deeds = append(deeds, deed("Approve it", "as it is now, until it changes", "Approved: ", func(context.Context) error { return host.Approve(name, state.Asks) }))
	}
	if state.Phase == mcp.NeedsLogin {
		deeds = append(deeds, deed("Log in", "opens your browser", "Logged in to ", func(ctx context.Context) error {
			return logIn(ctx, host, name, func(text string) { e.Send(engine.Notice{Level: engine.Note, Text: text}) })
		}))
	}
	if state.Phase == mcp.Disabled {
		return append(deeds, deed("Enable it", "", "Enabled: ", func(context.Context) error {
			if err := host.Enable(name); err != nil {
				return err
			}
			return s.disableServer(name, false)
		}))
	}
	if state.Phase != mcp.Unapproved && state.Phase != mcp.Skipped {
		deeds = append(deeds, deed("Start it again", "", "Started again: ", func(context.Context) error { return host.Restart(name) }))
	}
	return append(deeds, deed("Disable it", "it is ended, and not started any more", "Disabled: ", func(context.Context) error {
		if err := host.Disable(name); err != nil {
			return err
		}
		return s.disableServer(name, true)
	}))
}
