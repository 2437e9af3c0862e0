package tui_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"banyan/internal/engine"
	"banyan/internal/llm"
	"banyan/internal/session"
	"banyan/internal/tui"
	"banyan/internal/tui/tuitest"
)

// run types a command.
func run(d *tuitest.Driver, command string) *tuitest.Driver {
	return d.Press("ctrl+c").Type(command).Press("esc", "enter")
}

func TestSwitch(t *testing.T) {
	d := tuitest.New(t)
	forked(d)
	d.Append(session.Label{Target: "00000004", Text: "first way"})
	must(d.Session.Branch("00000006"))
	d.Emit(engine.Moved{Session: d.Session.Snapshot()})
	for _, c := range []struct {
		args string
		want engine.Command // nil: refused
		sees string
	}{
		{"00000006", nil, "You are here already"},
		{"00000003", engine.Navigate{Target: "00000003"}, ""},
		{"first", engine.Navigate{Target: "00000004", At: true}, ""},
		{"[first way]", engine.Navigate{Target: "00000004", At: true}, ""},
		{"root", engine.Navigate{}, ""},
		{"0000000", nil, "may be any of 00000001"},
		{"99999999", nil, "No entry has the id or label"},
		{"frist way", nil, "did you mean first way"},
	} {
		run(d, "/switch "+c.args)
		if c.want != nil {
			d.Sees("No summary").Press("enter").WasSent(c.want)
			d.Emit(engine.Stayed{Err: errContextCanceled})
			continue
		}
		d.WasSent().Sees(c.sees)
	}
}

// An end of a branch is meant itself, a prompt without an answer too.
func TestSwitchToAnUnansweredPrompt(t *testing.T) {
	d := tuitest.New(t)
	forked(d)
	d.Append(user("and errors?"))
	must(d.Session.Branch("00000006"))
	d.Emit(engine.Moved{Session: d.Session.Snapshot()})
	run(d, "/switch 00000007").WasSent(engine.Navigate{Target: "00000007", At: true})
}

func TestSwitchNamesOtherSessions(t *testing.T) {
	d := tuitest.New(t, func(o *tui.Options) {
		o.Sessions = func(contextT) ([]tui.Session, error) {
			return []tui.Session{{Path: "/a", ID: "abcdef12-0", Name: "other work"}}, nil
		}
	})
	forked(d)
	run(d, "/switch abcdef").WasSent().Sees(`abcdef is another session, "other work": /resume abcdef opens it`)
}

func TestSwitchCompletes(t *testing.T) {
	d := tuitest.New(t)
	forked(d)
	d.Append(session.Label{Target: "00000004", Text: "done here"})
	d.Type("/switch ").Sees("done here", "00000004  assistant: done", "00000003", "user: yes")
	d.Type("don").Press("tab").Press("enter").Sees("No summary")
}

func TestBranches(t *testing.T) {
	d := tuitest.New(t)
	forked(d)
	run(d, "/branches").Sees("• no, a table", "yes", "2 entries", "00000004").Press("down", "enter")
	d.Sees("No summary").Press("enter").WasSent(engine.Navigate{Target: "00000004", At: true})
	run(tuitest.New(t).Open(), "/branches").Sees("There are no branches yet")
}

func TestUndoAndRedo(t *testing.T) {
	d := tuitest.New(t)
	forked(d)
	navigates(d)
	run(d, "/undo").Sees("› no, a table", "/redo brings it again", "recursive descent?").Misses("a table then")
	run(d, "/undo").Sees("› plan the parser", "/redo").Misses("recursive")
	run(d, "/undo").Sees("no turn to take back")
	run(d, "/redo").Sees("recursive descent?", "/undo takes it again").Misses("a table")
	run(d, "/redo").Sees("a table then")
	run(d, "/redo").Sees("no turn to bring back")
}

// What undo put in the editor is no prompt of the user's: the next undo and redo
// take its place. What was written stays.
func TestUndoAndRedoByKeys(t *testing.T) {
	d := tuitest.New(t)
	forked(d)
	navigates(d)
	d.Press("ctrl+x", "u").Sees("› no, a table", "Ctrl+X R").Press("ctrl+x", "u").Sees("› plan the parser")
	d.Press("ctrl+x", "r", "ctrl+x", "r").Sees("a table then", "Ctrl+X U").Misses("› no, a table", "› plan the parser")
	d.Type("mine").Press("ctrl+x", "u").Sees("› mine", "recursive descent?").Misses("a table then")
}

