package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"banyan/internal/llm"
	"banyan/internal/session"
)

// longSession writes a session of n entries as a long day of work makes them:
// rounds of a prompt, an answer with code, a call and its result, a compaction
// every 400 entries. It returns the file.
func (h home) longSession(b testing.TB, n int) string {
	b.Helper()
	dir := session.Dir(filepath.Join(h.dir, ".local/share/banyan/sessions"), h.work)
	m, err := session.New(dir, h.work, session.Options{})
	if err != nil {
		b.Fatal(err)
	}
	const batch = 1000 // entries that are synced together
	var pending []session.Data
	flush := func() {
		if _, err := m.AppendAll(pending...); err != nil {
			b.Fatal(err)
		}
		pending = pending[:0]
	}
	for i := range n {
		pending = append(pending, entry(i, m.Snapshot().Leaf()))
		if len(pending) == batch || i%400 == 399 {
			flush()
		}
	}
	flush()
	path := m.Snapshot().Path()
	if err := m.Close(); err != nil {
		b.Fatal(err)
	}
	return path
}

// entry is the i-th entry of a long session.
func entry(i int, leaf session.ID) session.Data {
	answer := llm.Message{Role: llm.Assistant, API: "anthropic-messages", Provider: "anthropic", Model: "claude-sonnet-5-5", StopReason: llm.StopEnd, Usage: llm.Usage{Input: 1000, Output: 100, Total: 1100}}
	id := fmt.Sprintf("toolu_%d", i/4)
	switch {
	case i%400 == 399:
		return session.Compaction{Summary: "What was done so far, in short. " + strings.Repeat("It went on. ", 40), FirstKept: leaf, TokensBefore: 100_000}
	case i%4 == 0:
		return session.Message{Message: llm.Message{Role: llm.User, Content: []llm.Block{llm.Text{Text: fmt.Sprintf("Question %d: why does the parser in file%d.go lose its place?", i, i%97)}}}}
	case i%4 == 1:
		answer.StopReason = llm.StopToolUse
		answer.Content = []llm.Block{llm.Text{Text: "Let me look at it."}, llm.ToolCall{ID: id, Name: "read", Arguments: fmt.Appendf(nil, `{"path":"file%d.go"}`, i%97)}}
		return session.Message{Message: answer}
	case i%4 == 2:
		return session.Message{Message: llm.Message{Role: llm.ToolResult, CallID: id, ToolName: "read", Content: []llm.Block{llm.Text{Text: strings.Repeat("\tif err := p.next(); err != nil {\n\t\treturn err\n\t}\n", 30)}}}}
	}
	answer.Content = []llm.Block{llm.Text{Text: fmt.Sprintf("## Answer %d\n\nIt **loses** its place in `next`, because:\n\n- it counts bytes\n- not runes\n\n```go\nfunc next() error { return nil }\n```\n", i)}}
	return session.Message{Message: answer}
}
