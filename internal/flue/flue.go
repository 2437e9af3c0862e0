package flue

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"banyan/internal/session"
)

// Type is the customType of the entry with what only Flue has.
const Type = "banyan.flue"

// ours is the key of Flue's metadata with what only we have.
const ours = "banyan"

// data is Flue's record of a session.
type data struct {
	Version   int                        `json:"version"`
	Entries   []json.RawMessage          `json:"entries"`
	LeafID    *string                    `json:"leafId"`
	Metadata  map[string]json.RawMessage `json:"metadata"`
	CreatedAt string                     `json:"createdAt"`
	UpdatedAt string                     `json:"updatedAt"`
}

// kept is what of a session Flue has no place for.
type kept struct {
	ID     string `json:"id"`
	Cwd    string `json:"cwd"`
	Parent string `json:"parentSession,omitempty"`
	// Leaf is the leaf; FlueLeaf is what stands for it as leafId.
	Leaf     string          `json:"leaf"`
	FlueLeaf string          `json:"flueLeaf"`
	Others   []other         `json:"others,omitempty"`
	Changed  map[string]link `json:"changed,omitempty"` // by entry: what was before it was linked past others
}

// other is an entry that is none of Flue's, and the one of Flue's before it in
// the file; empty for none.
type other struct {
	After string          `json:"after"`
	Entry json.RawMessage `json:"entry"`
}

// link are the ids by which an entry hangs in the tree.
type link struct {
	Parent    json.RawMessage `json:"parentId,omitempty"`
	FirstKept json.RawMessage `json:"firstKeptEntryId,omitempty"`
}

// note is the data of the entry with what only Flue has.
type note struct {
	Version   int                        `json:"version"`
	Metadata  map[string]json.RawMessage `json:"metadata,omitempty"`
	CreatedAt string                     `json:"createdAt,omitempty"`
	UpdatedAt string                     `json:"updatedAt,omitempty"`
}

// Session is a session in our form, ready for a store.
type Session struct {
	ID    string
	Time  time.Time // of creation
	Cwd   string
	Lines [][]byte // the header first
}

// header is a session's first line.
type header struct {
	Type    string `json:"type"`
	Version int    `json:"version"`
	ID      string `json:"id"`
	Time    string `json:"timestamp"`
	Cwd     string `json:"cwd"`
	Parent  string `json:"parentSession,omitempty"`
}

const timeForm = "2006-01-02T15:04:05.000Z"

// space makes the ids of sessions that had none like ours, the same each time.
var space = uuid.MustParse("7a1d6c52-30f4-4c0e-8c62-7f0b9a7f6d11")

// ID is the id that a session gets whose key in Flue's store this is.
func ID(key string) string { return uuid.NewSHA1(space, []byte(key)).String() }

// Is tells whether a text is a record of Flue's or PyFlue's, as far as its
// beginning shows: an object with entries, and no line of ours.
func Is(text []byte) bool {
	var d struct {
		Type    *json.RawMessage `json:"type"`
		Version *int             `json:"version"`
		Entries []json.RawMessage
	}
	return json.Unmarshal(text, &d) == nil && d.Type == nil && d.Version != nil && d.Entries != nil
}

// Read turns a record into a session. The key is that of Flue's store, empty for
// a file; cwd holds where the record names none; parent is the id of the session
// that it is a task of, empty for none.
func Read(text []byte, key, cwd, parent string) (Session, error) {
	var d data
	if err := json.Unmarshal(text, &d); err != nil {
		return Session{}, fmt.Errorf("it is no SessionData of Flue: %w", err)
	}
	if d.Version != 2 && d.Version != 3 {
		return Session{}, fmt.Errorf("it is SessionData of version %d; versions 3 of Flue and 2 of PyFlue can be read", d.Version)
	}
	var k kept
	if raw, ok := d.Metadata[ours]; ok && json.Unmarshal(raw, &k) != nil {
		k = kept{} // somebody else's
	}
	if key == "" {
		key = string(text)
	}
	s := Session{ID: cmp.Or(k.ID, ID(key)), Cwd: cmp.Or(k.Cwd, textOf(d.Metadata["cwd"]), cwd)}
	s.Time = parseTime(d.CreatedAt)
	head, err := json.Marshal(header{"session", session.Version, s.ID, s.Time.Format(timeForm), s.Cwd, cmp.Or(k.Parent, parent)})
	if err != nil {
		return Session{}, err
	}
	entries, err := readEntries(d, k)
	if err != nil {
		return Session{}, err
	}
	if s.Lines = append([][]byte{head}, entries...); k.ID == "" {
		s.Lines = append(s.Lines, noteOf(d, s.Time))
	} else if line := positionOf(d, k, entries, s.Time); line != nil {
		s.Lines = append(s.Lines, line)
	}
	return s, nil
}

// textOf is a JSON string's text; empty for anything else.
func textOf(raw json.RawMessage) (s string) {
	_ = json.Unmarshal(raw, &s)
	return s
}

func parseTime(s string) time.Time {
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		return time.Unix(0, 0).UTC()
	}
	return t.UTC().Truncate(time.Millisecond)
}

