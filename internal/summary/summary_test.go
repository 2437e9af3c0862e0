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
	"banyan/internal/tree"
)

// history is a session in memory.
type history struct {
	*session.Manager
	t testing.TB
}

func newHistory(t testing.TB) *history {
	m, err := session.New("", "/w", session.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return &history{m, t}
}

func (h *history) add(d session.Data) session.ID {
	e, err := h.Append(d)
	if err != nil {
		h.t.Fatal(err)
	}
	return e.ID
}

func (h *history) path() []session.Entry {
	s := h.Snapshot()
	path, err := s.Branch(s.Leaf())
	if err != nil {
		h.t.Fatal(err)
	}
	return path
}

func (h *history) context() session.Context {
	s := h.Snapshot()
	c, err := s.Context(s.Leaf())
	if err != nil {
		h.t.Fatal(err)
	}
	return c
}

func (h *history) user(text string) session.ID {
	return h.add(session.Message{Message: llm.UserText(text, time.Unix(1, 0))})
}

func (h *history) assistant(text string, calls ...string) session.ID {
	m := llm.Message{Role: llm.Assistant, Time: time.Unix(1, 0), StopReason: llm.StopEnd, Content: []llm.Block{llm.Text{Text: text}}}
	for _, c := range calls {
		name, args, _ := strings.Cut(c, " ")
		m.Content = append(m.Content, llm.ToolCall{ID: c, Name: name, Arguments: json.RawMessage(args)})
		m.StopReason = llm.StopToolUse
	}
	return h.add(session.Message{Message: m})
}

func (h *history) result(call, text string) {
	h.add(session.Message{Message: llm.Message{Role: llm.ToolResult, Time: time.Unix(1, 0), CallID: call, ToolName: "read", Content: []llm.Block{llm.Text{Text: text}}}})
}

func TestBranchSummaryCoversAllThatIsLeft(t *testing.T) {
	h := newHistory(t)
	first := h.user("try big.Rat")
	h.assistant("Looking.", `read {"path":"money.go"}`, `edit {"path":"cart.go","old_string":"a"}`)
	h.result("read", "package money")
	h.add(session.Compaction{Summary: "earlier work", FirstKept: first, Details: &session.FileLists{Modified: []string{"old.go"}}})
	h.add(session.Label{Target: first, Text: "x"})
	h.add(session.BranchSummary{Summary: "a nested branch", Details: &session.FileLists{Read: []string{"n.go", "cart.go"}}})
	job, ok := Branch(h.path(), BranchOptions{Instructions: "mention the tests"})
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
	replaced, _ := Branch(h.path(), BranchOptions{Instructions: "one word", Replace: true})
	if p := replaced.Request(0, "").Messages[0].Text(); strings.Contains(p, "## Goal") || !strings.Contains(p, "one word") {
		t.Errorf("instructions were not replaced: %s", p)
	}
	if _, ok := Branch(h.path()[4:5], BranchOptions{}); ok {
		t.Error("a label alone was worth a summary")
	}
}

func TestLargeBranchIsFoldedInPieces(t *testing.T) {
	h := newHistory(t)
	for i := range 40 {
		h.user(fmt.Sprintf("prompt number %d %s", i, strings.Repeat("x", 900)))
	}
	job, _ := Branch(h.path(), BranchOptions{Window: 5000})
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

// What models see of compactions, branch summaries and forks is drawn here;
// sizes reach over what is kept, and over what is shown of a result.
func (h *history) grow(t *rapid.T) {
	text := strings.Repeat("w", rapid.SampledFrom([]int{1, 40, 400, 4000, 40000}).Draw(t, "size"))
	switch rapid.IntRange(0, 6).Draw(t, "entry") {
	case 0, 1:
		h.user(text)
	case 2:
		h.assistant(text)
	case 3:
		call := fmt.Sprintf(`read {"path":"f%d"}`, h.Snapshot().Len())
		h.assistant("", call, call+" ")
		h.result(call, text)
		if rapid.Bool().Draw(t, "steered") { // as foreign files have it
			h.user("meanwhile")
		}
		h.result(call+" ", "b")
	case 4:
		h.add(session.Label{Target: h.Snapshot().Leaf(), Text: "l"})
	case 5:
		h.add(session.Command{Command: "ls", Output: text, Excluded: rapid.Bool().Draw(t, "excluded"), Time: time.Unix(1, 0)})
	case 6:
		h.add(session.CustomMessage{Type: "note", Content: []llm.Block{llm.Text{Text: text}}, Display: true})
	}
}

// Over any history with branches, branch summaries, forks and any number of
// compactions, every entry that a model sees is covered by a summary that is
// carried on, or kept, exactly once; no result is cut from its call; what is kept
// begins on the path.
func TestEveryMessageIsSummarisedOrKeptOnce(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		h := newHistory(t)
		h.user("begin")
		covered := map[session.ID][]session.ID{} // by compaction: what its summary stands for, carried on or not
		keep := rapid.IntRange(1, 2000).Draw(rt, "keep")
		for range rapid.IntRange(1, 40).Draw(rt, "steps") {
			switch rapid.IntRange(0, 9).Draw(rt, "step") {
			default:
				h.grow(rt)
			case 6, 7:
				h.compact(rt, keep, covered)
			case 8: // another branch, with or without a summary
				ids := h.Snapshot()
				to := ids.ID(tree.Node(rapid.IntRange(0, ids.Len()-1).Draw(rt, "entry")))
				if err := h.Branch(to); err != nil {
					rt.Fatal(err)
				}
				if rapid.Bool().Draw(rt, "summary") {
					h.add(session.BranchSummary{From: to, Summary: "what happened there"})
				}
			case 9:
				fork, err := h.CreateBranchedSession("", h.Snapshot().Leaf())
				if err != nil {
					rt.Fatal(err)
				}
				h.Manager = fork
			}
			h.check(rt, covered)
		}
	})
}

