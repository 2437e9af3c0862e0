package session_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"
	"pgregory.net/rapid"

	"banyan/internal/llm"
	"banyan/internal/session"
)

// TestContext reads testdata/context.txtar: each case is a file named
// "<case>.log" of short lines, and "<case>.want", what a context at each leaf is.
//
//	log:   <id> <parent or -> <kind> <arguments>
//	want:  <leaf>: thinking model | item, item
func TestContext(t *testing.T) {
	archive, err := txtar.ParseFile("testdata/context.txtar")
	if err != nil {
		t.Fatal(err)
	}
	logs := map[string]string{}
	for _, f := range archive.Files {
		name, kind, _ := strings.Cut(f.Name, ".")
		if kind == "log" {
			logs[name] = string(f.Data)
			continue
		}
		t.Run(name, func(t *testing.T) {
			s := look(t, write(t, expand(t, logs[name])...))
			for want := range strings.Lines(string(f.Data)) {
				leaf, _, _ := strings.Cut(want, ":")
				if got := describe(t, s, leaf); got != strings.TrimSpace(want) {
					t.Errorf("got  %s\nwant %s", got, want)
				}
			}
		})
	}
}

// describe is a context in one line.
func describe(t *testing.T, s session.Snapshot, leaf string) string {
	t.Helper()
	at := session.ID(leaf)
	if leaf == "root" {
		at = ""
	}
	c, err := s.Context(at)
	if err != nil {
		t.Fatal(err)
	}
	model := "-"
	if c.Model != (session.ModelRef{}) {
		model = c.Model.Provider + "/" + c.Model.Model
	}
	return strings.TrimSpace(fmt.Sprintf("%s: %s %s | %s", leaf, c.Thinking, model, strings.Join(texts(t, s, at), ", ")))
}

// expand writes the lines of a short log.
func expand(t *testing.T, log string) []string {
	t.Helper()
	lines := []string{header}
	for i, line := range strings.Split(strings.TrimSpace(log), "\n") {
		if strings.TrimSpace(line) == "" {
			continue
		}
		f := strings.Fields(line)
		parent := `"` + f[1] + `"`
		if f[1] == "-" {
			parent = "null"
		}
		rest := strings.Join(f[3:], " ")
		first, after, _ := strings.Cut(rest, " ")
		var kind, body string
		switch f[2] {
		case "user":
			kind, body = "message", fmt.Sprintf(`"message":{"role":"user","content":%q}`, rest)
		case "assistant":
			provider, model, _ := strings.Cut(first, "/")
			kind, body = "message", fmt.Sprintf(`"message":{"role":"assistant","content":[{"type":"text","text":%q}],"provider":%q,"model":%q,"stopReason":"stop"}`, after, provider, model)
		case "compaction":
			kind, body = f[2], fmt.Sprintf(`"summary":%q,"firstKeptEntryId":%q,"tokensBefore":1`, after, first)
		case "branch_summary":
			kind, body = f[2], fmt.Sprintf(`"summary":%q,"fromId":%q`, after, first)
		case "thinking":
			kind, body = "thinking_level_change", fmt.Sprintf(`"thinkingLevel":%q`, first)
		case "model":
			provider, model, _ := strings.Cut(first, "/")
			kind, body = "model_change", fmt.Sprintf(`"provider":%q,"modelId":%q`, provider, model)
		case "custom_message":
			kind, body = f[2], fmt.Sprintf(`"customType":"x","content":%q,"display":true`, rest)
		case "custom":
			kind, body = f[2], fmt.Sprintf(`"customType":%q`, first)
		case "label":
			kind, body = f[2], fmt.Sprintf(`"targetId":%q,"label":%q`, first, after)
		default:
			t.Fatalf("no such kind: %s", line)
		}
		lines = append(lines, fmt.Sprintf(`{"type":%q,"id":%q,"parentId":%s,"timestamp":"2026-11-20T07:%02d:00.000Z",%s}`, kind, f[0], parent, i+1, body))
	}
	return lines
}

