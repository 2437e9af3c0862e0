package session

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"banyan/internal/jsonl"
	"banyan/internal/store"
	"banyan/internal/tree"
)

// Repaired is what a repair has made.
type Repaired struct {
	Path    string `json:"path"`
	Entries int    `json:"entries"` // kept
	Dropped int    `json:"dropped"` // lines of the old file that are not in the copy
}

// Repair writes a mended copy of a session file and touches nothing else: a
// whole header, every readable entry below the parent that it hangs below when
// the file is opened, no line that is not JSON, no id twice. An empty to is a
// name beside the file. It fails where a file has that name.
func Repair(path, to string, o Options) (Repaired, error) {
	o = o.withDefaults()
	o.ReadOnly = true
	m, err := Open(path, o)
	if err != nil {
		return Repaired{}, err
	}
	defer m.Close()
	if _, file := m.store.(store.Files); !file && to == "" {
		return Repaired{}, fmt.Errorf("%s is in a database; give the name of a file for the mended copy", path)
	}
	if to == "" {
		to = strings.TrimSuffix(path, store.Extension) + ".repaired" + store.Extension
	}
	if m.header.Version > Version {
		return Repaired{}, fmt.Errorf("%s cannot be repaired: %s", path, m.readOnly)
	}
	r := repair{m: m, s: m.Snapshot(), ids: map[tree.Node]ID{}}
	lines, err := r.lines()
	if err != nil {
		return Repaired{}, fmt.Errorf("repairing %s: %w", path, err)
	}
	if err := jsonl.WriteFile(o.FS, to, allLines(lines)); err != nil {
		return Repaired{}, fmt.Errorf("repairing %s: %w", path, err)
	}
	return Repaired{Path: to, Entries: r.kept, Dropped: r.dropped}, nil
}

type repair struct {
	m             *Manager
	s             Snapshot
	ids           map[tree.Node]ID // in the copy, where another than in the file; empty if dropped
	kept, dropped int
}

func (r *repair) lines() ([][]byte, error) {
	h := r.m.header
	if h.Time.IsZero() {
		h.Time = r.m.o.now()
	}
	header, err := encodeHeader(h)
	if err != nil {
		return nil, err
	}
	lines := [][]byte{header}
	for _, p := range r.s.Problems() {
		switch p.Kind {
		case problemDamaged, problemNoID, problemNoType, problemRepeated, problemHeader2, problemTorn:
			r.dropped++
		}
	}
	last := tree.None
	for n := range tree.Node(r.s.Len()) {
		line, err := r.s.Raw(n)
		if err != nil {
			return nil, err
		}
		if !json.Valid(line) {
			r.ids[n] = ""
			r.dropped++
			continue
		}
		lines = append(lines, r.entry(n, line))
		r.kept++
		last = n
	}
	if leaf := r.m.leaf; leaf != last {
		e := Entry{ID: r.m.newID(nil), Parent: r.id(leaf), Time: r.m.o.now(), Data: Custom{Type: PositionType}}
		line, err := encodeEntry(e)
		if err != nil {
			return nil, err
		}
		lines = append(lines, line)
	}
	return lines, nil
}

// entry gives a line the id and parent that it has here.
func (r *repair) entry(n tree.Node, line []byte) []byte {
	if !utf8.Valid(line) {
		line = []byte(string([]rune(string(line)))) // U+FFFD for each bad byte, as decoding gives
	}
	if _, renamed := r.s.state().marks.fileID[n]; renamed {
		id := r.m.newID(nil)
		r.ids[n] = id
		value, _ := marshal(id)
		line = setMember(line, "id", value)
	}
	return relink(line, r.id(r.s.Tree().Parent(n)))
}

// id is a node's id in the copy; a dropped one's parent's.
func (r *repair) id(n tree.Node) ID {
	for ; n != tree.None; n = r.s.Tree().Parent(n) {
		id, changed := r.ids[n]
		if !changed {
			return r.s.ID(n)
		}
		if id != "" {
			return id
		}
	}
	return ""
}
