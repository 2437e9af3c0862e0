package transcript

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"banyan/internal/llm"
	"banyan/internal/tool"
	"banyan/internal/tui/theme"
)

var update = flag.Bool("update", false, "write the golden frames")

// scenes are the screens whose frames are kept, each from its own beginning.
var scenes = []struct {
	name string
	set  func(m *Model)
}{
	{"end", func(*Model) {}},
	{"top", func(m *Model) { m.Top() }},
	{"open", func(m *Model) {
		m.ExpandTools(true)
		m.ShowThinking(true)
		m.Top()
		m.Page(1)
	}},
	{"live", func(m *Model) {
		m.Stream(llm.ThinkingDelta{Text: "First the log,\nthen the manager."})
		m.Stream(llm.TextDelta{Block: 1, Text: "I'll *write* the test:\n\n```go\nfunc TestFailedWr"})
		m.Stream(llm.CallDelta{Block: 2, ID: "l1", Name: "write", Arguments: `{"path":"internal/session/fail_test.go","content":"pack`})
	}},
	{"running", func(m *Model) {
		s := &script{}
		s.answer(call("r1", "bash", `{"command":"go test ./..."}`), call("r2", "read", `{"path":"go.mod"}`))
		m.Append(EntryBlock(s.entries[0]))
		m.ToolStarted(call("r1", "bash", ""), time.Unix(100, 0))
		m.ToolProgress("r1", tool.Command{Output: "ok  \tbanyan/internal/jsonl\t0.8s\n"})
		m.SetNow(time.Unix(165, 0))
		m.Notice(Note, "the session is saved in a new file: session.jsonl was moved away")
		m.Notice(Warning, "disk full: 3 entries are only in memory. Free some space, or save elsewhere with /export")
	}},
	{"retry", func(m *Model) {
		m.Stream(llm.TextDelta{Text: "half an ans"})
		m.Stream(llm.Retry{Attempt: 2, Wait: 4 * time.Second, Err: fmt.Errorf("anthropic (api.anthropic.com): overloaded [HTTP 529]")})
	}},
	{"selected", func(m *Model) {
		m.PrevTurn()
		m.ScrollLines(-8)
		m.SelectStart(8, 2)
		m.SelectTo(20, 7)
	}},
}

// Frames look as they did when somebody last looked at them and was content.
func TestGolden(t *testing.T) {
	for _, name := range []string{"dark", "light"} {
		for _, size := range [][2]int{{40, 10}, {80, 24}, {120, 40}, {200, 60}} {
			for _, scene := range scenes {
				m := New(theme.Must(name, theme.TrueColor))
				m.SetSiblings(demoSiblings)
				m.SetSize(size[0], size[1])
				m.Reset(Entries(demo()))
				scene.set(m)
				wantFrame(t, m)
				golden(t, fmt.Sprintf("%s-%s-%dx%d", scene.name, name, size[0], size[1]), m.View())
			}
		}
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", "golden", name+".ansi")
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v (make it with -update)", err)
	}
	if got+"\n" != string(want) {
		t.Errorf("%s differs (look, then -update). Got:\n%s\nwant:\n%s", name, text(got), text(string(want)))
	}
}
