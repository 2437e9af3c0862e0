package summary

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"banyan/internal/llm"
	"banyan/internal/session"
)

// history makes entries in a chain, with ids e0, e1, ….
type history struct{ entries []session.Entry }

func (h *history) add(d session.Data) session.ID {
	e := session.Entry{ID: session.ID(fmt.Sprintf("e%d", len(h.entries))), Data: d, Time: time.UnixMilli(int64(len(h.entries)))}
	if n := len(h.entries); n > 0 {
		e.Parent = h.entries[n-1].ID
	}
	h.entries = append(h.entries, e)
	return e.ID
}

func (h *history) user(text string) { h.add(session.Message{Message: llm.UserText(text, time.Time{})}) }

func (h *history) assistant(text string, calls ...string) {
	m := llm.Message{Role: llm.Assistant, StopReason: llm.StopEnd, Content: []llm.Block{llm.Text{Text: text}}}
	for _, c := range calls {
		name, args, _ := strings.Cut(c, " ")
		m.Content = append(m.Content, llm.ToolCall{ID: c, Name: name, Arguments: json.RawMessage(args)})
		m.StopReason = llm.StopToolUse
	}
	h.add(session.Message{Message: m})
}

func (h *history) result(call, text string) {
	h.add(session.Message{Message: llm.Message{Role: llm.ToolResult, CallID: call, ToolName: "read", Content: []llm.Block{llm.Text{Text: text}}}})
}

func TestBranchSummaryCoversAllThatIsLeft(t *testing.T) {
	var h history
	h.user("try big.Rat")
	h.assistant("Looking.", `read {"path":"money.go"}`, `edit {"path":"cart.go","old_string":"a"}`)
	h.result("read", "package money")
	h.add(session.Compaction{Summary: "earlier work", FirstKept: "e0", Details: &session.FileLists{Modified: []string{"old.go"}}})
	h.add(session.Label{Target: "e0", Text: "x"})
	h.add(session.BranchSummary{Summary: "a nested branch", Details: &session.FileLists{Read: []string{"n.go", "cart.go"}}})
	job, ok := Branch(h.entries, BranchOptions{Instructions: "mention the tests"})
	if !ok {
		t.Fatal("nothing to summarise")
	}
	prompt := job.Request(0, "").Messages[0].Text()
	for _, want := range []string{"[User]: try big.Rat", `read(path="money.go")`, "package money", "earlier work", "a nested branch", "mention the tests", "## Goal"} {
		if !strings.Contains(prompt, want) {
			t.Errorf("the prompt lacks %q", want)
		}
	}
	if got, want := fmt.Sprint(job.Files.Read, job.Files.Modified), "[money.go n.go] [cart.go old.go]"; got != want {
		t.Errorf("files %s, want %s", got, want)
	}
	if text := job.FinishBranch("It was too slow."); !strings.Contains(text, "too slow") || !strings.Contains(text, "<modified-files>\ncart.go\nold.go\n") {
		t.Errorf("finished: %s", text)
	}
	replaced, _ := Branch(h.entries, BranchOptions{Instructions: "one word", Replace: true})
	if p := replaced.Request(0, "").Messages[0].Text(); strings.Contains(p, "## Goal") || !strings.Contains(p, "one word") {
		t.Errorf("instructions were not replaced: %s", p)
	}
	if _, ok := Branch(h.entries[4:5], BranchOptions{}); ok {
		t.Error("a label alone was worth a summary")
	}
}

func TestLargeBranchIsFoldedInPieces(t *testing.T) {
	var h history
	for i := range 40 {
		h.user(fmt.Sprintf("prompt number %d %s", i, strings.Repeat("x", 900)))
	}
	job, _ := Branch(h.entries, BranchOptions{Window: 3000, Reserve: 500})
	if len(job.Pieces) < 3 {
		t.Fatalf("%d pieces", len(job.Pieces))
	}
	all := strings.Join(job.Pieces, "")
	for i := range 40 {
		if n := strings.Count(all, fmt.Sprintf("prompt number %d ", i)); n != 1 {
			t.Errorf("prompt %d is there %d times", i, n)
		}
	}
	if p := job.Request(1, "the first half").Messages[0].Text(); !strings.Contains(p, "<previous-summary>\nthe first half\n") {
		t.Error("the second request does not carry the first answer on")
	}
}

