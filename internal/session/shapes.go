package session

import (
	"bytes"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"

	"banyan/internal/llm"
	"banyan/internal/tree"
)

// The shapes that scripts rely on. They are stable: members are added, never
// renamed or taken away.

// Shown is what `agent session show --json` prints.
type Shown struct {
	ID       string    `json:"id"`
	Version  int       `json:"version"`
	Cwd      string    `json:"cwd"`
	Name     string    `json:"name"`
	Leaf     *ID       `json:"leafId"` // null before the first entry
	Entries  int       `json:"entries"`
	Messages int       `json:"messages"`
	Bytes    int64     `json:"bytes"`
	Parent   string    `json:"parentSession"`
	Problems []Problem `json:"problems"`
	ReadOnly string    `json:"readOnly,omitempty"` // why it cannot be written
}

// Show sums a session up.
func (s Snapshot) Show() Shown {
	h := s.Header()
	shown := Shown{
		ID: h.ID, Version: h.Version, Cwd: h.Cwd, Name: s.Name(), Leaf: orNull(s.Leaf()), Entries: s.Len(),
		Bytes: s.Bytes(), Parent: h.Parent, Problems: append([]Problem{}, s.Problems()...), ReadOnly: s.ReadOnly(),
	}
	if shown.ReadOnly == lookingOnly {
		shown.ReadOnly = "" // that is us, not the file
	}
	for n := range tree.Node(s.Len()) {
		if s.Class(n).Kind == (Message{}).kind() {
			shown.Messages++
		}
	}
	return shown
}

func orNull(id ID) *ID {
	if id == "" {
		return nil
	}
	return &id
}

// ShownContext is what `agent session context --json` prints.
type ShownContext struct {
	Leaf     *ID               `json:"leafId"`
	Model    *ShownModel       `json:"model"`
	Thinking llm.ThinkingLevel `json:"thinkingLevel"`
	Mode     string            `json:"mode,omitempty"`
	Rules    []string          `json:"injectedRules,omitempty"`
	Messages []json.RawMessage `json:"messages"`
}

// ShownModel names a model of a provider.
type ShownModel struct {
	Provider string `json:"provider"`
	Model    string `json:"modelId"`
}

// ShowContext is the context at a leaf with messages in the shape of the file.
func (s Snapshot) ShowContext(leaf ID) (ShownContext, error) {
	c, err := s.Context(leaf)
	if err != nil {
		return ShownContext{}, err
	}
	shown := ShownContext{
		Leaf: orNull(c.Leaf), Thinking: c.Thinking, Mode: c.Mode, Rules: c.Rules, Messages: []json.RawMessage{},
	}
	if c.Model != (ModelRef{}) {
		shown.Model = &ShownModel{c.Model.Provider, c.Model.Model}
	}
	for _, item := range c.Items {
		raw, err := s.showItem(item)
		if err != nil {
			return ShownContext{}, err
		}
		shown.Messages = append(shown.Messages, raw)
	}
	return shown, nil
}

// showItem is a message as it stands in the file; what is none there gets a
// shape that looks like one.
func (s Snapshot) showItem(item Item) (json.RawMessage, error) {
	n := s.Node(item.Entry)
	line, err := s.Raw(n)
	if err != nil {
		return nil, err
	}
	ts := item.Time.UnixMilli()
	switch d := item.Data.(type) {
	case Compaction:
		return marshal(struct {
			Role         string `json:"role"`
			Summary      string `json:"summary"`
			TokensBefore int    `json:"tokensBefore"`
			Timestamp    int64  `json:"timestamp"`
		}{"compactionSummary", d.Summary, d.TokensBefore, ts})
	case BranchSummary:
		from := d.From
		if from == "" {
			from = Root
		}
		return marshal(struct {
			Role      string `json:"role"`
			Summary   string `json:"summary"`
			From      ID     `json:"fromId"`
			Timestamp int64  `json:"timestamp"`
		}{"branchSummary", d.Summary, from, ts})
	case CustomMessage:
		if s.Class(n).Kind == d.kind() {
			return marshal(struct {
				Role       string          `json:"role"`
				CustomType string          `json:"customType"`
				Content    json.RawMessage `json:"content"`
				Display    bool            `json:"display"`
				Details    json.RawMessage `json:"details,omitempty"`
				Timestamp  int64           `json:"timestamp"`
			}{roleCustom, d.Type, validUTF8(member(line, "content")), d.Display, d.Details, ts})
		}
	}
	return validUTF8(member(line, "message")), nil
}

// validUTF8 replaces what is not UTF-8, which JSON may not hold; null for nothing.
func validUTF8(raw []byte) json.RawMessage {
	if raw == nil {
		return json.RawMessage("null")
	}
	return bytes.ToValidUTF8(raw, []byte("\uFFFD"))
}

// Row is an entry in the array that `agent session tree --json` prints.
type Row struct {
	ID     ID       `json:"id"`
	Parent *ID      `json:"parentId"`
	Type   string   `json:"type"`
	Role   llm.Role `json:"role,omitempty"` // of messages
	Depth  int      `json:"depth"`          // 0 for roots
	Label  string   `json:"label,omitempty"`
	Text   string   `json:"text"` // what it says, in one short line
}

// Rows are all entries, depth first, roots in the order of the file, children
// oldest first.
func (s Snapshot) Rows() iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		view := s.Tree()
		depth := make([]int32, view.Len())
		for root := range tree.Node(view.Len()) {
			if view.Parent(root) != tree.None {
				continue
			}
			stack := []tree.Node{root}
			for len(stack) > 0 {
				n := stack[len(stack)-1]
				stack = stack[:len(stack)-1]
				row, err := s.row(n, int(depth[n]))
				if !yield(row, err) || err != nil {
					return
				}
				kids := view.Children(n)
				for _, k := range slices.Backward(kids) {
					depth[k] = depth[n] + 1
					stack = append(stack, k)
				}
			}
		}
	}
}

func (s Snapshot) row(n tree.Node, depth int) (Row, error) {
	e, err := s.EntryAt(n)
	if err != nil {
		return Row{}, err
	}
	class := s.Class(n)
	return Row{
		ID: e.ID, Parent: orNull(e.Parent), Type: class.Kind, Role: class.Role, Depth: depth,
		Label: s.Label(e.ID), Text: Line(e.Data),
	}, nil
}

// Line is what an entry says in one short line, for lists.
func Line(d Data) string {
	const most = 200
	switch d := d.(type) {
	case Message:
		text := d.Text()
		for _, call := range d.Calls() {
			text += fmt.Sprintf(" [%s %s]", call.Name, call.Arguments)
		}
		if d.ErrorMessage != "" {
			text += " (" + d.ErrorMessage + ")"
		}
		return shorten(text, most)
	case Command:
		return shorten("! "+d.Command, most)
	case Compaction:
		return shorten(d.Summary, most)
	case BranchSummary:
		return shorten(d.Summary, most)
	case CustomMessage:
		return shorten(llm.Message{Content: d.Content}.Text(), most)
	case Custom:
		return d.Type
	case Label:
		return shorten(d.Text, most)
	case Info:
		return shorten(d.Name, most)
	case ModelChange:
		return d.Provider + "/" + d.Model
	case ThinkingChange:
		return string(d.Level)
	case ModeChange:
		return d.Mode
	case RuleInjection:
		return strings.Join(d.Rules, ", ")
	}
	return ""
}
