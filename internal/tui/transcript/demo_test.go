package transcript

import (
	"encoding/json"
	"fmt"
	"time"

	"banyan/internal/llm"
	"banyan/internal/session"
	"banyan/internal/tool"
)

// script writes a conversation, entry by entry.
type script struct {
	entries []session.Entry
	at      time.Time
}

func (s *script) add(d session.Data) session.Entry {
	s.at = s.at.Add(time.Second)
	e := session.Entry{ID: session.ID(fmt.Sprintf("%08x", len(s.entries)+1)), Time: s.at, Data: d}
	if n := len(s.entries); n > 0 {
		e.Parent = s.entries[n-1].ID
	}
	s.entries = append(s.entries, e)
	return e
}

func (s *script) user(text string) { s.add(session.Message{Message: llm.UserText(text, s.at)}) }

func (s *script) answer(blocks ...llm.Block) {
	stop := llm.StopEnd
	for _, b := range blocks {
		if _, ok := b.(llm.ToolCall); ok {
			stop = llm.StopToolUse
		}
	}
	s.add(session.Message{Message: llm.Message{Role: llm.Assistant, Content: blocks, StopReason: stop}})
}

func (s *script) result(id, name, text string, v tool.View) {
	s.add(session.Message{Message: llm.Message{
		Role: llm.ToolResult, CallID: id, ToolName: name,
		Content: []llm.Block{llm.Text{Text: text}}, Details: tool.EncodeView(v),
	}})
}

func (s *script) failed(id, name, text string) {
	s.add(session.Message{Message: llm.Message{
		Role: llm.ToolResult, CallID: id, ToolName: name, IsError: true,
		Content: []llm.Block{llm.Text{Text: text}},
	}})
}

func call(id, name, args string) llm.ToolCall {
	return llm.ToolCall{ID: id, Name: name, Arguments: json.RawMessage(args)}
}

func intp(n int) *int { return &n }

const demoDiff = `@@ -38,9 +38,11 @@
 // Append adds an entry below the leaf.
 func (m *Manager) Append(d Data) (Entry, error) {
 	e := m.next(d)
-	if err := m.log.Append(encode(e)); err != nil {
-		return e, err
+	if err := m.log.Append(encode(e, m.now())); err != nil {
+		return e, fmt.Errorf("append %s: %w", e.ID, err)
 	}
+	m.leaf = e.ID
+	m.index.add(e)
 	return e, nil
 }
`

const demoAnswer = `The leaf was moved **before** the write came back, so a failed write left it at an entry that is not in the file. Two things changed in ` + "`Append`" + `:

1. the error says *which* entry it was, and wraps the cause
2. the leaf moves only once the line is durable

` + "```go" + `
if err := m.log.Append(encode(e, m.now())); err != nil {
	return e, fmt.Errorf("append %s: %w", e.ID, err) // the leaf stays
}
` + "```" + `

| case | before | after |
|---|---|---|
| disk full | leaf dangles | leaf stays |
| 写入失败 | 悬空 | 不变 |

See [the format](https://example.org/format) for the order of promises.`

// demo is a conversation in which every kind of block occurs.
func demo() []session.Entry {
	s := &script{at: time.Unix(1_790_000_000, 0)}
	s.add(session.ModelChange{Provider: "anthropic", Model: "claude-sonnet-4"})
	s.add(session.ThinkingChange{Level: llm.ThinkingMedium})
	s.user("The manager's leaf points at an entry that is not in the file after a failed write. Find out why, fix it and add a test.")
	s.answer(
		llm.Thinking{Text: "Look at Append first.\nThen the log."},
		llm.Text{Text: "I'll look at how `Append` moves the leaf, then run the tests."},
		call("c1", "read", `{"path":"internal/session/manager.go"}`),
		call("c2", "grep", `{"pattern":"m\\.leaf =","path":"internal/session"}`),
		call("c3", "bash", `{"command":"go test ./internal/session -run TestFailedWrite"}`),
	)
	s.result("c1", "read", "package session\n", tool.Plain{Text: "package session\n\nimport \"time\"\n\n// ID names an entry.\ntype ID string\n", Path: "internal/session/manager.go", Line: 1})
	s.result("c2", "grep", "", tool.Listing{Total: 9, Items: []tool.Item{
		{Path: "internal/session/manager.go", Line: 41, Text: "\tm.leaf = e.ID"},
		{Path: "internal/session/manager.go", Line: 88, Text: "\tm.leaf = id"},
		{Path: "internal/session/fork.go", Line: 12, Text: "\tm.leaf = leaf"},
	}})
	s.result("c3", "bash", "", tool.Command{Command: "go test ./internal/session -run TestFailedWrite", ExitCode: intp(1), Millis: 2140, Output: "=== RUN   TestFailedWrite\n    manager_test.go:55: leaf is 3f2a91c0, want 00000001\n--- FAIL: TestFailedWrite (0.00s)\nFAIL\nFAIL\tbanyan/internal/session\t0.412s\nFAIL\n\x1b[31mexit status 1\x1b[0m\n"})
	s.answer(call("c4", "edit", `{"path":"internal/session/manager.go"}`))
	s.result("c4", "edit", "", tool.Diff{Path: "internal/session/manager.go", Diff: demoDiff, Added: 4, Removed: 2})
	s.answer(call("c5", "bash", `{"command":"go vet ./... && go test ./..."}`), call("c6", "fetch", `{"url":"https://example.org/format"}`))
	s.result("c5", "bash", "", tool.Command{Command: "go vet ./... && go test ./...", ExitCode: intp(0), Millis: 12400, Output: "ok  \tbanyan/internal/jsonl\t0.811s\nok  \tbanyan/internal/session\t1.204s\n"})
	s.failed("c6", "fetch", "example.org: no route to host. Check the network, or allow the host in the sandbox.")
	s.answer(llm.Text{Text: demoAnswer})
	s.add(session.Command{Command: "git commit -am 'Move the leaf last'", Output: "[main 1a2b3c4] Move the leaf last\n 1 file changed, 4 insertions(+), 2 deletions(-)\n", ExitCode: intp(0)})
	s.add(session.BranchSummary{Summary: "Tried to hold the leaf in the log.\n\n- given up: the log knows no sessions"})
	s.add(session.Compaction{Summary: "## Goal\nFix the leaf.", TokensBefore: 123_456})
	s.user("thanks — now tidy up 👩‍💻")
	s.add(session.Message{Message: llm.Message{Role: llm.Assistant, StopReason: llm.StopError, ErrorMessage: "anthropic (api.anthropic.com): overloaded [HTTP 529]. Try again in a minute, or pick another model with Alt+P"}})
	return s.entries
}

// demoSiblings gives the first turn of the demo two siblings.
func demoSiblings(id session.ID) (int, int) {
	if id == "00000003" {
		return 2, 3
	}
	return 1, 1
}
