package offline

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"banyan/internal/llm"
)

var allTools = func() []llm.ToolSpec {
	var specs []llm.ToolSpec
	for _, n := range []string{"read", "write", "edit", "bash", "ls", "grep", "glob"} {
		specs = append(specs, llm.ToolSpec{Name: n})
	}
	return specs
}()

func ask(t *testing.T, messages ...llm.Message) llm.Message {
	t.Helper()
	return askWith(t, allTools, messages...)
}

func askWith(t *testing.T, tools []llm.ToolSpec, messages ...llm.Message) llm.Message {
	t.Helper()
	f := llm.NewFold(API, Provider, Model, time.Time{})
	for ev, err := range (Client{}).Stream(context.Background(), llm.Request{Messages: messages, Tools: tools}) {
		if err != nil {
			t.Fatal(err)
		}
		f.Apply(ev)
	}
	return f.Message()
}

func user(text string) llm.Message { return llm.UserText(text, time.Time{}) }

func TestPlainRequestsBecomeToolCalls(t *testing.T) {
	for prompt, want := range map[string]string{
		"read main.go":                     `read {"path":"main.go"}`,
		"Read the file main.go.":           `read {"path":"main.go"}`,
		"please show go.mod and README.md": `read {"path":"go.mod"} read {"path":"README.md"}`,
		"read lines 10-20 of a/b.go":       `read {"limit":11,"offset":10,"path":"a/b.go"}`,
		"list .":                           `ls {"path":"."}`,
		"list ..":                          `ls {"path":".."}`,
		"list":                             `ls {"path":"."}`,
		"ls internal/llm":                  `ls {"path":"internal/llm"}`,
		"list the files in docs":           `ls {"path":"docs"}`,
		"find TODO in internal":            `grep {"path":"internal","pattern":"TODO"}`,
		"search for func main":             `grep {"path":".","pattern":"func main"}`,
		"find files **/*.go":               `glob {"pattern":"**/*.go"}`,
		"run go test ./...":                `bash {"command":"go test ./..."}`,
		"run echo a; echo b":               `bash {"command":"echo a; echo b"}`,
		"replace `a b` with 'c d' in f.go": `edit {"new_string":"c d","old_string":"a b","path":"f.go"}`,
		`write "hi there" to notes.txt`:    `write {"content":"hi there\n","path":"notes.txt"}`,
		`create x.md with "# X"`:           `write {"content":"# X\n","path":"x.md"}`,
		"read README.md\n\npiped input":    `read {"path":"README.md"}`,
	} {
		var got []string
		for _, c := range ask(t, user(prompt)).Calls() {
			got = append(got, c.Name+" "+string(c.Arguments))
		}
		if s := strings.Join(got, " "); s != want {
			t.Errorf("%q\n gave %s\n want %s", prompt, s, want)
		}
	}
}

func TestStepsAreTakenInOrderAndStopAtAFailure(t *testing.T) {
	conversation := []llm.Message{user("read a.txt then run make")}
	first := ask(t, conversation...)
	if c := first.Calls(); len(c) != 1 || c[0].Name != "read" || first.StopReason != llm.StopToolUse {
		t.Fatalf("first step: %+v", first)
	}
	result := llm.Message{Role: llm.ToolResult, CallID: first.Calls()[0].ID, ToolName: "read", Content: []llm.Block{llm.Text{Text: "hello"}}}
	second := ask(t, append(conversation, first, result)...)
	if c := second.Calls(); len(c) != 1 || c[0].Name != "bash" || c[0].ID == first.Calls()[0].ID {
		t.Fatalf("second step: %+v", second)
	}
	result.IsError = true
	if broken := ask(t, append(conversation, first, result)...); len(broken.Calls()) != 0 || !strings.Contains(broken.Text(), "hello") {
		t.Fatalf("after a failure: %+v", broken)
	}
}