// TestRepair is the table of what Messages heals. Contexts and messages are
// written short: u:text, a:text, a(stop):text, a[id id]:text, r(id):text.
func TestRepair(t *testing.T) {
	tests := []struct{ name, items, want string }{
		{"nothing", "", ""},
		{"plain", "u:hi; a:hello; u:more", "u:hi; a:hello; u:more"},
		{"unanswered call", "u:hi; a[1]:x", "u:hi; a[1]:x; r(1):?"},
		{"one of two answered", "u:hi; a[1 2]:x; r(2):two", "u:hi; a[1 2]:x; r(1):?; r(2):two"},
		{"reversed", "u:hi; a[1 2]:x; r(2):two; r(1):one", "u:hi; a[1 2]:x; r(1):one; r(2):two"},
		{"user between", "u:hi; a[1]:x; u:steer; r(1):one; a:done", "u:hi; a[1]:x; r(1):one; u:steer; a:done"},
		{"stray result", "u:hi; r(9):lost; a:x", "u:hi; a:x"},
		{"result of an earlier answer", "u:hi; a[1]:x; r(1):one; a[2]:y; r(1):again; r(2):two", "u:hi; a[1]:x; r(1):one; a[2]:y; r(2):two"},
		{"two results", "u:hi; a[1]:x; r(1):one; r(1):two", "u:hi; a[1]:x; r(1):one"},
		{"same id again", "u:hi; a[1]:x; r(1):one; a[1]:y; r(1):two", "u:hi; a[1]:x; r(1):one; a[1-2]:y; r(1-2):two"},
		{"same id twice in one answer", "u:hi; a[1 1]:x; r(1):one; r(1):two", "u:hi; a[1 1-2]:x; r(1):one; r(1-2):two"},
		{"no id", "u:hi; a[-]:x; r(-):one", "u:hi; a[call]:x; r(call):one"},
		{"empty result", "u:hi; a[1]:x; r(1):", "u:hi; a[1]:x; r(1):(no output)"},
		{"aborted with text", "u:hi; a(aborted):par; u:go on", "u:hi; a(aborted):par+[This answer was interrupted by the user.]; u:go on"},
		{"aborted without text", "u:hi; a(aborted):; u:go on", "u:hi+go on"},
		{"aborted call", "u:hi; a(aborted)[1]:; u:go on", "u:hi+go on"},
		{"aborted call that ran", "u:hi; a(aborted)[1 2]:x; r(2):two", "u:hi; a(aborted)[2]:x; r(2):two"},
		{"failed with text", "u:hi; a(error):par", "u:hi; a(error):par+[This answer was cut off by an error.]"},
		{"failed without text", "u:hi; a(error):", "u:hi"},
		{"two answers", "u:hi; a:one; a:two", "u:hi; a:one; u:Continue.; a:two"},
		{"answer first", "a:one; u:hi", "u:Continue.; a:one; u:hi"},
		{"two users", "u:one; u:two; a:x", "u:one+two; a:x"},
		{"blank", "u: ; u:hi; a: ; u:more", "u:hi+more"},
		{"result first", "r(1):kept by a compaction; u:hi", "u:hi"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			messages := session.Context{Items: parseItems(tt.items)}.Messages()
			var got []string
			for _, m := range messages {
				got = append(got, shortMessage(m))
			}
			if g := strings.Join(got, "; "); g != tt.want {
				t.Errorf("\n got %s\nwant %s", g, tt.want)
			}
			if err := acceptable(messages); err != nil {
				t.Error(err)
			}
		})
	}
}

func parseItems(text string) []session.Item {
	var items []session.Item
	for _, part := range strings.Split(text, "; ") {
		who, body, ok := strings.Cut(part, ":")
		if !ok {
			continue
		}
		inner := func(open, end string) (string, bool) {
			_, s, ok := strings.Cut(who, open)
			s, _, _ = strings.Cut(s, end)
			return s, ok
		}
		var m llm.Message
		switch who[0] {
		case 'u':
			m = llm.UserText(body, at)
		case 'a':
			m = llm.Message{Role: llm.Assistant, StopReason: llm.StopEnd, Content: []llm.Block{llm.Text{Text: body}}}
			if reason, ok := inner("(", ")"); ok {
				m.StopReason = llm.StopReason(reason)
			}
			if ids, ok := inner("[", "]"); ok {
				for _, id := range strings.Fields(ids) {
					m.Content = append(m.Content, llm.ToolCall{ID: strings.Trim(id, "-"), Name: "read", Arguments: []byte("{}")})
				}
			}
		case 'r':
			id, _ := inner("(", ")")
			m = llm.Message{Role: llm.ToolResult, CallID: strings.Trim(id, "-"), Content: []llm.Block{llm.Text{Text: body}}}
		}
		items = append(items, session.Item{Data: session.Message{Message: m}})
	}
	return items
}

