package flue

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"time"

	"banyan/internal/llm"
	"banyan/internal/session"
	"banyan/internal/tree"
)

// Write writes a session as SessionData of version 3.
func Write(w io.Writer, s session.Snapshot) error {
	x := writer{s: s, flue: map[tree.Node]bool{}}
	if err := x.entries(); err != nil {
		return fmt.Errorf("exporting the session %s: %w", s.Header().ID, err)
	}
	d := data{Version: 3, Entries: x.out, Metadata: x.note.Metadata, CreatedAt: x.note.CreatedAt, UpdatedAt: x.note.UpdatedAt}
	h := s.Header()
	if d.CreatedAt == "" {
		d.CreatedAt = h.Time.UTC().Format(timeForm)
	}
	if d.UpdatedAt == "" {
		d.UpdatedAt = x.last.UTC().Format(timeForm)
	}
	leaf := x.up(s.Node(s.Leaf()))
	if leaf != tree.None {
		id := string(s.ID(leaf))
		d.LeafID, x.kept.FlueLeaf = &id, id
	}
	x.kept.ID, x.kept.Cwd, x.kept.Parent, x.kept.Leaf = h.ID, h.Cwd, h.Parent, string(s.Leaf())
	raw, err := json.Marshal(x.kept)
	if err != nil {
		return err
	}
	if d.Metadata = maps.Clone(d.Metadata); d.Metadata == nil {
		d.Metadata = map[string]json.RawMessage{}
	}
	d.Metadata[ours] = raw
	if d.Entries == nil {
		d.Entries = []json.RawMessage{}
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(d)
}

type writer struct {
	s     session.Snapshot
	out   []json.RawMessage
	kept  kept
	flue  map[tree.Node]bool // entries that Flue has
	note  note
	after string // the last of them
	last  time.Time
}

// known tells whether Flue has such entries.
func known(c session.Class) bool {
	switch c.Kind {
	case "compaction", "branch_summary":
		return true
	case "message":
		return c.Role == llm.User || c.Role == llm.Assistant || c.Role == llm.ToolResult
	}
	return false
}

func (x *writer) entries() error {
	for n := range tree.Node(x.s.Len()) {
		raw, err := x.s.Raw(n)
		if err != nil {
			return err
		}
		var e map[string]json.RawMessage
		if err := json.Unmarshal(raw, &e); err != nil {
			return fmt.Errorf("entry %s is damaged, repair the session first: %w", x.s.ID(n), err)
		}
		x.last = time.UnixMilli(x.s.Tree().Time(n))
		if textOf(e["type"]) == "custom" && textOf(e["customType"]) == Type {
			_ = json.Unmarshal(e["data"], &x.note)
		}
		if !known(x.s.Class(n)) {
			if parent := textOf(e["parentId"]); parent != "" && x.s.Node(session.ID(parent)) == tree.None {
				e["parentId"] = x.idOr(x.s.Tree().Parent(n)) // it hangs below a record of a position
				if raw, err = line(e); err != nil {
					return err
				}
			}
			x.kept.Others = append(x.kept.Others, other{x.after, raw})
			continue
		}
		x.flue[n] = true
		if err := x.entry(n, e); err != nil {
			return err
		}
	}
	return nil
}

// entry writes one of Flue's, linked past what Flue does not have.
func (x *writer) entry(n tree.Node, e map[string]json.RawMessage) error {
	id := string(x.s.ID(n))
	var before link
	if parent := x.idOr(x.up(x.s.Tree().Parent(n))); string(parent) != string(e["parentId"]) {
		before.Parent, e["parentId"] = x.idOr(x.s.Tree().Parent(n)), parent
	}
	if first := textOf(e["firstKeptEntryId"]); first != "" {
		at := x.s.Node(session.ID(first))
		if at != tree.None && !x.flue[at] {
			before.FirstKept, e["firstKeptEntryId"] = e["firstKeptEntryId"], x.idOr(x.down(at, n))
		}
	}
	if before.Parent != nil || before.FirstKept != nil {
		if x.kept.Changed == nil {
			x.kept.Changed = map[string]link{}
		}
		x.kept.Changed[id] = before
	}
	b, err := line(e)
	x.out, x.after = append(x.out, b), id
	return err
}

func (x *writer) idOr(n tree.Node) json.RawMessage {
	if n == tree.None {
		return json.RawMessage("null")
	}
	return quote(string(x.s.ID(n)))
}

// up is the nearest of Flue's at or above a node.
func (x *writer) up(n tree.Node) tree.Node {
	for n != tree.None && !x.flue[n] {
		n = x.s.Tree().Parent(n)
	}
	return n
}

// down is the first of Flue's below a node on the path to another.
func (x *writer) down(at, to tree.Node) tree.Node {
	path := x.s.Tree().Path(to)
	for i, n := range path {
		if n != at {
			continue
		}
		for _, m := range path[i:] {
			if x.flue[m] {
				return m
			}
		}
	}
	return to
}