func TestWhatIsNotASummary(t *testing.T) {
	for _, c := range []struct {
		m  llm.Message
		ok bool
	}{
		{llm.Message{StopReason: llm.StopEnd, Content: []llm.Block{llm.Text{Text: " fine "}}}, true},
		{llm.Message{StopReason: llm.StopEnd, Content: []llm.Block{llm.Text{Text: "  "}}}, false},
		{llm.Message{StopReason: llm.StopLength, Content: []llm.Block{llm.Text{Text: "half"}}}, false},
		{llm.Message{StopReason: llm.StopToolUse, Content: []llm.Block{llm.ToolCall{Name: "read"}}}, false},
		{llm.Message{}, false},
	} {
		if text, err := Accept(c.m); (err == nil) != c.ok || c.ok && text != "fine" {
			t.Errorf("%+v: %q, %v", c.m, text, err)
		}
	}
}

// Over any history and any number of compactions, every entry that a model sees
// is covered by a summary or kept, exactly once; no result is cut from its call;
// what is kept begins on the path.
func TestEveryMessageIsSummarisedOrKeptOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var h history
		covered := map[session.ID]int{} // by summaries that are still carried on
		keep := rapid.IntRange(1, 2000).Draw(t, "keep")
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			size := rapid.SampledFrom([]int{1, 40, 400, 4000, 40000}).Draw(t, "size")
			text := strings.Repeat("w", size)
			switch rapid.IntRange(0, 6).Draw(t, "kind") {
			case 0, 1:
				h.user(text)
			case 2:
				h.assistant(text)
			case 3:
				call := fmt.Sprintf(`read {"path":"f%d"}`, len(h.entries))
				h.assistant("", call, call+" ")
				h.result(call, text)
				h.result(call+" ", "b")
			case 4:
				h.add(session.Label{Target: "e0", Text: "l"})
			case 5:
				h.add(session.Command{Command: "ls", Output: text, Excluded: size == 1})
			case 6:
				c, ok := Compact(h.entries, CompactOptions{KeepRecent: keep})
				if !ok {
					continue
				}
				for _, e := range c.Summarised {
					covered[e.ID]++
				}
				h.add(session.Compaction{Summary: "s", FirstKept: c.FirstKept})
				checkPartition(t, h.entries, covered)
			}
		}
	})
}

func checkPartition(t *rapid.T, path []session.Entry, covered map[session.ID]int) {
	live, previous := liveEntries(path)
	if previous == nil {
		t.Fatal("the compaction is not on the path")
	}
	kept := map[session.ID]bool{}
	for _, e := range live {
		kept[e.ID] = true
	}
	if !slices.ContainsFunc(path, func(e session.Entry) bool { return e.ID == previous.FirstKept }) {
		t.Fatalf("first kept %s is not on the path", previous.FirstKept)
	}
	if len(live) == 0 || live[0].ID != previous.FirstKept {
		t.Fatalf("what is kept does not begin with the first kept entry")
	}
	if isResult(live[0].Data) {
		t.Fatal("a result was cut from its call")
	}
	for _, e := range path {
		if !seen(e.Data) {
			continue
		}
		n := covered[e.ID]
		if kept[e.ID] {
			n++
		}
		if n != 1 {
			t.Fatalf("%s is covered or kept %d times", e.ID, n)
		}
	}
}

func TestCompactionKeepsWhatIsRecent(t *testing.T) {
	var h history
	for i := range 10 {
		h.user(fmt.Sprintf("question %d", i))
		h.assistant(strings.Repeat("a", 4000))
	}
	c, ok := Compact(h.entries, CompactOptions{KeepRecent: 3500})
	if !ok || c.FirstKept != "e14" || c.SplitTurn {
		t.Fatalf("first kept %s, split %v, %v", c.FirstKept, c.SplitTurn, ok)
	}
	if _, ok := Compact(h.entries, CompactOptions{KeepRecent: 1 << 20}); ok {
		t.Error("a short path was compacted")
	}
	split, _ := Compact(h.entries, CompactOptions{KeepRecent: 1000})
	if split.FirstKept != "e19" || !split.SplitTurn || !strings.Contains(split.Request(0, "").Messages[0].Text(), "## This turn") {
		t.Errorf("split: %s, %v", split.FirstKept, split.SplitTurn)
	}
}

func TestHugeResultDoesNotBlock(t *testing.T) {
	var h history
	h.user("look")
	h.assistant("", `read {"path":"big"}`)
	h.result(`read {"path":"big"}`, strings.Repeat("z", 400_000))
	c, ok := Compact(h.entries, CompactOptions{KeepRecent: 1000})
	if !ok || c.FirstKept != "e1" {
		t.Fatalf("first kept %q, %v", c.FirstKept, ok)
	}
	messages := []llm.Message{h.entries[1].Data.(session.Message).Message, h.entries[2].Data.(session.Message).Message}
	fit := Fit(messages, 2000)
	if n := MessageTokens(fit[1]); n > 2000 {
		t.Errorf("still %d tokens", n)
	}
	if MessageTokens(messages[1]) < 100_000 {
		t.Error("the message itself was changed")
	}
}
