package treeview

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"banyan/internal/llm"
	"banyan/internal/session"
	"banyan/internal/tree"
	"banyan/internal/tui/inert"
)

// Lengths in bytes.
const (
	// mostLine: a longer line of the file is not decoded, only named.
	mostLine = 1 << 20
	// mostWords is how much of an entry a search looks in.
	mostWords = 8 << 10
	// mostText is how much of an entry a row may show some part of.
	mostText = 4 << 10
)

// tone says how a row is to be painted.
type tone uint8

const (
	plain tone = iota
	users
	models
	results
	failures
	summaries
	quiet // bookkeeping
)

// said is what an entry says in a row: who or what it is, and one line of inert
// text.
type said struct {
	who  string
	text string
	tone tone
}

// reader reads entries of a session. It remembers the calls of the last answer,
// which the results after it belong to.
type reader struct {
	s     session.Snapshot
	of    tree.Node
	calls []llm.ToolCall
}

func newReader(s session.Snapshot) *reader { return &reader{s: s, of: tree.None} }

// data reads an entry's body, unless it is too large for a row, or unreadable:
// then it says so in the place of it.
func (r *reader) data(n tree.Node) (session.Data, string) {
	raw, err := r.s.Raw(n)
	if err == nil && len(raw) > mostLine {
		return nil, fmt.Sprintf("(%d MB)", len(raw)>>20)
	}
	e, err := r.s.EntryAt(n)
	if err != nil {
		return nil, "(" + err.Error() + ")"
	}
	return e.Data, ""
}

// say is what a node's row says.
func (r *reader) say(n tree.Node) said {
	class := r.s.Class(n)
	d, why := r.data(n)
	if d == nil {
		return said{who: "[" + cmp.Or(string(class.Role), class.Kind) + "]", text: inert.Line(why), tone: quiet}
	}
	said := r.sayData(n, d)
	said.text = inert.Line(squeeze(said.text, mostText))
	said.who = inert.Line(said.who)
	return said
}

// Line is what an entry's row says.
func Line(s session.Snapshot, n tree.Node) string {
	said := newReader(s).say(n)
	return strings.TrimSpace(said.who + " " + said.text)
}

func (r *reader) sayData(n tree.Node, d session.Data) said {
	switch d := d.(type) {
	case session.Message:
		return r.sayMessage(n, d)
	case session.Command:
		return said{text: "! " + d.Command, tone: users}
	case session.CustomMessage:
		return said{who: "[" + d.Type + "]", text: blocks(d.Content), tone: plain}
	case session.Compaction:
		return said{who: fmt.Sprintf("[compaction: %dk tokens]", (d.TokensBefore+500)/1000), text: summaryBody(d.Summary), tone: summaries}
	case session.BranchSummary:
		return said{who: "[branch summary]", text: summaryBody(d.Summary), tone: summaries}
	case session.Label:
		if d.Text == "" {
			return said{text: "[label: cleared]", tone: quiet}
		}
		return said{text: "[label: " + d.Text + "]", tone: quiet}
	case session.Info:
		if d.Name == "" {
			return said{text: "[name: cleared]", tone: quiet}
		}
		return said{text: "[name: " + d.Name + "]", tone: quiet}
	case session.ModelChange:
		return said{text: "[model: " + d.Model + "]", tone: quiet}
	case session.ThinkingChange:
		return said{text: "[thinking: " + string(d.Level) + "]", tone: quiet}
	case session.ModeChange:
		return said{text: "[mode: " + d.Mode + "]", tone: quiet}
	case session.RuleInjection:
		return said{text: "[rules: " + strings.Join(d.Rules, ", ") + "]", tone: quiet}
	case session.Custom:
		return said{text: "[custom: " + d.Type + "]", tone: quiet}
	case session.Unknown:
		return said{text: "[" + d.Type + "]", tone: quiet}
	}
	return said{}
}

func (r *reader) sayMessage(n tree.Node, d session.Message) said {
	switch d.Role {
	case llm.User:
		return said{who: "user:", text: blocks(d.Content), tone: users}
	case llm.ToolResult:
		tone := results
		if d.IsError {
			tone = failures
		}
		return said{text: "[" + r.callLine(n, d) + "]", tone: tone}
	}
	text, tone := d.Text(), models
	switch {
	case d.StopReason == llm.StopAborted:
		text += " (interrupted)"
	case d.StopReason == llm.StopError:
		text, tone = text+" ("+d.ErrorMessage+")", failures
	case d.StopReason == llm.StopLength:
		text += " (cut off)"
	case strings.TrimSpace(text) == "" && len(d.Calls()) > 0:
		text = "(calls " + d.Calls()[0].Name + ")"
	case strings.TrimSpace(text) == "":
		text = "(no text)"
	}
	return said{who: "assistant:", text: text, tone: tone}
}

