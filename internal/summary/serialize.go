package summary

import (
	"encoding/json"
	"fmt"
	"sort"
	"strings"
	"unicode/utf8"

	"banyan/internal/llm"
	"banyan/internal/session"
)

const (
	resultBytes = 2000 // of a tool's result that a summariser is shown
	argBytes    = 500  // of one argument of a call
)

// serialize writes an entry as a summariser is shown it: paragraphs that begin
// with their speaker in brackets. Empty for entries that models do not see.
func serialize(d session.Data) string {
	var b strings.Builder
	switch d := d.(type) {
	case session.Message:
		message(&b, d.Message)
	case session.Command:
		if !d.Excluded {
			say(&b, "User command", "$ "+d.Command+"\n"+clip(d.Output, resultBytes))
		}
	case session.CustomMessage:
		say(&b, "Note", texts(d.Content))
	case session.BranchSummary:
		say(&b, "Summary of a branch that was left", d.Summary)
	case session.Compaction:
		say(&b, "Summary of what came before", d.Summary)
	}
	return b.String()
}

func message(b *strings.Builder, m llm.Message) {
	switch m.Role {
	case llm.User:
		say(b, "User", texts(m.Content))
	case llm.ToolResult:
		who := "Tool result"
		if m.IsError {
			who = "Tool error"
		}
		say(b, who, clip(texts(m.Content), resultBytes))
	case llm.Assistant:
		for _, block := range m.Content {
			switch block := block.(type) {
			case llm.Thinking:
				say(b, "Assistant thinking", clip(block.Text, resultBytes))
			case llm.Text:
				say(b, "Assistant", block.Text)
			case llm.ToolCall:
				say(b, "Assistant tool calls", callText(block))
			}
		}
		if m.StopReason == llm.StopAborted {
			say(b, "Note", "The user interrupted this answer.")
		}
	}
}

// callText is a call as name(key=value, …), keys in order.
func callText(c llm.ToolCall) string {
	var args map[string]json.RawMessage
	if json.Unmarshal(c.Arguments, &args) != nil {
		return c.Name
	}
	keys := make([]string, 0, len(args))
	for k := range args {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	for i, k := range keys {
		keys[i] = k + "=" + clip(string(args[k]), argBytes)
	}
	return fmt.Sprintf("%s(%s)", c.Name, strings.Join(keys, ", "))
}

func texts(blocks []llm.Block) string {
	var parts []string
	for _, b := range blocks {
		switch b := b.(type) {
		case llm.Text:
			parts = append(parts, b.Text)
		case llm.Image:
			parts = append(parts, "[a picture]")
		}
	}
	return strings.Join(parts, "\n")
}

func say(b *strings.Builder, who, text string) {
	if text = strings.TrimSpace(text); text != "" {
		fmt.Fprintf(b, "[%s]: %s\n\n", who, text)
	}
}

// clip keeps the beginning and the end of a text that is longer than n bytes.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	head, tail := n*2/3, len(s)-n/3
	for head > 0 && !utf8.RuneStart(s[head]) {
		head--
	}
	for tail < len(s) && !utf8.RuneStart(s[tail]) {
		tail++
	}
	return fmt.Sprintf("%s\n[… %d bytes left out …]\n%s", s[:head], tail-head, s[tail:])
}
