package offline

import (
	"fmt"
	"strings"
)

// A request for a summary has the conversation between these tags, one turn a
// paragraph that begins with its speaker in brackets (see package summary).
const (
	conversationOpen  = "<conversation>"
	conversationClose = "</conversation>"
	previousOpen      = "<previous-summary>"
	previousClose     = "</previous-summary>"
)

func isSummary(prompt string) bool { return strings.Contains(prompt, conversationOpen) }

// summarise extracts: what the user asked first and last, what was done with
// which tool, and how the last answer ended.
func summarise(prompt string) string {
	turns := speakers(between(prompt, conversationOpen, conversationClose))
	var asked, done []string
	previous, last := strings.TrimSpace(between(prompt, previousOpen, previousClose)), ""
	for _, t := range turns {
		switch t.who {
		case "Summary of what came before", "Summary of a branch that was left":
			previous = strings.TrimSpace(previous + "\n\n" + strings.TrimSpace(t.text))
		case "User":
			asked = append(asked, short(t.text))
		case "Assistant":
			last = short(t.text)
		case "Assistant tool calls":
			done = append(done, short(t.text))
		}
	}
	var b strings.Builder
	if previous != "" {
		fmt.Fprintf(&b, "%s\n\n", trimmed(previous))
	}
	b.WriteString("## Goal\n")
	if len(asked) > 0 {
		b.WriteString(asked[0] + "\n")
	} else {
		b.WriteString("(nothing was asked)\n")
	}
	section(&b, "Asked since", tail(asked, 1))
	section(&b, "Progress", done)
	if last != "" {
		section(&b, "Last answer", []string{last})
	}
	return strings.TrimSpace(b.String())
}

func section(b *strings.Builder, title string, items []string) {
	if len(items) == 0 {
		return
	}
	fmt.Fprintf(b, "\n## %s\n", title)
	if extra := len(items) - mostItems; extra > 0 {
		fmt.Fprintf(b, "- (%d before these)\n", extra)
		items = items[extra:]
	}
	for _, it := range items {
		fmt.Fprintf(b, "- %s\n", it)
	}
}

// A summary of summaries stays a summary: so many items of a kind, the newest,
// and so many bytes of the one before.
const (
	mostItems    = 30
	mostPrevious = 4000
)

// trimmed keeps the beginning of a summary, where the goal stands, and its end.
func trimmed(summary string) string {
	lines := strings.SplitAfter(summary, "\n")
	head, tail, left := 0, len(lines), mostPrevious
	for head < tail && left > 0 {
		if head <= len(lines)-tail {
			left -= len(lines[head])
			head++
		} else {
			tail--
			left -= len(lines[tail])
		}
	}
	if head >= tail {
		return summary
	}
	return strings.Join(lines[:head], "") + "- …\n" + strings.Join(lines[tail:], "")
}

func tail(items []string, from int) []string {
	if len(items) <= from {
		return nil
	}
	return items[from:]
}

type turn struct{ who, text string }

// speakers cuts a serialised conversation at lines that begin with "[Speaker]: ".
func speakers(text string) []turn {
	var turns []turn
	for line := range strings.Lines(text) {
		if who, rest, ok := strings.Cut(line, "]: "); ok && strings.HasPrefix(who, "[") {
			turns = append(turns, turn{who[1:], rest})
		} else if len(turns) > 0 {
			turns[len(turns)-1].text += line
		}
	}
	return turns
}

func between(s, open, end string) string {
	_, s, ok := strings.Cut(s, open)
	if !ok {
		return ""
	}
	s, _, _ = strings.Cut(s, end)
	return s
}

// short is the first line of a text, cut to 200 characters.
func short(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	if r := []rune(line); len(r) > 200 {
		return string(r[:200]) + "…"
	}
	return line
}
