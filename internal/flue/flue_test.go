package flue_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"banyan/internal/flue"
	"banyan/internal/llm"
	"banyan/internal/session"
	"banyan/internal/store"
	"banyan/internal/tree"
)

// load writes a session that was read into a file, and opens it.
func load(t *testing.T, s flue.Session) session.Snapshot {
	t.Helper()
	path, err := store.Files{}.Write(store.Place{Project: t.TempDir(), ID: s.ID, Time: s.Time}, func(yield func([]byte, error) bool) {
		for _, line := range s.Lines {
			if !yield(line, nil) {
				return
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	m, err := session.Open(path, session.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	if problems := m.Snapshot().Problems(); len(problems) > 0 {
		t.Errorf("problems: %v", problems)
	}
	return m.Snapshot()
}

func says(t *testing.T, s session.Snapshot, leaf session.ID) (said []string) {
	t.Helper()
	c, err := s.Context(leaf)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range c.Messages() {
		said = append(said, string(m.Role)+": "+m.Text())
	}
	return said
}

const record = `{
  "version": 3, "leafId": "e3", "createdAt": "2026-05-13T10:00:00.000Z", "updatedAt": "2026-05-13T11:00:00.000Z",
  "metadata": {"ticket": 42, "taskSessions": []},
  "entries": [
    {"type": "message", "id": "e1", "parentId": null, "timestamp": "2026-05-13T10:00:01.000Z", "source": "prompt",
     "message": {"role": "user", "content": "hello", "timestamp": 1778666401000}},
    {"type": "message", "id": "e2", "parentId": "e1", "timestamp": "2026-05-13T10:00:02.000Z",
     "message": {"role": "assistant", "content": [{"type": "text", "text": "hi"}], "api": "a", "provider": "p", "model": "m",
     "usage": {"input": 1, "output": 2, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 3, "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": 0}}, "stopReason": "stop", "timestamp": 1778666402000}},
    {"type": "compaction", "id": "e3", "parentId": "e2", "timestamp": "2026-05-13T10:00:03.000Z", "summary": "a greeting", "firstKeptEntryId": "e2", "tokensBefore": 9},
    {"type": "message", "id": "e4", "parentId": "e1", "timestamp": "2026-05-13T10:00:04.000Z",
     "message": {"role": "user", "content": [{"type": "text", "text": "elsewhere"}], "timestamp": 1778666404000}}
  ]
}`

// TestReadFlue reads a record, writes it again, and finds all of it.
func TestReadFlue(t *testing.T) {
	if !flue.Is([]byte(record)) {
		t.Fatal("it is not seen to be Flue's")
	}
	s, err := flue.Read([]byte(record), "", "/w", "")
	if err != nil {
		t.Fatal(err)
	}
	again, _ := flue.Read([]byte(record), "", "/w", "")
	if s.ID != again.ID || s.Cwd != "/w" {
		t.Errorf("id %s, then %s; cwd %s", s.ID, again.ID, s.Cwd)
	}
	snap := load(t, s)
	if got := says(t, snap, snap.Leaf()); !slices.Equal(got, []string{"user: " + got[0][6:], "assistant: hi"}) || !strings.Contains(got[0], "a greeting") {
		t.Errorf("at the leaf: %q", got)
	}
	if got := says(t, snap, "e4"); !slices.Equal(got, []string{"user: hello\nelsewhere"}) {
		t.Errorf("at the other end: %q", got)
	}
	var out bytes.Buffer
	if err := flue.Write(&out, snap); err != nil {
		t.Fatal(err)
	}
	sameRecord(t, out.Bytes(), []byte(record))
}

// sameRecord compares records but for what we add to the metadata.
func sameRecord(t *testing.T, got, want []byte) {
	t.Helper()
	plain := func(text []byte) string {
		var r map[string]any
		if err := json.Unmarshal(text, &r); err != nil {
			t.Fatalf("%v in %s", err, text)
		}
		delete(r["metadata"].(map[string]any), "banyan")
		b, _ := json.MarshalIndent(r, "", " ")
		return string(b)
	}
	if a, b := plain(got), plain(want); a != b {
		t.Errorf("written:\n%s\nwant:\n%s", a, b)
	}
}

// TestThereAndBack takes a session of ours with all that Flue does not know to
// Flue's form and back: the same tree, the same leaf, the same lines.
func TestThereAndBack(t *testing.T) {
	m, err := session.New(t.TempDir(), "/work", session.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	add := func(d session.Data) session.ID {
		t.Helper()
		e, err := m.Append(d)
		if err != nil {
			t.Fatal(err)
		}
		return e.ID
	}
	user := func(text string) session.Data { return session.Message{Message: llm.UserText(text, time.Time{})} }
	add(session.ModelChange{Provider: "p", Model: "m"})
	one := add(user("one"))
	label := add(session.Label{Target: one, Text: "begin"})
	add(session.Command{Command: "ls", Output: "a"})
	add(user("two"))
	add(session.Compaction{Summary: "so far", FirstKept: label, TokensBefore: 5})
	end := add(user("three"))
	if err := m.Branch(one); err != nil {
		t.Fatal(err)
	}
	if err := m.SavePosition(); err != nil {
		t.Fatal(err)
	}
	add(session.Info{Name: "a name"})
	if err := m.Branch(label); err != nil {
		t.Fatal(err)
	}
	add(session.Label{Target: end, Text: "end"})
	want := m.Snapshot()
	var out bytes.Buffer
	if err := flue.Write(&out, want); err != nil {
		t.Fatal(err)
	}
	s, err := flue.Read(out.Bytes(), "", "/elsewhere", "")
	if err != nil {
		t.Fatal(err)
	}
	got := load(t, s)
	if got.Header().ID != want.Header().ID || got.Header().Cwd != "/work" || got.Leaf() != want.Leaf() || got.Name() != "a name" || got.Label(one) != "begin" {
		t.Errorf("header %+v, leaf %s, want %s, name %q, label %q", got.Header(), got.Leaf(), want.Leaf(), got.Name(), got.Label(one))
	}
	if got.Len() != want.Len() {
		t.Fatalf("%d entries, want %d", got.Len(), want.Len())
	}
	for n := range want.Len() {
		a, b := entryText(t, got, n), entryText(t, want, n)
		if a != b {
			t.Errorf("entry %d is\n%s, want\n%s", n, a, b)
		}
	}
	for _, leaf := range []session.ID{end, want.Leaf()} {
		if a, b := says(t, got, leaf), says(t, want, leaf); !slices.Equal(a, b) {
			t.Errorf("context %q, want %q", a, b)
		}
	}
}

// entryText is an entry, its members in one order, below the entry that it is below.
func entryText(t *testing.T, s session.Snapshot, n int) string {
	t.Helper()
	view := s.Tree()
	raw, err := s.Raw(s.Node(s.ID(tree.Node(n))))
	if err != nil {
		t.Fatal(err)
	}
	var e map[string]any
	if err := json.Unmarshal(raw, &e); err != nil {
		t.Fatal(err)
	}
	e["parentId"] = s.ID(view.Parent(tree.Node(n)))
	b, _ := json.Marshal(e)
	return string(b)
}

func TestReadPyFlue(t *testing.T) {
	text := `{"version":2,"leafId":"c","entries":[
		{"type":"message","id":"a","parentId":null,"timestamp":"2026-05-31T10:00:00Z","message":{"role":"user","content":"hello"}},
		{"type":"message","id":"b","parentId":"a","timestamp":"2026-05-31T10:00:01Z","message":{"role":"assistant","content":"hi"}},
		{"type":"message","id":"c","parentId":"b","timestamp":"2026-05-31T10:00:02Z","message":{"role":"toolResult","content":"{\"exit\":0}"}}],
		"metadata":{"session_id":"s","cwd":"/py"},"createdAt":"2026-05-31T10:00:00+00:00"}`
	s, err := flue.Read([]byte(text), "pyflue:s.sqlite3", "/w", "")
	if err != nil {
		t.Fatal(err)
	}
	snap := load(t, s)
	if got := says(t, snap, snap.Leaf()); !slices.Equal(got, []string{"user: hello", "assistant: hi", `user: {"exit":0}`}) || s.Cwd != "/py" {
		t.Errorf("%q in %s", got, s.Cwd)
	}
}

func TestBadRecords(t *testing.T) {
	for text, want := range map[string]string{
		`{"version":8,"entries":[]}`:                                        "version 8",
		`{"version":3,"entries":[{}]}`:                                      "has no id",
		`{"version":3,"entries":[1]}`:                                       "has no id",
		`{"version":3,"entries":[{"id":`:                                    "no SessionData",
		`{"version":3,"entries":{"a":1}}`:                                   "no SessionData",
		`{"version":3,"entries":[{"type":"message","id":"a","message":4}]}`: "entry a",
	} {
		if _, err := flue.Read([]byte(text), "", "/w", ""); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	// What hangs in a circle is not lost, and opening ends.
	s, err := flue.Read([]byte(`{"version":3,"leafId":"a","entries":[{"type":"message","id":"a","parentId":"b","timestamp":"x","message":{"role":"user","content":"1"}},{"type":"message","id":"b","parentId":"a","timestamp":"x","message":{"role":"user","content":"2"}}]}`), "", "/w", "")
	if err != nil || len(s.Lines) != 4 {
		t.Errorf("%d lines, %v", len(s.Lines), err)
	}
}
