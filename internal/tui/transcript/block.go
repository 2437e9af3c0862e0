package transcript

import (
	"banyan/internal/llm"
	"banyan/internal/session"
	"banyan/internal/tree"
)

// Source is the conversation as it was opened: the entries of a path, root
// first. Block is asked for what is near the screen, often, and must be cheap.
type Source interface {
	Len() int
	Block(i int) Block
}

// Block is an entry, to be loaded when it is drawn.
type Block struct {
	ID session.ID
	// Class is what is known of the entry without its body.
	Class session.Class
	// Load reads the body. It is called when the block is first drawn, and
	// again after it was scrolled far out of view.
	Load func() (session.Entry, error)
}

// EntryBlock is the block of an entry that is at hand.
func EntryBlock(e session.Entry) Block {
	return Block{ID: e.ID, Class: classOf(e.Data), Load: func() (session.Entry, error) { return e, nil }}
}

// Path is the source for the path to a leaf of a session. Entries that nobody is
// shown, like labels, are left out, so that a long run of them costs no frame
// anything.
func Path(s session.Snapshot, leaf session.ID) Source {
	nodes := s.Tree().Path(s.Node(leaf))
	shown := nodes[:0:0]
	for _, n := range nodes {
		if isShown(s.Class(n)) {
			shown = append(shown, n)
		}
	}
	return entryPath{snapshot: s, nodes: shown}
}

type entryPath struct {
	snapshot session.Snapshot
	nodes    []tree.Node
}

func (p entryPath) Len() int { return len(p.nodes) }

func (p entryPath) Block(i int) Block {
	id := p.snapshot.ID(p.nodes[i])
	return Block{
		ID:    id,
		Class: p.snapshot.Class(p.nodes[i]),
		Load: func() (session.Entry, error) {
			e, ok, err := p.snapshot.Entry(id)
			if err == nil && !ok {
				err = errNoEntry
			}
			return e, err
		},
	}
}

// Entries is a source of entries that are at hand.
type Entries []session.Entry

// Len implements [Source].
func (e Entries) Len() int { return len(e) }

// Block implements [Source].
func (e Entries) Block(i int) Block { return EntryBlock(e[i]) }

// bashRole is the role of a [session.Command] in a [session.Class].
const bashRole llm.Role = "bashExecution"

// classOf says of a body what the index says of an entry.
func classOf(d session.Data) session.Class {
	switch d := d.(type) {
	case session.Message:
		failed := d.StopReason != llm.StopEnd && d.StopReason != llm.StopToolUse
		return session.Class{
			Kind: "message", Role: d.Role,
			HasText: d.Role == llm.Assistant && d.Text() != "",
			Failed:  d.Role == llm.Assistant && failed,
		}
	case session.Command:
		return session.Class{Kind: "message", Role: bashRole}
	case session.Compaction:
		return session.Class{Kind: "compaction"}
	case session.BranchSummary:
		return session.Class{Kind: "branch_summary"}
	case session.CustomMessage:
		return session.Class{Kind: "custom_message"}
	case session.ModelChange:
		return session.Class{Kind: "model_change"}
	case session.ThinkingChange:
		return session.Class{Kind: "thinking_level_change"}
	}
	return session.Class{Kind: "hidden"}
}

// isTurn says whether an entry is a turn of the user.
func isTurn(c session.Class) bool { return c.Kind == "message" && c.Role == llm.User }

func isAnswer(c session.Class) bool { return c.Kind == "message" && c.Role == llm.Assistant }

func isResult(c session.Class) bool { return c.Kind == "message" && c.Role == llm.ToolResult }

// isShown says whether an entry is drawn at all, be it within another.
func isShown(c session.Class) bool { return takesRoom(c) || changesState(c) || isResult(c) }

// takesRoom says whether an entry is a block of its own.
func takesRoom(c session.Class) bool {
	switch c.Kind {
	case "message":
		return c.Role != llm.ToolResult
	case "compaction", "branch_summary", "custom_message":
		return true
	}
	return false
}

// changesState says whether an entry changes what holds from there on.
func changesState(c session.Class) bool {
	return c.Kind == "model_change" || c.Kind == "thinking_level_change"
}
