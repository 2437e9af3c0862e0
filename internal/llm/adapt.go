package llm

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// Target is who a conversation is sent to. See [Adapt].
type Target struct {
	API, Provider, Model string
	Images               bool // the model sees pictures
	// MaxID is the longest id of a tool call that the API takes, in bytes; with
	// ExactID every id has this length and no punctuation.
	MaxID   int
	ExactID bool
}

// Adapt gives a conversation the form that its next model can read, whoever
// answered before. It returns new messages and changes none:
//   - thinking of another provider or protocol is left out, redacted thinking
//     and signatures of another model too;
//   - ids and names of calls are made of [a-zA-Z0-9_-] and short enough, ids
//     are unique, and results follow their calls;
//   - thinking that nothing follows, because the answer was cut there, is left
//     out: providers refuse it;
//   - pictures become a note where they cannot be seen;
//   - empty text, and messages that have nothing left, are left out.
//
// The result depends on nothing but the arguments, so that caches keep.
func Adapt(messages []Message, to Target) []Message {
	a := adapter{to: to, used: map[string]bool{}, now: map[string][]string{}}
	var out []Message
	for _, m := range messages {
		if m.Role == Assistant {
			clear(a.now) // results follow their calls directly
		}
		m.Content = a.content(m)
		switch m.Role {
		case ToolResult:
			m.CallID, m.ToolName = a.answered(m.CallID), portableName(m.ToolName)
			if len(m.Content) == 0 {
				m.Content = []Block{Text{Text: "(no output)"}}
			}
		default:
			if len(m.Content) == 0 {
				continue
			}
		}
		out = append(out, m)
	}
	return out
}

type adapter struct {
	to   Target
	used map[string]bool     // ids as sent
	now  map[string][]string // ids as sent, by original id, that wait for their results
}

func (a *adapter) content(m Message) []Block {
	sameAPI := m.Role != Assistant || m.API == a.to.API && m.Provider == a.to.Provider
	sameModel := sameAPI && (m.Role != Assistant || m.Model == a.to.Model)
	var out []Block
	for _, b := range m.Content {
		switch b := b.(type) {
		case Text:
			if strings.TrimSpace(b.Text) == "" {
				continue
			}
			if !sameModel {
				b.Signature = ""
			}
			out = append(out, b)
		case Thinking:
			if sameAPI && b.Signature != "" && (!b.Redacted || sameModel) {
				out = append(out, b)
			}
		case Image:
			if !a.to.Images {
				out = append(out, Text{Text: "[a picture (" + b.MIME + ") was here; this model cannot see pictures]"})
				continue
			}
			out = append(out, b)
		case ToolCall:
			if !sameModel {
				b.Signature = ""
			}
			b.ID, b.Name = a.asked(b.ID), portableName(b.Name)
			out = append(out, b)
		}
	}
	for len(out) > 0 && m.Role == Assistant {
		if _, thought := out[len(out)-1].(Thinking); !thought {
			break
		}
		out = out[:len(out)-1]
	}
	return out
}

// asked is the id that a call is sent with.
func (a *adapter) asked(id string) string {
	sent := a.to.portableID(id)
	for n := 2; a.used[sent]; n++ {
		sent = a.to.portableID(id + "#" + strings.Repeat("i", n))
	}
	a.used[sent] = true
	a.now[id] = append(a.now[id], sent)
	return sent
}

// answered is the id that a result is sent with: that of the oldest call of
// this name that waits. The last one stays for results that come twice.
func (a *adapter) answered(id string) string {
	waiting := a.now[id]
	if len(waiting) == 0 {
		return a.to.portableID(id)
	}
	if len(waiting) > 1 {
		a.now[id] = waiting[1:]
	}
	return waiting[0]
}

// portableID is the id itself where the API would take it, else one made of it.
func (to Target) portableID(id string) string {
	if to.ExactID {
		if len(id) == to.MaxID && strings.IndexFunc(id, unportable) < 0 && !strings.ContainsAny(id, "_-") {
			return id
		}
		return digest(id)[:to.MaxID]
	}
	if id != "" && len(id) <= to.MaxID && strings.IndexFunc(id, unportable) < 0 {
		return id
	}
	return "call_" + digest(id)[:24]
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// portableName is the name of a tool as every API takes it: models make up
// names, and one such call must not spoil the conversation for good.
func portableName(name string) string {
	name = strings.Map(func(r rune) rune {
		if unportable(r) {
			return '_'
		}
		return r
	}, name)
	if name == "" {
		return "unnamed"
	}
	return name[:min(len(name), 64)]
}

func unportable(r rune) bool {
	return r != '_' && r != '-' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
}