func TestAPromptAfterASummaryIsUnderstood(t *testing.T) {
	m := user("The conversation so far:\n<summary>\nread a.txt\n</summary>")
	m.Content = append(m.Content, llm.Text{Text: "run go version"})
	if calls := ask(t, m).Calls(); len(calls) != 1 || calls[0].Name != "bash" {
		t.Errorf("calls %v", calls)
	}
}

// Where data are wanted it gives those that the prompt spells out, and gives up
// otherwise.
func TestDataAreWanted(t *testing.T) {
	tools := append([]llm.ToolSpec{{Name: "finish"}, {Name: "give_up"}}, allTools...)
	for prompt, want := range map[string]string{
		`finish with {"n": [1, 2]}`:  "finish",
		"read go.mod then finish {}": "read",
		"how many stars are there?":  "give_up",
	} {
		m := askWith(t, tools, user(prompt))
		if calls := m.Calls(); len(calls) != 1 || calls[0].Name != want || calls[0].ID == "" {
			t.Errorf("%s: %v", prompt, calls)
		}
	}
	if m := ask(t, user(`finish with {"n":1}`)); len(m.Calls()) != 0 {
		t.Errorf("it called what there is not: %v", m.Calls())
	}
}

func TestAnswersWithoutToolsAreHonest(t *testing.T) {
	for prompt, want := range map[string]string{
		"write me a poem about autumn": "not an intelligence",
		"how do I connect a model?":    "ANTHROPIC_API_KEY",
		"what is /tree?":               "append-only",
	} {
		if got := ask(t, user(prompt)); len(got.Calls()) != 0 || !strings.Contains(got.Text(), want) {
			t.Errorf("%q gave %q", prompt, got.Text())
		}
	}
}

func TestSummaryIsExtracted(t *testing.T) {
	got := ask(t, user("Summarise.\n<previous-summary>\nOld things.\n</previous-summary>\n<conversation>\n[User]: fix the parser\nit fails\n\n[Assistant tool calls]: read(path=p.go)\n\n[Assistant]: It was the comma.\n\n[User]: and the tests\n</conversation>")).Text()
	for _, want := range []string{"Old things.", "fix the parser", "read(path=p.go)", "It was the comma.", "and the tests"} {
		if !strings.Contains(got, want) {
			t.Errorf("summary lacks %q:\n%s", want, got)
		}
	}
}

func TestASummaryOfSummariesDoesNotGrow(t *testing.T) {
	summary := ""
	for i := range 50 {
		summary = ask(t, user(fmt.Sprintf("Summarise.\n<previous-summary>\n%s\n</previous-summary>\n<conversation>\n[User]: task number %d %s\n</conversation>", summary, i, strings.Repeat("x", 150)))).Text()
	}
	if len(summary) > 6000 || !strings.Contains(summary, "task number 0 ") || !strings.Contains(summary, "task number 49 ") {
		t.Errorf("%d bytes:\n%s", len(summary), summary)
	}
}

func TestStopsWhenInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var failed error
	n := 0
	for _, err := range (Client{Pace: time.Hour}).Stream(ctx, llm.Request{Messages: []llm.Message{user("hello")}}) {
		failed = err
		n++
		cancel()
	}
	if !errors.Is(failed, context.Canceled) || n != 2 {
		t.Fatalf("got %v after %d events", failed, n)
	}
}

// What hooks and rules add to a prompt is not asked.
func TestAsidesAreNotAsked(t *testing.T) {
	m := llm.Message{Role: llm.User, Content: []llm.Block{llm.Text{Text: "read go.mod"}, llm.Text{Text: "[A hook adds:]\ntoday is Friday"}}}
	rule := llm.Message{Role: llm.User, Content: []llm.Block{llm.Text{Text: "[A rule adds:]\nno milk"}}}
	for _, messages := range [][]llm.Message{{m}, {m, {Role: llm.Assistant}, rule}} {
		if asked, after := lastPrompt(messages); asked != "read go.mod" || len(after) != len(messages)-1 {
			t.Errorf("asked %q, then %d messages", asked, len(after))
		}
	}
}
