package export

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"banyan/internal/llm"
	"banyan/internal/session"
	"banyan/internal/tool"
	"banyan/internal/tree"
	"banyan/internal/tui/highlight"
	"banyan/internal/tui/inert"
	"banyan/internal/tui/transcript"
)

// card is the line that stands for a call of a tool.
type card struct {
	name  string
	args  json.RawMessage
	sign  markup // how it stands
	class markup
	facts []string
}

// card writes a call, folded: what it was, and in it what came of it.
func (p *page) card(c card, body func()) {
	p.put(`<details class="card %"><summary><i>%</i> <b>%</b> <code>%</code>`, c.class, c.sign, inert.Line(c.name), inert.Line(transcript.Subject(c.name, c.args)))
	if len(c.facts) > 0 {
		p.put(" <span>%</span>", strings.Join(c.facts, " · "))
	}
	p.put("</summary>")
	var args bytes.Buffer
	if json.Indent(&args, c.args, "", "  ") == nil && args.Len() > len("{}") {
		p.fold("args", "arguments", func() { p.code("json", args.String()) })
	}
	if body != nil {
		body()
	}
	p.put("</details>")
}

// calls are those of the answer that was asked for last.
type calls struct {
	of    tree.Node
	known []llm.ToolCall
}

// call finds the call that a result answers, in the nearest answer above it.
func (p *page) call(n tree.Node, id string) (llm.ToolCall, bool) {
	above := p.view.Parent(n)
	for above != tree.None && p.amongResults(above) {
		above = p.view.Parent(above)
	}
	if above == tree.None {
		return llm.ToolCall{}, false
	}
	if p.calls.known == nil || p.calls.of != above {
		p.calls = calls{of: above}
		if e, err := p.entry(above); err == nil {
			if m, ok := e.Data.(session.Message); ok {
				p.calls.known = m.Calls()
			}
		}
	}
	for _, c := range p.calls.known {
		if c.ID == id {
			return c, true
		}
	}
	return llm.ToolCall{}, false
}

// amongResults says whether an entry is a result, or may stand between results:
// the link of a task.
func (p *page) amongResults(n tree.Node) bool {
	c := p.class(n)
	return c.Role == llm.ToolResult || c.Kind == "custom"
}

// unanswered are the calls of an answer that no result follows, on any branch.
func (p *page) unanswered(n tree.Node, of []llm.ToolCall) []llm.ToolCall {
	if len(of) == 0 {
		return nil
	}
	answered := map[string]bool{}
	for left := p.view.Children(n); len(left) > 0; {
		at := left[len(left)-1]
		left = left[:len(left)-1]
		if !p.amongResults(at) {
			continue
		}
		if e, err := p.entry(at); err == nil {
			if m, ok := e.Data.(session.Message); ok {
				answered[m.CallID] = true
			}
		}
		left = append(left, p.view.Children(at)...)
	}
	var open []llm.ToolCall
	for _, c := range of {
		if !answered[c.ID] {
			open = append(open, c)
		}
	}
	return open
}

// result writes what a call gave, as a card.
func (p *page) result(n tree.Node, e session.Entry, d session.Message) {
	v := tool.DecodeView(d.Details)
	c := card{name: d.ToolName, sign: "✓", class: "ok", facts: facts(v)}
	if call, ok := p.call(n, d.CallID); ok {
		c.name, c.args = call.Name, call.Arguments
	}
	if failed(v) || d.IsError {
		c.sign, c.class = "✗", "bad"
	}
	p.card(c, func() {
		_, task := v.(tool.TaskView) // which says how it went, and not what it gave
		if v == nil || d.IsError || task {
			p.block(d.Text())
		}
		if v != nil {
			p.picture(v)
		}
		for _, b := range d.Content {
			if img, ok := b.(llm.Image); ok {
				p.image(img)
			}
		}
		p.mark(e)
	})
}

