package export

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"banyan/internal/llm"
	"banyan/internal/session"
	"banyan/internal/tool"
)

// builder writes a session in memory, with ids and times that are the same each run.
type builder struct {
	t testing.TB
	*session.Manager
}

func build(t testing.TB, cwd string) builder {
	t.Helper()
	at, n := time.Date(2026, 11, 20, 7, 0, 0, 0, time.UTC), 0
	m, err := session.New("", cwd, session.Options{
		SessID: "019a-demo",
		Now:    func() time.Time { at = at.Add(time.Second); return at },
		NewID:  func() string { n++; return fmt.Sprintf("%08x", n) },
	})
	if err != nil {
		t.Fatal(err)
	}
	return builder{t, m}
}

func (b builder) add(d session.Data) session.ID {
	b.t.Helper()
	e, err := b.Append(d)
	if err != nil {
		b.t.Fatal(err)
	}
	return e.ID
}

func (b builder) branch(id session.ID) {
	b.t.Helper()
	if err := b.Branch(id); err != nil {
		b.t.Fatal(err)
	}
}

func (b builder) user(text string, more ...llm.Block) session.ID {
	return b.add(session.Message{Message: llm.Message{Role: llm.User, Content: append([]llm.Block{llm.Text{Text: text}}, more...)}})
}

func (b builder) answer(blocks ...llm.Block) session.ID {
	stop := llm.StopEnd
	for _, block := range blocks {
		if _, ok := block.(llm.ToolCall); ok {
			stop = llm.StopToolUse
		}
	}
	return b.add(session.Message{Message: llm.Message{
		Role: llm.Assistant, Provider: "acme", Model: "m1", Content: blocks, StopReason: stop,
	}})
}

func (b builder) result(id, name, text string, v tool.View) session.ID {
	return b.add(session.Message{Message: llm.Message{
		Role: llm.ToolResult, CallID: id, ToolName: name, IsError: v == nil,
		Content: []llm.Block{llm.Text{Text: text}}, Details: tool.EncodeView(v),
	}})
}

func call(id, name string, args any) llm.ToolCall {
	raw, err := json.Marshal(args)
	if err != nil {
		panic(err)
	}
	return llm.ToolCall{ID: id, Name: name, Arguments: raw}
}

// dot is a picture of one pixel.
const dot = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="

const answerText = "The leaf moved **before** the write came back. Two things changed in `Append`:\n\n" +
	"1. the error says *which* entry it was\n2. the leaf moves once the line is durable\n\n" +
	"```go\nif err := m.log.Append(encode(e)); err != nil {\n\treturn e, err // the leaf stays\n}\n```\n\n" +
	"| case | before | after |\n|---|:-:|--:|\n| disk full | dangles | stays |\n| 写入失败 | 悬空 | 不变 |\n\n" +
	"- [x] see [the format](https://example.org/format)\n- [ ] مرحبا بالعالم\n\n> quoted <b>not bold</b>\n\n<div>a block</div>\n"

// demo is a session with every kind of entry and three branches.
func demo(t testing.TB) builder {
	b := build(t, "/home/ada/banyan")
	b.add(session.ModelChange{Provider: "acme", Model: "m1"})
	b.add(session.Info{Name: "The leaf & the <file>"})
	b.user("Why does the leaf point at an entry\nthat is not in the file?")
	asked := b.answer(llm.Thinking{Text: "Look at `Append` first.\nThen the log."}, llm.Text{Text: "I'll look at how `Append` moves the leaf."},
		call("c1", "read", map[string]string{"path": "internal/session/manager.go"}),
		call("c2", "bash", map[string]string{"command": "go test ./internal/session"}), call("c3", "grep", map[string]string{"pattern": "leaf ="}))
	b.result("c1", "read", "package session\n", tool.Plain{Text: "package session\n\n// ID names an entry.\ntype ID string\n", Path: "internal/session/manager.go"})
	exit := 1
	b.result("c2", "bash", "", tool.Command{Command: "go test ./internal/session", ExitCode: &exit, Millis: 2140, Output: "\x1b[31m--- FAIL\x1b[0m: TestLeaf\n"})
	b.answer(call("c4", "edit", map[string]string{"path": "manager.go"}), call("c5", "fetch", map[string]string{"url": "https://example.org"}))
	b.result("c4", "edit", "", tool.Diff{Path: "manager.go", Diff: "@@ -38,3 +38,3 @@\n \te := m.next(d)\n-\treturn e, err\n+\treturn e, wrap(err)\n", Added: 1, Removed: 1})
	b.result("c5", "fetch", "example.org: no route to host", nil)
	done := b.answer(llm.Text{Text: answerText})
	b.add(session.Label{Target: done, Text: "the fix"})
	b.add(session.Command{Command: "git commit -am 'Move the leaf last'", Output: "[main 1a2b3c4] Move the leaf last\n"})

	b.branch(asked)
	b.result("c3", "grep", "", tool.Listing{Total: 9, Items: []tool.Item{{Path: "manager.go", Line: 41, Text: "m.leaf = e.ID"}}})
	b.answer(llm.Text{Text: "Another way to look at it."})

	b.branch(done)
	b.add(session.BranchSummary{Summary: "## Goal\nLooked with grep."})
	b.user("and this picture? 👩‍💻", llm.Image{MIME: "image/png", Data: dot}, llm.Image{MIME: "image/svg+xml", Data: dot})
	b.add(session.Compaction{Summary: "So far: the leaf.", TokensBefore: 120_000})
	b.add(session.CustomMessage{Type: "note", Display: true, Content: []llm.Block{llm.Text{Text: "from an extension"}}})
	b.add(session.Message{Message: llm.Message{Role: llm.Assistant, Provider: "acme", Model: "m1", StopReason: llm.StopError, ErrorMessage: "acme: overloaded"}})
	return b
}