func (h *history) compact(t *rapid.T, keep int, covered map[session.ID][]session.ID) {
	before := h.context()
	c, ok := Compact(before, CompactOptions{KeepRecent: keep})
	if !ok {
		return
	}
	var ids []session.ID
	if len(before.Items) > 0 {
		if _, carried := before.Items[0].Data.(session.Compaction); carried {
			ids = append(ids, covered[before.Items[0].Entry]...)
			if c.Previous != "s" {
				t.Fatalf("the summary before is not carried on, but %q", c.Previous)
			}
		}
	}
	for _, it := range c.Summarised {
		ids = append(ids, it.Entry)
	}
	id := h.add(session.Compaction{Summary: "s", FirstKept: c.FirstKept})
	covered[id] = ids
	// Nothing came since: there is nothing to do again.
	if again, ok := Compact(h.context(), CompactOptions{KeepRecent: keep}); ok {
		t.Fatalf("compacted again without progress: %d items", len(again.Summarised))
	}
}

// check looks at the path to the leaf.
func (h *history) check(t *rapid.T, covered map[session.ID][]session.ID) {
	c := h.context()
	live, previous := split(c)
	count := map[session.ID]int{}
	if previous != nil {
		at := slices.IndexFunc(h.path(), func(e session.Entry) bool { return e.ID == previous.FirstKept })
		if at < 0 || len(live) == 0 || live[0].Entry != previous.FirstKept {
			t.Fatalf("what is kept does not begin with the first kept entry %s, at %d of the path", previous.FirstKept, at)
		}
		for _, id := range covered[c.Items[0].Entry] {
			count[id]++
		}
	}
	calls := map[string]bool{}
	for _, it := range live {
		count[it.Entry]++
		m, ok := it.Data.(session.Message)
		if !ok {
			continue
		}
		for _, call := range m.Calls() {
			calls[call.ID] = true
		}
		if m.Role == llm.ToolResult && !calls[m.CallID] {
			t.Fatalf("the result of %s was cut from its call", m.CallID)
		}
	}
	for _, e := range h.path() {
		if visible(e.Data) && count[e.ID] != 1 {
			t.Fatalf("%s is covered or kept %d times", e.ID, count[e.ID])
		}
	}
}

// visible says whether a model sees an entry as it is, by the format's words.
func visible(d session.Data) bool {
	switch d := d.(type) {
	case session.Message, session.CustomMessage:
		return true
	case session.Command:
		return !d.Excluded
	case session.BranchSummary:
		return d.Summary != ""
	}
	return false
}

func TestCompactionKeepsWhatIsRecent(t *testing.T) {
	h := newHistory(t)
	var ids []session.ID
	for i := range 10 {
		ids = append(ids, h.user(fmt.Sprintf("question %d", i)), h.assistant(strings.Repeat("a", 4000)))
	}
	c, ok := Compact(h.context(), CompactOptions{KeepRecent: 3500})
	if !ok || c.FirstKept != ids[14] || c.SplitTurn || c.Freed != 7*(1000+3) || c.Before != 10*(1000+3) {
		t.Fatalf("first kept %s, split %v, frees %d of %d, %v", c.FirstKept, c.SplitTurn, c.Freed, c.Before, ok)
	}
	if _, ok := Compact(h.context(), CompactOptions{KeepRecent: 1 << 20}); ok {
		t.Error("a short path was compacted")
	}
	split, _ := Compact(h.context(), CompactOptions{KeepRecent: 1000})
	if split.FirstKept != ids[19] || !split.SplitTurn || !strings.Contains(split.Request(0, "").Messages[0].Text(), "## This turn") {
		t.Errorf("split: %s, %v", split.FirstKept, split.SplitTurn)
	}
}

