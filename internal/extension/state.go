package extension

import (
	"encoding/json"
	"strings"

	"banyan/internal/session"
)

// tellState sends extensions that run their own entries on the path to the leaf.
func (h *Host) tellState(to ...*peer) {
	snap := h.start.Session
	entries := append(customs(snap), h.kept...)
	for _, p := range to {
		if p.state != Running {
			continue
		}
		state := State{Session: where(snap), Entries: []StateEntry{}}
		for _, e := range entries {
			d, _ := e.Data.(session.Custom)
			if kind, own := p.own(d.Type); own {
				state.Entries = append(state.Entries, StateEntry{string(e.ID), kind, d.Data})
			}
		}
		if params, err := json.Marshal(state); err == nil {
			h.send(p, Line{Method: "state", Params: params})
		}
	}
}

// customs are the custom entries on the path to the leaf, oldest first. One that
// cannot be read is nobody's.
func customs(snap session.Snapshot) (entries []session.Entry) {
	for _, n := range snap.Tree().Path(snap.Node(snap.Leaf())) {
		if snap.Class(n).Kind != "custom" {
			continue
		}
		if e, err := snap.EntryAt(n); err == nil {
			if _, ok := e.Data.(session.Custom); ok {
				entries = append(entries, e)
			}
		}
	}
	return entries
}

// own says whether a customType is the extension's, and what it called it.
func (p *peer) own(customType string) (kind string, ok bool) {
	rest, ok := strings.CutPrefix(customType, p.found.Name)
	if !ok || rest != "" && rest[0] != '.' {
		return "", false
	}
	return strings.TrimPrefix(rest, "."), true
}

// customType is what an entry of a kind is recorded as.
func (p *peer) customType(kind string) string {
	if kind == "" {
		return p.found.Name
	}
	return p.found.Name + "." + kind
}