// After a restart, too, when nobody remembers what was undone.
func TestRedoFollowsTheNewestBranch(t *testing.T) {
	d := tuitest.New(t)
	forked(d)
	navigates(d)
	d.Session.ResetLeaf()
	d.Emit(engine.Moved{Session: d.Session.Snapshot()})
	run(d, "/redo").Sees("recursive descent?").Misses("table")
	run(d, "/redo").Sees("a table then")
}

func TestUndoOfAnEditedPromptKeepsIt(t *testing.T) {
	d := tuitest.New(t)
	forked(d)
	navigates(d)
	run(d, "/undo").Sees("› no, a table")
	d.Type(", please").Press("ctrl+p").Type("redo").Press("enter").Sees("a table then", "› no, a table, please")
	run(d, "/undo")
	d.Press("ctrl+p").Type("redo").Press("enter").Sees("a table then").Misses("› no, a table")
}

// A command may follow at once: what came back makes room for it, and is not lost.
func TestCommandAfterUndo(t *testing.T) {
	d := tuitest.New(t)
	forked(d)
	navigates(d)
	run(d, "/undo").Sees("› no, a table")
	d.Type("/").Sees("› /  Ctrl+S takes back what you put aside").Misses("› no, a table")
	d.Press("ctrl+s").Sees("› no, a table").Press("ctrl+c", "ctrl+x", "r")
	run(d, "/undo").Sees("› no, a table").Type("/").Misses("› no, a table")
	d.Type("undo").Press("enter").Sees("› plan the parser").Press("ctrl+c").Sees("Ctrl+S takes back")
	d.Press("ctrl+s").Sees("› no, a table").Type("/").Sees("› no, a table/") // by now it is the user's own

	d.Press("ctrl+c", "ctrl+x", "r", "ctrl+x", "r").Sees("a table then")
	run(d, "/undo").Sees("› no, a table").Type("/redo").Press("enter").Sees("a table then").Misses("Ctrl+S takes back")
}

// A restored prompt that the user touched is a text like any other, and a second
// one that makes room leaves the first in the history.
func TestCommandAfterUndoKeepsTexts(t *testing.T) {
	d := tuitest.New(t)
	forked(d)
	navigates(d)
	run(d, "/undo").Type(" x").Type("/y").Sees("› no, a table x/y")
	d.Press("ctrl+c", "ctrl+x", "r")
	run(d, "/undo").Press("left").Type("/").Sees("› no, a tabl/e")

	d.Press("ctrl+c", "ctrl+x", "r").Type("mine").Press("ctrl+s")
	run(d, "/undo").Type("/quit").Press("ctrl+c", "ctrl+s").Sees("› no, a table").Press("ctrl+c", "up", "up", "up").Sees("› mine")
}

func TestPop(t *testing.T) {
	d := tuitest.New(t)
	forked(d)
	run(d, "/pop").WasSent(engine.Navigate{Target: "00000005", Summarize: true}).Sees("Summarizing")
	d.Emit(engine.Stayed{Target: "00000005", Err: errContextCanceled}).Misses("Summarizing").Sees("Nothing has changed")
	run(d, "/pop 00000002").WasSent(engine.Navigate{Target: "00000002", Summarize: true})
	run(tuitest.New(t).Open(), "/pop").Sees("no turn to go back to")
}

func TestBranchHere(t *testing.T) {
	d := tuitest.New(t)
	forked(d)
	run(d, "/branch-here").Sees("You leave 1 entry behind").Press("enter").WasSent(engine.Navigate{Target: "00000005"})
	d.Emit(engine.Stayed{Target: "00000005", Err: errContextCanceled})

	var sent []engine.Command
	reply := navigator(d)
	d.Reply(func(c engine.Command) []engine.Event { sent = append(sent, c); return reply(c) })
	run(d, "/branch-here a map instead").Press("enter").Misses("› no, a table")
	if last := sent[len(sent)-1]; last.(engine.Submit).Text != "a map instead" {
		t.Errorf("sent %#v", sent)
	}
	run(tuitest.New(t).Open(), "/branch-here").Sees("no prompt to branch at")
}

