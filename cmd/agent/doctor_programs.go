package main

import (
	"banyan/internal/mcp"
	"banyan/internal/tui"
)

// hooked says which hooks run, which wait for approval, and which are wrong.
func (d *doctor) hooked() []tui.Finding {
	if d.settings.DisableAllHooks {
		return []tui.Finding{good("turned off by disableAllHooks")}
	}
	r, _ := d.findHooks()
	waiting := r.Waiting()
	found := []tui.Finding{good("hooks: %d, waiting for your approval: %d", len(r.List()), len(waiting))}
	for _, h := range waiting {
		found = append(found, limited("Look at it with /hooks in a chat, and approve it there", "%s: %s waits for your approval", h.Source.File, h.Command))
	}
	for _, p := range d.hookProblems {
		found = append(found, limited("Mend it; it is not used until then", "%s", p))
	}
	return found
}

// extended says which extensions are started, and which cannot be.
func (d *doctor) extended() []tui.Finding {
	if d.opts.noExtensions {
		return []tui.Finding{good("turned off by --no-extensions")}
	}
	all, faults := d.findExtensions()
	found := []tui.Finding{good("extensions: %d", len(all))}
	for _, f := range all {
		if err := d.extensionAllowed(f); err != nil {
			found = append(found, limited("Approve it in a chat, once you have read it", "%s: %v", f.Name, err))
		}
	}
	for _, err := range faults {
		found = append(found, limited("Mend it, or take it out", "%v", err))
	}
	return found
}

// serving looks at the MCP servers as their files have them; none is started.
func (d *doctor) serving() []tui.Finding {
	servers, err := d.mcpServers()
	if err != nil {
		return []tui.Finding{broken("Mend it, or leave the flag out", "%v", err)}
	}
	found := []tui.Finding{good("MCP servers: %d", len(servers))}
	for _, server := range servers {
		switch state := server.AsItStands(d.trust()); state.Phase {
		case mcp.Skipped:
			found = append(found, limited("Mend it in "+server.Source.String(), "%s is left out: %s", server.Name, state.Why))
		case mcp.Unapproved:
			found = append(found, limited("/mcp in a chat, or agent mcp approve "+server.Name+", once you have read it", "%s needs your approval", server.Name))
		case mcp.Disabled:
			found = append(found, good("%s is turned off", server.Name))
		}
	}
	return found
}
