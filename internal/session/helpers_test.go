package session_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"banyan/internal/llm"
	"banyan/internal/session"
)

// clock counts seconds from a fixed time, so that files are the same each run.
func clock() func() time.Time {
	at := time.Date(2026, 11, 20, 7, 0, 0, 0, time.UTC)
	return func() time.Time {
		at = at.Add(time.Second)
		return at
	}
}

// counter makes ids 00000001, 00000002, …
func counter() func() string {
	n := 0
	return func() string {
		n++
		return fmt.Sprintf("%08x", n)
	}
}

func testOptions() session.Options {
	return session.Options{Now: clock(), NewID: counter()}
}

func user(text string) session.Message {
	return session.Message{Message: llm.UserText(text, time.Time{})}
}

func answer(text string) session.Message {
	return session.Message{Message: llm.Message{
		Role: llm.Assistant, API: "test", Provider: "acme", Model: "m1", StopReason: llm.StopEnd,
		Usage: llm.Usage{Input: 10, Output: 5, Total: 15}, Content: []llm.Block{llm.Text{Text: text}},
	}}
}

func newInMemory(t testing.TB) *session.Manager {
	t.Helper()
	m, err := session.New("", "/w", testOptions())
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func newOnDisk(t testing.TB) *session.Manager {
	t.Helper()
	m, err := session.New(t.TempDir(), "/w", testOptions())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return m
}

func add(t testing.TB, m *session.Manager, d session.Data) session.ID {
	t.Helper()
	e, err := m.Append(d)
	if err != nil {
		t.Fatalf("append %T: %v", d, err)
	}
	return e.ID
}

// write makes a file of lines and gives its path.
func write(t testing.TB, lines ...string) string {
	t.Helper()
	return writeBytes(t, []byte(strings.Join(lines, "\n")+"\n"))
}

func writeBytes(t testing.TB, b []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "2026-11-20T07-00-00-000Z_the-session.jsonl")
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func open(t testing.TB, path string) *session.Manager {
	t.Helper()
	m, err := session.Open(path, testOptions())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return m
}

// look is a file's session, the file closed again but for reading.
func look(t testing.TB, path string) session.Snapshot {
	t.Helper()
	o := testOptions()
	o.ReadOnly = true
	m, err := session.Open(path, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return m.Snapshot()
}

// texts are the texts of a context's messages, short: "u:hi", "a:hello",
// "s:summary", "b:branch summary", "c:custom", "r:result".
func texts(t testing.TB, s session.Snapshot, leaf session.ID) []string {
	t.Helper()
	c, err := s.Context(leaf)
	if err != nil {
		t.Fatal(err)
	}
	out := []string{}
	for _, item := range c.Items {
		out = append(out, itemText(item))
	}
	return out
}

func itemText(item session.Item) string {
	switch d := item.Data.(type) {
	case session.Message:
		return string(d.Role)[:1] + ":" + d.Text()
	case session.Command:
		return "!:" + d.Command
	case session.Compaction:
		return "s:" + d.Summary
	case session.BranchSummary:
		return "b:" + d.Summary
	case session.CustomMessage:
		return "c:" + llm.Message{Content: d.Content}.Text()
	}
	return fmt.Sprintf("?:%T", item.Data)
}

const header = `{"type":"session","version":3,"id":"the-session","timestamp":"2026-11-20T07:00:00.000Z","cwd":"/w"}`
