package tui_test

import (
	"testing"

	"banyan/internal/llm"
	"banyan/internal/session"
	"banyan/internal/tool"
	"banyan/internal/tui"
	"banyan/internal/tui/tuitest"
)

// wrote is the result of a tool that changed a file.
func wrote(path, diff string, failed bool) session.Message {
	m := llm.Message{Role: llm.ToolResult, CallID: "c", ToolName: "edit", IsError: failed}
	m.Details = tool.EncodeView(tool.Diff{Path: path, Diff: diff, Added: 1, Removed: 1})
	return session.Message{Message: m}
}

func TestDiff(t *testing.T) {
	d := tuitest.New(t).Open()
	d.Resize(80, 40)
	run(d, "/diff").Sees("No tool has changed a file")
	d.Append(user("change it"))
	leaf := d.Session.Snapshot().Leaf()
	d.Append(wrote("b.go", "@@ -1 +1 @@\n-left\n+elsewhere\n", false))
	must(d.Session.Branch(leaf))
	d.Append(wrote("a\x1b[2J.go", "@@ -1 +1 @@\n-one\n+two\n", false), wrote("c.go", "@@ -1 +1 @@\n-c1\n+c2\n", false),
		wrote("d.go", "@@ -1 +1 @@\n-d1\n+d2\n", true), wrote("a\x1b[2J.go", "@@ -1 +1 @@\n-two\n+three\n", false))
	run(d, "/diff").Sees("in 2 files", "a␛[2J.go  +2 −2").Misses("b.go", "d.go")
	inOrder(t, d, "in 2 files", "a␛[2J.go", "change 1 of 2", "one", "two", "change 2 of 2", "three", "c.go  +1 −1")
	d.Press("esc").Misses("change 1 of 2")
}

func TestSandbox(t *testing.T) {
	d := tuitest.New(t, func(o *tui.Options) {
		o.Sandbox = func(contextT) ([]tui.Fact, error) { return []tui.Fact{{Name: "strength", Text: "partial"}}, nil }
	})
	run(d, "/sandbox").Sees("not open yet")
	run(d.Open(), "/sandbox").Sees("Sandbox", "strength", "partial")
}
