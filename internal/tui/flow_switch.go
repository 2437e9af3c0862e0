package tui

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"banyan/internal/llm"
	"banyan/internal/session"
	"banyan/internal/tree"
	"banyan/internal/tui/editor"
	"banyan/internal/tui/picker"
	"banyan/internal/tui/treeview"

	tea "charm.land/bubbletea/v2"
)

// switchTo goes to the entry that an id or a label names; without one it offers
// the branches.
func (m *Model) switchTo(text string) tea.Cmd {
	if text == "" {
		return m.branches("")
	}
	id, cmd, ok := m.resolve(text)
	if !ok {
		return cmd
	}
	return m.goTo(id, m.isTip(id), trip{did: "Switched to " + m.named(id)})
}

// isTip says whether nothing is below an entry: who switches there means the
// entry itself, a prompt that was never answered too, and not the place before it.
func (m *Model) isTip(id session.ID) bool { return id != "" && len(m.session.Children(id)) == 0 }

// resolve finds the entry that a user names. Where there is none it says so.
func (m *Model) resolve(text string) (session.ID, tea.Cmd, bool) {
	text = strings.Trim(strings.TrimSpace(text), "[]")
	id, err := m.session.Resolve(text)
	if err == nil {
		return id, nil, true
	}
	m.refuse(upper(err.Error()))
	return "", m.findElsewhere(text), false
}

func upper(text string) string { return strings.ToUpper(text[:1]) + text[1:] }

// elsewhereMsg says that what was named is another session.
type elsewhereMsg struct{ text string }

func (msg elsewhereMsg) apply(m *Model) tea.Cmd {
	m.refuse(msg.text)
	return nil
}

// findElsewhere looks whether it is a session that was named.
func (m *Model) findElsewhere(text string) tea.Cmd {
	find := m.opts.Sessions
	if find == nil || len(text) < 4 {
		return nil
	}
	return func() tea.Msg {
		all, err := find(context.Background())
		if err != nil {
			return nil // it was a guess
		}
		for _, s := range all {
			if strings.HasPrefix(s.ID, text) {
				return elsewhereMsg{fmt.Sprintf("%s is another session, %q: /resume %s opens it", text, cmp.Or(s.Name, s.First, s.Path), text)}
			}
		}
		return nil
	}
}

// branch is a way through the session, by its end.
type branch struct {
	end     session.ID // the newest entry of it
	label   string
	prompt  string // the last one
	at      time.Time
	entries int // since it forked
	usd     float64
	active  bool
}

// branchList is the picker of branches. Reading them may take a moment, and what
// they cost a longer one.
type branchList struct {
	*picker.Model
	m        *Model
	branches []branch
	priced   bool
}

type branchesMsg struct {
	list     *branchList
	branches []branch
	priced   bool
}

// branches offers the ends of all branches, newest first.
func (m *Model) branches(query string) tea.Cmd {
	if !m.opened || m.session.Len() == 0 {
		m.refuse("There are no branches yet")
		return nil
	}
	l := &branchList{m: m}
	l.Model = picker.New(picker.Options{
		Title: "Branches of this session", Empty: "reading …", Query: query, Keys: m.opts.Keys,
		Chosen: func(i int) tea.Cmd {
			return m.goTo(l.branches[i].end, true, trip{did: "Switched to " + m.named(l.branches[i].end)})
		},
	}, m.theme)
	m.push(l)
	s := m.session
	return tea.Batch(
		func() tea.Msg { return branchesMsg{l, branchesOf(s, false), false} },
		func() tea.Msg { return branchesMsg{l, branchesOf(s, true), true} })
}

func (msg branchesMsg) apply(m *Model) tea.Cmd {
	l := msg.list
	if l.priced {
		return nil // the other one was quicker
	}
	at := 0
	items := make([]picker.Item, len(msg.branches))
	for i, b := range msg.branches {
		var parts []string
		if b.label != "" {
			parts = append(parts, "["+b.label+"]")
		}
		parts = append(parts, ago(m.opts.Now().Sub(b.at)), number(b.entries, "entry", "entries"))
		if b.usd > 0 {
			parts = append(parts, fmt.Sprintf("$%.2f", b.usd))
		}
		mark := " "
		if b.active {
			mark, at = "•", i
		}
		items[i] = picker.Item{
			Title: cmp.Or(b.prompt, "(no prompt)"), Detail: strings.Join(append(parts, string(b.end)), " · "), Mark: mark,
			Search: strings.Join([]string{b.prompt, b.label, string(b.end)}, " "),
		}
	}
	l.branches, l.priced = msg.branches, msg.priced
	l.SetItems(items, at)
	return nil
}

