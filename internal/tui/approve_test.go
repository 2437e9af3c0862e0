package tui_test

import (
	"strings"
	"testing"
	"time"

	"banyan/internal/engine"
	"banyan/internal/llm"
	"banyan/internal/tool"
	"banyan/internal/tui/tuitest"
)

func asked(n int) engine.Asked {
	return engine.Asked{
		Ask: n, Subject: "go test ./...", Reason: "it runs a program", Always: "bash go test",
		Call: llm.ToolCall{ID: "c", Name: "bash", Arguments: []byte(`{"command":"go test ./... && rm -rf build","timeout":30}`)},
	}
}

// Why a call is asked about is read to its end.
func TestLongReasonsAreWhole(t *testing.T) {
	ask := asked(1)
	ask.Reason = "git: it obeys the repository's configuration, which may run programs; only git log is known to only read"
	tuitest.New(t).Open().Emit(ask).Sees("May this run? bash  git: it obeys", "known to only read", "1 y  Yes").
		Resize(40, 10).Sees("May this run? bash", "1 y  Yes", "n  No")
}

func TestApproval(t *testing.T) {
	for _, tt := range []struct {
		name string
		keys []string
		want engine.Answer
	}{
		{"y", []string{"y"}, engine.Answer{Decision: engine.Allow}},
		{"1", []string{"1"}, engine.Answer{Decision: engine.Allow}},
		{"a", []string{"a"}, engine.Answer{Decision: engine.Always}},
		{"2", []string{"2"}, engine.Answer{Decision: engine.Always}},
		{"n", []string{"n"}, engine.Answer{Decision: engine.Deny}},
		{"3", []string{"3"}, engine.Answer{Decision: engine.Deny}},
		{"enter alone is no", []string{"enter"}, engine.Answer{Decision: engine.Deny}},
		{"moved to yes", []string{"up", "up", "enter"}, engine.Answer{Decision: engine.Allow}},
		{"around the end", []string{"down", "enter"}, engine.Answer{Decision: engine.Allow}},
		{"esc stops", []string{"esc"}, engine.Answer{Decision: engine.Stop}},
		{"ctrl+c stops", []string{"ctrl+c"}, engine.Answer{Decision: engine.Stop}},
		{"a comment", []string{"tab", "u", "s", "e", "enter"}, engine.Answer{Decision: engine.Deny, Comment: "use"}},
		{"a comment taken back", []string{"tab", "u", "esc", "y"}, engine.Answer{Decision: engine.Allow}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := tuitest.New(t).Open().Emit(asked(7))
			d.Sees("May this run? bash  it runs a program", "go test ./... && rm -rf build", "timeout: 30", "from now on: bash go test")
			d.Advance(time.Second).Press(tt.keys...)
			tt.want.Ask = 7
			d.WasSent(tt.want).Misses("May this run?")
		})
	}
}

func TestApprovalWithoutAlways(t *testing.T) {
	ask := asked(1)
	ask.Always = ""
	d := tuitest.New(t).Open().Emit(ask).Advance(time.Second)
	d.Press("a", "3").WasSent().Misses("from now on")
	d.Press("2").WasSent(engine.Answer{Ask: 1, Decision: engine.Deny})
}

// A key that was on its way when the question came up is never an answer, and
// is not lost either.
func TestTypeAheadApprovesNothing(t *testing.T) {
	d := tuitest.New(t).Open()
	d.Type("wa")
	d.Emit(asked(1))
	for _, key := range []string{"y", " ", "1", "a"} {
		d.Advance(200 * time.Millisecond).Type(key)
	}
	d.Advance(200 * time.Millisecond).Press("enter").WasSent()
	d.Sees("May this run?")
	d.Advance(400 * time.Millisecond).Press("n").WasSent(engine.Answer{Ask: 1, Decision: engine.Deny})
	d.Sees("› way 1a")
}

func TestClicksOnTheirWayApproveNothing(t *testing.T) {
	d := tuitest.New(t).Open().Emit(asked(1))
	y := row(t, d, "Yes, this once")
	d.Drag(5, y, 5, y).WasSent().Advance(time.Second).Drag(5, y, 5, y).WasSent(engine.Answer{Ask: 1, Decision: engine.Allow})
}

func TestPastesApproveNothing(t *testing.T) {
	d := tuitest.New(t).Open().Emit(asked(1)).Advance(time.Second)
	d.Paste("y").WasSent().Sees("May this run?")
}

func TestQuestionsAreAnsweredInTheirOrder(t *testing.T) {
	d := tuitest.New(t).Open().Emit(asked(1)).Advance(time.Second).Emit(asked(2)).Emit(asked(3))
	d.Press("y").Advance(time.Second)
	d.Emit(engine.Withdrawn{Ask: 2})
	d.Press("n").WasSent(engine.Answer{Ask: 1, Decision: engine.Allow}, engine.Answer{Ask: 3, Decision: engine.Deny})
	d.Misses("May this run?")
}

func TestWithdrawnTakesItsCommentAlong(t *testing.T) {
	d := tuitest.New(t).Open().Emit(asked(1)).Advance(time.Second).Press("tab").Sees("No, because")
	d.Emit(engine.Withdrawn{Ask: 1}).Misses("No, because", "May this run?")
	d.Type("x").Sees("› x")
}

func TestApprovalShowsADiff(t *testing.T) {
	ask := asked(1)
	ask.Call = llm.ToolCall{Name: "edit", Arguments: []byte(`{"path":"a.go"}`)}
	ask.Preview = tool.Diff{Path: "a.go", Diff: "@@ -1,2 +1,3 @@\n-old line\n+new line\n+and another\n same\n@@ -40 +41 @@\n-x\n+y\n", Added: 3, Removed: 2}
	tuitest.New(t).Open().Emit(ask).Sees("a.go", "1 - old line", "1 + new line", "2 + and another", "3   same", "⋮", "40 - x", "41 + y")
}

// However long a command is, its end can be seen before it is approved, and the
// answers never leave the screen.
func TestLongCommandsCanBeReadToTheirEnd(t *testing.T) {
	ask := asked(1)
	ask.Call.Arguments = []byte(`{"command":"` + strings.Repeat(`echo one more line\n`, 60) + `rm -rf /"}`)
	for _, size := range [][2]int{{80, 24}, {40, 10}} {
		d := tuitest.New(t).Open().Resize(size[0], size[1]).Emit(ask).Advance(time.Second)
		d.Sees("echo one more", "3 n  No").Misses("rm -rf /")
		for range 20 {
			d.Press("pgdown")
		}
		d.Sees("rm -rf /", "3 n  No")
	}
}
