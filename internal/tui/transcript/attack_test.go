package transcript

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"banyan/internal/llm"
	"banyan/internal/session"
	"banyan/internal/tool"
	"banyan/internal/tui/inert"
	"banyan/internal/tui/theme"
)

// attacks are what must not reach a terminal, one of each family.
var attacks = []string{
	"\x1b]52;c;aGk=\a", "\x1b]0;title\x1b\\", "\x1b]8;;http://a\x1b\\x", "\x1bPtmux;\x1b\x1b]52;c;x\a\x1b\\", "\x1b_Gx\x1b\\",
	"\x1b[2J\x1b[H", "\x1b[?1049h", "\x1b[6n", "\x1bc", "\x0e\x1b(0", "\x9b31m", "\u009d0;t\u009c", "\a\b\r\v\f\x00\x7f",
	"\x1b[8mhidden", "\u202etxt.exe", "\u2066x", "a\u200bb\u00ad\ufeff", "\U000E0068\U000E0069", "a" + strings.Repeat("\u0301", 99),
	"❤\ufe0f\ufe0f\ufe0f", "\x1b", "\x1b]52;c;unterminated", "\x1b[201~", "\u2028\u2029\u0085", "&#27;[2J", "\u034f\u3164",
}

// Every text of others is inert wherever it is shown, streamed in pieces too.
func TestAttacks(t *testing.T) {
	for _, a := range attacks {
		s := &script{}
		s.add(session.ModelChange{Provider: a, Model: a})
		s.add(session.ThinkingChange{Level: llm.ThinkingLevel(a)})
		s.user(a)
		s.add(session.Message{Message: llm.Message{Role: llm.User, Content: []llm.Block{llm.Image{MIME: a, Data: "AAAA"}}}})
		s.answer(
			llm.Thinking{Text: a}, llm.Text{Text: a}, llm.Text{Text: "```" + a + "\n" + a + "\n```\n\n- " + a + "\n\n|" + a + "|\n|-|\n|" + a + "|\n\n[" + a + "](http://x/" + a + ")\n\n<b " + a + ">"},
			llm.ToolCall{ID: "1", Name: a, Arguments: arg(a)}, llm.ToolCall{ID: "2", Name: a, Arguments: arg(a)},
			llm.ToolCall{ID: "3", Name: a, Arguments: arg(a)}, llm.ToolCall{ID: "4", Name: a, Arguments: arg(a)},
			llm.ToolCall{ID: "5", Name: a, Arguments: arg(a)}, llm.ToolCall{ID: "6", Name: a, Arguments: arg(a)},
			llm.ToolCall{ID: "7", Name: a, Arguments: arg(a)}, llm.ToolCall{ID: "8", Name: a, Arguments: arg(a)},
		)
		s.result("1", a, a, nil)
		s.result("2", a, a, tool.Command{Command: a, Output: a, Signal: a, Cut: &tool.Cut{Full: a, Lines: 9}})
		s.result("3", a, a, tool.Diff{Path: a, Diff: "@@ -1 +1 @@\n-x" + a + "\n+y" + a + "\n"})
		s.result("4", a, a, tool.Listing{Items: []tool.Item{{Path: a, Line: 1, Text: a}}})
		s.result("5", a, a, tool.Image{Path: a, MIME: a})
		s.failed("6", a, a)
		s.result("7", a, a, tool.TaskView{Task: a, Description: a, Agent: a, State: tool.TaskState(a), Last: a})
		s.result("8", a, a, tool.TaskView{Task: a, Description: a, Agent: a, State: tool.TaskRunning, Last: a})
		s.result("stray", a, a, tool.Plain{Path: a + ".go", Text: a})
		s.add(session.Command{Command: a, Output: a})
		s.add(session.Compaction{Summary: a})
		s.add(session.BranchSummary{Summary: a})
		s.add(session.CustomMessage{Type: a, Display: true, Content: []llm.Block{llm.Text{Text: a}}})
		s.add(session.Message{Message: llm.Message{Role: llm.Assistant, StopReason: llm.StopError, ErrorMessage: a}})
		m := New(theme.Must("dark", theme.TrueColor))
		m.SetSize(60, 500)
		m.Reset(Entries(s.entries))
		m.Append(Block{ID: session.ID(a), Class: session.Class{Kind: "message", Role: llm.User}, Load: func() (session.Entry, error) { return session.Entry{}, errors.New(a) }})
		m.Notice(Failure, a)
		for _, open := range []bool{false, true} {
			m.ExpandTools(open)
			m.ShowThinking(open)
			for i := range m.count() {
				for _, z := range m.draw(i).zones {
					m.toggled[z.hit.Fold] = open && strings.HasPrefix(z.hit.Fold, "summary:")
				}
			}
			m.redraw()
			wantInert(t, a, m.View())
		}
		for i := range len(a) {
			m.Stream(llm.TextDelta{Text: a[i : i+1]})
			m.Stream(llm.ThinkingDelta{Block: 1, Text: a[i : i+1]})
			m.Stream(llm.CallDelta{Block: 2, Name: a[i : i+1], Arguments: a[i : i+1]})
			wantInert(t, a, m.View())
		}
		m.Stream(llm.Retry{Attempt: 2, Wait: time.Second, Err: errors.New(a)})
		wantInert(t, a, m.View())
	}
}

func arg(a string) json.RawMessage {
	b, err := json.Marshal(map[string]string{"path": a})
	if err != nil {
		panic(err)
	}
	return b
}

// wantInert fails if a frame has anything in it but text, our SGR sequences and
// our hyperlinks.
func wantInert(t *testing.T, attack, view string) {
	t.Helper()
	for n, line := range strings.Split(view, "\n") {
		rest := line
		for {
			i := strings.IndexByte(rest, '\x1b')
			if i < 0 {
				break
			}
			n, ok := ours(rest[i:])
			if !ok {
				t.Fatalf("%q reaches the terminal in line %q", attack, line)
			}
			rest = rest[:i] + rest[i+n:]
		}
		if clean := inert.Text(rest); clean != rest {
			t.Fatalf("%q: line %d is not inert: %q", attack, n, line)
		}
	}
}

// ours says how long a sequence of ours is that s begins with: SGR without
// conceal and blink, or a hyperlink to the web.
func ours(s string) (int, bool) {
	if strings.HasPrefix(s, "\x1b]8;;\a") {
		return len("\x1b]8;;\a"), true
	}
	if strings.HasPrefix(s, "\x1b]8;;http") {
		i := strings.IndexByte(s, '\a')
		return i + 1, i > 0 && strings.IndexFunc(s[5:i], func(r rune) bool { return r <= ' ' || r > '~' }) < 0
	}
	if !strings.HasPrefix(s, "\x1b[") {
		return 0, false
	}
	i := strings.IndexByte(s, 'm')
	if i < 0 || strings.Trim(s[2:i], "0123456789;") != "" {
		return 0, false
	}
	var first int
	fmt.Sscanf(s[2:i], "%d", &first)
	return i + 1, first != 5 && first != 8
}
