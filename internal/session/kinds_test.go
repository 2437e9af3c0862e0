package session_test

import (
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"banyan/internal/llm"
	"banyan/internal/session"
)

func ptr[T any](v T) *T { return &v }

var at = time.Date(2026, 11, 20, 7, 0, 0, int(123*time.Millisecond), time.UTC)

// everyKind is one of each, with every field set. The target of labels and
// compactions is the first entry.
func everyKind(first session.ID) []session.Data {
	usage := llm.Usage{Input: 1, Output: 2, CacheRead: 3, CacheWrite: 4, Total: 10, Cost: llm.Cost{Input: .5, Total: .5}}
	lists := &session.FileLists{Read: []string{"a<b>&c.go"}, Modified: []string{}, LeftLeaf: first}
	raw := json.RawMessage(`{"n":9007199254740993,"s":"<&>"}`)
	return []session.Data{
		session.Message{Message: llm.Message{Role: llm.User, Time: at, Content: []llm.Block{
			llm.Text{Text: "hi <you> & \u2028 \x00 \"q\""}, llm.Image{Data: "aGk=", MIME: "image/png"},
		}}},
		session.Message{Message: llm.Message{
			Role: llm.Assistant, Time: at, API: "x", Provider: "p", Model: "m", ResponseID: "r", Usage: usage,
			StopReason: llm.StopError, ErrorMessage: "it broke", Content: []llm.Block{
				llm.Thinking{Text: "hm", Signature: "sig"},
				llm.Thinking{Signature: "opaque", Redacted: true},
				llm.Text{Text: "so", Signature: "ts"},
				llm.ToolCall{ID: "c1", Name: "read", Arguments: raw, Signature: "th"},
			},
		}},
		session.Message{Message: llm.Message{
			Role: llm.ToolResult, Time: at, CallID: "c1", ToolName: "read", IsError: true, Details: raw,
			Content: []llm.Block{llm.Text{Text: ""}},
		}},
		session.Command{Command: "ls", Output: "a\n", ExitCode: ptr(0), Cancelled: true, Truncated: true, FullOutput: "/tmp/x", Excluded: true, Time: at},
		session.Compaction{Summary: "s", FirstKept: first, TokensBefore: 7, Details: lists, Usage: &usage, FromHook: true},
		session.BranchSummary{From: first, Summary: "b", Details: lists, Usage: &usage, FromHook: true},
		session.Custom{Type: "acme", Data: raw},
		session.CustomMessage{Type: "acme", Content: []llm.Block{llm.Text{Text: "x"}}, Display: true, Details: raw},
		session.Label{Target: first, Text: "here"},
		session.Label{Target: first},
		session.Info{Name: "a name"},
		session.ModelChange{Provider: "p", Model: "a/b", Role: "smol"},
		session.ThinkingChange{Level: llm.ThinkingHigh},
		session.ModeChange{Mode: "plan", Data: raw},
		session.RuleInjection{Rules: []string{"r1"}},
	}
}