// failed says whether a program or a task says that it failed.
func failed(v tool.View) bool {
	switch v := v.(type) {
	case tool.TaskView:
		return v.State != tool.TaskDone
	case tool.Command:
		return v.Failed()
	}
	return false
}

// facts are what is known of a result in numbers.
func facts(v tool.View) []string {
	var all []string
	switch v := v.(type) {
	case tool.Command:
		if v.ExitCode != nil && *v.ExitCode != 0 {
			all = append(all, fmt.Sprintf("exit %d", *v.ExitCode))
		}
		if v.Signal != "" {
			all = append(all, inert.Line(v.Signal))
		}
		if v.Millis > 0 {
			all = append(all, (time.Duration(v.Millis) * time.Millisecond).String())
		}
	case tool.Diff:
		all = append(all, fmt.Sprintf("+%d −%d", v.Added, v.Removed))
	case tool.Listing:
		all = append(all, plural(max(v.Total, len(v.Items)), "result", "results"))
	case tool.TaskView:
		all = append(all, inert.Line(string(v.State)), (time.Duration(v.Millis) * time.Millisecond).Round(time.Second).String(), plural(v.Tokens, "token", "tokens"))
	case tool.Image:
		if v.Width > 0 {
			all = append(all, fmt.Sprintf("%d×%d", v.Width, v.Height))
		}
	}
	return all
}

// picture writes a view by its kind.
func (p *page) picture(v tool.View) {
	switch v := v.(type) {
	case tool.Plain:
		p.code(highlight.LangOf(v.Path), v.Text)
	case tool.Command:
		p.block(v.Output)
	case tool.Diff:
		p.diff(v)
	case tool.Listing:
		p.put(`<ul class="places">`)
		for _, item := range v.Items {
			p.put("<li>%", inert.Line(item.Path))
			if item.Line > 0 {
				p.put(":%", item.Line)
			}
			if item.Text != "" {
				p.put(" <code>%</code>", inert.Line(item.Text))
			}
			p.put("</li>")
		}
		p.put("</ul>")
	case tool.Image:
		p.put(`<p class="end">%</p>`, inert.Line(v.Path))
	}
}

// diff writes a change with line numbers, and what changed within a line.
func (p *page) diff(v tool.Diff) {
	p.put(`<table class="diff"><caption>%</caption>`, inert.Line(v.Path))
	for _, l := range transcript.Diff(inert.Text(v.Diff)) {
		switch l.Op {
		case '@':
			p.put(`<tr class="hunk"><td></td><td>⋮</td></tr>`)
			continue
		case '+':
			p.put(`<tr class="add"><td>%</td><td><s>+</s>`, l.Num)
		case '-':
			p.put(`<tr class="del"><td>%</td><td><s>−</s>`, l.Num)
		default:
			p.put(`<tr><td>%</td><td><s> </s>`, l.Num)
		}
		done := 0
		for _, w := range l.Words {
			p.put("%<em>%</em>", l.Text[done:w[0]], l.Text[w[0]:w[1]])
			done = w[1]
		}
		p.put("%</td></tr>\n", l.Text[done:])
	}
	p.put("</table>")
}

// command writes what the user ran.
func (p *page) command(d session.Command) {
	var note []string
	switch {
	case d.Cancelled:
		note = append(note, "interrupted")
	case d.ExitCode != nil && *d.ExitCode != 0:
		note = append(note, fmt.Sprintf("exit %d", *d.ExitCode))
	}
	if d.Excluded {
		note = append(note, "not shown to the model")
	}
	p.put(`<p class="said"><code>%</code></p>`, inert.Line(d.Command))
	p.block(d.Output)
	if len(note) > 0 {
		p.put(`<p class="end">%</p>`, strings.Join(note, " · "))
	}
}

// block writes text of a program as it stands, without the colours it had.
func (p *page) block(text string) {
	if text = strings.TrimRight(inert.Output(text), "\n"); text != "" {
		p.put("<pre>%</pre>", text)
	}
}