// readEntries are the lines of a record's entries, parents before their
// children, and between them those that Flue does not know.
func readEntries(d data, k kept) ([][]byte, error) {
	var lines [][]byte
	take := func(raw json.RawMessage) error {
		line, err := readEntry(raw, k.Changed)
		lines = append(lines, line)
		return err
	}
	after := func(id string) error {
		for _, o := range k.Others {
			if o.After == id {
				if err := take(o.Entry); err != nil {
					return err
				}
			}
		}
		return nil
	}
	if err := after(""); err != nil {
		return nil, err
	}
	for i, raw := range inOrder(d.Entries) {
		var h struct{ ID string }
		if err := json.Unmarshal(raw, &h); err != nil || h.ID == "" {
			return nil, fmt.Errorf("entry %d has no id: %w", i+1, cmp.Or(err, errors.New("it is empty")))
		}
		if err := take(raw); err != nil {
			return nil, fmt.Errorf("entry %s: %w", h.ID, err)
		}
		if err := after(h.ID); err != nil {
			return nil, err
		}
	}
	return lines, nil
}

// inOrder puts parents before their children, and leaves all else as it is.
func inOrder(entries []json.RawMessage) []json.RawMessage {
	type node struct {
		ID     string  `json:"id"`
		Parent *string `json:"parentId"`
	}
	nodes, there := make([]node, len(entries)), map[string]bool{}
	for i, raw := range entries {
		_ = json.Unmarshal(raw, &nodes[i])
		there[nodes[i].ID] = true
	}
	var sorted []json.RawMessage
	placed, done := map[string]bool{}, make([]bool, len(entries))
	for more := true; more; {
		more = false
		for i, n := range nodes {
			if !done[i] && (n.Parent == nil || placed[*n.Parent] || !there[*n.Parent]) {
				sorted, done[i], placed[n.ID], more = append(sorted, entries[i]), true, true, true
			}
		}
	}
	for i, raw := range entries { // what is in a circle: opening it tells
		if !done[i] {
			sorted = append(sorted, raw)
		}
	}
	return sorted
}

// readEntry is an entry as a line, with the links that it had here.
func readEntry(raw json.RawMessage, changed map[string]link) ([]byte, error) {
	var e map[string]json.RawMessage
	if err := json.Unmarshal(raw, &e); err != nil {
		return nil, err
	}
	if before, ok := changed[textOf(e["id"])]; ok {
		if before.Parent != nil {
			e["parentId"] = before.Parent
		}
		if before.FirstKept != nil {
			e["firstKeptEntryId"] = before.FirstKept
		}
	}
	if message, ok := e["message"]; ok && textOf(e["type"]) == "message" {
		if err := readMessage(e, message); err != nil {
			return nil, err
		}
	}
	return line(e)
}

// readMessage turns what only PyFlue writes into what we know: summaries are
// texts, and results of no call are shown as what they are.
func readMessage(e map[string]json.RawMessage, raw json.RawMessage) error {
	var m map[string]json.RawMessage
	if err := json.Unmarshal(raw, &m); err != nil {
		return err
	}
	role := textOf(m["role"])
	switch {
	case role == "summary", role == "toolResult" && m["toolCallId"] == nil:
		e["type"], e["customType"], e["content"], e["display"] = quote("custom_message"), quote("pyflue."+role), m["content"], []byte("true")
		delete(e, "message")
		return nil
	case role == "assistant" && m["stopReason"] == nil:
		m["stopReason"] = quote("stop")
	default:
		return nil
	}
	b, err := json.Marshal(m)
	e["message"] = b
	return err
}

func quote(s string) json.RawMessage {
	b, _ := json.Marshal(s)
	return b
}

// line writes an entry with its head first, as all lines have it.
func line(e map[string]json.RawMessage) ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for _, key := range []string{"type", "id", "parentId", "timestamp"} {
		value := e[key]
		if value == nil {
			value = []byte("null")
		}
		fmt.Fprintf(&b, `%q:%s,`, key, value)
		delete(e, key)
	}
	rest, err := json.Marshal(e)
	if err != nil {
		return nil, err
	}
	b.Write(rest[1:])
	line := b.Bytes()
	if len(e) == 0 {
		line = append(bytes.TrimSuffix(line, []byte(",}")), '}')
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, line); err != nil {
		return nil, err
	}
	return compact.Bytes(), nil
}

// noteOf is the entry with what only Flue has, below the leaf: so the leaf is
// there, too.
func noteOf(d data, at time.Time) []byte {
	b, _ := json.Marshal(note{d.Version, d.Metadata, d.CreatedAt, d.UpdatedAt})
	return custom(Type, d.LeafID, at, b)
}

// positionOf is the record of where the leaf is, if it is not at the last entry.
func positionOf(d data, k kept, entries [][]byte, at time.Time) []byte {
	leaf := k.Leaf
	if d.LeafID != nil && *d.LeafID != k.FlueLeaf {
		leaf = *d.LeafID // Flue has gone on
	}
	var last struct{ ID string }
	if n := len(entries); n > 0 && json.Unmarshal(entries[n-1], &last) == nil && last.ID == leaf {
		return nil
	}
	if leaf == "" {
		return custom(session.PositionType, nil, at, nil)
	}
	return custom(session.PositionType, &leaf, at, nil)
}

func custom(kind string, parent *string, at time.Time, data json.RawMessage) []byte {
	b, _ := json.Marshal(struct {
		Type   string          `json:"type"`
		ID     string          `json:"id"`
		Parent *string         `json:"parentId"`
		Time   string          `json:"timestamp"`
		Custom string          `json:"customType"`
		Data   json.RawMessage `json:"data,omitempty"`
	}{"custom", uuid.NewSHA1(space, append([]byte(kind), data...)).String(), parent, at.Format(timeForm), kind, data})
	return b
}
