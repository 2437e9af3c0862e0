package session

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"banyan/internal/llm"
)

// What models are told where a session does not say it.
const (
	noteInterrupted = "[This answer was interrupted by the user.]"
	noteFailed      = "[This answer was cut off by an error.]"
	noteUnknown     = "The outcome of this call is unknown: nothing was recorded after it began. It may or may not have taken effect."
	noteNoOutput    = "(no output)"
	noteImage       = "[An image that is not stored in this session.]"
	noteContinue    = "Continue."

	introCompaction = "The conversation before this point was condensed into the following summary:"
	introBranch     = "The following is a summary of a branch that this conversation came back from:"
)

// Messages are the context as any provider accepts it; the one place where what
// death left is healed. In what it gives
//
//   - the first message is the user's, users and results are followed by an
//     answer, an answer by a user or by its results;
//   - each call has exactly one result, and the results of an answer follow it
//     directly, in the order of its calls; the ids of calls are not empty and
//     all different;
//   - no message is empty and no text is blank.
//
// Unanswered calls get a result saying that the outcome is unknown, stray
// results are dropped, failed and aborted answers keep their text with a note
// and are left out where they have none.
func (c Context) Messages() []llm.Message {
	return alternate(pair(c.plain()))
}

// plain are the items as messages of the three roles, without what no provider takes.
func (c Context) plain() []llm.Message {
	var all []llm.Message
	for _, item := range c.Items {
		m, ok := plainMessage(item)
		if !ok {
			continue
		}
		if m.Content = solid(m.Content); len(m.Content) == 0 {
			if m.Role != llm.ToolResult {
				continue
			}
			m.Content = []llm.Block{llm.Text{Text: noteNoOutput}}
		}
		all = append(all, m)
	}
	return all
}

// plainMessage is what models see of an item.
func plainMessage(item Item) (llm.Message, bool) {
	switch d := item.Data.(type) {
	case Message:
		return d.Message, true
	case Command:
		return llm.UserText(d.text(), item.Time), !d.Excluded
	case CustomMessage:
		return llm.Message{Role: llm.User, Time: item.Time, Content: userBlocks(d.Content)}, true
	case BranchSummary:
		return llm.UserText(summaryText(introBranch, d.Summary), item.Time), strings.TrimSpace(d.Summary) != ""
	case Compaction:
		return llm.UserText(summaryText(introCompaction, d.Summary), item.Time), strings.TrimSpace(d.Summary) != ""
	}
	return llm.Message{}, false
}

func summaryText(intro, summary string) string {
	return intro + "\n\n<summary>\n" + strings.TrimSpace(summary) + "\n</summary>"
}

// text is what models are told of a command that the user ran.
func (c Command) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Ran `%s`\n", c.Command)
	if output := strings.TrimRight(c.Output, "\n"); output != "" {
		fence := fenceFor(output)
		fmt.Fprintf(&b, "%s\n%s\n%s", fence, output, fence)
	} else {
		b.WriteString(noteNoOutput)
	}
	switch {
	case c.Cancelled:
		b.WriteString("\n\n(command cancelled)")
	case c.ExitCode != nil && *c.ExitCode != 0:
		fmt.Fprintf(&b, "\n\nCommand exited with code %d", *c.ExitCode)
	}
	if c.Truncated && c.FullOutput != "" {
		fmt.Fprintf(&b, "\n\n[Output truncated. Full output: %s]", c.FullOutput)
	}
	return b.String()
}

// fenceFor is a fence of backquotes that a text does not contain.
func fenceFor(text string) string {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence
}

// userBlocks are the blocks that a user can send.
func userBlocks(blocks []llm.Block) []llm.Block {
	return slices.DeleteFunc(slices.Clone(blocks), func(b llm.Block) bool {
		switch b.(type) {
		case llm.Text, llm.Image:
			return false
		}
		return true
	})
}

// solid are the blocks that hold something. oh-my-pi keeps images in a store of
// its own, which we do not read.
func solid(blocks []llm.Block) []llm.Block {
	blocks = slices.Clone(blocks)
	for i, b := range blocks {
		if image, ok := b.(llm.Image); ok && strings.HasPrefix(image.Data, "blob:") {
			blocks[i] = llm.Text{Text: noteImage}
		}
	}
	return slices.DeleteFunc(blocks, func(b llm.Block) bool {
		switch b := b.(type) {
		case llm.Text:
			return strings.TrimSpace(b.Text) == ""
		case llm.Thinking:
			return strings.TrimSpace(b.Text) == "" && b.Signature == ""
		case llm.Image:
			return b.Data == ""
		case llm.ToolCall:
			return b.Name == ""
		}
		return true
	})
}

