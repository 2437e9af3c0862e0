package reader

import (
	"fmt"
	"slices"
	"strings"

	"banyan/internal/engine"
	"banyan/internal/tool"
)

// ask reads out the first question that waits.
func (t *talk) ask() {
	q := t.asked[0]
	if t.noMore {
		t.asked = t.asked[1:]
		t.refuse(q)
		return
	}
	name := q.Call.Name + " " + q.Subject
	t.say.label("Approval", fmt.Sprintf("may this run? %s", strings.TrimSpace(name)))
	if len(q.Tasks) > 0 {
		t.say.label("Task", strings.Join(q.Tasks, ", of it "))
	}
	if q.Reason != "" {
		t.say.label("Reason", q.Reason)
	}
	if d, ok := q.Preview.(tool.Diff); ok {
		t.say.label("Change to "+d.Path, d.Diff)
	}
	ways := "y yes, n no, n and why to tell the model, s stop"
	if q.Always != "" {
		ways = "y yes, a always for " + q.Always + ", n no, n and why to tell the model, s stop"
	}
	t.say.label("Choices", ways)
	t.prompt()
}

// answer takes a typed answer to the first question. What is none of the
// choices is asked again: nothing runs by mistake.
func (t *talk) answer(text string) {
	q := t.asked[0]
	word, rest, _ := strings.Cut(text, " ")
	a := engine.Answer{Ask: q.Ask}
	switch strings.ToLower(word) {
	case "y", "yes":
		a.Decision = engine.Allow
	case "a", "always":
		if q.Always == "" {
			t.again()
			return
		}
		a.Decision = engine.Always
	case "n", "no":
		a.Decision, a.Comment = engine.Deny, strings.TrimSpace(rest)
	case "s", "stop":
		a.Decision = engine.Stop
	default:
		t.again()
		return
	}
	if rest != "" && a.Decision != engine.Deny {
		t.again() // "yes but …" is no yes
		return
	}
	t.asked = t.asked[1:]
	t.engine.Send(a)
	if len(t.asked) > 0 {
		t.ask()
	}
}

// refuse answers a question that nobody is here to answer.
func (t *talk) refuse(q engine.Asked) {
	t.say.label("Refused", q.Call.Name+" "+q.Subject)
	t.engine.Send(engine.Answer{Ask: q.Ask, Decision: engine.Deny, Comment: "nobody is here to approve it"})
}

func (t *talk) again() {
	t.say.label("Notice", "that is none of the choices; nothing was decided")
	t.ask()
}

// withdrawn takes a question back.
func (t *talk) withdrawn(ask int) {
	first := len(t.asked) > 0 && t.asked[0].Ask == ask
	n := len(t.asked)
	t.asked = slices.DeleteFunc(t.asked, func(q engine.Asked) bool { return q.Ask == ask })
	if len(t.asked) < n {
		t.say.label("Notice", "the question no longer stands")
	}
	if first && len(t.asked) > 0 {
		t.ask()
	}
}
