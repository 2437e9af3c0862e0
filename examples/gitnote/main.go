// Command gitnote is an extension that ties a conversation to the commits that
// came of it: after each turn that made one, the leaf is labelled with the commit,
// and a git note on the commit names the session and the entry.
//
//	go build -o ~/.config/banyan/extensions/gitnote ./examples/gitnote
//
// It needs nothing but the standard library; docs/extensions.md has the protocol.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// line is a line of the protocol, as far as this extension needs it.
type line struct {
	ID     json.RawMessage `json:"id,omitempty"`
	Method string          `json:"method,omitempty"`
	Params json.RawMessage `json:"params,omitempty"`
	Result any             `json:"result,omitempty"`
}

// note knows where the session stands and which commit was last labelled.
type note struct {
	out     *json.Encoder
	cwd     string
	session string // its id
	leaf    string
	commit  string
}

func main() {
	n := note{out: json.NewEncoder(os.Stdout)}
	in := bufio.NewReader(os.Stdin)
	for {
		text, err := in.ReadBytes('\n')
		if err != nil {
			return
		}
		var l line
		if err := json.Unmarshal(text, &l); err != nil {
			fmt.Fprintln(os.Stderr, "gitnote: not a line:", err)
			return
		}
		if l.Method == "shutdown" {
			return
		}
		n.take(l)
	}
}

// take does what a line says. Requests are answered, also where there is nothing
// to say.
func (n *note) take(l line) {
	switch l.Method {
	case "initialize":
		var p struct{ Cwd string }
		n.read(l, &p)
		n.cwd, n.commit = p.Cwd, ""
		n.commit = n.git("rev-parse", "HEAD")
		n.answer(l, map[string]any{
			"protocol": 1, "description": "labels turns with their commits",
			"events": []string{"message_end", "agent_end"},
		})
	case "state":
		var p struct {
			Session struct {
				ID     string
				LeafID string
			}
		}
		n.read(l, &p)
		n.session, n.leaf = p.Session.ID, p.Session.LeafID
	case "event":
		var p struct{ Event, EntryID, Error string }
		n.read(l, &p)
		if p.EntryID != "" {
			n.leaf = p.EntryID
		}
		if p.Event == "agent_end" {
			n.label()
			if p.Error == "" {
				n.answer(l, struct{}{})
			}
		}
	}
}

// label names the leaf after a commit that is new, and notes that on the commit.
func (n *note) label() {
	commit := n.git("rev-parse", "HEAD")
	if commit == "" || commit == n.commit || n.leaf == "" {
		return
	}
	n.commit = commit
	n.say(line{Method: "set_label", Params: params(map[string]string{"entry": n.leaf, "label": "git " + commit[:10]})})
	n.git("notes", "--ref=banyan", "add", "-f", "-m", "session "+n.session+" entry "+n.leaf, commit)
}

// git gives what a git command prints; nothing where it fails.
func (n *note) git(args ...string) string {
	out, err := exec.Command("git", append([]string{"-C", n.cwd}, args...)...).Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

func (n *note) answer(l line, result any) {
	if len(l.ID) > 0 {
		n.say(line{ID: l.ID, Result: result})
	}
}

func (n *note) say(l line) {
	if err := n.out.Encode(l); err != nil {
		os.Exit(1) // nobody reads any more
	}
}

func (n *note) read(l line, to any) {
	if err := json.Unmarshal(l.Params, to); err != nil {
		fmt.Fprintln(os.Stderr, "gitnote:", err)
	}
}

func params(v any) json.RawMessage {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil
	}
	return raw
}