// pair puts after each answer the results of its calls, in order, and drops all
// other results. A result belongs to an answer until the next answer begins.
func pair(all []llm.Message) []llm.Message {
	out := make([]llm.Message, 0, len(all))
	ids := callIDs{}
	for i, m := range all {
		switch m.Role {
		case llm.User:
			m.Content = userBlocks(m.Content)
			out = append(out, m)
		case llm.Assistant:
			out = append(out, exchange(m, resultsAfter(all[i+1:]), ids)...)
		}
	}
	return out
}

// resultsAfter are the results before the next answer, by call.
func resultsAfter(rest []llm.Message) map[string][]llm.Message {
	results := map[string][]llm.Message{}
	for _, m := range rest {
		switch m.Role {
		case llm.Assistant:
			return results
		case llm.ToolResult:
			results[m.CallID] = append(results[m.CallID], m)
		}
	}
	return results
}

// callIDs are the ids of the calls so far.
type callIDs map[string]bool

// fresh is the id, or one like it that no call has yet.
func (ids callIDs) fresh(id string) string {
	if id == "" {
		id = "call"
	}
	unique := id
	for i := 2; ids[unique]; i++ {
		unique = fmt.Sprintf("%s-%d", id, i)
	}
	ids[unique] = true
	return unique
}

// exchange is an answer and the results of its calls; nothing where the answer
// has nothing to say. Calls of an answer that did not end were never run unless
// a result says so.
func exchange(answer llm.Message, results map[string][]llm.Message, ids callIDs) []llm.Message {
	broken := answer.StopReason == llm.StopError || answer.StopReason == llm.StopAborted
	var content []llm.Block
	var answers []llm.Message
	says := false
	for _, b := range answer.Content {
		switch block := b.(type) {
		case llm.ToolCall:
			r, ok := take(results, block.ID)
			if !ok && broken {
				continue
			}
			block.ID = ids.fresh(block.ID)
			block.Arguments = validArguments(block.Arguments)
			if !ok {
				r = llm.Message{Role: llm.ToolResult, Time: answer.Time, IsError: true, Content: []llm.Block{llm.Text{Text: noteUnknown}}}
			}
			r.CallID, r.ToolName, r.Content = block.ID, block.Name, userBlocks(r.Content)
			if len(r.Content) == 0 {
				r.Content = []llm.Block{llm.Text{Text: noteNoOutput}}
			}
			content, answers, says = append(content, block), append(answers, r), true
		case llm.Text:
			if broken {
				block.Signature = ""
			}
			content, says = append(content, block), true
		case llm.Thinking:
			if !broken { // a signature that was cut is refused
				content = append(content, block)
			}
		}
	}
	if !says {
		return nil
	}
	if broken && len(answers) == 0 {
		content = append(content, llm.Text{Text: noteOn(answer.StopReason)})
	}
	answer.Content = content
	return append([]llm.Message{answer}, answers...)
}

func noteOn(reason llm.StopReason) string {
	if reason == llm.StopAborted {
		return noteInterrupted
	}
	return noteFailed
}

// take removes the first result for an id.
func take(results map[string][]llm.Message, id string) (llm.Message, bool) {
	list := results[id]
	if len(list) == 0 {
		return llm.Message{}, false
	}
	results[id] = list[1:]
	return list[0], true
}

// validArguments makes sure of what llm.ToolCall promises: a hand-made message
// may hold anything.
func validArguments(raw json.RawMessage) json.RawMessage {
	if raw = arguments(raw); !json.Valid(raw) {
		return json.RawMessage("{}")
	}
	return raw
}

// alternate joins neighbouring messages of the user, and puts one between
// answers that follow each other and before an answer that comes first.
func alternate(all []llm.Message) []llm.Message {
	var out []llm.Message
	for _, m := range all {
		last := llm.Role("")
		if len(out) > 0 {
			last = out[len(out)-1].Role
		}
		switch {
		case m.Role == llm.User && len(m.Content) == 0:
			continue
		case m.Role == llm.User && last == llm.User:
			before := &out[len(out)-1]
			before.Content = append(slices.Clip(before.Content), m.Content...)
			continue
		case m.Role == llm.Assistant && (last == "" || last == llm.Assistant):
			out = append(out, llm.UserText(noteContinue, m.Time))
		}
		out = append(out, m)
	}
	return out
}