// shape is what of a session's tree is needed to find its branches, by entry.
// Only what belongs to the conversation makes a branch.
type shape struct {
	ways   []int32     // how many branches lead on
	newest []tree.Node // the entry that was added last, of it and all below
	active []bool      // on the path to the leaf
}

func shapeOf(s session.Snapshot) shape {
	view := s.Tree()
	sh := shape{make([]int32, view.Len()), make([]tree.Node, view.Len()), make([]bool, view.Len())}
	speaks := make([]bool, view.Len())
	for n := tree.Node(view.Len() - 1); n >= 0; n-- { // children come before their parents
		speaks[n] = speaks[n] || treeview.Speaks(s.Class(n))
		sh.newest[n] = max(sh.newest[n], n)
		if p := view.Parent(n); p != tree.None {
			sh.newest[p] = max(sh.newest[p], sh.newest[n])
			if speaks[n] {
				sh.ways[p]++
				speaks[p] = true
			}
		}
	}
	for n := s.Node(s.Leaf()); n != tree.None; n = view.Parent(n) {
		sh.active[n] = true
	}
	return sh
}

// branchesOf finds the branches of a session, newest first.
func branchesOf(s session.Snapshot, priced bool) []branch {
	view, sh := s.Tree(), shapeOf(s)
	labels := map[tree.Node]string{}
	for id, text := range s.Labels() {
		labels[s.Node(id)] = text
	}
	var all []branch
	for tip := range tree.Node(view.Len()) {
		if sh.ways[tip] > 0 || !treeview.Speaks(s.Class(tip)) {
			continue
		}
		b := branch{end: s.ID(sh.newest[tip]), at: time.UnixMilli(view.Time(tip)), active: sh.active[tip], prompt: lastPrompt(s, tip)}
		for n := tip; n != tree.None && (n == tip || sh.ways[n] < 2); n = view.Parent(n) {
			b.entries++
			b.label = cmp.Or(b.label, labels[n])
			if priced {
				b.usd += costAt(s, n)
			}
		}
		all = append(all, b)
	}
	slices.SortStableFunc(all, func(a, b branch) int { return b.at.Compare(a.at) })
	return all
}

// lastPrompt is the last prompt on the way to an entry, on one line.
func lastPrompt(s session.Snapshot, n tree.Node) string {
	for ; n != tree.None; n = s.Tree().Parent(n) {
		if c := s.Class(n); c.Kind != "message" || c.Role != llm.User {
			continue
		}
		if e, err := s.EntryAt(n); err == nil {
			return session.Line(e.Data)
		}
	}
	return ""
}

// costAt is what an entry cost, in USD.
func costAt(s session.Snapshot, n tree.Node) float64 {
	c := s.Class(n)
	if c.Role != llm.Assistant && c.Kind != "branch_summary" && c.Kind != "compaction" {
		return 0
	}
	e, err := s.EntryAt(n)
	if err != nil {
		return 0
	}
	return treeview.Usage(e.Data).Cost.Total
}

// mostCandidates is how many entries are offered while one is being named.
const mostCandidates = 40

// completeEntries are entries that a user may name: those with labels, and the
// newest prompts.
func completeEntries(m *Model) []editor.Candidate {
	if !m.opened {
		return nil
	}
	var found []editor.Candidate
	s := m.session
	for id, label := range s.Labels() {
		found = append(found, editor.Candidate{Text: label, Detail: string(id) + "  " + rowOf(s, id), Done: true})
	}
	slices.SortFunc(found, func(a, b editor.Candidate) int { return cmp.Compare(a.Text, b.Text) })
	for n := tree.Node(s.Len() - 1); n >= 0 && len(found) < mostCandidates; n-- {
		if c := s.Class(n); c.Kind == "message" && (c.Role == llm.User || c.HasText) {
			found = append(found, editor.Candidate{Text: string(s.ID(n)), Detail: rowOf(s, s.ID(n)), Done: true})
		}
	}
	return found
}

func rowOf(s session.Snapshot, id session.ID) string { return treeview.Line(s, s.Node(id)) }
