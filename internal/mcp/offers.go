package mcp

import (
	"context"
	"fmt"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"banyan/internal/llm"
)

// askTime is how long a prompt or a resource may take.
const askTime = time.Minute

// prompts are the server's prompts under names of ours, in its order.
func (r *runner) prompts(theirs []*sdk.Prompt) []Prompt {
	var names []string
	for _, p := range theirs {
		names = append(names, p.Name)
	}
	clean := cleanNames(names, maxName)
	var ours []Prompt
	for _, p := range theirs {
		if clean[p.Name] == "" {
			continue
		}
		o := Prompt{Name: "mcp__" + r.clean + "__" + clean[p.Name], Theirs: p.Name, Help: p.Description}
		for _, a := range p.Arguments {
			o.Arguments = append(o.Arguments, Argument{a.Name, a.Description, a.Required})
		}
		ours = append(ours, o)
	}
	return ours
}

// Usage is how a prompt's arguments are written: <needed> [not needed].
func (p Prompt) Usage() string {
	var parts []string
	for _, a := range p.Arguments {
		if a.Required {
			parts = append(parts, "<"+a.Name+">")
		} else {
			parts = append(parts, "["+a.Name+"]")
		}
	}
	return strings.Join(parts, " ")
}

// arguments gives each argument its words: as name=value anywhere, else in
// order, in quotes where one has spaces; the last takes what is left.
func (p Prompt) arguments(line string) (map[string]string, error) {
	values := map[string]string{}
	var rest []string
	for _, w := range words(line) {
		name, value, ok := strings.Cut(w, "=")
		if ok && p.has(name) {
			values[name] = value
		} else {
			rest = append(rest, w)
		}
	}
	var open []string // arguments without a value yet
	for _, a := range p.Arguments {
		if _, given := values[a.Name]; !given {
			open = append(open, a.Name)
		}
	}
	for i, name := range open {
		if i == len(open)-1 && len(rest) > i {
			values[name] = strings.Join(rest[i:], " ")
		} else if i < len(rest) {
			values[name] = rest[i]
		}
	}
	if len(rest) > 0 && len(open) == 0 {
		return nil, fmt.Errorf("%q is too much: it takes %s", strings.Join(rest, " "), orNothing(p.Usage()))
	}
	for _, a := range p.Arguments {
		if a.Required && values[a.Name] == "" {
			return nil, fmt.Errorf("it needs %s: %s", a.Name, p.Usage())
		}
	}
	return values, nil
}

func orNothing(text string) string {
	if text == "" {
		return "no arguments"
	}
	return text
}

func (p Prompt) has(name string) bool {
	for _, a := range p.Arguments {
		if a.Name == name {
			return true
		}
	}
	return false
}

// words takes a line apart at spaces, but for those between quotes.
func words(line string) []string {
	var all []string
	var word strings.Builder
	var quote rune
	begun := false
	for _, c := range line {
		switch {
		case quote != 0 && c == quote:
			quote = 0
		case quote == 0 && (c == '"' || c == '\''):
			quote, begun = c, true
		case quote == 0 && (c == ' ' || c == '\t' || c == '\n'):
			if begun {
				all = append(all, word.String())
			}
			word.Reset()
			begun = false
		default:
			begun = true
			word.WriteRune(c)
		}
	}
	if begun {
		all = append(all, word.String())
	}
	return all
}

// Prompt asks a server for a prompt of ours by name, with arguments as they are
// typed. The content is the server's.
func (h *Host) Prompt(ctx context.Context, name, args string) ([]llm.Block, error) {
	for _, r := range *h.runners.Load() {
		for _, p := range r.state.Load().Prompts {
			if p.Name == name {
				return r.prompt(ctx, p, args)
			}
		}
	}
	return nil, fmt.Errorf("there is no MCP prompt %s any more", name)
}

func (r *runner) prompt(ctx context.Context, p Prompt, args string) ([]llm.Block, error) {
	session := r.session.Load()
	if session == nil {
		return nil, fmt.Errorf("the MCP server %s is not there: it is %s", r.server.Name, r.state.Load().Phase)
	}
	values, err := p.arguments(args)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	got, err := session.GetPrompt(ctx, &sdk.GetPromptParams{Name: p.Theirs, Arguments: values})
	if err != nil {
		return nil, fmt.Errorf("asking the MCP server %s for it: %s", r.server.Name, reason(err))
	}
	result := &sdk.CallToolResult{}
	for _, m := range got.Messages {
		if m.Role == "assistant" {
			result.Content = append(result.Content, &sdk.TextContent{Text: "(an answer, as an example)"})
		}
		result.Content = append(result.Content, m.Content)
	}
	return r.result(result).Content, nil
}

// Mention is a resource that a text names: @server:uri.
type Mention struct{ Server, URI string }

// Mentions are the resources that a text names, once each. A name counts if a
// server is called so.
func (h *Host) Mentions(text string) []Mention {
	if !strings.Contains(text, "@") {
		return nil
	}
	var found []Mention
	seen := map[Mention]bool{}
	for _, word := range strings.Fields(text) {
		word, ok := strings.CutPrefix(strings.TrimLeft(word, "("), "@")
		name, uri, colon := strings.Cut(word, ":")
		if !ok || !colon || uri == "" {
			continue
		}
		r, err := h.runner(name)
		if err != nil {
			continue
		}
		if m := (Mention{r.clean, strings.TrimRight(uri, ",;)")}); !seen[m] {
			seen[m] = true
			found = append(found, m)
		}
	}
	return found
}

// Resources are what can be mentioned, as it is written after the @.
func (h *Host) Resources() []string {
	var all []string
	for _, r := range *h.runners.Load() {
		for _, x := range r.state.Load().Resources {
			if !strings.ContainsAny(x.URI, " \t\n") {
				all = append(all, r.clean+":"+x.URI)
			}
		}
	}
	return all
}

// Read gets a resource. The content is the server's, cut as a tool's result.
func (h *Host) Read(ctx context.Context, m Mention) ([]llm.Block, error) {
	r, err := h.runner(m.Server)
	if err != nil {
		return nil, err
	}
	session := r.session.Load()
	if session == nil {
		return nil, fmt.Errorf("the MCP server %s is not there: it is %s", r.server.Name, r.state.Load().Phase)
	}
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	got, err := session.ReadResource(ctx, &sdk.ReadResourceParams{URI: m.URI})
	if err != nil {
		return nil, fmt.Errorf("reading %s from the MCP server %s: %s", m.URI, r.server.Name, reason(err))
	}
	result := &sdk.CallToolResult{}
	for _, part := range got.Contents {
		result.Content = append(result.Content, &sdk.EmbeddedResource{Resource: part})
	}
	return r.result(result).Content, nil
}

// ToolNames are the names of the tools that models are given now.
func (h *Host) ToolNames() []string {
	var names []string
	for _, s := range h.States() {
		for _, t := range s.Given() {
			names = append(names, t.Name)
		}
	}
	return names
}