func TestCherryPickAndMerge(t *testing.T) {
	d := tuitest.New(t)
	forked(d)
	run(d, "/cherry-pick 00000003 00000004").WasSent(engine.CherryPick{Entries: []session.ID{"00000003", "00000004"}})
	d.Emit(engine.Moved{Session: d.Session.Snapshot(), From: "00000006"}).Sees("Copied 2 entries here", "/switch 00000006 goes back")
	run(d, "/cherry-pick").WasSent().Sees("Name the entries")
	run(d, "/cherry-pick nope").WasSent().Sees("No entry")
	run(d, "/merge 00000004").Sees("As a summary", "All its entries").Press("esc").WasSent()
	run(d, "/merge 00000004").Press("down", "down", "enter").WasSent(engine.Merge{Target: "00000004"})
	run(d, "/merge 00000004").Press("enter").WasSent(engine.Merge{Target: "00000004", Summarize: true}).Sees("Summarizing")
	d.Emit(engine.Stayed{Target: "00000004", Err: errContextCanceled})
	run(d, "/merge 00000004").Press("down", "enter").Type("names").Press("enter")
	d.WasSent(engine.Merge{Target: "00000004", Summarize: true, Instructions: "names"})
	d.Emit(engine.Stayed{Target: "00000004", Err: errContextCanceled}, engine.Started{What: "turn", At: tuitest.Start})
	run(d, "/merge 00000004").Sees("is running")
}

func TestCompare(t *testing.T) {
	d := tuitest.New(t)
	forked(d)
	for w, beside := range map[int]bool{100: true, 60: false} {
		d.Resize(w, 30)
		run(d, "/compare 00000004").Sees("Two branches, since 00000002", "no, a table", "· yes", "1 turn")
		if got := strings.Contains(d.Screen(), "a table then                               │  done"); got && !beside {
			t.Errorf("at %d columns:\n%s", w, d.Screen())
		}
		d.Press("esc")
	}
	run(d, "/compare 00000006").Sees("the same place")
}

func TestExportBranch(t *testing.T) {
	dir := t.TempDir()
	d := tuitest.New(t, func(o *tui.Options) { o.Cwd = dir })
	forked(d)
	d.Resize(200, 24)
	run(d, "/export-branch 00000004 way.md").Sees("Exported to " + filepath.Join(dir, "way.md"))
	text, err := os.ReadFile(filepath.Join(dir, "way.md"))
	must(err)
	if want := "## You\n\nplan the parser\n\n## Agent\n\nrecursive descent?\n\n## You\n\nyes\n\n## Agent\n\ndone\n\n"; string(text) != want {
		t.Errorf("Markdown:\n%s", text)
	}
	run(d, "/export-branch 00000002 below.html").Sees("Exported to " + filepath.Join(dir, "below.html"))
	page, err := os.ReadFile(filepath.Join(dir, "below.html"))
	must(err)
	if text := string(page); strings.Contains(text, "plan the parser") || !strings.Contains(text, "no, a table") || !strings.Contains(text, "done") {
		t.Errorf("the page of all below an entry:\n%s", page)
	}
	run(d, "/export-branch 00000004 way.md").Sees("already; name another")
	run(d, "/export-branch 00000004 way.docx").Sees("says no format")
	run(d, "/export-branch 00000004 way.jsonl").Sees("Exported")
	m, err := session.Open(filepath.Join(dir, "way.jsonl"), session.Options{ReadOnly: true})
	must(err)
	defer m.Close()
	if ids := m.Snapshot().PathIDs(m.Snapshot().Leaf()); len(ids) != 4 || ids[3] != "00000004" {
		t.Errorf("exported %v", ids)
	}
}

// Turns that go on from the same place are siblings, with a note of a branch or
// a change of the model between, too.
func TestSiblingsBehindNotes(t *testing.T) {
	d := tuitest.New(t)
	forked(d)
	_, err := d.Session.BranchWithSummary("00000002", session.BranchSummary{Summary: "tried"})
	must(err)
	d.Append(user("a map"), answer("a map then"))
	must(d.Session.Branch("00000002"))
	d.Append(session.ModelChange{Provider: "p", Model: "m"}, user("a list"))
	d.Emit(engine.Moved{Session: d.Session.Snapshot()})
	d.Sees("‹4/4›").Press("alt+,").WasSent(engine.Navigate{Target: "00000009", At: true})
	d.Emit(engine.Started{What: "turn", At: tuitest.Start}).Press("alt+,").WasSent().Sees("is running")
}

// /branch: the prompts of this branch, and with Tab those of all.
func TestBranchFromAnyPrompt(t *testing.T) {
	d := tuitest.New(t)
	forked(d)
	run(d, "/branch").Sees("› no, a table", "plan the parser").Misses("yes")
	d.Press("tab").Sees("yes").Type("ye").Press("enter").WasSent(engine.Fork{Target: "00000003"})
}

func TestBranchGivesImagesBack(t *testing.T) {
	d := tuitest.New(t).Open()
	d.Append(user("look"), answer("nice"))
	d.Emit(engine.Opened{Session: session.Snapshot{}, Draft: &engine.Draft{Text: "look", Images: []llm.Image{{Data: "aGk=", MIME: "image/png"}}}})
	d.Sees("› look[Image #1]")
}
