package engine

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"banyan/internal/llm"
	"banyan/internal/session"
	"banyan/internal/summary"
)

// ContextReport says what fills the context window: what the next request
// would be. Sizes are tokens, estimated but for Counted.
type ContextReport struct {
	Window  int // of the model; 0 if it is not known
	Reserve int // kept for the answer
	Counted int // what the provider counted for the last answer; 0 if a compaction came after it
	Total   int
	Parts   []ContextPart  // in the order of the request, none empty
	Entries []ContextEntry // in the order of the request

	ratio float64 // of counted to estimated tokens
}

func (r *ContextReport) tokens(estimated int) int { return int(float64(estimated) * r.ratio) }

// ContextPart is all that one kind of content takes.
type ContextPart struct {
	Kind   ContextKind
	Count  int
	Tokens int
}

// ContextKind is a kind of content.
type ContextKind string

// The kinds, in the order of a request.
const (
	ContextSystem       ContextKind = "system prompt"
	ContextInstructions ContextKind = "instruction files"
	ContextTools        ContextKind = "tools"
	ContextSummaries    ContextKind = "summaries"
	ContextPrompts      ContextKind = "prompts"
	ContextAnswers      ContextKind = "answers"
	ContextResults      ContextKind = "tool results"
	ContextCommands     ContextKind = "commands"
	ContextNotes        ContextKind = "notes"
	ContextImages       ContextKind = "images"
)

var contextKinds = []ContextKind{ContextSystem, ContextInstructions, ContextTools, ContextSummaries, ContextPrompts, ContextAnswers, ContextResults, ContextCommands, ContextNotes, ContextImages}

// ContextEntry is one message of the request.
type ContextEntry struct {
	ID session.ID
	// Parent is where a [Navigate] (At) goes that drops the entry and all that
	// follows it from the context, on a branch; zero: before the first.
	Parent session.ID
	Kind   ContextKind
	Text   string // the beginning of it, one line; untrusted
	Tokens int
}

const textShown = 200 // bytes of an entry's text in a report

// inspect reports the context, in a goroutine of its own: it reads all of it.
func (e *Engine) inspect() {
	snap := e.session.Snapshot()
	reserve, _ := e.sizes()
	r := ContextReport{Window: e.info.Context, Reserve: reserve, Counted: snap.ContextUsage(snap.Leaf()).Context(), ratio: e.ratio(e.model)}
	fixed := []ContextPart{
		{ContextSystem, 1, r.tokens((len(e.systemPrompt()) - e.cfg.Instructions) / 4)},
		{ContextInstructions, 1, r.tokens(e.cfg.Instructions / 4)},
		{ContextTools, len(e.tools()), r.tokens(toolTokens(e))},
	}
	go func() {
		c, err := snap.Context(snap.Leaf())
		if err == nil {
			r.fill(snap, c, fixed)
		}
		_ = e.do(func() error {
			if err != nil {
				e.notice(Failure, "The context could not be read: %v", err)
				return nil
			}
			e.emit(r)
			return nil
		})
	}()
}

func toolTokens(e *Engine) int {
	n := 0
	for _, t := range e.tools() {
		n += len(t.Name) + len(t.Description) + len(t.Schema)
	}
	return n / 4
}

func (r *ContextReport) fill(snap session.Snapshot, c session.Context, fixed []ContextPart) {
	parts := map[ContextKind]*ContextPart{}
	for _, p := range fixed {
		parts[p.Kind] = &p
	}
	for _, it := range c.Items {
		kind, tokens := contextKind(it.Data), r.tokens(summary.Tokens(it.Data))
		if tokens == 0 {
			continue
		}
		p := parts[kind]
		if p == nil {
			p = &ContextPart{Kind: kind}
			parts[kind] = p
		}
		p.Count++
		p.Tokens += tokens
		r.Entries = append(r.Entries, ContextEntry{
			ID: it.Entry, Parent: snap.ID(snap.Tree().Parent(snap.Node(it.Entry))), Kind: kind, Text: firstLine(it.Data), Tokens: tokens,
		})
	}
	for _, p := range parts {
		if p.Tokens > 0 {
			r.Parts = append(r.Parts, *p)
			r.Total += p.Tokens
		}
	}
	slices.SortFunc(r.Parts, func(a, b ContextPart) int {
		return cmp.Compare(slices.Index(contextKinds, a.Kind), slices.Index(contextKinds, b.Kind))
	})
}

// contextKind is what an item counts as; a message with a picture is a picture.
func contextKind(d session.Data) ContextKind {
	switch d := d.(type) {
	case session.Compaction, session.BranchSummary:
		return ContextSummaries
	case session.Command:
		return ContextCommands
	case session.CustomMessage:
		return ContextNotes
	case session.Message:
		if slices.ContainsFunc(d.Content, func(b llm.Block) bool { _, ok := b.(llm.Image); return ok }) {
			return ContextImages
		}
		switch d.Role {
		case llm.Assistant:
			return ContextAnswers
		case llm.ToolResult:
			return ContextResults
		}
	}
	return ContextPrompts
}

// firstLine is the beginning of what an item says.
func firstLine(d session.Data) string {
	text := ""
	switch d := d.(type) {
	case session.Compaction:
		text = d.Summary
	case session.BranchSummary:
		text = d.Summary
	case session.Command:
		text = "$ " + d.Command
	case session.CustomMessage:
		text = llm.Message{Content: d.Content}.Text()
	case session.Message:
		if text = d.Text(); text == "" {
			text = callNames(d.Calls())
		}
	}
	text, _, _ = strings.Cut(strings.TrimSpace(text), "\n")
	return strings.ToValidUTF8(text[:min(len(text), textShown)], "")
}

func callNames(calls []llm.ToolCall) string {
	var names []string
	for _, c := range calls {
		args, _ := json.Marshal(c.Arguments)
		names = append(names, c.Name+" "+string(args))
	}
	return strings.Join(names, ", ")
}
