package session

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"banyan/internal/jsonl"
	"banyan/internal/tree"
)

// migration turns the lines of an older version into ours as they are read.
// Older versions are
//
//	1  entries have no ids: the parent is the entry before; compactions keep
//	   from firstKeptEntryIndex, which counts all lines, the header's as 0
//	2  the role hookMessage was what custom is now
//
// and a dialect in which entries have a uuid and a parentUuid, the header is
// the first entry's parent, and stack_summary is a branch_summary.
//
// All lines are kept in memory in their new form until the first append writes
// them; older files are small. Ids are made from the session's id and the
// line's number, so that two readings of a file agree.
type migration struct {
	fold   *fold
	header Header
	lines  [][]byte // the file in its new form
	origin []int64  // by place in fold.mem: the line's offset in the old file
	ids    []ID     // by number of line, header first: its entry
	prev   ID       // the entry before
	root   string   // a parent with this id is none: the header's
}

func newMigration(h Header, f *fold, title, header []byte) *migration {
	m := &migration{fold: f, header: h, ids: []ID{""}}
	if title != nil {
		m.lines = append(m.lines, title)
	}
	head, _ := readHead(header)
	m.root, _ = unquote(head.id)
	if string(head.kind) == `"session"` {
		m.lines = append(m.lines, migrateHeader(header, h))
	}
	return m
}

// dialect tells whether a header is the dialect's.
func dialect(header []byte) bool { return member(header, "uuid") != nil }

// migrateHeader gives a header our version and id, and leaves the rest as it is.
func migrateHeader(line []byte, h Header) []byte {
	id, _ := marshal(h.ID)
	out := fmt.Appendf(nil, `{"type":"session","version":%d,"id":%s`, Version, id)
	return append(appendMembers(out, line, "type", "version", "id", "uuid", "parentUuid", "parentId"), '}')
}

// skip keeps a line that is no entry where it stands.
func (m *migration) skip(line []byte) {
	m.ids = append(m.ids, "")
	m.lines = append(m.lines, bytes.Clone(line))
}

// entry takes the next line after the header.
func (m *migration) entry(in jsonl.Line) {
	h, ok := readHead(in.Bytes)
	kind, hasKind := unquote(h.kind)
	if !ok || !hasKind || !json.Valid(in.Bytes) {
		m.skip(in.Bytes)
		m.fold.lost(in.Pos, problemDamaged, "the line is not an entry")
		return
	}
	id, known := unquote(h.id)
	if !known || id == "" {
		if m.header.Version > 1 {
			m.skip(in.Bytes)
			m.fold.lost(in.Pos, problemNoID, "the entry has no id")
			return
		}
		id = string(m.makeID(len(m.ids)))
	}
	line := m.rewrite(in.Bytes, h, kind, id)
	m.ids = append(m.ids, ID(id))
	m.prev = ID(id)
	m.lines = append(m.lines, line)
	m.origin = append(m.origin, in.Off)
	m.fold.line(line, m.fold.mem.add(line))
}

// makeID makes the id of the entry on a line.
func (m *migration) makeID(line int) ID {
	for salt := 0; ; salt++ {
		sum := sha256.Sum256(fmt.Appendf(nil, "%s\n%d\n%d", m.header.ID, line, salt))
		id := ID(hex.EncodeToString(sum[:4]))
		if _, taken := m.fold.resolve(id); !taken {
			return id
		}
	}
}

// rewrite gives an entry its new form. Members that need no change stay as they are.
func (m *migration) rewrite(line []byte, h head, kind, id string) []byte {
	e := Entry{ID: ID(id), Parent: m.parent(line, h), Time: m.time(h), Data: Unknown{Type: kind}}
	if kind == "stack_summary" {
		e.Data = Unknown{Type: BranchSummary{}.kind()}
	}
	out := appendMembers(
		encodeHead(e), line, "type", "id", "parentId", "timestamp", "uuid", "parentUuid",
		"message", "firstKeptEntryIndex", "firstKeptEntryUuid", "fromUuid", "targetUuid",
	)
	if msg := member(line, "message"); msg != nil {
		out = append(append(out, `,"message":`...), migrateMessage(msg)...)
	}
	for _, name := range [][2]string{{"firstKeptEntryUuid", "firstKeptEntryId"}, {"fromUuid", "fromId"}, {"targetUuid", "targetId"}} {
		if v := member(line, name[0]); v != nil {
			out = fmt.Appendf(out, `,"%s":%s`, name[1], v)
		}
	}
	if i, err := strconv.Atoi(string(member(line, "firstKeptEntryIndex"))); err == nil && i > 0 && i < len(m.ids) && m.ids[i] != "" {
		kept, _ := marshal(m.ids[i])
		out = fmt.Appendf(out, `,"firstKeptEntryId":%s`, kept)
	}
	if kind == "stack_summary" && member(line, "fromId") == nil && member(line, "fromUuid") == nil {
		from := e.Parent
		if from == "" {
			from = Root
		}
		v, _ := marshal(from)
		out = fmt.Appendf(out, `,"fromId":%s`, v)
	}
	return append(out, '}')
}

// parent is the entry's parent: as it says, or the entry before it.
func (m *migration) parent(line []byte, h head) ID {
	if h.parent == nil {
		if m.header.Version > 1 || member(line, "id") != nil {
			return ""
		}
		return m.prev
	}
	parent, _ := unquote(h.parent)
	if parent == m.root {
		return ""
	}
	return ID(parent)
}

// time is the entry's time; where it has none, that of the one before.
func (m *migration) time(h head) time.Time {
	if ms, ok := parseTime(h.time); ok {
		return time.UnixMilli(ms).UTC()
	}
	if m.fold.last != tree.None {
		return time.UnixMilli(m.fold.lastTime).UTC()
	}
	return m.header.Time
}

// migrateMessage renames the role that custom messages had.
func migrateMessage(msg []byte) []byte {
	if role, _ := unquote(member(msg, "role")); role != roleHook {
		return msg
	}
	return setMember(msg, "role", []byte(`"`+roleCustom+`"`))
}

// appendMembers appends the members of an object as they stand, each after a
// comma, but for those with certain names.
func appendMembers(out, line []byte, without ...string) []byte {
	o, _ := newObject(line)
next:
	for k := o.key(); k != nil; k = o.key() {
		for _, name := range without {
			if string(k) == name {
				continue next
			}
		}
		out = append(append(append(out, `,"`...), k...), `":`...)
		out = append(out, o.value()...)
	}
	return out
}

// setMember gives a member of an object another value and leaves every other
// byte as it is. An absent one is added at the end.
func setMember(line []byte, name string, value []byte) []byte {
	o, _ := newObject(line)
	for k := o.key(); k != nil; k = o.key() {
		from := o.i
		o.value()
		if string(k) == name {
			return append(append(bytes.Clone(line[:from]), value...), line[o.i:]...)
		}
	}
	end := bytes.LastIndexByte(line, '}')
	if end < 0 {
		return bytes.Clone(line)
	}
	out := fmt.Appendf(bytes.Clone(line[:end]), `,"%s":%s`, name, value)
	return append(out, line[end:]...)
}

// migrateFile writes the new form, if that is due, and keeps the old file.
func (m *Manager) migrateFile() error {
	if m.old == nil {
		return nil
	}
	if err := m.log.Replace(fmt.Sprintf(".v%d.bak", m.version), allLines(m.old)); err != nil {
		return fmt.Errorf("writing %s in the present format: %w", m.path, err)
	}
	m.old = nil
	return nil
}
