package export

import (
	"bufio"
	"fmt"
	"strings"

	"banyan/internal/llm"
	"banyan/internal/session"
)

// writeMarkdown writes a part for people: the active path first, then each
// other branch under a heading that says where it begins.
func writeMarkdown(out *bufio.Writer, s session.Snapshot, p Part) error {
	if name := s.Name(); name != "" {
		fmt.Fprintf(out, "# %s\n\n", strings.Join(strings.Fields(name), " "))
	}
	o := newOutline(s, p)
	for _, st := range o.strands {
		if st.of > 1 {
			fmt.Fprintf(out, "---\n\n# Branch %d of %d%s\n\n", st.at, st.of, o.after(st))
		}
		for n := range o.along(st) {
			e, err := o.entry(n)
			if err != nil {
				return err
			}
			markdownEntry(out, e.Data)
		}
	}
	return nil
}

// after says what a branch follows.
func (o *outline) after(st strand) string {
	if st.up < 0 {
		return ""
	}
	return ", after " + string(o.s.ID(o.nodes[o.strands[st.up].last]))
}

func markdownEntry(out *bufio.Writer, d session.Data) {
	switch d := d.(type) {
	case session.Message:
		markdownMessage(out, d)
	case session.Command:
		fmt.Fprintf(out, "## You ran\n\n%s\n\n", fenced("$ "+d.Command+"\n"+d.Output))
	case session.BranchSummary:
		fmt.Fprintf(out, "## Summary of a branch\n\n%s\n\n", d.Summary)
	case session.Compaction:
		fmt.Fprintf(out, "## Summary\n\n%s\n\n", d.Summary)
	}
}

func markdownMessage(out *bufio.Writer, d session.Message) {
	switch d.Role {
	case llm.User:
		fmt.Fprintf(out, "## You\n\n%s\n\n", d.Text())
	case llm.ToolResult:
		fmt.Fprintf(out, "%s\n\n", fenced(d.Text()))
	case llm.Assistant:
		if text := d.Text(); text != "" {
			fmt.Fprintf(out, "## Agent\n\n%s\n\n", text)
		}
		for _, c := range d.Calls() {
			fmt.Fprintf(out, "**%s** `%s`\n\n", c.Name, c.Arguments)
		}
	}
}

// fenced is a block of text, with a fence that does not occur in it.
func fenced(text string) string {
	fence := "```"
	for line := range strings.Lines(text) {
		if marks := len(line) - len(strings.TrimLeft(line, "`")); marks >= len(fence) {
			fence = strings.Repeat("`", marks+1)
		}
	}
	return fence + "\n" + strings.TrimRight(text, "\n") + "\n" + fence
}