func TestHugeResultDoesNotBlock(t *testing.T) {
	h := newHistory(t)
	h.user("look")
	call := h.assistant("", `read {"path":"big"}`)
	h.result(`read {"path":"big"}`, strings.Repeat("z", 400_000))
	c, ok := Compact(h.context(), CompactOptions{KeepRecent: 1000})
	if !ok || c.FirstKept != call {
		t.Fatalf("first kept %q, %v", c.FirstKept, ok)
	}
	messages := h.context().Messages()[1:]
	fit := Fit(messages, 2000)
	if n := MessageTokens(fit[1]); n > 2000 {
		t.Errorf("still %d tokens", n)
	}
	if MessageTokens(messages[1]) < 100_000 {
		t.Error("the message itself was changed")
	}
}

// Whatever the summariser's window, each of its requests fits, with the longest
// answer and the longest summary so far, and no word of the user's is left out.
func TestRequestsFitTheSummariser(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		h := newHistory(t)
		words := 0
		for range rapid.IntRange(2, 12).Draw(rt, "prompts") {
			var b strings.Builder
			for range rapid.IntRange(1, 200).Draw(rt, "words") {
				fmt.Fprintf(&b, "w%d %s.\n", words, strings.Repeat("z", 80))
				words++
			}
			h.user(b.String())
		}
		if rapid.Bool().Draw(rt, "compacted before") {
			h.add(session.Compaction{Summary: strings.Repeat("what was before. ", 2000), FirstKept: h.path()[0].ID})
		}
		h.user("the end")
		o := CompactOptions{
			Window: rapid.IntRange(4000, 200_000).Draw(rt, "window"), Output: rapid.SampledFrom([]int{0, 500, 8000}).Draw(rt, "output"),
			KeepRecent: 1,
		}
		c, ok := Compact(h.context(), o)
		if !ok {
			rt.Fatal("nothing to compact")
		}
		longest := strings.Repeat("s", c.Request(0, "").MaxTokens*bytesPerToken)
		for i := range c.Pieces {
			r := c.Request(i, longest)
			if n := text(r.System) + MessageTokens(r.Messages[0]) + r.MaxTokens; n > o.Window {
				rt.Fatalf("request %d of %d takes %d of %d tokens", i, len(c.Pieces), n, o.Window)
			}
			if o.Output > 0 && r.MaxTokens > o.Output {
				rt.Fatalf("an answer of %d tokens is asked for", r.MaxTokens)
			}
		}
		all := strings.Join(c.Pieces, "")
		if got := strings.Count(all, ".\n") - strings.Count(all, "before.\n"); got != words {
			rt.Fatalf("%d of %d words are in the pieces", got, words)
		}
	})
}

func TestHalved(t *testing.T) {
	j := Job{Pieces: []string{"done", strings.Repeat("x\n", 10_000), strings.Repeat("y\n", 3000)}}
	all := strings.Join(j.Pieces, "")
	for n := 1; ; n++ {
		smaller, ok := j.Halved(1)
		if !ok {
			if n < 2 {
				t.Error("not halved once")
			}
			break
		}
		if smaller.Pieces[0] != "done" || strings.Join(smaller.Pieces, "") != all || len(smaller.Pieces) <= len(j.Pieces) {
			t.Fatalf("halved to %d pieces", len(smaller.Pieces))
		}
		j = smaller
	}
	for i, p := range j.Pieces {
		if len(p) > 2*minPiece {
			t.Errorf("piece %d has %d bytes in the end", i, len(p))
		}
	}
}

// The lists of files are said once, whatever the models made of them.
func TestFileListsAreUpdated(t *testing.T) {
	h := newHistory(t)
	first := h.user("look")
	files := session.FileLists{Read: []string{"a.go"}, Modified: []string{"b.go"}}
	h.add(session.Compaction{Summary: Job{Files: files}.Finish("what was before"), FirstKept: first, Details: &files})
	h.assistant("", `edit {"path":"a.go"}`)
	h.result(`edit {"path":"a.go"}`, "done")
	h.user("go on")
	c, ok := Compact(h.context(), CompactOptions{KeepRecent: 1})
	if !ok || c.Previous != "what was before" {
		t.Fatalf("carried on %q, %v", c.Previous, ok)
	}
	if got := c.Finish("now"); got != "now\n\n<modified-files>\na.go\nb.go\n</modified-files>" {
		t.Errorf("finished %q", got)
	}
	many := Job{}
	for i := range 1000 {
		many.Files.Read = append(many.Files.Read, fmt.Sprint(i))
	}
	if got := many.Finish(""); !strings.Contains(got, "\n… and 800 more\n") {
		t.Errorf("%d bytes of files", len(got))
	}
}