func shortMessage(m llm.Message) string {
	var texts, ids []string
	for _, b := range m.Content {
		switch b := b.(type) {
		case llm.Text:
			texts = append(texts, b.Text)
		case llm.ToolCall:
			ids = append(ids, b.ID)
		}
	}
	who := string(m.Role)[:1]
	switch {
	case m.Role == llm.ToolResult:
		who = "r(" + m.CallID + ")"
		if m.IsError {
			return who + ":?"
		}
	case m.Role == llm.Assistant && m.StopReason != llm.StopEnd:
		who += "(" + string(m.StopReason) + ")"
	}
	if m.Role == llm.ToolResult {
		who = "r(" + m.CallID + ")"
	} else if m.Role == llm.User {
		who = "u"
	}
	if len(ids) > 0 {
		who += "[" + strings.Join(ids, " ") + "]"
	}
	return who + ":" + strings.Join(texts, "+")
}

// TestBrokenAnswersAreUnsigned: what a provider has signed is not sent back of an
// answer that did not end.
func TestBrokenAnswersAreUnsigned(t *testing.T) {
	content := []llm.Block{llm.Thinking{Text: "hm", Signature: "cut"}, llm.Text{Text: "so", Signature: "cut"}}
	for stop, want := range map[llm.StopReason]int{llm.StopEnd: 2, llm.StopAborted: 0, llm.StopError: 0} {
		m := llm.Message{Role: llm.Assistant, StopReason: stop, Content: content}
		c := session.Context{Items: []session.Item{{Data: user("hi")}, {Data: session.Message{Message: m}}}}
		signed := 0
		for _, b := range c.Messages()[1].Content {
			switch b := b.(type) {
			case llm.Thinking:
				signed++
			case llm.Text:
				if b.Signature != "" {
					signed++
				}
			}
		}
		if signed != want {
			t.Errorf("%s: %d signed blocks, want %d", stop, signed, want)
		}
	}
}

// acceptable is what the strictest provider asks of messages.
func acceptable(messages []llm.Message) error {
	ids := map[string]bool{}
	var due []llm.ToolCall
	last := llm.Role("")
	for i, m := range messages {
		if len(m.Content) == 0 {
			return fmt.Errorf("message %d is empty", i)
		}
		if len(due) > 0 && m.Role != llm.ToolResult {
			return fmt.Errorf("message %d stands where the result of %q is due", i, due[0].ID)
		}
		for _, b := range m.Content {
			switch b := b.(type) {
			case llm.Text:
				if strings.TrimSpace(b.Text) == "" {
					return fmt.Errorf("message %d has a blank text", i)
				}
			case llm.ToolCall:
				if m.Role != llm.Assistant || b.ID == "" || b.Name == "" || ids[b.ID] {
					return fmt.Errorf("message %d has the bad call %+v", i, b)
				}
				ids[b.ID] = true
				due = append(due, b)
			}
		}
		switch m.Role {
		case llm.User:
			if last == llm.User {
				return fmt.Errorf("message %d: two users", i)
			}
		case llm.Assistant:
			if last == "" || last == llm.Assistant {
				return fmt.Errorf("message %d: an answer to nothing", i)
			}
			if !says(m) {
				return fmt.Errorf("message %d has thoughts only", i)
			}
		case llm.ToolResult:
			if len(due) == 0 || due[0].ID != m.CallID || due[0].Name != m.ToolName {
				return fmt.Errorf("message %d: result %q of no call, due %v", i, m.CallID, due)
			}
			due = due[1:]
		default:
			return fmt.Errorf("message %d has the role %q", i, m.Role)
		}
		last = m.Role
	}
	if len(due) > 0 {
		return fmt.Errorf("no result for %q", due[0].ID)
	}
	return nil
}

func says(m llm.Message) bool {
	for _, b := range m.Content {
		if _, thinks := b.(llm.Thinking); !thinks {
			return true
		}
	}
	return false
}

