package session

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"

	"banyan/internal/llm"
	"banyan/internal/tree"
)

// Verify reads a whole session, bodies included, and names what is wrong
// with it. A file that is no session has that as its only problem. The error is
// for files that cannot be read.
func Verify(path string, o Options) ([]Problem, error) {
	o.ReadOnly = true
	m, err := Open(path, o)
	if no, ok := errors.AsType[*NotSessionError](err); ok {
		return []Problem{{Line: 1, Kind: problemNone, Text: no.Reason}}, nil
	}
	if err != nil {
		return nil, err
	}
	defer m.Close()
	v := verifier{m: m, s: m.Snapshot(), lines: lineCounter{read: m.fold.read}, calls: map[tree.Node][]string{}}
	v.problems = append(v.problems, v.s.Problems()...)
	for n := range tree.Node(v.s.Len()) {
		if err := v.entry(n); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(v.problems, func(a, b Problem) int { return a.Line - b.Line })
	return v.problems, nil
}

type verifier struct {
	m        *Manager
	s        Snapshot
	lines    lineCounter
	problems []Problem
	calls    map[tree.Node][]string // the ids of an answer's calls
}

func (v *verifier) problem(n tree.Node, kind, format string, args ...any) {
	p := Problem{Kind: kind, Text: fmt.Sprintf("entry %s: ", clip([]byte(v.s.ID(n)))) + fmt.Sprintf(format, args...)}
	if off, ok := v.m.inFile(v.s.state().pos[n].Off); ok {
		p.Line = v.lines.at(off)
	}
	known := func(q Problem) bool { return q.Kind == p.Kind && q.Line == p.Line }
	if kind == problemDamaged && slices.ContainsFunc(v.s.Problems(), known) {
		return // opening has found it
	}
	v.problems = append(v.problems, p)
}

func (v *verifier) entry(n tree.Node) error {
	line, err := v.s.Raw(n)
	if err != nil {
		return err
	}
	if !json.Valid(line) {
		v.problem(n, problemDamaged, "the line begins as an entry but is not JSON")
		return nil
	}
	if !utf8.Valid(line) {
		v.problem(n, problemUTF8, "the line is not UTF-8; the bytes that are not are shown as U+FFFD")
	}
	if h, _ := readHead(line); entryTime(h).IsZero() {
		v.problem(n, problemTime, "the timestamp %s is no time", clip(h.time))
	}
	e, err := v.s.EntryAt(n)
	if err != nil {
		return err
	}
	switch d := e.Data.(type) {
	case Unknown:
		if d.Err != nil && !errors.Is(d.Err, errUnknownRole) {
			v.problem(n, problemBody, "%v", d.Err)
		}
	case Compaction:
		v.compaction(n, d)
	case Message:
		v.pairing(n, d)
	}
	return nil
}

func (v *verifier) compaction(n tree.Node, d Compaction) {
	if d.FirstKept == "" {
		return
	}
	w := walk{s: v.s, path: v.s.Tree().Path(n)}
	at := len(w.path) - 1
	if v.s.state().fileID(n) != d.FirstKept && w.firstKept(at, d.FirstKept) == at {
		v.problem(n, problemKept, "it keeps from entry %s on, which is not above it on its path", clip([]byte(d.FirstKept)))
	}
}

// pairing checks a message against the answer above it: a result must be to one
// of its calls and the first to that call; anything else may only come when all
// calls have results.
func (v *verifier) pairing(n tree.Node, d Message) {
	if d.Role == llm.Assistant {
		for _, c := range d.Calls() {
			v.calls[n] = append(v.calls[n], c.ID)
		}
	}
	open, answered := v.above(n)
	switch {
	case d.Role == llm.ToolResult && !slices.Contains(open, d.CallID):
		if answered[d.CallID] {
			v.problem(n, problemPairing, "another result of call %q stands above", clip([]byte(d.CallID)))
		} else {
			v.problem(n, problemPairing, "it is the result of call %q, which the answer above does not have", clip([]byte(d.CallID)))
		}
	case d.Role == llm.Assistant && len(open) > 0:
		v.problem(n, problemPairing, "it follows an answer whose call %q has no result", clip([]byte(open[0])))
	}
}

// above are the calls of the answer above a message: those without a result
// between, and those with one.
func (v *verifier) above(n tree.Node) (open []string, answered map[string]bool) {
	answered = map[string]bool{}
	view := v.s.Tree()
	for up := view.Parent(n); up != tree.None; up = view.Parent(up) {
		switch class := v.s.Class(up); class.Role {
		case llm.Assistant:
			for _, id := range v.calls[up] {
				if !answered[id] && !class.Failed {
					open = append(open, id)
				}
			}
			return open, answered
		case llm.ToolResult:
			if e, err := v.s.EntryAt(up); err == nil {
				if r, ok := e.Data.(Message); ok {
					answered[r.CallID] = true
				}
			}
		}
	}
	return nil, answered
}