// callLine names the call that a result answers.
func (r *reader) callLine(n tree.Node, d session.Message) string {
	call, ok := r.call(n, d.CallID)
	if !ok {
		return d.ToolName
	}
	return call.Name + subject(call, r.s.Header().Cwd)
}

// call finds the call that a result answers: in the nearest answer above it.
func (r *reader) call(n tree.Node, id string) (llm.ToolCall, bool) {
	view := r.s.Tree()
	for n = view.Parent(n); n != tree.None; n = view.Parent(n) {
		if c := r.s.Class(n); c.Role == llm.Assistant {
			break
		} else if c.Role == llm.User {
			return llm.ToolCall{}, false
		}
	}
	if n == tree.None {
		return llm.ToolCall{}, false
	}
	if n != r.of {
		r.of, r.calls = n, nil
		if d, _ := r.data(n); d != nil {
			if m, ok := d.(session.Message); ok {
				r.calls = m.Calls()
			}
		}
	}
	for _, c := range r.calls {
		if c.ID == id {
			return c, true
		}
	}
	return llm.ToolCall{}, false
}

// callArgs are the arguments that rows name calls by.
type callArgs struct {
	Path     string `json:"path"`
	FilePath string `json:"file_path"`
	Offset   int    `json:"offset"`
	Limit    int    `json:"limit"`
	Command  string `json:"command"`
	Pattern  string `json:"pattern"`
	// Of tasks.
	Description string `json:"description"`
	Agent       string `json:"agent"`
}

// subject is what a call was about, with the sign that parts it from the name.
func subject(c llm.ToolCall, cwd string) string {
	var a callArgs
	// Other tools have other types under these names; then it is their JSON that is shown.
	err := json.Unmarshal(c.Arguments, &a)
	path := a.Path
	if path == "" {
		path = a.FilePath
	}
	if cwd != "" {
		path = strings.TrimPrefix(path, cwd+"/")
	}
	switch {
	case err != nil:
	case a.Command != "":
		return ": " + a.Command
	case a.Pattern != "" && path != "":
		return ": " + a.Pattern + " in " + path
	case a.Pattern != "":
		return ": " + a.Pattern
	case path != "":
		return ": " + path + lines(a)
	case a.Description != "" && a.Agent != "":
		return ": " + a.Agent + ": " + a.Description
	case a.Description != "":
		return ": " + a.Description
	}
	var compact bytes.Buffer
	if len(c.Arguments) > mostText || json.Compact(&compact, c.Arguments) != nil || compact.Len() <= len("{}") {
		return ""
	}
	return ": " + compact.String()
}

// lines are those of a file that were read, as path:from-to.
func lines(a callArgs) string {
	switch {
	case a.Limit > 0:
		from := max(a.Offset, 1)
		return fmt.Sprintf(":%d-%d", from, from+a.Limit-1)
	case a.Offset > 1:
		return fmt.Sprintf(":%d-", a.Offset)
	}
	return ""
}

// words is what a search looks in, without the label.
func (r *reader) words(n tree.Node) string {
	d, _ := r.data(n)
	if d == nil {
		return ""
	}
	row := r.sayData(n, d)
	text := row.who + " " + row.text
	if m, ok := d.(session.Message); ok {
		switch m.Role {
		case llm.ToolResult: // the row names the call; the rest of it, and what it gave
			if c, ok := r.call(n, m.CallID); ok {
				text += " " + string(c.Arguments)
			}
			text += " " + blocks(m.Content)
		case llm.Assistant:
			for _, c := range m.Calls() {
				text += " " + c.Name + " " + string(c.Arguments)
			}
		}
	}
	return cut(text, mostWords)
}

// blocks is the text of a message's content; a picture is named.
func blocks(content []llm.Block) string {
	var parts []string
	for _, b := range content {
		switch b := b.(type) {
		case llm.Text:
			parts = append(parts, b.Text)
		case llm.Image:
			parts = append(parts, "[image]")
		}
	}
	return strings.Join(parts, "\n")
}

// summaryBody is a summary for one line: without the words that all of them begin
// with, headings as "Goal:".
func summaryBody(text string) string {
	if _, after, ok := strings.Cut(text, ":\n\n"); ok && strings.HasPrefix(text, "The user explored a branch") {
		text = after
	}
	lines := strings.Split(cut(text, mostText), "\n")
	for i, line := range lines {
		if title := strings.TrimLeft(line, "#"); title != line {
			lines[i] = title + ":"
		}
	}
	return strings.Join(lines, "\n")
}

// squeeze puts the beginning of a text on one line, white space as single blanks.
func squeeze(text string, most int) string {
	return strings.Join(strings.Fields(cut(text, most)), " ")
}

// cut is a text's beginning of at most so many bytes, in whole characters.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most]
}
