package tui_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"banyan/internal/engine"
	"banyan/internal/llm"
	"banyan/internal/session"
	"banyan/internal/tui"
	"banyan/internal/tui/tuitest"

	"pgregory.net/rapid"
)

// forked is a session with two branches:
//
//	1 user: plan the parser
//	2 assistant: recursive descent?
//	├ 3 user: yes
//	│ 4 assistant: done
//	└ 5 user: no, a table
//	  6 assistant: a table then      ← the leaf
func forked(d *tuitest.Driver) {
	d.Open()
	d.Append(user("plan the parser"), answer("recursive descent?"), user("yes"), answer("done"))
	must(d.Session.Branch("00000002"))
	d.Append(user("no, a table"), answer("a table then"))
	d.Emit(engine.Moved{Session: d.Session.Snapshot()})
	d.Sent()
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// navigates answers commands as the engine does.
func navigates(d *tuitest.Driver) { d.Reply(navigator(d)) }

func navigator(d *tuitest.Driver) func(engine.Command) []engine.Event {
	return func(c engine.Command) []engine.Event {
		switch c := c.(type) {
		case engine.Navigate:
			from := d.Session.Snapshot().Leaf()
			e, _, err := d.Session.Snapshot().Entry(c.Target)
			must(err)
			to, draft := c.Target, (*engine.Draft)(nil)
			if m, ok := e.Data.(session.Message); ok && m.Role == llm.User && !c.At {
				to, draft = e.Parent, &engine.Draft{Text: m.Text()}
			}
			if to == "" {
				d.Session.ResetLeaf()
			} else {
				must(d.Session.Branch(to))
			}
			return []engine.Event{engine.Moved{Session: d.Session.Snapshot(), From: from, Draft: draft}}
		case engine.SetLabel:
			e, err := d.Session.Append(session.Label{Target: c.Target, Text: c.Text})
			must(err)
			return []engine.Event{engine.Appended{Entry: e, Session: d.Session.Snapshot()}}
		}
		return nil
	}
}

func TestTreeOpensOnTheLeaf(t *testing.T) {
	d := tuitest.New(t)
	forked(d)
	d.Type("/tree").Press("enter")
	d.Sees("user: plan the parser", "a table then ← here", "├", "└", "user: yes", "4/6")
	d.Press("esc").Misses("← here").Sees("a table then")
	d.Press("esc", "esc").Sees("← here")
	d.Press("enter").Misses("← here").WasSent().Sees("You are here already")
}

func TestEmptySessionHasNoTree(t *testing.T) {
	tuitest.New(t).Open().Type("/tree").Press("enter").Sees("nothing in this session yet")
}

// Going elsewhere: the choice, and each way back from it.
func TestTreeGoesThere(t *testing.T) {
	d := tuitest.New(t)
	forked(d)
	d.Press("esc", "esc", "down", "down")
	row := func() { d.Sees("› ", "assistant: done") }
	d.Press("enter").Sees("You leave 2 entries behind", "No summary", "Summarize with instructions", "← here")
	d.Press("esc").Misses("No summary").Sees("6/6").WasSent()
	row()
	// With instructions: Esc leads back step by step.
	d.Press("enter", "down", "down", "enter").Sees("What should the summary look at?")
	d.Press("esc").Sees("No summary").Press("esc").Misses("No summary").Sees("6/6").WasSent()
	d.Press("enter", "down", "down", "enter").Type("the tables").Press("ctrl+j").Type("only").Press("enter")
	d.WasSent(engine.Navigate{Target: "00000004", Summarize: true, Instructions: "the tables\nonly"})
}

func TestTreeWithoutSummary(t *testing.T) {
	d := tuitest.New(t)
	forked(d)
	navigates(d)
	d.Press("esc", "esc", "alt+up", "enter", "enter") // the prompt of this branch
	d.Misses("← here").Sees("› no, a table", "recursive descent?", "/switch 00000006 goes back").Misses("a table then")
	// A draft stays: nothing is put over it.
	d.Press("esc", "esc").Misses("← here")
	d.Press("ctrl+c").Type("mine").Type("").Press("ctrl+p").Type("tree").Press("enter").Sees("← here")
	d.Press("home", "enter", "enter").Sees("› mine", "Your own draft stays").Misses("plan the parser")
}

// While the summary streams Esc aborts it; then, as when it fails, the tree is
// there again on the same row and nothing has changed.
func TestTreeSummaryFails(t *testing.T) {
	for name, end := range map[string]error{"interrupted": context.Canceled, "failed": errors.New("the model answered with nothing")} {
		t.Run(name, func(t *testing.T) {
			d := tuitest.New(t)
			forked(d)
			d.Press("esc", "esc", "down", "down", "enter", "down", "enter")
			d.WasSent(engine.Navigate{Target: "00000004", Summarize: true})
			d.Emit(engine.Started{What: "summary", At: tuitest.Start}, delta("## Goal\n"), delta("A parser"))
			d.Sees("Summarizing what you leave behind", "A parser", "Esc stops")
			want := "Nothing has changed: " + end.Error()
			if end == context.Canceled {
				d.Press("esc", "esc").WasSent(engine.Interrupt{})
				want = "Interrupted. Nothing has changed"
			}
			d.Emit(engine.Stayed{Target: "00000004", Err: end}, engine.Finished{What: "summary", Err: end})
			d.Sees(want, "6/6", "← here").Misses("Summarizing")
			d.Press("esc").Sees("a table then").Misses("A parser")
		})
	}
}

func TestTreeSummarySucceeds(t *testing.T) {
	d := tuitest.New(t)
	forked(d)
	d.Press("esc", "esc", "down", "enter", "down", "enter")
	d.WasSent(engine.Navigate{Target: "00000003", Summarize: true})
	d.Emit(engine.Started{What: "summary", At: tuitest.Start}, delta("A parser."))
	from := d.Session.Snapshot().Leaf()
	e, err := d.Session.BranchWithSummary("00000002", session.BranchSummary{Summary: "A parser.", Usage: &llm.Usage{Total: 900, Cost: llm.Cost{Total: 0.0021}}})
	must(err)
	snap := d.Session.Snapshot()
	d.Emit(engine.Appended{Entry: e, Session: snap}, engine.Moved{Session: snap, From: from, Draft: &engine.Draft{Text: "yes"}}, engine.Finished{What: "summary"})
	d.Misses("← here", "Summarizing").Sees("› yes", "summary of the branch", "with a summary ($0.0021)", "/switch 00000006")
}

func TestSummarySettings(t *testing.T) {
	for prompt, want := range map[string]bool{"always": true, "never": false} {
		d := tuitest.New(t, func(o *tui.Options) { o.SummaryPrompt = prompt })
		forked(d)
		d.Press("esc", "esc", "down", "down", "enter").WasSent(engine.Navigate{Target: "00000004", Summarize: want})
	}
}

// Nothing is asked where nothing is left behind.
func TestTreeForward(t *testing.T) {
	d := tuitest.New(t)
	forked(d)
	navigates(d)
	d.Press("esc", "esc", "home", "down", "enter", "enter").Sees("/switch 00000006")
	d.Press("esc", "esc", "end", "up", "up", "enter").Misses("leave").Sees("done")
}

func TestTreeWhileRunning(t *testing.T) {
	d := tuitest.New(t)
	forked(d)
	d.Emit(engine.Started{What: "turn", At: tuitest.Start})
	d.Type("/tree").Press("enter").Sees("← here").Press("down", "down", "enter").Sees("A turn is running", "Interrupt it")
	d.Press("esc").Sees("6/6").WasSent()
	d.Press("enter", "enter").Sees("No summary").Press("enter")
	d.WasSent(engine.Navigate{Target: "00000004", Interrupt: true})
	d.Emit(engine.Finished{What: "turn", Err: context.Canceled}).Sees("← here")
	must(d.Session.Branch("00000004"))
	d.Emit(engine.Moved{Session: d.Session.Snapshot(), From: "00000006"}).Misses("← here").Sees("done")
}

// The tree grows while it is looked at.
func TestTreeFollows(t *testing.T) {
	d := tuitest.New(t)
	forked(d)
	d.Press("esc", "esc", "home")
	d.Append(user("and then?")).Sees("user: and then? ← here", "› • user: plan the parser")
}

func TestTreeFiltersAndSearch(t *testing.T) {
	d := tuitest.New(t)
	forked(d)
	d.Press("esc", "esc", "ctrl+u").Sees("user-only").Misses("assistant:")
	d.Press("ctrl+u").Sees("assistant:").Misses("user-only")
	d.Press("ctrl+l").Sees("Nothing has a label yet").Press("ctrl+o").Sees("all").Press("ctrl+shift+o", "ctrl+d")
	d.Type("table").Sees("/table", "1 of 2").Misses("recursive")
	d.Press("ctrl+n").Sees("2 of 2").Press("esc").Sees("recursive", "type to search").Press("esc").Misses("← here")
}

func TestTreeLabels(t *testing.T) {
	d := tuitest.New(t)
	forked(d)
	navigates(d)
	d.Press("esc", "esc", "home", "L").Type("start").Sees("[start]", "Enter keeps").Press("enter")
	d.Sees("[start] user: plan the parser", `Labelled "start"`)
	d.Press("ctrl+l").Sees("1/1").Press("ctrl+d")
	d.Press("T").Sees("[start] 12:00 user").Press("T").Misses("12:00")
	d.Press("L", "backspace").Type("s").Press("esc").Sees("[start] user")
	d.Press("L", "ctrl+u", "enter").Misses("[start]").Sees(`The label "start" is gone`)
	d.Sees("a table then ← here") // its child, the label, is not seen
}

func TestReadOnlyTreeOffersABranch(t *testing.T) {
	d := tuitest.New(t)
	path := t.TempDir() + "/s.jsonl"
	forked(d)
	var b strings.Builder
	must(d.Session.Snapshot().ExportPath(&b, "00000006", session.Options{}))
	must(os.WriteFile(path, []byte(b.String()), 0o600))
	m, err := session.Open(path, session.Options{ReadOnly: true})
	must(err)
	d.Emit(engine.Opened{Session: m.Snapshot()})
	d.Press("esc", "esc", "home", "enter").Sees("read-only", "Branch").Press("enter")
	d.WasSent(engine.Fork{Target: "00000001"})
	run(d, "/undo").Sees("read-only", "Branch").WasSent()
}

func TestTreeStateIsKept(t *testing.T) {
	kept := map[string]string{}
	options := func(o *tui.Options) {
		o.SaveTree = func(id, s string) error { kept[id] = s; return nil }
		o.LoadTree = func(id string) string { return kept[id] }
	}
	d := tuitest.New(t, options)
	forked(d)
	d.Press("esc", "esc", "end", "ctrl+left", "ctrl+left", "esc") // fold the other branch
	if len(kept) != 1 {
		t.Fatalf("kept %v", kept)
	}
	d = tuitest.New(t, options)
	forked(d)
	d.Press("esc", "esc").Sees("⊞ user: yes").Misses("done")
	d.Press("ctrl+u", "ctrl+d", "esc") // undoes folds: as usual again
	for id, s := range kept {
		if s != "" {
			t.Errorf("%s is kept as %s", id, s)
		}
	}
}

func TestTreeMouse(t *testing.T) {
	d := tuitest.New(t)
	forked(d)
	d.Press("esc", "esc").Drag(10, 2, 10, 2).Sees("1/6")
	d.Wheel(1).Sees("4/6").Wheel(-1).Sees("1/6")
	d.Drag(10, 2, 10, 2).Sees("leave 3 entries behind")
	d.Press("esc").Drag(3, 6, 3, 6).Sees("⊞ user: yes")
	d.Drag(3, 6, 3, 6).Sees("⊟ user: yes")
}

func TestTreeMenu(t *testing.T) {
	d := tuitest.New(t)
	forked(d)
	d.Press("esc", "esc", "home", "ctrl+k").Sees("Entry 00000001", "Copy text").Type("clipb").Press("enter")
	if d.Copied() != "plan the parser" {
		t.Errorf("copied %q", d.Copied())
	}
	d.Sees("← here").Press("ctrl+k").Type("branch to").Press("enter").WasSent(engine.Fork{Target: "00000001"})
}

// Everything that a tree shows is inert.
func TestTreeShowsNoEscapes(t *testing.T) {
	evil := "\x1b]0;owned\x07\x1b[2J\u202eevil"
	d := tuitest.New(t)
	d.Open().Append(user(evil), answer(evil), session.Label{Target: "00000001", Text: evil}, session.Info{Name: evil},
		session.CustomMessage{Type: evil, Content: []llm.Block{llm.Text{Text: evil}}})
	d.Press("esc", "esc", "ctrl+a").Type(evil)
	for _, w := range []int{40, 80, 130} {
		d.Resize(w, 24)
		if f := d.Frame(); strings.Contains(f, "\x1b]0") || strings.Contains(f, "\x1b[2J") || strings.Contains(f, "\u202e") {
			t.Errorf("an escape sequence got through:\n%q", f)
		}
	}
}

func TestGoldenTreeFrames(t *testing.T) {
	for name, keys := range map[string][]string{
		"tree":         {"esc", "esc"},
		"tree-leaving": {"esc", "esc", "down", "enter"},
		"tree-menu":    {"esc", "esc", "ctrl+k"},
	} {
		for _, size := range [][2]int{{40, 10}, {80, 24}, {120, 40}} {
			d := tuitest.New(t)
			d.Resize(size[0], size[1])
			forked(d)
			d.Press(keys...)
			fits(t, d, size[0], size[1])
			golden(t, fmt.Sprintf("%s-%dx%d", name, size[0], size[1]), caret(d))
		}
	}
}

// Whatever is pressed, frames fit, and Esc leads back to the editor.
func TestNobodyIsLostInTheTree(t *testing.T) {
	keys := []string{
		"esc", "enter", "up", "down", "home", "end", "left", "right", "ctrl+k", "ctrl+o", "ctrl+u", "ctrl+l", "ctrl+left", "ctrl+right",
		"alt+up", "alt+down", "alt+,", "alt+.", "L", "T", "a", "ctrl+c", "backspace", "tab", "ctrl+n", "ctrl+p",
	}
	commands := []string{"/tree", "/branches", "/undo", "/redo", "/pop", "/branch-here", "/merge 00000004", "/compare 00000003", "/cherry-pick 00000003", "/switch root", "/branch", "/label x"}
	rapid.Check(t, func(rt *rapid.T) {
		d := tuitest.New(t)
		forked(d)
		reply := navigator(d)
		refuse := rapid.Bool().Draw(rt, "refuse")
		d.Reply(func(c engine.Command) []engine.Event {
			if n, ok := c.(engine.Navigate); ok && (refuse || n.Target == "") {
				return []engine.Event{engine.Stayed{Target: n.Target, Err: errors.New("no")}}
			}
			switch c := c.(type) {
			case engine.Merge:
				return []engine.Event{engine.Stayed{Target: c.Target, Err: errors.New("no")}}
			case engine.CherryPick:
				return []engine.Event{engine.Stayed{Target: c.Entries[0], Err: errors.New("no")}}
			}
			return reply(c)
		})
		for range rapid.IntRange(1, 30).Draw(rt, "steps") {
			if rapid.IntRange(0, 5).Draw(rt, "what") == 0 {
				run(d, rapid.SampledFrom(commands).Draw(rt, "command"))
			} else {
				d.Press(rapid.SampledFrom(keys).Draw(rt, "key"))
			}
			fits(rt, d, 80, 24)
		}
		for range 12 {
			d.Press("esc").Advance(2 * time.Second)
		}
		d.Press("ctrl+c").Type("still here").Sees("› still here")
	})
}
