package main

import (
	"slices"
	"strings"

	"banyan/internal/sandbox"
	"banyan/internal/tui"
)

// sandboxFacts say what box commands run in.
func (s *setup) sandboxFacts() []tui.Fact {
	strength, why := sandbox.Available()
	return boxFacts(s.env.Box(), strength, why)
}

// boxFacts say what a box keeps from commands. why is why it is not a stronger one.
func boxFacts(b *sandbox.Box, strength sandbox.Strength, why error) []tui.Fact {
	facts := []tui.Fact{{Name: "strength", Text: strength.String() + ": " + madeOf[strength]}}
	if strength < sandbox.Full && why != nil {
		facts = append(facts, tui.Fact{Name: "why no more", Text: why.Error()})
	}
	if b == nil {
		return append(facts, tui.Fact{Name: "commands", Text: "are not confined: they may do all that you may, and you are asked before they run"})
	}
	list := func(name string, paths []string) {
		if len(paths) > 0 { // a path may be named for several reasons
			facts = append(facts, tui.Fact{Name: name, Text: strings.Join(slices.Compact(slices.Sorted(slices.Values(paths))), ", ")})
		}
	}
	list("may change", b.Write)
	if strength == sandbox.Full {
		list("but not", b.ReadOnly)
	} else {
		facts = append(facts, tui.Fact{Name: "but not", Text: "(a box of this strength cannot protect files below what may be changed)"})
	}
	facts = append(facts, tui.Fact{Name: "may read", Text: "everything that you may, but what is hidden"})
	list("hidden", b.Hidden)
	return append(facts,
		tui.Fact{Name: "temporary", Text: b.Temp + temporary[strength]},
		tui.Fact{Name: "network", Text: network(b, strength)},
		tui.Fact{Name: "way out", Text: "a command that asks to run unconfined needs your approval"})
}

// madeOf says what boxes are made of, by strength.
var madeOf = [...]string{
	sandbox.None:    "this machine has nothing to make a box of",
	sandbox.Partial: "Landlock and seccomp; other processes are seen",
	sandbox.Full:    "namespaces of users, files, processes and network, and Landlock",
}

var temporary = [...]string{
	sandbox.None:    "",
	sandbox.Partial: ", by TMPDIR",
	sandbox.Full:    ", which commands have as /tmp",
}

func network(b *sandbox.Box, strength sandbox.Strength) string {
	switch {
	case b.Network:
		return "open"
	case strength == sandbox.Full:
		return "none but a loopback interface of the command's own"
	}
	return "no sockets but local ones"
}