// TestAnyContextIsAcceptable: whatever stands in a session, at every prefix of
// it, what is sent passes the strictest provider.
func TestAnyContextIsAcceptable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		items := rapid.SliceOfN(rapid.Custom(anyItem), 0, 20).Draw(t, "items")
		for n := range len(items) + 1 {
			c := session.Context{Items: items[:n]}
			before := fmt.Sprintf("%#v", c)
			messages := c.Messages()
			if err := acceptable(messages); err != nil {
				t.Fatalf("after %d items: %v", n, err)
			}
			if fmt.Sprintf("%#v", c) != before {
				t.Fatalf("Messages changed the context")
			}
			if again := c.Messages(); !reflect.DeepEqual(again, messages) {
				t.Fatalf("twice asked, two answers")
			}
		}
	})
}

func anyItem(t *rapid.T) session.Item {
	id := rapid.SampledFrom([]string{"", "1", "2", "3", "1-2"})
	text := rapid.SampledFrom([]string{"", " ", "\n\t", "x", "y "})
	block := rapid.Custom(func(t *rapid.T) llm.Block {
		switch rapid.IntRange(0, 4).Draw(t, "block") {
		case 0:
			return llm.Thinking{Text: text.Draw(t, "thought"), Signature: text.Draw(t, "signature")}
		case 1:
			return llm.Image{Data: rapid.SampledFrom([]string{"", "aGk="}).Draw(t, "image")}
		case 2, 3:
			args := rapid.SampledFrom([]string{"", "{}", `{"a":1}`, "null", "[]", `{"a":`}).Draw(t, "args")
			return llm.ToolCall{ID: id.Draw(t, "id"), Name: rapid.SampledFrom([]string{"read", ""}).Draw(t, "name"), Arguments: []byte(args)}
		}
		return llm.Text{Text: text.Draw(t, "text")}
	})
	item := session.Item{Time: at}
	switch rapid.IntRange(0, 9).Draw(t, "kind") {
	case 0:
		item.Data = session.Compaction{Summary: text.Draw(t, "summary")}
	case 1:
		item.Data = session.BranchSummary{Summary: text.Draw(t, "summary")}
	case 2:
		item.Data = session.CustomMessage{Content: rapid.SliceOfN(block, 0, 2).Draw(t, "content")}
	case 3:
		item.Data = session.Command{Command: "ls", Excluded: rapid.Bool().Draw(t, "excluded")}
	default:
		role := rapid.SampledFrom([]llm.Role{llm.User, llm.Assistant, llm.Assistant, llm.ToolResult, llm.ToolResult}).Draw(t, "role")
		stop := rapid.SampledFrom([]llm.StopReason{"", llm.StopEnd, llm.StopToolUse, llm.StopLength, llm.StopError, llm.StopAborted}).Draw(t, "stop")
		item.Data = session.Message{Message: llm.Message{
			Role: role, StopReason: stop, CallID: id.Draw(t, "call"), Content: rapid.SliceOfN(block, 0, 4).Draw(t, "content"), Time: at,
		}}
	}
	return item
}

func TestCommandText(t *testing.T) {
	tests := []struct {
		c    session.Command
		want string
	}{
		{session.Command{Command: "ls", Output: "a\nb\n", ExitCode: ptr(0)}, "Ran `ls`\n```\na\nb\n```"},
		{session.Command{Command: "true"}, "Ran `true`\n(no output)"},
		{session.Command{Command: "x", Output: "```", ExitCode: ptr(2)}, "Ran `x`\n````\n```\n````\n\nCommand exited with code 2"},
		{session.Command{Command: "x", Output: "o", Cancelled: true, Truncated: true, FullOutput: "/f"}, "Ran `x`\n```\no\n```\n\n(command cancelled)\n\n[Output truncated. Full output: /f]"},
	}
	for _, tt := range tests {
		c := session.Context{Items: []session.Item{{Time: time.Time{}, Data: tt.c}}}
		if got := c.Messages()[0].Text(); got != tt.want {
			t.Errorf("got  %q\nwant %q", got, tt.want)
		}
	}
	excluded := session.Context{Items: []session.Item{{Data: session.Command{Command: "x", Excluded: true}}}}
	if got := excluded.Messages(); len(got) != 0 {
		t.Errorf("models see what !! ran: %v", got)
	}
}

func TestSummaries(t *testing.T) {
	c := session.Context{Items: []session.Item{{Data: session.Compaction{Summary: "what was"}}, {Data: session.BranchSummary{Summary: "aside\n"}}}}
	text := c.Messages()[0].Text()
	for _, want := range []string{"<summary>\nwhat was\n</summary>", "<summary>\naside\n</summary>"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in %q", want, text)
		}
	}
}
