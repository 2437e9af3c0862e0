package session

import (
	"encoding/json"
	"slices"
	"time"

	"banyan/internal/llm"
	"banyan/internal/tree"
)

// Context is what a model sees at a leaf, and the state that holds there.
type Context struct {
	Leaf     ID
	Model    ModelRef // zero if none was ever chosen
	Thinking llm.ThinkingLevel
	Mode     string          // empty or "none" for none
	ModeData json.RawMessage // that its entry carries; nil for none
	Rules    []string        // injected stream rules
	Items    []Item
}

// ModelRef names a model of a provider.
type ModelRef struct{ Provider, Model string }

// Item is one message of a context: Data is a [Message], [Command],
// [CustomMessage], [BranchSummary] or [Compaction].
type Item struct {
	Entry ID
	Time  time.Time
	Data  Data
}

// Context is what a model sees at a leaf, and the state that holds there. The
// zero ID is the leaf before the first entry: nothing, thinking off, no model.
// An id that is not in the session stands for its last entry, as in pi.
//
// It reads the bodies of what it shows and of the changes that hold, no others.
func (s Snapshot) Context(leaf ID) (Context, error) {
	at := s.Node(leaf)
	if leaf != "" && at == tree.None && s.Len() > 0 {
		at = tree.Node(s.Len() - 1)
	}
	w := walk{s: s, path: s.state().view.Path(at)}
	c := Context{Leaf: s.ID(at), Thinking: llm.ThinkingOff}
	w.state(&c)
	w.items(&c)
	return c, w.err
}

// State is the context at a leaf without its items: what holds there, for the
// price of the few bodies that say so.
func (s Snapshot) State(leaf ID) (Context, error) {
	w := walk{s: s, path: s.nodes(leaf)}
	c := Context{Leaf: leaf, Thinking: llm.ThinkingOff}
	w.state(&c)
	return c, w.err
}

// ContextUsage is what the provider counted for the last answer on the path to a
// leaf that ended well; zero where there is none since the path's last compaction.
func (s Snapshot) ContextUsage(leaf ID) llm.Usage {
	for _, n := range slices.Backward(s.nodes(leaf)) {
		switch class := s.Class(n); {
		case class.Kind == "compaction":
			return llm.Usage{}
		case class.Kind == "message" && class.Role == llm.Assistant && !class.Failed:
			if u := s.usageAt(n, class.Kind); u.Context() > 0 {
				return u
			}
		}
	}
	return llm.Usage{}
}

// walk reads a path. The first error that reading a body gives stays in err.
type walk struct {
	s    Snapshot
	path []tree.Node
	err  error
}

func (w *walk) data(n tree.Node) Data {
	e, err := w.s.EntryAt(n)
	if err != nil && w.err == nil {
		w.err = err
	}
	return e.Data
}

// state finds what holds at the end of the path: the last word on each matter.
func (w *walk) state(c *Context) {
	var model, thinking, mode bool
	for _, n := range slices.Backward(w.path) {
		class := w.s.Class(n)
		switch class.Kind {
		case "message":
			if !model && class.Role == llm.Assistant {
				if d, ok := w.data(n).(Message); ok && d.Model != "" {
					c.Model, model = ModelRef{d.Provider, d.Message.Model}, true
				}
			}
		case "model_change":
			if d, ok := w.data(n).(ModelChange); ok && !model && (d.Role == "" || d.Role == "default") {
				c.Model, model = ModelRef{d.Provider, d.Model}, true
			}
		case "thinking_level_change":
			if !thinking {
				var d ThinkingChange
				if d, thinking = w.data(n).(ThinkingChange); thinking {
					c.Thinking = d.Level
				}
			}
		case "mode_change":
			if !mode {
				var d ModeChange
				if d, mode = w.data(n).(ModeChange); mode {
					c.Mode, c.ModeData = d.Mode, d.Data
				}
			}
		case "ttsr_injection":
			if d, ok := w.data(n).(RuleInjection); ok {
				c.Rules = append(slices.Clone(d.Rules), c.Rules...)
			}
		}
	}
	c.Rules = distinct(c.Rules)
}

// distinct keeps the first of equal strings, in order.
func distinct(all []string) []string {
	seen := map[string]bool{}
	return slices.DeleteFunc(all, func(s string) bool {
		again := seen[s]
		seen[s] = true
		return again
	})
}

// items lists the messages: the last compaction's summary and what it keeps,
// or all, and then what follows.
func (w *walk) items(c *Context) {
	kept := w.path
	for i, n := range slices.Backward(w.path) {
		if w.s.Class(n).Kind != "compaction" {
			continue
		}
		if d, ok := w.data(n).(Compaction); ok {
			w.add(c, n, d)
			kept = w.path[w.firstKept(i, d.FirstKept):]
			break
		}
	}
	for _, n := range kept {
		switch class := w.s.Class(n); class.Kind {
		case "message", "custom_message", "branch_summary":
			w.add(c, n, w.data(n))
		}
	}
}

// firstKept is the place on the path from which a compaction at i keeps; i
// itself, which yields nothing, where its first kept entry is not before it.
func (w *walk) firstKept(i int, id ID) int {
	st := w.s.state()
	for j, n := range slices.Backward(w.path[:i]) {
		if st.fileID(n) == id || st.ids.id(n) == id {
			return j
		}
	}
	// The id of a position record, which is no entry: from its parent's child on.
	if n, ok := st.marks.alias[id]; ok && id != "" {
		if j := slices.Index(w.path[:i], n); j >= 0 || n == tree.None {
			return j + 1
		}
	}
	return i
}

func (w *walk) add(c *Context, n tree.Node, d Data) {
	item := Item{Entry: w.s.ID(n), Time: time.UnixMilli(w.s.state().view.Time(n)).UTC(), Data: d}
	switch d := d.(type) {
	case Message:
		item.Time = d.Time
	case Command:
		item.Time = d.Time
	case BranchSummary:
		if d.Summary == "" {
			return
		}
	case Compaction, CustomMessage:
	default: // undecodable: models do not see it
		return
	}
	c.Items = append(c.Items, item)
}

// UsageSince sums the usage of assistant messages, compactions and summaries on
// the active path after an entry; zero where it is not on the path. The zero ID
// means all of the path.
func (s Snapshot) UsageSince(id ID) llm.Usage {
	path := s.state().view.Path(s.state().leaf)
	if id != "" {
		i := slices.Index(path, s.Node(id))
		if i < 0 {
			return llm.Usage{}
		}
		path = path[i+1:]
	}
	return s.usageOf(path)
}

// Usage sums the usage of all entries, on every branch.
func (s Snapshot) Usage() llm.Usage {
	all := make([]tree.Node, s.Len())
	for n := range all {
		all[n] = tree.Node(n)
	}
	return s.usageOf(all)
}

func (s Snapshot) usageOf(nodes []tree.Node) llm.Usage {
	var sum llm.Usage
	for _, n := range nodes {
		class := s.Class(n)
		switch {
		case class.Kind == "compaction", class.Kind == "branch_summary",
			class.Kind == "message" && class.Role == llm.Assistant:
			sum = sum.Add(s.usageAt(n, class.Kind))
		}
	}
	return sum
}

// usageAt reads an entry's usage alone: its text may be long.
func (s Snapshot) usageAt(n tree.Node, kind string) llm.Usage {
	line, err := s.Raw(n)
	if err != nil {
		return llm.Usage{}
	}
	if kind == "message" {
		if u, ok := quickUsage(line); ok {
			return u
		}
		line = member(line, "message")
	}
	return decodeUsage(member(line, "usage"))
}
