package mcp

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"banyan/internal/config"
	"banyan/internal/llm"
	"banyan/internal/tool"
)

// maxDescription is how much of a tool's description models are told, in bytes.
const maxDescription = 8 << 10

// takeTools makes our tools of a server's, and holds those back that are not
// what they were when the user approved them.
func (r *runner) takeTools(s *State, theirs []*sdk.Tool) error {
	var names []string
	offered := theirs[:0:0]
	for _, t := range theirs {
		if t != nil && r.server.offers(t.Name) && !slices.Contains(names, t.Name) {
			offered, names = append(offered, t), append(names, t.Name)
		}
	}
	slices.SortFunc(offered, func(a, b *sdk.Tool) int { return cmp.Compare(a.Name, b.Name) })
	pins := map[string]string{}
	for _, t := range offered {
		pin, err := pinOf(t)
		if err != nil {
			return fmt.Errorf("what it says of its tool %q cannot be kept: %w", t.Name, err)
		}
		pins[t.Name] = pin
		s.pins += pin
	}
	if len(s.pins) > maxListText {
		return fmt.Errorf("what it says of its tools has %d KB; more than %d KB are not taken", len(s.pins)>>10, maxListText>>10)
	}
	held := r.pinned(s, pins)
	prefix := "mcp__" + r.clean + "__"
	clean := cleanNames(names, maxName-len(prefix))
	for _, t := range offered {
		if clean[t.Name] != "" {
			s.Tools = append(s.Tools, Tool{Theirs: t.Name, Title: t.Title, Held: held[t.Name], Tool: r.tool(prefix+clean[t.Name], t)})
		}
	}
	return nil
}

// pinOf is all that models and people are told of a tool, on a line: JSON with
// its parts in a fixed order.
func pinOf(t *sdk.Tool) (string, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(struct {
		Name        string               `json:"name"`
		Title       string               `json:"title,omitempty"`
		Description string               `json:"description,omitempty"`
		Schema      any                  `json:"inputSchema,omitempty"`
		Annotations *sdk.ToolAnnotations `json:"annotations,omitempty"`
	}{t.Name, t.Title, t.Description, t.InputSchema, t.Annotations})
	return b.String(), err
}

// pinItem is what a server says of its tools, as the user approves it. What is
// seen first is taken as it is: the user has just chosen the server.
func pinItem(s Server, pins string) config.Item {
	return config.Item{Kind: "mcp tools", Folder: s.Folder, Name: s.Name, Text: pins}
}

// pinned gives the tools that are not as they were, and says so in the state.
func (r *runner) pinned(s *State, pins map[string]string) (held map[string]bool) {
	item := pinItem(r.server, s.pins)
	a, err := r.opts.Trust.Approved(item)
	if err == nil && !a.OK && !a.Changed {
		err = r.opts.Trust.Approve(item)
		a.OK = err == nil
	}
	if a.OK {
		return nil
	}
	held = map[string]bool{}
	for name, pin := range pins {
		if !strings.Contains("\n"+a.Before, "\n"+pin) {
			held[name] = true
		}
	}
	switch {
	case err != nil:
		s.Why = "what it says of its tools cannot be held against what it said before: " + err.Error()
	case len(held) == 0: // some are gone, and may come back
		return nil
	default:
		s.Why = "it says other things of its tools than when you approved them"
		s.Asks, s.Before = s.pins, a.Before
	}
	names := make([]string, 0, len(held))
	for name := range held {
		names = append(names, name)
	}
	slices.Sort(names)
	r.tell("pins", "Tools of the MCP server %s are held back (%s): %s. To look and approve: /mcp, or agent mcp approve %s",
		r.server.Name, few(names), s.Why, r.server.Name)
	return held
}

// few are the first of some names, and how many more there are.
func few(names []string) string {
	const most = 5
	if len(names) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
	}
	return strings.Join(names, ", ")
}

// tool makes our tool of a server's. That it only reads is the server's word:
// such calls may run beside each other and are asked about in plan mode, where
// others do not run at all. No question is spared for it.
func (r *runner) tool(name string, t *sdk.Tool) tool.Tool {
	access := tool.Execute
	if t.Annotations != nil && t.Annotations.ReadOnlyHint {
		access = tool.Read
	}
	schema, note := schemaOf(t.InputSchema)
	description := t.Description
	if len(description) > maxDescription {
		description = strings.ToValidUTF8(description[:maxDescription], "") + "…"
	}
	return tool.Tool{
		ToolSpec: llm.ToolSpec{Name: name, Description: strings.TrimSpace(description + note), Schema: schema},
		Access:   access,
		Subject:  func(args json.RawMessage) string { return tool.Describe(name, args) },
		Run:      r.caller(t.Name),
	}
}

// schemaOf is a schema that calls can be checked by: an object's. Of one that
// cannot be, models are told in words, and the server checks.
func schemaOf(theirs any) (schema json.RawMessage, note string) {
	const anything = `{"type":"object","properties":{}}`
	fields, ok := theirs.(map[string]any)
	if !ok {
		return json.RawMessage(anything), ""
	}
	if _, typed := fields["type"]; !typed {
		fields["type"] = "object"
	}
	if fields["properties"] == nil {
		fields["properties"] = map[string]any{}
	}
	delete(fields, "$schema") // providers refuse it, and some drafts have another
	text, err := json.Marshal(fields)
	if err != nil {
		return json.RawMessage(anything), ""
	}
	inWords := "\n\nIts arguments: " + string(text)
	// Some providers take none of these at the outermost place.
	for _, key := range []string{"anyOf", "oneOf", "allOf", "enum", "const", "not", "if", "then", "else", "$ref"} {
		if _, has := fields[key]; has {
			delete(fields, key)
			note = inWords
		}
	}
	if note != "" {
		if text, err = json.Marshal(fields); err != nil {
			return json.RawMessage(anything), inWords
		}
	}
	if fields["type"] != "object" || tool.CheckSchema(text) != nil {
		return json.RawMessage(anything), inWords
	}
	return text, note
}