func TestEveryKindRoundTrips(t *testing.T) {
	m := newOnDisk(t)
	first := add(t, m, user("first"))
	var want []session.Entry
	for _, d := range everyKind(first) {
		e, err := m.Append(d)
		if err != nil {
			t.Fatalf("%T: %v", d, err)
		}
		want = append(want, e)
	}
	path := m.Snapshot().Path()
	for name, s := range map[string]session.Snapshot{"in memory": m.Snapshot(), "read back": look(t, path)} {
		entries, err := s.Branch(m.Snapshot().Leaf())
		if err != nil {
			t.Fatal(err)
		}
		for i, e := range entries[1:] {
			if !reflect.DeepEqual(e, want[i]) {
				t.Errorf("%s: entry %d\n got %#v\nwant %#v", name, i, e, want[i])
			}
		}
		if len(entries) != len(want)+1 {
			t.Errorf("%s: %d entries, want %d", name, len(entries), len(want)+1)
		}
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.Split(strings.TrimSpace(string(b)), "\n")[1:] {
		head := `{"type":"`
		if !strings.HasPrefix(line, head) || !strings.Contains(line, `","id":"`) || strings.Index(line, `"id"`) > strings.Index(line, `"parentId"`) ||
			strings.Index(line, `"parentId"`) > strings.Index(line, `"timestamp"`) {
			t.Errorf("line %d does not begin with type, id, parentId, timestamp: %s", i+2, line)
		}
		if strings.Contains(line, `\u003c`) {
			t.Errorf("line %d escapes what JavaScript does not: %s", i+2, line)
		}
	}
}

// TestForeignShapes reads what other programs write.
func TestForeignShapes(t *testing.T) {
	usage := llm.Usage{Input: 2100, Output: 88}
	tests := []struct {
		line string
		want session.Data
	}{
		{
			`{"type":"message","message":{"role":"user","content":"plain","timestamp":1795159140001},"id":"1","parentId":null,"timestamp":"2026-11-20T07:19:00.001Z"}`,
			session.Message{Message: llm.Message{Role: llm.User, Time: time.UnixMilli(1795159140001).UTC(), Content: []llm.Block{llm.Text{Text: "plain"}}}},
		},
		{
			`{"type":"message","id":"1","parentId":null,"timestamp":"2026-11-20T07:19:00.001Z","message":{"role":"assistant","content":[{"type":"fallback"},{"type":"redactedThinking","data":"x"}],"usage":{"input":2100.0,"output":88,"cacheRead":-1,"reasoningTokens":3}}}`,
			session.Message{Message: llm.Message{Role: llm.Assistant, Time: time.Date(2026, 11, 20, 7, 19, 0, 1e6, time.UTC), Usage: usage, Content: []llm.Block{llm.Thinking{Signature: "x", Redacted: true}}}},
		},
		{
			`{"type":"compaction","id":"1","parentId":null,"timestamp":"x","summary":"s","firstKeptEntryId":"z","tokensBefore":1e3,"fromExtension":true,"details":[1]}`,
			session.Compaction{Summary: "s", FirstKept: "z", TokensBefore: 1000, FromHook: true},
		},
		{
			`{"type":"branch_summary","id":"1","parentId":null,"timestamp":"x","fromId":"root","summary":"s","fromExtension":true}`,
			session.BranchSummary{Summary: "s", FromHook: true},
		},
		{
			`{"type":"model_change","id":"1","parentId":null,"timestamp":"x","model":"openrouter/a/b","role":"smol"}`,
			session.ModelChange{Provider: "openrouter", Model: "a/b", Role: "smol"},
		},
		{
			`{"type":"thinking_level_change","id":"1","parentId":null,"timestamp":"x","thinkingLevel":null,"configured":"auto"}`,
			session.ThinkingChange{Level: llm.ThinkingOff},
		},
		{
			`{"type":"message","id":"1","parentId":null,"timestamp":"x","message":{"role":"hookMessage","customType":"t","content":"c","display":true}}`,
			session.CustomMessage{Type: "t", Content: []llm.Block{llm.Text{Text: "c"}}, Display: true},
		},
		{`{"type":"custom","customType":"t","data":null,"id":"1","parentId":null,"timestamp":"x"}`, session.Custom{Type: "t"}},
	}
	for _, tt := range tests {
		s := look(t, write(t, header, tt.line))
		e, ok, err := s.Entry("1")
		if err != nil || !ok {
			t.Errorf("%s: found %v, %v", tt.line, ok, err)
			continue
		}
		if !reflect.DeepEqual(e.Data, tt.want) {
			t.Errorf("%s\n got %#v\nwant %#v", tt.line, e.Data, tt.want)
		}
	}
}

func TestUnknownIsKeptByteForByte(t *testing.T) {
	lines := []string{
		`{"type":"service_tier_change","id":"1","parentId":null,"timestamp":"2026-11-20T07:19:00.001Z","serviceTier":{"x" : 1.0}}`,
		`{"type":"message","id":"2","parentId":"1","timestamp":"2026-11-20T07:19:00.001Z","message":{"role":"pythonExecution","code":"\u0041"}}`,
		`{"type":"message","id":"3","parentId":"2","timestamp":"2026-11-20T07:19:00.001Z","message":{"role":"user","content":7}}`,
		`{"type":"message","id":"4","parentId":"3","timestamp":"2026-11-20T07:19:00.001Z"}`,
		`{"type":"message","id":"5","parentId":"4","timestamp":"2026-11-20T07:19:00.001Z","message":{"role":"user","content":` + strings.Repeat("[", 10_001) + strings.Repeat("]", 10_001) + `}}`,
	}
	path := write(t, append([]string{header}, lines...)...)
	s := look(t, path)
	entries, err := s.Branch("5")
	if err != nil || len(entries) != len(lines) {
		t.Fatalf("%d entries, %v", len(entries), err)
	}
	for i, e := range entries {
		u, ok := e.Data.(session.Unknown)
		if !ok || string(u.Raw) != lines[i] {
			t.Errorf("line %d: %#v", i+2, e.Data)
		}
		if known := i > 0; known != (u.Err != nil) {
			t.Errorf("line %d: error %v", i+2, u.Err)
		}
	}
	if got := texts(t, s, "5"); len(got) != 0 {
		t.Errorf("models see %v", got)
	}
	fork, err := open(t, path).CreateBranchedSession(t.TempDir(), "5")
	if err != nil {
		t.Fatal(err)
	}
	defer fork.Close()
	b, err := os.ReadFile(fork.Snapshot().Path())
	if err != nil {
		t.Fatal(err)
	}
	if _, rest, _ := strings.Cut(string(b), "\n"); rest != strings.Join(lines, "\n")+"\n" {
		t.Errorf("the fork changed lines:\n%s", rest)
	}
}
